// Environment variables that can change how messages are passed.
#pragma once

#include <map>
#include <string>

namespace assay {

/// Those with a known prefix of MPI libraries, launchers and transports; none whose name indicates a secret or
/// an address. `variables` is like `environ`: `NAME=value`, ended by a null pointer.
std::map<std::string, std::string> library_environment(const char* const* variables);

}  // namespace assay
