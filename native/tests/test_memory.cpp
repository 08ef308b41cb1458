// How much memory may be used, from inserted kernel files; and buffers.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "check.hpp"
#include "harness/memory.hpp"
#include "planted.hpp"

using assay::test::contains;
using assay::test::failure_of;

namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

class Planted : public assay::test::Planted {
  public:
    [[nodiscard]] assay::MemoryLimit limit() const {
        return assay::memory_limit({path() + "/proc", path() + "/sys"});
    }
};

void the_machine_bounds_what_may_be_used() {
    Planted planted;
    planted.file("proc/meminfo", "MemTotal: 4096 kB\nMemFree: 10 kB\nMemAvailable:    2048 kB\n");
    CHECK(planted.limit().bytes == 2 * mebibyte);
    CHECK(contains(planted.limit().bound, "MemAvailable"));
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
    CHECK(planted.limit().bytes == 60 * mebibyte);  // 100 - (50 - 10)
    CHECK(contains(planted.limit().bound, "control group"));
}

void a_version_1_group_is_found_at_its_root_when_its_path_is_hidden() {
    Planted planted;
    planted.file("proc/meminfo", "MemAvailable: 1048576 kB\n")
        .file("proc/self/cgroup", "9:cpu:/x\n5:memory:/docker/of/the/host\n0::/\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "8388608\n")
        .file("sys/fs/cgroup/memory/memory.usage_in_bytes", "3145728\n")
        .file("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1048576\n");
    CHECK(planted.limit().bytes == 6 * mebibyte);  // 8 - (3 - 1)
}

void a_group_that_is_over_its_limit_leaves_nothing() {
    Planted planted;
    planted.file("proc/self/cgroup", "0::/\n")
        .file("sys/fs/cgroup/memory.max", "100\n")
        .file("sys/fs/cgroup/memory.current", "200\n");
    CHECK(planted.limit().bytes == 0);
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
    CHECK(pages == 3 || pages == 0);  // 0: this kernel does not report it
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

constexpr std::size_t several = 8 * mebibyte;

/// A buffer written by a case that ends well; its address.
std::byte* left(const std::shared_ptr<assay::KeptBuffers>& kept, const char* policy, assay::Pages pages,
                const assay::Touch& touch, std::size_t bytes = several) {
    assay::Memory memory(assay::MemoryPolicy::parse(policy), kept);
    memory.use(pages);
    std::byte* buffer = memory.allocate(bytes, touch);
    std::fill(buffer, buffer + bytes, std::byte{7});
    memory.keep();
    return buffer;
}

/// Whether a case gets memory written by the previous case: fresh memory is zero.
bool gets_written(const std::shared_ptr<assay::KeptBuffers>& kept, const char* policy, assay::Pages pages,
                  const assay::Touch& touch, std::size_t bytes = several) {
    assay::Memory memory(assay::MemoryPolicy::parse(policy), kept);
    memory.use(pages);
    const std::byte* buffer = memory.allocate(bytes, touch);
    return std::any_of(buffer, buffer + bytes, [](std::byte each) { return each != std::byte{0}; });
}

void a_second_case_takes_over_what_the_first_touched() {
    const auto kept = std::make_shared<assay::KeptBuffers>();
    const assay::Touch touch = assay::Touch::by_one(0);
    const std::byte* buffer = left(kept, "first-touch", assay::Pages::small, touch);
    assay::Memory memory(assay::MemoryPolicy{}, kept);
    memory.use(assay::Pages::small);
    std::byte* taken = memory.allocate(several, touch);
    CHECK(taken == buffer && taken[several - 1] == std::byte{7});
    CHECK(memory.misplaced(memory.page_nodes(), memory.huge_page_share()).empty());
    CHECK(memory.allocate(several, touch) != taken);  // it is in use
}

void another_policy_page_size_placement_or_need_gets_fresh_memory() {
    using assay::Pages;
    using assay::Touch;
    const Touch one = Touch::by_one(0);
    const Touch parts = Touch::by_parts({0, 1});
    const auto fresh_after = [](const Touch& touch, const auto& another) {
        const auto kept = std::make_shared<assay::KeptBuffers>();
        left(kept, "first-touch", Pages::small, touch);
        CHECK(!another(kept));
    };
    using Kept = std::shared_ptr<assay::KeptBuffers>;
    fresh_after(one, [&](const Kept& kept) {  // without asking the kernel, which may forbid policies
        return kept->take({nullptr, 0, nullptr, several, several, Pages::small, "bind:0", one}).has_value();
    });
    fresh_after(one, [&](const Kept& kept) { return gets_written(kept, "first-touch", Pages::huge, one); });
    fresh_after(one, [&](const Kept& kept) { return gets_written(kept, "first-touch", Pages::any, one); });
    fresh_after(
        one, [&](const Kept& kept) { return gets_written(kept, "first-touch", Pages::small, Touch::by_one(1)); });
    fresh_after(one, [&](const Kept& kept) { return gets_written(kept, "first-touch", Pages::small, parts); });
    fresh_after(parts, [&](const Kept& kept) {
        return gets_written(kept, "first-touch", Pages::small, Touch::by_parts({1, 0}));
    });
    fresh_after(parts, [&](const Kept& kept) {  // its parts differ
        return gets_written(kept, "first-touch", Pages::small, parts, several / 2);
    });
    fresh_after(
        one, [&](const Kept& kept) { return gets_written(kept, "first-touch", Pages::small, one, 2 * several); });
}

void a_smaller_case_takes_over_the_beginning_and_a_later_one_the_whole() {
    const auto kept = std::make_shared<assay::KeptBuffers>();
    const assay::Touch touch = assay::Touch::by_one(0);
    const std::byte* buffer = left(kept, "first-touch", assay::Pages::small, touch);
    CHECK(left(kept, "first-touch", assay::Pages::small, touch, 3 * mebibyte) == buffer);
    CHECK(left(kept, "first-touch", assay::Pages::small, touch) == buffer);
    assay::Memory memory(assay::MemoryPolicy{}, kept);
    memory.use(assay::Pages::small);
    memory.allocate(mebibyte, touch);
    std::int64_t pages = 0;
    for (const auto& [node, count] : memory.page_nodes()) {
        pages += count;
    }
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    CHECK(pages == static_cast<std::int64_t>(mebibyte / page) || pages == 0);  // of the buffer alone
}

void the_page_size_is_reported_for_the_used_beginning() {
    const auto kept = std::make_shared<assay::KeptBuffers>();
    const assay::Touch touch = assay::Touch::by_one(0);
    left(kept, "first-touch", assay::Pages::huge, touch);
    assay::Memory memory(assay::MemoryPolicy{}, kept);
    memory.use(assay::Pages::huge);
    std::byte* buffer = memory.allocate(2 * mebibyte, touch);
    const double whole = memory.huge_page_share().value_or(0);
    CHECK(whole == 0 || whole == 1);
    if (whole == 1) {  // huge pages are available: split the one that is used, and keep the others
        CHECK(madvise(buffer, 4096, MADV_DONTNEED) == 0);
        CHECK(memory.huge_page_share().value_or(1) < 0.99);
        CHECK(!memory.misplaced({}, memory.huge_page_share()).empty());
    }
}

void what_a_case_does_not_leave_is_given_back() {
    const auto kept = std::make_shared<assay::KeptBuffers>();
    const assay::Touch touch = assay::Touch::by_one(0);
    {
        assay::Memory failed(assay::MemoryPolicy{}, kept);
        std::byte* buffer = failed.allocate(several, touch);
        std::fill(buffer, buffer + several, std::byte{7});
    }
    CHECK(!gets_written(kept, "first-touch", assay::Pages::any, touch));
    {
        assay::Memory own(assay::MemoryPolicy{}, kept);
        std::byte* buffer = own.allocate(several);
        std::fill(buffer, buffer + several, std::byte{7});
        own.keep();
    }
    CHECK(!gets_written(kept, "first-touch", assay::Pages::any, touch));
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
    a_second_case_takes_over_what_the_first_touched();
    another_policy_page_size_placement_or_need_gets_fresh_memory();
    a_smaller_case_takes_over_the_beginning_and_a_later_one_the_whole();
    the_page_size_is_reported_for_the_used_beginning();
    what_a_case_does_not_leave_is_given_back();
    return assay::test::failures == 0 ? 0 : 1;
}
