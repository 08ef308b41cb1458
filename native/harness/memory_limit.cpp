// Memory that this process may use now.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "harness/memory.hpp"

namespace assay {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// The number in a file; none for `max` or a missing file.
std::optional<std::uint64_t> read_number(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

/// The number behind a word at the start of a line.
std::optional<std::uint64_t> read_entry(const std::string& path, const std::string& word) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string first;
        std::uint64_t number = 0;
        if (fields >> first >> number && first == word) {
            return number;
        }
    }
    return std::nullopt;
}

/// File names of one version of the memory controller.
struct Controller {
    std::string mount;
    std::string limit;
    std::string usage;
    std::string reclaimable;  ///< entry of memory.stat: file pages that the kernel frees on demand
};

/// Bytes that a control group and all groups above it leave. A container may not see its own path: then its root
/// is read.
std::uint64_t group_limit(const Controller& controller, std::string path) {
    std::uint64_t left = unlimited;
    for (;;) {
        const std::string folder = controller.mount + path;
        const auto limit = read_number(folder + "/" + controller.limit);
        const auto usage = read_number(folder + "/" + controller.usage);
        if (limit && usage) {
            const std::uint64_t used =
                *usage - std::min(*usage, read_entry(folder + "/memory.stat", controller.reclaimable).value_or(0));
            left = std::min(left, *limit - std::min(*limit, used));
        }
        if (path.empty() || path == "/") {
            return left;
        }
        path.erase(path.rfind('/'));
    }
}

std::uint64_t groups_limit(const KernelFiles& files) {
    const Controller first{files.sys + "/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                           "total_inactive_file"};
    const Controller second{files.sys + "/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
    std::uint64_t left = unlimited;
    std::ifstream groups(files.proc + "/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const std::size_t colon = line.find(':');
        const std::size_t next = line.find(':', colon + 1);
        if (colon == std::string::npos || next == std::string::npos) {
            continue;
        }
        const std::string controllers = "," + line.substr(colon + 1, next - colon - 1) + ",";
        if (controllers == ",,") {
            left = std::min(left, group_limit(second, line.substr(next + 1)));
        } else if (controllers.find(",memory,") != std::string::npos) {
            left = std::min(left, group_limit(first, line.substr(next + 1)));
        }
    }
    return left;
}

std::uint64_t address_space_limit(const KernelFiles& files) {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return unlimited;
    }
    const std::uint64_t used =
        read_number(files.proc + "/self/statm").value_or(0) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
}

}  // namespace

MemoryLimit memory_limit(const KernelFiles& files) {
    const auto available = read_entry(files.proc + "/meminfo", "MemAvailable:");
    MemoryLimit tightest{available ? *available * 1024 : unlimited, "the machine (MemAvailable)"};
    for (const MemoryLimit& other :
         {MemoryLimit{groups_limit(files), "the control group's memory limit"},
          MemoryLimit{address_space_limit(files), "the address space limit (ulimit -v)"}}) {
        if (other.bytes < tightest.bytes) {
            tightest = other;
        }
    }
    return tightest;
}

}  // namespace assay
