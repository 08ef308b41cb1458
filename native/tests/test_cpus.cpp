// Lists of cpus as the kernel writes them.
#include <algorithm>

#include "check.hpp"
#include "harness/cpus.hpp"
#include "harness/team.hpp"

using assay::format_list;
using assay::parse_list;
using assay::test::contains;
using assay::test::failure_of;

namespace {

void lists_keep_the_order_in_which_they_are_written() {
    CHECK((parse_list("0-3,8", "cpu") == std::vector<int>{0, 1, 2, 3, 8}));
    CHECK((parse_list("4,0,2-2", "cpu") == std::vector<int>{4, 0, 2}));
}

void lists_of_ranks_stand_between_slashes() {
    CHECK((assay::parse_lists("0-1/4,2/7", "cpu") == std::vector<std::vector<int>>{{0, 1}, {4, 2}, {7}}));
    CHECK((assay::parse_lists("3", "cpu") == std::vector<std::vector<int>>{{3}}));
    for (const char* text : {"", "/", "0/", "/0", "0//1"}) {
        CHECK(contains(failure_of([&] { assay::parse_lists(text, "cpu"); }), "is no list of cpus"));
    }
}

void what_is_no_list_is_refused_by_name() {
    for (const char* text : {"", "a", "1,", ",1", "1-", "-1", "1--2", "0x1", "1.5", "99999999999", " 1"}) {
        CHECK(contains(failure_of([&] { parse_list(text, "cpu"); }), "is no list of cpus"));
    }
    CHECK(contains(failure_of([] { parse_list("3-1", "cpu"); }), "runs backwards"));
    CHECK(contains(failure_of([] { parse_list("0-2,1", "cpu"); }), "cpu 1 stands twice"));
}

void the_shortest_list_is_written() {
    CHECK(format_list({0, 1, 2, 3, 8, 10, 11}) == "0-3,8,10-11");
    CHECK(format_list({}).empty());
}

void a_cpu_that_is_not_allowed_is_refused_with_those_that_are() {
    CHECK(contains(failure_of([] { assay::require_allowed({1, 7}, {0, 1, 2}); }), "cpu 7"));
    CHECK(contains(failure_of([] { assay::require_allowed({1, 7}, {0, 1, 2}); }), "allowed: 0-2"));
    CHECK(failure_of([] { assay::require_allowed({1}, {0, 1, 2}); }).empty());
}

void parts_cover_everything_once_and_begin_at_the_grain() {
    for (const std::size_t size : {0UL, 1UL, 7UL, 64UL, 1000UL, 1001UL}) {
        for (int threads = 1; threads <= 9; ++threads) {
            std::size_t next = 0;
            for (int thread = 0; thread < threads; ++thread) {
                const assay::Part part = assay::part_of(size, thread, threads, 8);
                CHECK(part.begin == next && part.end >= part.begin && part.begin % 8 == 0);
                next = part.end;
            }
            CHECK(next == size);
        }
    }
}

void the_calling_thread_is_pinned_where_it_is_asked() {
    const std::vector<int> allowed = assay::affinity();
    CHECK(!allowed.empty());
    CHECK(assay::pin({allowed.back()}));
    CHECK(assay::pinned_cpu() == allowed.back());
    assay::unpin();
    const std::vector<int> wide = assay::affinity();
    CHECK(std::includes(wide.begin(), wide.end(), allowed.begin(), allowed.end()));
}

}  // namespace

int main() {
    lists_keep_the_order_in_which_they_are_written();
    lists_of_ranks_stand_between_slashes();
    what_is_no_list_is_refused_by_name();
    the_shortest_list_is_written();
    a_cpu_that_is_not_allowed_is_refused_with_those_that_are();
    parts_cover_everything_once_and_begin_at_the_grain();
    the_calling_thread_is_pinned_where_it_is_asked();
    return assay::test::failures == 0 ? 0 : 1;
}
