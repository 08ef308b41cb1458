// The main of every benchmark.
#pragma once

#include "harness/arguments.hpp"
#include "harness/benchmark.hpp"

namespace assay {

/// What threads a rank has, and whether they pass messages: no more than needed, for MPI takes its time for each.
/// With Open MPI 4.1 a small message between two cores lasts a fifth longer with `funneled` than with `single`.
enum class Threads { single, funneled, multiple };

/// Makes the ranks of a launch, once it is known to be one.
using Join = std::unique_ptr<Ranks> (*)(Threads threads);

/// As `run_program`, with the ranks that `join` makes.
int run_ranks(const Declaration& declaration, Factory factory, Join join, int argc, char** argv);

/// Reads the command line, measures each case it names and writes the records; the result is the exit code.
int run_program(const Declaration& declaration, Factory factory, int argc, char** argv);

}  // namespace assay
