// The cycle, walked load by load and checked by addresses, not by the places stored in the cycle.
#include <map>
#include <set>
#include <vector>

#include "check.hpp"
#include "harness/pointer_cycle.hpp"

using assay::test::contains;
using assay::test::failure_of;

namespace {

constexpr std::size_t line = 64;
constexpr int cpu = 0;  ///< touches the lines

/// Lines visited in one lap, as distances from its start; the last one is 0 if it comes back.
std::vector<std::ptrdiff_t> lap(assay::PointerCycle& cycle) {
    const auto* begin = static_cast<const std::byte*>(cycle.at());
    std::vector<std::ptrdiff_t> met;
    for (std::size_t load = 0; load < cycle.lines(); ++load) {
        cycle.walk(1);
        met.push_back(static_cast<const std::byte*>(cycle.at()) - begin);
    }
    return met;
}

void a_lap_meets_every_line_once_and_comes_back() {
    for (const std::size_t lines : {1UL, 2UL, 3UL, 17UL, 1000UL, 65537UL}) {
        assay::Memory memory(assay::MemoryPolicy{});
        assay::PointerCycle cycle(memory, lines * line + line - 1, line, 1, cpu);
        CHECK(cycle.lines() == lines);
        const std::vector<std::ptrdiff_t> met = lap(cycle);
        CHECK(std::set(met.begin(), met.end()).size() == lines);
        CHECK(met.back() == 0);
        CHECK(cycle.settle() == 0);
    }
}

void a_long_walk_ends_where_its_loads_lead() {
    assay::Memory memory(assay::MemoryPolicy{});
    assay::PointerCycle cycle(memory, 100 * line, line, 1, cpu);
    const std::uint64_t begin = cycle.place();
    const std::vector<std::ptrdiff_t> met = lap(cycle);
    const auto* first = static_cast<const std::byte*>(cycle.at());
    cycle.walk(10 * 100 + 38);
    CHECK(cycle.place() == (begin + 38) % 100);
    CHECK(static_cast<const std::byte*>(cycle.at()) - first == met[37]);
}

void a_seed_always_gives_one_cycle_and_every_cycle_is_as_likely() {
    std::map<std::vector<std::ptrdiff_t>, int> seen;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        assay::Memory memory(assay::MemoryPolicy{});
        assay::PointerCycle cycle(memory, 4 * line, line, seed, cpu);
        while (lap(cycle), reinterpret_cast<std::uintptr_t>(cycle.at()) % 4096 != 0) {
            cycle.walk(1);  // to the first line of the buffer
        }
        const std::vector<std::ptrdiff_t> order = lap(cycle);
        CHECK(order == lap(cycle));
        ++seen[order];
    }
    CHECK(seen.size() == 6);  // of 4 lines there are 3! cycles
    for (const auto& [cycle, times] : seen) {
        CHECK(times > 400 && times < 600);  // 500 expected, five sigma are 102
    }
}

void a_line_that_leads_elsewhere_breaks_the_cycle() {
    assay::Memory memory(assay::MemoryPolicy{});
    assay::PointerCycle cycle(memory, 1000 * line, line, 1, cpu);
    auto* here = const_cast<void*>(cycle.at());
    *static_cast<void**>(here) = here;
    CHECK(cycle.settle() == 1);
}

void lines_that_form_a_shorter_cycle_are_found() {
    for (const std::size_t lines : {2UL, 3UL, 1000UL, 65537UL}) {
        assay::Memory memory(assay::MemoryPolicy{});
        assay::PointerCycle cycle(memory, lines * line, line, 1, cpu);
        auto** start = static_cast<void**>(const_cast<void*>(cycle.at()));
        cycle.walk(lines / 2);  // to the start again after half a lap and the other half
        auto** half = static_cast<void**>(const_cast<void*>(cycle.at()));
        std::swap(*start, *half);
        CHECK(cycle.settle() == 2);
        std::swap(*start, *half);
        CHECK(cycle.settle() == 0);
    }
}

void what_holds_no_line_is_refused() {
    assay::Memory memory(assay::MemoryPolicy{});
    CHECK(contains(failure_of([&] { assay::PointerCycle(memory, 63, line, 1, cpu); }),
                   "63 bytes cannot be walked in lines of 64"));
    CHECK(contains(failure_of([&] { assay::PointerCycle(memory, 4096, 24, 1, cpu); }), "a multiple of 16 bytes"));
}

}  // namespace

int main() {
    a_lap_meets_every_line_once_and_comes_back();
    a_long_walk_ends_where_its_loads_lead();
    a_seed_always_gives_one_cycle_and_every_cycle_is_as_likely();
    a_line_that_leads_elsewhere_breaks_the_cycle();
    lines_that_form_a_shorter_cycle_are_found();
    what_holds_no_line_is_refused();
    return assay::test::failures == 0 ? 0 : 1;
}
