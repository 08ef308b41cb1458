// A command of somebody else as a child: placed before it starts, watched while it runs, its output kept whole.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/memory.hpp"
#include "harness/records.hpp"

namespace assay {

/// What is started, where.
struct Command {
    std::vector<std::string> words;             ///< program and arguments
    std::vector<int> cpus;                      ///< on which all of its threads run
    MemoryPolicy memory;                        ///< of all of its pages
    std::map<std::string, std::string> inputs;  ///< file -> content, in the folder of its own that it starts in
    std::map<std::string, std::string> files;   ///< file of that folder -> path of which it is a copy
    std::string prologue;  ///< line of a shell that prepares the folder, before the clock starts; empty for none
    std::string prefix;    ///< folder whose programs and libraries come first; empty for none
    std::string output;    ///< file of that folder that holds its results; empty for stdout
    std::string_view interposed;  ///< bytes of a library that is preloaded; empty for none
    double limit_s = 0;           ///< most seconds of the command, and of its prologue; 0 for no limit
};

/// How it ran.
struct Ended {
    std::string output;  ///< whole; bytes that are no UTF-8 are replaced
    std::string reason;  ///< why it failed; empty where it ended with exit code 0
    double seconds = 0;  ///< from its start to its end
    bool threads_pinned = false;
    std::vector<int> cpus;  ///< of each thread where they are pinned, else all cpus that its threads were found on
    PageNodes page_nodes;   ///< at the moment at which it held most pages
    std::string interposed;  ///< what that library wrote; empty where it wrote nothing
    ProcessUsage usage;      ///< by the kernel's accounts of it and of all that it waited for
};

/// On SIGTERM, as launchers send it to all ranks when one is dead, the command ends and what it wrote is kept.
void end_command_on_sigterm();

/// Starts the command, waits for its end and returns what was seen of it. Failure (environment) where it cannot be
/// started.
Ended run_child(const Command& command);

}  // namespace assay
