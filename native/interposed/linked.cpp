// The same counters, linked into our own programs: they count while samples are taken.
#include <cstdlib>

#include "harness/counted.hpp"
#include "interposed/mpi_calls.hpp"

#define X(Name, lower, n, kind, amount, count, type, comm) extern "C" int PMPI_##Name(WORDS_##n);
CALLS(X)
#undef X
#define X(Name, lower, sends) extern "C" int PMPI_##Name(WORDS_7);
PERSISTENT_CALLS(X)
#undef X
extern "C" int PMPI_Type_size(WORDS_2);
extern "C" int PMPI_Comm_size(WORDS_2);
extern "C" [[gnu::weak]] char ompi_mpi_comm_world;  // NOLINT: Open MPI has it, and no other MPI

namespace {

void* type_size(bool /*fortran*/) { return reinterpret_cast<void*>(&PMPI_Type_size); }
void* comm_size(bool /*fortran*/) { return reinterpret_cast<void*>(&PMPI_Comm_size); }
std::size_t handle_bytes() { return &ompi_mpi_comm_world != nullptr ? sizeof(void*) : sizeof(int); }

}  // namespace

namespace assay::linked {

void count_calls(bool on) {
    if (on && overhead_s == 0) {
        measure_overhead();
    }
    on ? begin() : pause();
}

void forget_calls() {
    std::memset(tallies, 0, sizeof tallies);
    counted_ns = 0;
}

std::string counted_calls() {
    char* text = nullptr;
    std::size_t length = 0;
    std::FILE* file = open_memstream(&text, &length);
    print(file);
    std::fclose(file);
    std::string copy(text, length);
    std::free(text);
    return copy;
}

}  // namespace assay::linked

#define X(Name, lower, n, kind, amount, count, type, comm)                                               \
    extern "C" int MPI_##Name(WORDS_##n) {                                                               \
        return timed(forms[id_##Name], tallies[id_##Name], reinterpret_cast<void*>(&PMPI_##Name), false, \
                     PASS_##n);                                                                          \
    }
CALLS(X)
#undef X

#define X(Name, lower, sends)                                                                \
    extern "C" int MPI_##Name(WORDS_7) {                                                     \
        return persistent_call(sends, reinterpret_cast<void*>(&PMPI_##Name), false, PASS_7); \
    }
PERSISTENT_CALLS(X)
#undef X
