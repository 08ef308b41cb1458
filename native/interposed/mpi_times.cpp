// Interposed between a program and any MPI by LD_PRELOAD: counts and times its calls.
#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>

#include "interposed/mpi_calls.hpp"

namespace {

/// An MPI function, looked up at its first use: programs without messages are preloaded as well.
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

Next c_type_size("MPI_Type_size");
Next c_comm_size("MPI_Comm_size");
Next f_type_size("mpi_type_size_");
Next f_comm_size("mpi_comm_size_");

void* type_size(bool fortran) { return fortran ? f_type_size.get() : c_type_size.get(); }
void* comm_size(bool fortran) { return fortran ? f_comm_size.get() : c_comm_size.get(); }

/// Handles are pointers in Open MPI, and int elsewhere.
std::size_t handle_bytes() {
    static const bool open_mpi = [] {
        void* library = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_NOLOAD);
        return dlsym(library != nullptr ? library : RTLD_DEFAULT, "ompi_mpi_comm_world") != nullptr;
    }();
    return open_mpi ? sizeof(void*) : sizeof(int);
}

/// Writes the counts to the file that the starter named, once; nothing if it named none.
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
    pause();
    print(file);
    if (std::fclose(file) == 0) {
        std::rename(part, path);
    }
}

/// A call that starts MPI.
template <class... Words>
int opening(Next& next, Words... words) {
    const bool outer = !inside_call;
    inside_call = true;
    const int result = reinterpret_cast<int (*)(Words...)>(next.get())(words...);
    inside_call = !outer;
    if (outer) {
        measure_overhead();
        begin();
    }
    return result;
}

/// The call that ends MPI.
template <class... Words>
int closing(Next& next, Words... words) {
    const bool outer = !inside_call;
    if (outer) {
        close_window();
    }
    inside_call = true;
    const int result = reinterpret_cast<int (*)(Words...)>(next.get())(words...);
    inside_call = !outer;
    return result;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

#define X(Name, lower, n, kind, amount, count, type, comm)                               \
    EXPORTED int MPI_##Name(WORDS_##n) {                                                 \
        static Next next("MPI_" #Name);                                                  \
        return timed(forms[id_##Name], tallies[id_##Name], next.get(), false, PASS_##n); \
    }                                                                                    \
    EXPORTED void mpi_##lower##_(WORDS_##n, Word error) {                                \
        static Next next("mpi_" #lower "_");                                             \
        timed(forms[id_##Name], tallies[id_##Name], next.get(), true, PASS_##n, error);  \
    }                                                                                    \
    EXPORTED void mpi_##lower##_f08_(WORDS_##n, Word error) {                            \
        static Next next("mpi_" #lower "_f08_");                                         \
        timed(forms[id_##Name], tallies[id_##Name], next.get(), true, PASS_##n, error);  \
    }
CALLS(X)
#undef X

#define X(Name, lower, sends)                                     \
    EXPORTED int MPI_##Name(WORDS_7) {                            \
        static Next next("MPI_" #Name);                           \
        return persistent_call(sends, next.get(), false, PASS_7); \
    }                                                             \
    EXPORTED void mpi_##lower##_(WORDS_7, Word error) {           \
        static Next next("mpi_" #lower "_");                      \
        persistent_call(sends, next.get(), true, PASS_7, error);  \
    }                                                             \
    EXPORTED void mpi_##lower##_f08_(WORDS_7, Word error) {       \
        static Next next("mpi_" #lower "_f08_");                  \
        persistent_call(sends, next.get(), true, PASS_7, error);  \
    }
PERSISTENT_CALLS(X)
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
