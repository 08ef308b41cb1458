// The main of every benchmark.
#pragma once

#include "harness/benchmark.hpp"

namespace assay {

/// Reads the command line, measures each case it names and writes the records; the result is the exit code.
int run_program(const Declaration& declaration, Factory factory, int argc, char** argv);

}  // namespace assay
