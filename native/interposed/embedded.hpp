// The interposed library as bytes: the starter carries it wherever it is copied.
#pragma once

#include <string_view>

namespace assay {

/// Content of a file to preload; see mpi_times.cpp.
std::string_view mpi_times_library();

}  // namespace assay
