// Stands between a program and whatever MPI it was built with, by LD_PRELOAD: counts its calls, and times them.
//
// It needs no header of an MPI. A handle is an int in one MPI and a pointer in another; the ABI passes either in a
// machine word, and words are handed on as they came. Fortran passes addresses of all of them.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <initializer_list>

namespace {

using Word = std::uintptr_t;
static_assert(sizeof(long) == sizeof(void*), "an argument of any type is a machine word");

/// What a call does to others. `all`: nobody leaves before the last one came.
enum class Kind { send, wait, collective, all };
constexpr const char* kinds[] = {"send", "wait", "collective", "all"};

/// How many elements a rank contributes: none that is counted, argument `count`, as many for each rank, or a list.
enum class Amount { none, own, each, listed };

struct Form {
    const char* name;
    Kind kind;
    Amount amount;
    int count;  ///< which argument
    int type;   ///< which argument
    int comm;   ///< which argument
};

constexpr int most_sizes = 48;

struct Tally {
    std::uint64_t calls;
    std::uint64_t nanoseconds;
    std::uint64_t bytes;
    std::uint64_t sizes[most_sizes];  ///< calls of up to 2^i bytes
};

/// A function of the MPI, found once it is needed: programs that pass no messages are preloaded as well.
class Next {
  public:
    explicit constexpr Next(const char* name, void* found = nullptr) : name_(name), found_(found) {}

    void* get() {
        void* known = __atomic_load_n(&found_, __ATOMIC_ACQUIRE);
        return known != nullptr ? known : find();
    }

