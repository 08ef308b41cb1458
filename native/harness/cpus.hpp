// Cpus: lists of them, which ones may be used, and putting threads on them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// Cpus (or memory nodes) of a kernel list, in the order written: `0-3,8` or `4,0,2`. Failure (usage) names what
/// is wrong with it; a number may stand in it once.
std::vector<int> parse_list(std::string_view text, std::string_view noun);

/// Such lists separated by `/`: one for each rank of a host.
std::vector<std::vector<int>> parse_lists(std::string_view text, std::string_view noun);

/// The kernel list in a file; empty where the file is missing or empty.
std::vector<int> listed(const std::string& path);

/// The shortest kernel list, `0-3,8`, of ascending numbers.
std::string format_list(const std::vector<int>& numbers);

/// Cpus of a thread's affinity mask (0: the calling one), ascending. Failure (environment) if it cannot be read.
std::vector<int> affinity(int thread_id = 0);

/// The cpu that a thread (0: the calling one) is pinned to; -1 if its mask is not exactly one cpu or unreadable.
int pinned_cpu(int thread_id = 0) noexcept;

/// Lets a thread (0: the calling one) run on these cpus only; false if the kernel refuses.
bool pin(const std::vector<int>& cpus, int thread_id = 0);

/// Lets the calling thread run wherever the kernel lets this process (its cpuset), whatever a launcher had chosen.
void unpin();

}  // namespace assay
