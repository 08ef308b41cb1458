// The main function of benchmarks.
#pragma once

#include "harness/arguments.hpp"
#include "harness/benchmark.hpp"

namespace assay {

/// Which threads a rank has, and whether they pass messages. MPI gets the lowest sufficient level, because each
/// costs time: with Open MPI 4.1 a small message between two cores takes a fifth longer with `funneled` than
/// with `single`.
enum class Threads { single, funneled, multiple };

/// Creates the ranks of a launch, if the program measures.
using Join = std::unique_ptr<Ranks> (*)(Threads threads);

/// Like `run_program`, with the ranks that `join` creates.
int run_ranks(const Declaration& declaration, Factory factory, Join join, int argc, char** argv);

/// Reads the command line, measures each case and writes the records. Returns the exit code.
int run_program(const Declaration& declaration, Factory factory, int argc, char** argv);

/// The factory of a benchmark class that is constructed from a Setting.
template <class Type>
std::unique_ptr<Benchmark> create(const Setting& setting) {
    return std::make_unique<Type>(setting);
}

/// The same for such a class.
template <class Type>
int run_program(const Declaration& declaration, int argc, char** argv) {
    return run_program(declaration, create<Type>, argc, argv);
}

}  // namespace assay
