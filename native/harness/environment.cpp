#include "harness/environment.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace assay {
namespace {

constexpr std::array<std::string_view, 11> prefixes{"OMPI_MCA_",  "PRTE_MCA_", "PMIX_MCA_",     "MPICH_",
                                                    "MPIR_CVAR_", "I_MPI_",    "UCX_",          "FI_",
                                                    "HYDRA_",     "PSM",       "SLURM_MPI_TYPE"};
/// Secrets and addresses; the later ones differ in each launch or place of Open MPI and are no settings.
constexpr std::array<std::string_view, 11> private_words{"KEY",        "SECRET",       "TOKEN",        "PASS",
                                                         "CRED",       "URI",          "MCA_ORTE_",    "MCA_ESS",
                                                         "TRANSPORTS", "INITIAL_WDIR", "RUNTIME_QUERY"};

bool is_wanted(std::string_view variable) {
    std::string name(variable);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return variable.substr(0, prefix.size()) == prefix; }) &&
           std::none_of(private_words.begin(), private_words.end(),
                        [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

}  // namespace

std::map<std::string, std::string> library_environment(const char* const* variables) {
    std::map<std::string, std::string> wanted;
    for (; *variables != nullptr; ++variables) {
        const std::string_view variable(*variables);
        const std::size_t equals = variable.find('=');
        if (equals != std::string_view::npos && is_wanted(variable.substr(0, equals))) {
            wanted[std::string(variable.substr(0, equals))] = variable.substr(equals + 1);
        }
    }
    return wanted;
}

}  // namespace assay
