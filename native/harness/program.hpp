// The main of every benchmark.
#pragma once

#include "harness/arguments.hpp"
#include "harness/benchmark.hpp"

namespace assay {

/// Makes the ranks of a launch, once it is known to be one; `threads`: they may pass messages at once.
using Join = std::unique_ptr<Ranks> (*)(bool threads);

/// As `run_program`, with the ranks that `join` makes.
int run_ranks(const Declaration& declaration, Factory factory, Join join, int argc, char** argv);

/// Reads the command line, measures each case it names and writes the records; the result is the exit code.
int run_program(const Declaration& declaration, Factory factory, int argc, char** argv);

}  // namespace assay
