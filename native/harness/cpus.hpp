// Lists of cpus, the allowed ones, and how threads are pinned.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Cpus (or memory nodes) of a kernel list, in the order written: `0-3,8` or `4,0,2`. Failure (usage) explains
/// what is wrong; a number may occur only once.
std::vector<int> parse_list(std::string_view text, std::string_view noun);

/// Such lists separated by `/`: one for each rank of a host.
std::vector<std::vector<int>> parse_lists(std::string_view text, std::string_view noun);

/// The kernel list in a file; empty if the file is missing or empty.
std::vector<int> listed(const std::string& path);

/// The shortest kernel list, `0-3,8`, of ascending numbers.
std::string format_list(const std::vector<int>& numbers);

/// Affinity mask of a thread (0: the calling one), ascending. Failure (environment) if it cannot be read.
std::vector<int> affinity(int thread_id = 0);

/// The cpu to which a thread (0: the calling one) is pinned; -1 if its mask is unreadable or not exactly one
/// cpu.
int pinned_cpu(int thread_id = 0) noexcept;

/// Restricts a thread (0: the calling one) to these cpus; false if the kernel refuses.
bool pin(const std::vector<int>& cpus, int thread_id = 0);

/// Lets the calling thread run on all cpus of this process's cpuset, whatever a launcher has chosen.
void unpin();

}  // namespace assay
