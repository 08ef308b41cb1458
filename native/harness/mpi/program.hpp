// The main of every benchmark that is an MPI program.
#pragma once

#include "harness/benchmark.hpp"
#include "harness/program.hpp"

namespace assay {

/// As `run_program`, with all processes that MPI's launcher started; rank 0 writes the records and says the words.
/// The result is the exit code, the same on each.
int run_mpi_program(const Declaration& declaration, Factory factory, int argc, char** argv);

}  // namespace assay
