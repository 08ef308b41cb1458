// How much memory may be used, read from planted files of the kernel; and buffers.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "check.hpp"
#include "harness/memory.hpp"
#include "planted.hpp"

using assay::test::contains;
using assay::test::failure_of;

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

class Planted : public assay::test::Planted {
  public:
    [[nodiscard]] assay::Allowance allowance() const {
        return assay::memory_allowance({path() + "/proc", path() + "/sys"});
    }
};

void the_machine_bounds_what_may_be_used() {
    Planted planted;
    planted.file("proc/meminfo", "MemTotal: 4096 kB\nMemFree: 10 kB\nMemAvailable:    2048 kB\n");
    CHECK(planted.allowance().bytes == 2 * mebibyte);
    CHECK(contains(planted.allowance().bound, "MemAvailable"));
}

void a_version_2_group_bounds_it_with_all_groups_above() {
    Planted planted;
    planted.file("proc/meminfo", "MemAvailable: 1048576 kB\n")
        .file("proc/self/cgroup", "0::/job/step\n")
        .file("sys/fs/cgroup/job/step/memory.max", "max\n")
        .file("sys/fs/cgroup/job/step/memory.current", "1048576\n")
        .file("sys/fs/cgroup/job/memory.max", "104857600\n")
        .file("sys/fs/cgroup/job/memory.current", "52428800\n")
        .file("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 10485760\n");
    CHECK(planted.allowance().bytes == 60 * mebibyte);  // 100 - (50 - 10)
    CHECK(contains(planted.allowance().bound, "control group"));
}

void a_version_1_group_is_found_at_its_root_when_its_path_is_hidden() {
    Planted planted;
    planted.file("proc/meminfo", "MemAvailable: 1048576 kB\n")
        .file("proc/self/cgroup", "9:cpu:/x\n5:memory:/docker/of/the/host\n0::/\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "8388608\n")
        .file("sys/fs/cgroup/memory/memory.usage_in_bytes", "3145728\n")
        .file("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1048576\n");
    CHECK(planted.allowance().bytes == 6 * mebibyte);  // 8 - (3 - 1)
}

void a_group_that_is_over_its_limit_leaves_nothing() {
    Planted planted;
    planted.file("proc/self/cgroup", "0::/\n")
        .file("sys/fs/cgroup/memory.max", "100\n")
        .file("sys/fs/cgroup/memory.current", "200\n");
    CHECK(planted.allowance().bytes == 0);
}

void more_memory_than_may_be_used_is_refused() {
    assay::Memory memory(assay::MemoryPolicy{});
    CHECK(contains(failure_of([&] { memory.allocate(std::size_t{1} << 50U); }), "more memory than may be used"));
}

void buffers_begin_at_a_huge_page_and_their_pages_are_found() {
    assay::Memory memory(assay::MemoryPolicy{});
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::byte* buffer = memory.allocate(3 * page);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer) % (2 * mebibyte) == 0);
    std::fill(buffer, buffer + 3 * page, std::byte{1});
    std::int64_t pages = 0;
    for (const auto& [node, count] : memory.page_nodes()) {
        pages += count;
    }
    CHECK(pages == 3 || pages == 0);  // 0: this kernel does not say
    CHECK(memory.misplaced(memory.page_nodes(), {}).empty());
}

void pages_on_another_node_than_asked_for_are_misplaced() {
    const assay::Memory bound(assay::MemoryPolicy::parse("bind:1,3"));
    CHECK(bound.misplaced({{1, 10}, {3, 10}}, {}).empty());
    CHECK(contains(bound.misplaced({{1, 10}, {2, 4}}, {}), "4 pages lie on memory node 2"));
    CHECK(bound.misplaced({}, {}).empty());
}

void huge_pages_that_were_asked_for_have_to_be_proven() {
    assay::Memory memory(assay::MemoryPolicy{});
    CHECK(memory.misplaced({}, 0.0).empty());
    memory.use(assay::Pages::huge);
    CHECK(memory.misplaced({}, 1.0).empty());
    CHECK(contains(memory.misplaced({}, 0.5), "50 % of the buffers lie in huge pages, all were asked to"));
    CHECK(contains(memory.misplaced({}, {}), "does not say"));
}

void small_pages_are_found_to_be_small() {
    assay::Memory memory(assay::MemoryPolicy{});
    memory.use(assay::Pages::small);
    constexpr std::size_t bytes = 8 * mebibyte;
    std::byte* buffer = memory.allocate(bytes);
    std::fill(buffer, buffer + bytes, std::byte{1});
    CHECK(memory.huge_page_share().value_or(0) == 0);
    CHECK(memory.misplaced({}, memory.huge_page_share()).empty());
    CHECK(contains(memory.misplaced({}, 0.25), "25 % of the buffers lie in huge pages, small ones"));
}

}  // namespace

int main() {
    the_machine_bounds_what_may_be_used();
    a_version_2_group_bounds_it_with_all_groups_above();
    a_version_1_group_is_found_at_its_root_when_its_path_is_hidden();
    a_group_that_is_over_its_limit_leaves_nothing();
    more_memory_than_may_be_used_is_refused();
    buffers_begin_at_a_huge_page_and_their_pages_are_found();
    pages_on_another_node_than_asked_for_are_misplaced();
    huge_pages_that_were_asked_for_have_to_be_proven();
    small_pages_are_found_to_be_small();
    return assay::test::failures == 0 ? 0 : 1;
}
