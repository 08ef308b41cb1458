#include "harness/observed.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>

#include "harness/cpus.hpp"
#include "harness/failure.hpp"
#include "harness/loaded.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// See the class.
constexpr double stayed_share = 0.05;
constexpr double passed_share = 0.1;
constexpr double passed_s = 0.2;

std::int64_t page_count(const PageNodes& pages) {
    return std::accumulate(pages.begin(), pages.end(), std::int64_t{0},
                           [](std::int64_t all, const auto& node) { return all + node.second; });
}

/// Adds the process's own memory, and the part of it in huge pages, in KiB.
void add_anonymous(int process, double& all, double& huge) {
    std::ifstream rolled("/proc/" + std::to_string(process) + "/smaps_rollup");
    for (std::string line; std::getline(rolled, line);) {
        unsigned long kibibytes = 0;
        if (std::sscanf(line.c_str(), "Anonymous: %lu kB", &kibibytes) == 1) {
            all += static_cast<double>(kibibytes);
        } else if (std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kibibytes) == 1) {
            huge += static_cast<double>(kibibytes);
        }
    }
}

/// Adds the process's own pages by node: `N0=12` in each line of numa_maps without a file.
void add_pages(int process, PageNodes& pages) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/numa_maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find(" file=") != std::string::npos) {
            continue;
        }
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            const std::size_t equals = word.find('=');
            if (word.front() == 'N' && equals > 1 && equals != std::string::npos &&
                word.find_first_not_of("0123456789", 1) == equals) {
                pages[std::stoi(word.substr(1))] += std::stoll(word.substr(equals + 1));
            }
        }
    }
}

}  // namespace

std::set<int> family(int process) {
    std::set<int> found{process};
    std::error_code gone;
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
        std::ifstream children(task.path() / "children");
        for (int child = 0; children >> child;) {
            found.merge(family(child));
        }
    }
    return found;
}

void Observed::observe(int process) {
    std::vector<std::vector<int>> masks;
    PageNodes pages;
    for (const int each : family(process)) {
        add_masks(each, masks);
        add_pages(each, pages);
        loaded_.merge(loaded_libraries(std::to_string(each)));
    }
    const bool in_place = std::all_of(masks.begin(), masks.end(),
                                      [this](const std::vector<int>& mask) { return strays_of(mask).empty(); });
    if (in_place && masks.size() >= masks_.size() && !masks.empty()) {
        masks_ = masks;
    }
    if (page_count(pages) > page_count(page_nodes_)) {
        observe_huge_pages(process);
    }
    if (page_count(pages) >= page_count(page_nodes_)) {
        page_nodes_ = pages;
    }
    if (const std::string program = program_file(process); !program.empty()) {
        loaded_["program"] = program;
    }
}

void Observed::observe_huge_pages(int process) {
    double all = 0;
    double huge = 0;
    for (const int each : family(process)) {
        add_anonymous(each, all, huge);
    }
    if (all > 0) {
        huge_page_share_ = std::min(1.0, huge / all);
    }
}

void Observed::observe_end(int process) {
    observe_task(process, fs::path("/proc") / std::to_string(process));
    ended_on_ = strays_of(tasks_[process].mask);
}

bool Observed::pinned(const std::vector<int>& wanted) const {
    if (!strays().empty()) {
        return false;
    }
    if (wanted.size() == 1) {
        return true;
    }
    std::multiset<int> found;
    for (const std::vector<int>& mask : masks_) {
        if (mask.size() != 1) {
            return false;
        }
        found.insert(mask.front());
    }
    return found == std::multiset<int>(wanted.begin(), wanted.end());
}

std::vector<int> Observed::cpus() const {
    std::set<int> found = strays();
    for (const auto& [id, task] : tasks_) {
        std::copy_if(task.mask.begin(), task.mask.end(), std::inserter(found, found.end()),
                     [this](int cpu) { return wanted_.count(cpu) > 0; });
    }
    return {found.begin(), found.end()};
}

std::set<int> Observed::strays_of(const std::vector<int>& mask) const {
    std::set<int> found(mask.begin(), mask.end());
    for (const int cpu : wanted_) {
        found.erase(cpu);
    }
    return found;
}

std::set<int> Observed::strays() const {
    double worked_s = 0;
    std::map<int, double> stayed;  // cpu -> work there by tasks that were last seen there
    std::map<int, double> passed;  // cpu -> work there by any task
    for (const auto& [id, task] : tasks_) {
        worked_s += task.worked_s;
        const std::set<int> last = strays_of(task.mask);
        for (const auto& [cpu, seconds] : task.strayed_s) {
            passed[cpu] += seconds;
            stayed[cpu] += last.count(cpu) > 0 ? seconds : 0;
        }
    }
    std::set<int> found = ended_on_;
    for (const auto& [cpu, seconds] : passed) {
        const bool to_stay = stayed[cpu] > 0 && stayed[cpu] >= stayed_share * worked_s;
        if (to_stay || (seconds >= passed_s && seconds >= passed_share * worked_s)) {
            found.insert(cpu);
        }
    }
    return found;
}

void Observed::add_masks(int process, std::vector<std::vector<int>>& masks) {
    std::error_code gone;
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone)) {
        const int id = std::stoi(task.path().filename().string());
        if (observe_task(id, task.path())) {
            masks.push_back(tasks_[id].mask);
        }
    }
}

/// What the kernel accounts for a task; if nothing, the time since observation began.
double Observed::worked_s(const fs::path& task) const {
    std::int64_t nanoseconds = 0;
    return std::ifstream(task / "schedstat") >> nanoseconds ? 1e-9 * static_cast<double>(nanoseconds)
                                                            : now() - begin_s_;
}

/// Records a task's mask, and its work since the last check if the same unrequested cpus were in its mask then.
/// False if the task has ended.
bool Observed::observe_task(int id, const fs::path& task) {
    const auto before = tasks_.find(id);
    Task seen = before == tasks_.end() ? Task{} : before->second;
    const double earlier_s = seen.worked_s;
    const std::vector<int> earlier_mask = seen.mask;
    try {
        seen.mask = affinity(id);
    } catch (const Failure&) {
        return false;
    }
    seen.worked_s = worked_s(task);
    const std::set<int> strays = strays_of(seen.mask);
    const std::set<int> earlier = before == tasks_.end() ? strays : strays_of(earlier_mask);
    bool strayed = false;
    for (const int cpu : strays) {
        if (earlier.count(cpu) > 0) {
            seen.strayed_s[cpu] += seen.worked_s - earlier_s;
            strayed = true;
        }
    }
    strayed_s_ += strayed ? seen.worked_s - earlier_s : 0;
    tasks_[id] = seen;
    return true;
}

}  // namespace assay
