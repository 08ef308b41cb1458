// The library that is interposed, as bytes: the starter brings it along wherever it is copied to.
#pragma once

#include <string_view>

namespace assay {

/// What a file must hold to be preloaded; see mpi_times.cpp.
std::string_view mpi_times_library();

}  // namespace assay
