#include "harness/team.hpp"

#include <algorithm>

#include "harness/cpus.hpp"
#include "harness/failure.hpp"

namespace assay {

void require_allowed(const std::vector<int>& cpus, const std::vector<int>& allowed) {
    for (const int cpu : cpus) {
        if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end()) {
            const std::vector<int> present = listed("/sys/devices/system/cpu/present");
            const bool absent =
                !present.empty() && std::find(present.begin(), present.end(), cpu) == present.end();
            throw Failure(absent ? Exit::usage : Exit::environment,
                          "cpu " + std::to_string(cpu) + " cannot be used",
                          std::string(absent ? "it does not exist" : "this process may not run on it") +
                              "; allowed: " + format_list(allowed),
                          "--cpus " + format_list(allowed));
        }
    }
}

Team::Team(const std::vector<int>& cpus, const std::vector<int>& allowed)
    : size_(static_cast<int>(cpus.size())), barrier_(size_) {
    require_allowed(cpus, allowed);
#ifdef _OPENMP
    omp_set_dynamic(0);
    int threads = 0;
#pragma omp parallel num_threads(size_)
#pragma omp master
    threads = omp_get_num_threads();
    if (threads != size_) {
        throw Failure(Exit::environment,
                      "OpenMP gives " + std::to_string(threads) +
                          (threads == 1 ? " thread for " : " threads for ") + std::to_string(size_) + " cpus",
                      "OMP_THREAD_LIMIT or another limit of this environment", "unset OMP_THREAD_LIMIT");
    }
#else
    if (size_ > 1) {
        throw Failure(Exit::environment, "more than one cpu is asked for, but there is no OpenMP",
                      "the compiler that built this program has none",
                      "ask for one cpu (--cpus " + std::to_string(cpus.front()) +
                          "), or build with a compiler that has OpenMP");
    }
#endif
    // A refusal appears when the masks are read back: then the case is invalid, and the program continues.
    run([&](int thread) { pin({cpus[static_cast<std::size_t>(thread)]}); });
}

std::vector<int> Team::cpus() const {
    std::vector<int> found(static_cast<std::size_t>(size_), -1);
    run([&](int thread) { found[static_cast<std::size_t>(thread)] = pinned_cpu(); });
    return found;
}

Part part_of(std::size_t size, int thread, int threads, std::size_t grain) {
    const auto border = [&](int index) -> std::size_t {
        if (index == threads) {
            return size;
        }
        return size / grain * static_cast<std::size_t>(index) / static_cast<std::size_t>(threads) * grain;
    };
    return {border(thread), border(thread + 1)};
}

}  // namespace assay
