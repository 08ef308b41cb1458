// Median ranks and check schedule compared with published values.
#include "check.hpp"
#include "harness/statistics.hpp"

using assay::median_ranks;

namespace {

void ranks_of_the_median_are_the_published_ones() {
    CHECK(!median_ranks(0));
    CHECK(!median_ranks(5));
    const std::size_t published[][3] = {{6, 1, 6}, {10, 2, 9}, {20, 6, 15}, {100, 40, 61}};
    for (const auto& [n, lower, upper] : published) {
        const auto ranks = median_ranks(n);
        CHECK(ranks && ranks->lower == lower && ranks->upper == upper);
    }
}

/// The normal approximation: l is near n/2 - 0.98 sqrt(n). 2^-n itself is no double here.
void ranks_of_many_samples_are_near_the_normal_approximation() {
    const auto ranks = median_ranks(100'000);
    CHECK(ranks && std::abs(static_cast<double>(ranks->lower) - (50'000 - 0.98 * std::sqrt(100'000))) < 3);
    CHECK(ranks && ranks->lower + ranks->upper == 100'001);
}

void checks_are_due_at_10_15_23_34() {
    assay::CheckSchedule schedule(10);
    std::string due;
    for (std::size_t n = 1; n <= 120; ++n) {
        if (schedule.due(n)) {
            due += std::to_string(n) + " ";
        }
    }
    CHECK(due == "10 15 23 34 51 76 114 ");
}

void the_half_width_is_relative_to_the_median() {
    CHECK(!assay::relative_half_width({1, 2, 3, 4, 5}));
    // n = 10: ranks 2 and 9; median of 1..10 is 5.5.
    const auto width = assay::relative_half_width({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
    CHECK(width && std::abs(*width - 3.5 / 5.5) < 1e-15);
    CHECK(assay::median({3, 1, 2}) == 2);
}

}  // namespace

int main() {
    ranks_of_the_median_are_the_published_ones();
    ranks_of_many_samples_are_near_the_normal_approximation();
    checks_are_due_at_10_15_23_34();
    the_half_width_is_relative_to_the_median();
    return assay::test::failures == 0 ? 0 : 1;
}
