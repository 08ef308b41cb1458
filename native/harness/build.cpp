#include "harness/build.hpp"

#include "harness/vector.hpp"

namespace assay {

std::map<std::string, std::string> build() {
    return {{"compiler", ASSAY_COMPILER},
            {"version", ASSAY_COMPILER_VERSION},
            {"flags", ASSAY_FLAGS},
#ifdef _OPENMP
            {"openmp", std::to_string(_OPENMP)},
#else
            {"openmp", "no"},
#endif
            {"vector_bytes", std::to_string(sizeof(Vector))},
            {"non_temporal_stores", has_non_temporal_stores ? "yes" : "no"}};
}

}  // namespace assay
