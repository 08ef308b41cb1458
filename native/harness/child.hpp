// An external command as a child process: placed before it starts, observed while it runs, its output kept
// whole.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/memory.hpp"
#include "harness/records.hpp"

namespace assay {

/// What to start, and where.
struct Command {
    std::vector<std::string> words;             ///< program and arguments
    std::vector<int> cpus;                      ///< for all of its threads
    MemoryPolicy memory;                        ///< for all of its pages
    std::map<std::string, std::string> inputs;  ///< file -> content, in the temporary folder in which it starts
    std::map<std::string, std::string> files;   ///< file in that folder -> path of its original
    std::string prologue;  ///< shell commands that prepare the folder, before the clock starts; empty for none
    std::string prefix;    ///< folder whose programs and libraries have priority; empty for none
    std::string output;    ///< file in that folder with the results, `*` for a part of its name; empty for stdout
    std::string_view interposed;  ///< bytes of a library to preload; empty for none
    double limit_s = 0;           ///< time limit of the command, and of its prologue; 0 for none
};

/// How a command ran.
struct Outcome {
    std::string output;  ///< whole; invalid UTF-8 is replaced
    std::string reason;  ///< why it failed; empty after exit code 0
    double seconds = 0;  ///< from start to end
    bool threads_pinned = false;
    std::vector<int> cpus;  ///< of each thread if they are pinned, else all cpus on which its threads were found
    PageNodes page_nodes;   ///< when it held the most pages
    std::optional<double> huge_page_share;      ///< of its memory then
    std::map<std::string, std::string> loaded;  ///< `program`, `mpi`, `blas` -> its file
    std::string interposed;                     ///< what that library wrote; empty if nothing
    ProcessUsage usage;  ///< from the kernel's accounts of it and of all processes that it waited for
};

/// Handles SIGTERM, which launchers send to all ranks when one is dead: the command ends, and its output is
/// kept.
void end_command_on_sigterm();

/// Starts the command, waits for its end and returns what was observed. Failure (environment) if it cannot be
/// started.
Outcome run_child(const Command& command);

}  // namespace assay
