// What is counted of an MPI call, with any MPI, and how it is written; see mpi_times.cpp and linked.cpp.
//
// It needs no MPI header. A handle is an int in one MPI and a pointer in another; the ABI passes both in a
// machine word, and words are passed on unchanged. Fortran passes the addresses of all arguments.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

using Word = std::uintptr_t;
static_assert(sizeof(long) == sizeof(void*), "an argument of any type is a machine word");

/// How a call concerns other ranks. `all`: no rank leaves before the last one has arrived.
enum class Kind { send, wait, collective, all };
constexpr const char* kinds[] = {"send", "wait", "collective", "all"};

/// How many elements a rank contributes. `none`: nothing is counted; `own`: argument `count`; `each`: that for
/// each rank; `listed`: a list; `shared`: its share of a list of all ranks (the mean); `started`: what the
/// persistent requests at `type` were made for.
enum class Amount { none, own, each, listed, shared, started };

struct Form {
    const char* name;
    Kind kind;
    Amount amount;
    int count;  ///< which argument
    int type;   ///< which argument
    int comm;   ///< which argument
};

constexpr int max_sizes = 48;

struct Tally {
    std::uint64_t calls;
    std::uint64_t nanoseconds;
    std::uint64_t bytes;
    std::uint64_t sizes[max_sizes];  ///< calls of up to 2^i bytes
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

// Name, Fortran name, number of arguments, kind, amount, and which arguments are count, type and communicator.
// For calls that may be in place, the received data gives each rank's contribution: it is valid on all ranks.
#define CALLS(X)                                                         \
    X(Send, send, 6, send, own, 1, 2, 5)                                 \
    X(Ssend, ssend, 6, send, own, 1, 2, 5)                               \
    X(Bsend, bsend, 6, send, own, 1, 2, 5)                               \
    X(Rsend, rsend, 6, send, own, 1, 2, 5)                               \
    X(Isend, isend, 7, send, own, 1, 2, 5)                               \
    X(Issend, issend, 7, send, own, 1, 2, 5)                             \
    X(Start, start, 1, send, started, 0, 0, 0)                           \
    X(Startall, startall, 2, send, started, 0, 1, 0)                     \
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
    X(Allgatherv, allgatherv, 8, all, shared, 4, 6, 7)                   \
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

/// Calls that create persistent requests, and whether these send.
#define PERSISTENT_CALLS(X)         \
    X(Send_init, send_init, true)   \
    X(Ssend_init, ssend_init, true) \
    X(Bsend_init, bsend_init, true) \
    X(Rsend_init, rsend_init, true) \
    X(Recv_init, recv_init, false)

constexpr Form forms[] = {
#define X(Name, lower, n, kind, amount, count, type, comm) \
    {"MPI_" #Name, Kind::kind, Amount::amount, count, type, comm},
    CALLS(X)
#undef X
};

Tally tallies[ids + 1];  // the last one is for the cost of a call
Form probe{"", Kind::send, Amount::none, 0, 0, 0};
std::uint64_t begin_ns = 0;    ///< start of the counted time; 0 while nothing is counted
std::uint64_t counted_ns = 0;  ///< counted time that is over
double overhead_s = 0;
/// Whether a call is inside another one: some MPIs implement their Fortran calls by those of C.
thread_local bool inside_call __attribute__((tls_model("initial-exec"))) = false;

std::uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1000000000ULL * static_cast<std::uint64_t>(time.tv_sec) + static_cast<std::uint64_t>(time.tv_nsec);
}

void add(std::uint64_t& to, std::uint64_t amount) { __atomic_fetch_add(&to, amount, __ATOMIC_RELAXED); }

// Defined by the including file: MPI functions for C or Fortran, and the bytes of a handle in C.
void* type_size(bool fortran);
void* comm_size(bool fortran);
std::size_t handle_bytes();

/// The size of a type or of a communicator, from the MPI itself.
int size_by(void* function, Word handle, bool fortran) {
    int size = 0;
    int error = 0;
    if (fortran) {
        reinterpret_cast<void (*)(Word, int*, int*)>(function)(handle, &size, &error);
    } else {
        reinterpret_cast<int (*)(Word, int*)>(function)(handle, &size);
    }
    return size;
}

/// In C, MPI_IN_PLACE has one of these values; the count and type next to it need not be valid.
bool in_place(Word buffer) { return buffer == 1 || buffer == static_cast<Word>(-1); }

/// Bytes that this rank contributes. Without elements the type is not queried: it may be invalid.
std::uint64_t bytes_of(const Form& form, const Word* words, bool fortran) {
    if (form.amount == Amount::none || (!fortran && in_place(words[form.count - 1]))) {
        return 0;
    }
    const Word given = words[form.count];
    // Absent neighbours (MPI_PROC_NULL) are negative in every MPI.
    const bool to_one = form.kind == Kind::send || form.kind == Kind::wait;
    if (to_one && (fortran ? *reinterpret_cast<const int*>(words[3]) : static_cast<int>(words[3])) < 0) {
        return 0;
    }
    std::int64_t elements = 0;
    if (form.amount == Amount::listed || form.amount == Amount::shared) {
        const int ranks = size_by(comm_size(fortran), words[form.comm], fortran);
        for (int rank = 0; rank < ranks; ++rank) {
            elements += reinterpret_cast<const int*>(given)[rank];
        }
        elements /= form.amount == Amount::shared ? ranks : 1;
    } else {
        elements = fortran ? *reinterpret_cast<const int*>(given) : static_cast<int>(given);
        if (elements > 0 && form.amount == Amount::each) {
            elements *= size_by(comm_size(fortran), words[form.comm], fortran);
        }
    }
    if (elements <= 0) {
        return 0;
    }
    return static_cast<std::uint64_t>(elements) *
           static_cast<std::uint64_t>(size_by(type_size(fortran), words[form.type], fortran));
}

/// One message of a call.
void add_message(Tally& tally, std::uint64_t bytes) {
    if (bytes > 0) {
        add(tally.bytes, bytes);
        const int size = bytes > 1 ? 64 - __builtin_clzll(bytes - 1) : 0;
        add(tally.sizes[size < max_sizes ? size : max_sizes - 1], 1);
    }
}

/// What a persistent request sends at each start. Requests beyond the table pass without their bytes.
struct Persistent {
    std::uint64_t request;
    std::uint64_t bytes;
};
constexpr std::uint64_t max_persistent = 4096;
constexpr std::uint64_t max_probes = 64;
Persistent persistent[max_persistent];

/// Place of a request in the table, or a free one; null if there is no room.
Persistent* place_of(std::uint64_t request) {
    const std::uint64_t first = request * 0x9E3779B97F4A7C15ULL >> 40U;
    for (std::uint64_t probe = 0; probe < max_probes; ++probe) {
        Persistent& place = persistent[(first + probe) % max_persistent];
        const std::uint64_t there = __atomic_load_n(&place.request, __ATOMIC_ACQUIRE);
        if (there == 0 || there == request) {
            return &place;
        }
    }
    return nullptr;
}

std::uint64_t request_at(Word address, std::size_t index, bool fortran) {
    const std::size_t bytes = fortran ? sizeof(int) : handle_bytes();
    std::uint64_t request = 0;  // a shorter handle fills the lower half on little-endian machines
    std::memcpy(&request, reinterpret_cast<const char*>(address) + index * bytes, bytes);
    return request;
}

/// A call that creates a persistent request, at its seventh argument. Requests that receive send nothing.
template <class... Words>
int persistent_call(bool sends, void* function, bool fortran, Words... words) {
    const int result = reinterpret_cast<int (*)(Words...)>(function)(words...);
    const Word given[] = {words...};
    const std::uint64_t request = request_at(given[6], 0, fortran);
    if (Persistent* place = place_of(request)) {
        place->bytes = sends ? bytes_of({"", Kind::send, Amount::own, 1, 2, 5}, given, fortran) : 0;
        __atomic_store_n(&place->request, request, __ATOMIC_RELEASE);
    }
    return result;
}

/// Adds the messages of a call, before it is made: afterwards its requests may be gone.
void add_messages(const Form& form, Tally& tally, const Word* words, bool fortran) {
    if (form.amount != Amount::started) {
        add_message(tally, bytes_of(form, words, fortran));
        return;
    }
    const Word number = words[form.count];
    const int several = fortran ? *reinterpret_cast<const int*>(number) : static_cast<int>(number);
    const int requests = form.count == form.type ? 1 : several;
    for (int each = 0; each < requests; ++each) {
        const std::uint64_t request = request_at(words[form.type], static_cast<std::size_t>(each), fortran);
        const Persistent* place = place_of(request);
        add_message(tally, place != nullptr && place->request == request ? place->bytes : 0);
    }
}

template <class... Words>
int timed(const Form& form, Tally& tally, void* found, bool fortran, Words... words) {
    auto* function = reinterpret_cast<int (*)(Words...)>(found);
    if (inside_call || begin_ns == 0) {
        return function(words...);
    }
    inside_call = true;
    const Word given[] = {words...};
    add_messages(form, tally, given, fortran);
    const std::uint64_t begin = now_ns();
    const int result = function(words...);
    add(tally.nanoseconds, now_ns() - begin);
    add(tally.calls, 1);
    inside_call = false;
    return result;
}

int nothing(Word /*unused*/) { return 0; }

/// Measures the cost of a call beyond the MPI's own.
void measure_overhead() {
    constexpr int batches = 10;
    constexpr int probes = 200;
    for (int batch = 0; batch < batches; ++batch) {
        const std::uint64_t begin = begin_ns = now_ns();
        for (int i = 0; i < probes; ++i) {
            timed(probe, tallies[ids], reinterpret_cast<void*>(&nothing), false, Word{0});
        }
        const double each_s = 1e-9 * static_cast<double>(now_ns() - begin) / probes;
        overhead_s = batch == 0 || each_s < overhead_s ? each_s : overhead_s;  // most of the batches are disturbed
    }
    begin_ns = 0;
}

void begin() { begin_ns = now_ns(); }

void pause() {
    counted_ns += now_ns() - begin_ns;
    begin_ns = 0;
}

/// Writes the counts as JSON.
void print(std::FILE* file) {
    std::fprintf(file, "{\"seconds\":%.9f,\"overhead_s\":%.3e,\"calls\":{", 1e-9 * static_cast<double>(counted_ns),
                 overhead_s);
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
        for (int size = 0; size < max_sizes; ++size) {
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
}

}  // namespace
