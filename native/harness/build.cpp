#include "harness/build.hpp"

#include "compiled_with.hpp"
#include "harness/vector.hpp"

namespace assay {

std::map<std::string, std::string> build() {
    return {{"compiler", compiler},
            {"version", compiler_version},
            {"flags", compiler_flags},
#ifdef _OPENMP
            {"openmp", std::to_string(_OPENMP)},
#else
            {"openmp", "no"},
#endif
            {"vector_bytes", std::to_string(sizeof(Vector))},
            {"non_temporal_stores", has_non_temporal_stores ? "yes" : "no"}};
}

}  // namespace assay
