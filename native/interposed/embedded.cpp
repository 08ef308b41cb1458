#include "interposed/embedded.hpp"

#ifdef ASSAY_MPI_TIMES
asm(".section .rodata\n"
    ".global assay_mpi_times\n"
    ".global assay_mpi_times_end\n"
    "assay_mpi_times: .incbin \"" ASSAY_MPI_TIMES
    "\"\n"
    "assay_mpi_times_end: .byte 0\n"
    ".previous\n");

extern "C" const char assay_mpi_times[];
extern "C" const char assay_mpi_times_end[];

namespace assay {

std::string_view mpi_times_library() {
    return {assay_mpi_times, static_cast<std::size_t>(assay_mpi_times_end - assay_mpi_times)};
}

}  // namespace assay
#else
namespace assay {

std::string_view mpi_times_library() { return {}; }

}  // namespace assay
#endif
