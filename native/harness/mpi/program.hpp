// The main function of MPI benchmarks.
#pragma once

#include "harness/benchmark.hpp"
#include "harness/program.hpp"

namespace assay {

/// Like `run_program`, with all processes that the MPI launcher started; rank 0 writes records and messages. All
/// return the same exit code.
int run_mpi_program(const Declaration& declaration, Factory factory, int argc, char** argv);

/// The same for a benchmark class that is constructed from a Setting.
template <class Type>
int run_mpi_program(const Declaration& declaration, int argc, char** argv) {
    return run_mpi_program(declaration, create<Type>, argc, argv);
}

}  // namespace assay
