// Variables of the environment that can change how messages are passed.
#pragma once

#include <map>
#include <string>

namespace assay {

/// Those of an allowlist of prefixes of MPI libraries, their launchers and transports; none whose name says that
/// it holds a secret or an address. `variables` as `environ`: `NAME=value`, ended by a null pointer.
std::map<std::string, std::string> library_environment(const char* const* variables);

}  // namespace assay
