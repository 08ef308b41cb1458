// What this program was compiled with.
#pragma once

#include <map>
#include <string>

namespace assay {

/// Compiler, version, flags, OpenMP support and kind of non-temporal stores.
std::map<std::string, std::string> build();

}  // namespace assay
