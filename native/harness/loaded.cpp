#include "harness/loaded.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay {
namespace {

/// Role -> beginnings of the names of its libraries; an earlier one counts before a later one.
const std::vector<std::pair<const char*, std::vector<std::string_view>>>& known_libraries() {
    static const std::vector<std::pair<const char*, std::vector<std::string_view>>> known{
        {"mpi", {"libmpi.so", "libmpich.so", "libmpi_cray.so", "libmpi_gnu", "libmpi_intel"}},
        {"blas",
         {"libopenblas", "libscipy_openblas", "libblis", "libmkl_rt", "libmkl_core", "libarmpl", "libsci_",
          "libsatlas", "libtatlas", "libatlas", "libcblas.so", "libblas.so"}}};
    return known;
}

}  // namespace

std::map<std::string, std::string> loaded_libraries(const std::string& process) {
    std::set<std::string> files;
    std::ifstream maps("/proc/" + process + "/maps");
    for (std::string line; std::getline(maps, line);) {
        const std::size_t path = line.find('/');
        if (path != std::string::npos && line.find(".so", path) != std::string::npos) {
            files.insert(line.substr(path));
        }
    }
    std::map<std::string, std::string> found;
    for (const auto& [role, names] : known_libraries()) {
        for (const std::string_view name : names) {
            for (const std::string& file : files) {
                if (file.compare(file.rfind('/') + 1, name.size(), name) == 0) {
                    found.insert({role, file});
                }
            }
        }
    }
    return found;
}

std::string program_file(int process) {
    std::error_code unreadable;
    const std::filesystem::path file =
        std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", unreadable);
    return unreadable ? "" : file.string();
}

}  // namespace assay
