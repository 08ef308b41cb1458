#include "harness/host.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

namespace assay {

std::string host() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string boot_id() {
    std::string id;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
    return id;
}

}  // namespace assay
