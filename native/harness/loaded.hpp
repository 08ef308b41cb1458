// The files that decide how fast a process is: its program, and the MPI and the BLAS that it has loaded.
#pragma once

#include <map>
#include <string>

namespace assay {

/// `mpi` and `blas` -> file of the library that a process (its number, or `self`) has mapped; one that it has not
/// is absent. Of several the one that computes: a reference BLAS may be mapped beside the one that replaces it.
std::map<std::string, std::string> loaded_libraries(const std::string& process);

/// File of the program that a process executes; empty if the kernel does not say.
std::string program_file(int process);

}  // namespace assay
