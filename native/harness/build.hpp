// What this program was compiled with.
#pragma once

#include <map>
#include <string>

namespace assay {

/// Compiler, its version, flags, whether there is OpenMP and which non-temporal stores there are.
std::map<std::string, std::string> build();

}  // namespace assay
