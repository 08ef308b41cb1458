// The main of every benchmark that is an MPI program.
#pragma once

#include <memory>

#include "harness/benchmark.hpp"
#include "harness/program.hpp"

namespace assay {

/// As `run_program`, with all processes that MPI's launcher started; rank 0 writes the records and says the words.
/// The result is the exit code, the same on each.
int run_mpi_program(const Declaration& declaration, Factory factory, int argc, char** argv);

/// The same of a benchmark's type, which is made of a Setting.
template <class Type>
int run_mpi_program(const Declaration& declaration, int argc, char** argv) {
    const auto make = [](const Setting& setting) -> std::unique_ptr<Benchmark> {
        return std::make_unique<Type>(setting);
    };
    return run_mpi_program(declaration, make, argc, argv);
}

}  // namespace assay