  private:
    void* find() {
        void* found = dlsym(RTLD_NEXT, name_);
        for (const char* file : {"libmpi.so.40", "libmpi.so.12", "libmpi_mpifh.so.40", "libmpifort.so.12"}) {
            void* library = found == nullptr ? dlopen(file, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
            found = library != nullptr ? dlsym(library, name_) : found;
        }
        if (found == nullptr) {
            std::fprintf(stderr, "assay: this MPI has no %s\n", name_);
            std::abort();
        }
        __atomic_store_n(&found_, found, __ATOMIC_RELEASE);
        return found;
    }

    const char* name_;
    void* found_;
};

#define WORDS_1 Word a
#define WORDS_2 WORDS_1, Word b
#define WORDS_3 WORDS_2, Word c
#define WORDS_4 WORDS_3, Word d
#define WORDS_5 WORDS_4, Word e
#define WORDS_6 WORDS_5, Word f
#define WORDS_7 WORDS_6, Word g
#define WORDS_8 WORDS_7, Word h
#define WORDS_9 WORDS_8, Word i
#define WORDS_10 WORDS_9, Word j
#define WORDS_11 WORDS_10, Word k
#define WORDS_12 WORDS_11, Word l
#define PASS_1 a
#define PASS_2 PASS_1, b
#define PASS_3 PASS_2, c
#define PASS_4 PASS_3, d
#define PASS_5 PASS_4, e
#define PASS_6 PASS_5, f
#define PASS_7 PASS_6, g
#define PASS_8 PASS_7, h
#define PASS_9 PASS_8, i
#define PASS_10 PASS_9, j
#define PASS_11 PASS_10, k
#define PASS_12 PASS_11, l

// Name, that in Fortran, arguments, kind, amount, and which arguments are its count, its type, its communicator.
// Of calls that may be in place, what is received tells what each rank contributes: it counts on all ranks.
#define CALLS(X)                                                         \
    X(Send, send, 6, send, own, 1, 2, 5)                                 \
    X(Ssend, ssend, 6, send, own, 1, 2, 5)                               \
    X(Bsend, bsend, 6, send, own, 1, 2, 5)                               \
    X(Rsend, rsend, 6, send, own, 1, 2, 5)                               \
    X(Isend, isend, 7, send, own, 1, 2, 5)                               \
    X(Issend, issend, 7, send, own, 1, 2, 5)                             \
    X(Start, start, 1, send, none, 0, 0, 0)                              \
    X(Startall, startall, 2, send, none, 0, 0, 0)                        \
    X(Put, put, 8, send, own, 1, 2, 7)                                   \
    X(Get, get, 8, send, own, 1, 2, 7)                                   \
    X(Accumulate, accumulate, 9, send, own, 1, 2, 8)                     \
    X(Sendrecv, sendrecv, 12, wait, own, 1, 2, 10)                       \
    X(Sendrecv_replace, sendrecv_replace, 9, wait, own, 1, 2, 7)         \
    X(Recv, recv, 7, wait, none, 0, 0, 0)                                \
    X(Irecv, irecv, 7, wait, none, 0, 0, 0)                              \
    X(Probe, probe, 4, wait, none, 0, 0, 0)                              \
    X(Iprobe, iprobe, 5, wait, none, 0, 0, 0)                            \
    X(Wait, wait, 2, wait, none, 0, 0, 0)                                \
    X(Waitall, waitall, 3, wait, none, 0, 0, 0)                          \
    X(Waitany, waitany, 4, wait, none, 0, 0, 0)                          \
    X(Waitsome, waitsome, 5, wait, none, 0, 0, 0)                        \
    X(Test, test, 3, wait, none, 0, 0, 0)                                \
    X(Testall, testall, 4, wait, none, 0, 0, 0)                          \
    X(Testany, testany, 5, wait, none, 0, 0, 0)                          \
    X(Testsome, testsome, 5, wait, none, 0, 0, 0)                        \
    X(Win_fence, win_fence, 2, wait, none, 0, 0, 0)                      \
    X(Win_lock, win_lock, 4, wait, none, 0, 0, 0)                        \
    X(Win_unlock, win_unlock, 2, wait, none, 0, 0, 0)                    \
    X(Win_flush, win_flush, 2, wait, none, 0, 0, 0)                      \
    X(Win_flush_all, win_flush_all, 1, wait, none, 0, 0, 0)              \
    X(Barrier, barrier, 1, all, none, 0, 0, 0)                           \
    X(Allreduce, allreduce, 6, all, own, 2, 3, 5)                        \
    X(Allgather, allgather, 7, all, own, 4, 5, 6)                        \
    X(Allgatherv, allgatherv, 8, all, none, 0, 0, 7)                     \
    X(Alltoall, alltoall, 7, all, each, 4, 5, 6)                         \
    X(Alltoallv, alltoallv, 9, all, listed, 5, 7, 8)                     \
    X(Reduce_scatter, reduce_scatter, 6, all, listed, 2, 3, 5)           \
    X(Reduce_scatter_block, reduce_scatter_block, 6, all, each, 2, 3, 5) \
    X(Bcast, bcast, 5, collective, own, 1, 2, 4)                         \
    X(Reduce, reduce, 7, collective, own, 2, 3, 6)                       \
    X(Scan, scan, 6, collective, own, 2, 3, 5)                           \
    X(Exscan, exscan, 6, collective, own, 2, 3, 5)                       \
    X(Gather, gather, 8, collective, own, 1, 2, 7)                       \
    X(Gatherv, gatherv, 9, collective, own, 1, 2, 8)                     \
    X(Scatter, scatter, 8, collective, own, 4, 5, 7)                     \
    X(Scatterv, scatterv, 9, collective, own, 5, 6, 8)                   \
    X(Ibarrier, ibarrier, 2, collective, none, 0, 0, 0)                  \
    X(Ibcast, ibcast, 6, collective, own, 1, 2, 4)                       \
    X(Iallreduce, iallreduce, 7, collective, own, 2, 3, 5)               \
    X(Iallgather, iallgather, 8, collective, own, 4, 5, 6)               \
    X(Ialltoall, ialltoall, 8, collective, each, 4, 5, 6)

enum Id : int {
#define X(Name, lower, n, kind, amount, count, type, comm) id_##Name,
    CALLS(X)
#undef X
        ids
};

constexpr Form forms[] = {
#define X(Name, lower, n, kind, amount, count, type, comm) \
    {"MPI_" #Name, Kind::kind, Amount::amount, count, type, comm},
    CALLS(X)
#undef X
};

Tally tallies[ids + 1];  // the last is that of the cost of a call
Form probe{"", Kind::send, Amount::none, 0, 0, 0};
std::uint64_t begin_ns = 0;
double overhead_s = 0;
/// Whether a call stands within another: some MPIs make their Fortran calls by those of C.
thread_local bool within __attribute__((tls_model("initial-exec"))) = false;

std::uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1000000000ULL * static_cast<std::uint64_t>(time.tv_sec) + static_cast<std::uint64_t>(time.tv_nsec);
}

void add(std::uint64_t& to, std::uint64_t amount) { __atomic_fetch_add(&to, amount, __ATOMIC_RELAXED); }

Next c_type_size("MPI_Type_size");
Next c_comm_size("MPI_Comm_size");
Next f_type_size("mpi_type_size_");
Next f_comm_size("mpi_comm_size_");

/// The size of a type, or of a communicator, by the MPI itself.
int size_by(Next& c, Next& f, Word handle, bool fortran) {
    int size = 0;
    int error = 0;
    if (fortran) {
        reinterpret_cast<void (*)(Word, int*, int*)>(f.get())(handle, &size, &error);
    } else {
        reinterpret_cast<int (*)(Word, int*)>(c.get())(handle, &size);
    }
    return size;
}

/// In C, MPI_IN_PLACE is one of these; the count and the type beside it need not be valid.
bool in_place(Word buffer) { return buffer == 1 || buffer == static_cast<Word>(-1); }

/// Bytes that this rank contributes. Nothing is asked of a type of which there is no element: it may be none.
std::uint64_t bytes_of(const Form& form, const Word* words, bool fortran) {
    if (form.amount == Amount::none || (!fortran && in_place(words[form.count - 1]))) {
        return 0;
    }
    const Word given = words[form.count];
    std::int64_t elements = 0;
    if (form.amount == Amount::listed) {
        const int ranks = size_by(c_comm_size, f_comm_size, words[form.comm], fortran);
        for (int rank = 0; rank < ranks; ++rank) {
            elements += reinterpret_cast<const int*>(given)[rank];
        }
    } else {
        elements = fortran ? *reinterpret_cast<const int*>(given) : static_cast<int>(given);
        if (elements > 0 && form.amount == Amount::each) {
            elements *= size_by(c_comm_size, f_comm_size, words[form.comm], fortran);
        }
    }
    if (elements <= 0) {
        return 0;
    }
    return static_cast<std::uint64_t>(elements) *
           static_cast<std::uint64_t>(size_by(c_type_size, f_type_size, words[form.type], fortran));
}

template <class... Words>
int timed(const Form& form, Tally& tally, Next& next, bool fortran, Words... words) {
    auto* function = reinterpret_cast<int (*)(Words...)>(next.get());
    if (within || begin_ns == 0) {
        return function(words...);
    }
    within = true;
    const Word given[] = {words...};
    const std::uint64_t bytes = bytes_of(form, given, fortran);
    const std::uint64_t begin = now_ns();
    const int result = function(words...);
    add(tally.nanoseconds, now_ns() - begin);
    add(tally.calls, 1);
    if (bytes > 0) {
        add(tally.bytes, bytes);
        const int size = bytes > 1 ? 64 - __builtin_clzll(bytes - 1) : 0;
        add(tally.sizes[size < most_sizes ? size : most_sizes - 1], 1);
    }
    within = false;
    return result;
}

int nothing(Word /*unused*/) { return 0; }

/// Measures the cost of a call beyond the MPI's, then begins the time that calls are shares of.
void open_window() {
    constexpr int batches = 10;
    constexpr int probes = 200;
    Next next("", reinterpret_cast<void*>(&nothing));
    for (int batch = 0; batch < batches; ++batch) {
        const std::uint64_t begin = begin_ns = now_ns();
        for (int i = 0; i < probes; ++i) {
            timed(probe, tallies[ids], next, false, Word{0});
        }
        const double each_s = 1e-9 * static_cast<double>(now_ns() - begin) / probes;
        overhead_s = batch == 0 || each_s < overhead_s ? each_s : overhead_s;  // others disturb most of them
    }
    begin_ns = now_ns();
}

/// Writes what was counted to the file that the starter named: once, and nothing where it named none.
void close_window() {
    const char* path = std::getenv("ASSAY_MPI_TIMES");
    char part[4096];
    if (begin_ns == 0 || path == nullptr ||
        std::snprintf(part, sizeof part, "%s.part", path) >= static_cast<int>(sizeof part)) {
        return;
    }
    std::FILE* file = std::fopen(part, "we");
    if (file == nullptr) {
        return;
    }
    std::fprintf(file, "{\"seconds\":%.9f,\"overhead_s\":%.3e,\"calls\":{",
                 1e-9 * static_cast<double>(now_ns() - begin_ns), overhead_s);
    const char* comma = "";
    for (int id = 0; id < ids; ++id) {
        const Tally& tally = tallies[id];
        if (tally.calls == 0) {
            continue;
        }
        std::fprintf(file, "%s\"%s\":{\"kind\":\"%s\",\"calls\":%llu,\"seconds\":%.9f,\"bytes\":%llu,\"sizes\":{",
                     comma, forms[id].name, kinds[static_cast<int>(forms[id].kind)],
                     static_cast<unsigned long long>(tally.calls), 1e-9 * static_cast<double>(tally.nanoseconds),
                     static_cast<unsigned long long>(tally.bytes));
        comma = "";
        for (int size = 0; size < most_sizes; ++size) {
            if (tally.sizes[size] > 0) {
                std::fprintf(file, "%s\"%llu\":%llu", comma, 1ULL << static_cast<unsigned>(size),
                             static_cast<unsigned long long>(tally.sizes[size]));
                comma = ",";
            }
        }
        std::fputs("}}", file);
        comma = ",";
    }
    std::fputs("}}", file);
    if (std::fclose(file) == 0) {
        std::rename(part, path);
    }
    begin_ns = 0;
}

/// A call that begins the use of the MPI.
template <class... Words>
int opening(Next& next, Words... words) {
    const bool outer = !within;
    within = true;
    const int result = reinterpret_cast<int (*)(Words...)>(next.get())(words...);
    within = !outer;
    if (outer) {
        open_window();
    }
    return result;
}

/// The call that ends it.
template <class... Words>
int closing(Next& next, Words... words) {
    const bool outer = !within;
    if (outer) {
        close_window();
    }
    within = true;
    const int result = reinterpret_cast<int (*)(Words...)>(next.get())(words...);
    within = !outer;
    return result;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

#define X(Name, lower, n, kind, amount, count, type, comm)                         \
    EXPORTED int MPI_##Name(WORDS_##n) {                                           \
        static Next next("MPI_" #Name);                                            \
        return timed(forms[id_##Name], tallies[id_##Name], next, false, PASS_##n); \
    }                                                                              \
    EXPORTED void mpi_##lower##_(WORDS_##n, Word error) {                          \
        static Next next("mpi_" #lower "_");                                       \
        timed(forms[id_##Name], tallies[id_##Name], next, true, PASS_##n, error);  \
    }                                                                              \
    EXPORTED void mpi_##lower##_f08_(WORDS_##n, Word error) {                      \
        static Next next("mpi_" #lower "_f08_");                                   \
        timed(forms[id_##Name], tallies[id_##Name], next, true, PASS_##n, error);  \
    }
CALLS(X)
#undef X

EXPORTED int MPI_Init(Word a, Word b) {
    static Next next("MPI_Init");
    return opening(next, a, b);
}
EXPORTED int MPI_Init_thread(Word a, Word b, Word c, Word d) {
    static Next next("MPI_Init_thread");
    return opening(next, a, b, c, d);
}
EXPORTED int MPI_Finalize() {
    static Next next("MPI_Finalize");
    return closing(next);
}

#define FORTRAN(suffix)                                                  \
    EXPORTED void mpi_init_##suffix(Word error) {                        \
        static Next next("mpi_init_" #suffix);                           \
        opening(next, error);                                            \
    }                                                                    \
    EXPORTED void mpi_init_thread_##suffix(Word a, Word b, Word error) { \
        static Next next("mpi_init_thread_" #suffix);                    \
        opening(next, a, b, error);                                      \
    }                                                                    \
    EXPORTED void mpi_finalize_##suffix(Word error) {                    \
        static Next next("mpi_finalize_" #suffix);                       \
        closing(next, error);                                            \
    }
FORTRAN()
FORTRAN(f08_)
