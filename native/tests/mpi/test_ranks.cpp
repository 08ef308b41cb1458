// Communication between ranks, and that no rank leaves a barrier before all have arrived. Needs several ranks.
#include <unistd.h>

#include <array>
#include <ctime>
#include <stdexcept>

#include "check.hpp"
#include "harness/mpi/world.hpp"

using assay::Exit;
using assay::Failure;
using assay::Ranks;
using assay::test::contains;
using assay::test::failure_of;

namespace {

void no_rank_leaves_a_barrier_before_all_have_arrived(Ranks& ranks) {
    for (int late = 0; late < ranks.size(); ++late) {
        ranks.barrier();
        constexpr unsigned int delay_us = 20'000;
        if (ranks.rank() == late) {
            usleep(delay_us);
        }
        timespec time{};
        clock_gettime(CLOCK_MONOTONIC, &time);
        const double came = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
        ranks.barrier();
        clock_gettime(CLOCK_MONOTONIC, &time);
        const double left = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
        // All ranks of this test run on one machine and so read one clock.
        const double last = assay::allreduce_max(ranks, came);
        const double first = -assay::allreduce_max(ranks, -left);
        CHECK(first >= last);
    }
}

void every_rank_learns_the_largest_of_each_value(Ranks& ranks) {
    const int rank = ranks.rank();
    const int size = ranks.size();
    std::array<double, 3> values{static_cast<double>(rank), static_cast<double>(-rank), 7};
    ranks.allreduce_max(values);
    CHECK(values[0] == size - 1 && values[1] == 0 && values[2] == 7);
}

void texts_of_any_length_come_in_the_order_of_ranks(Ranks& ranks) {
    const auto text = [](int rank) { return std::string(static_cast<std::size_t>(rank) * 100'000, 'x'); };
    const std::vector<std::string> all = ranks.gather(text(ranks.rank()));
    CHECK(all.size() == static_cast<std::size_t>(ranks.rank() == 0 ? ranks.size() : 0));
    for (std::size_t other = 0; other < all.size(); ++other) {
        CHECK(all[other] == text(static_cast<int>(other)));
    }
    CHECK(ranks.broadcast(ranks.rank() == 0 ? "from 0" : "from another") == "from 0");
    CHECK(ranks.broadcast("").empty());
}

void every_rank_learns_the_text_of_each(Ranks& ranks) {
    const auto text = [](int rank) { return rank == 0 ? std::string() : "rank " + std::to_string(rank); };
    const std::vector<std::string> all = assay::allgather(ranks, text(ranks.rank()));
    CHECK(all.size() == static_cast<std::size_t>(ranks.size()));
    for (std::size_t other = 0; other < all.size(); ++other) {
        CHECK(all[other] == text(static_cast<int>(other)));
    }
}

void a_failure_of_any_rank_is_thrown_by_all_and_says_where_it_began(Ranks& ranks) {
    for (int guilty = 0; guilty < ranks.size(); ++guilty) {
        Exit exit = Exit::complete;
        std::string next;
        std::string cause;
        const std::string message = failure_of([&] {
            try {
                assay::all_or_none(ranks, [&] {
                    if (ranks.rank() == guilty) {
                        throw Failure(Exit::environment, "it broke", "no room", "--help", "connection-lost");
                    }
                });
            } catch (const Failure& failure) {
                exit = failure.exit;
                next = failure.next;
                cause = failure.cause;
                throw;
            }
        });
        CHECK(contains(message, "it broke: no room (rank " + std::to_string(guilty) + " on "));
        CHECK(exit == Exit::environment && next == "--help" && cause == "connection-lost");
    }
    assay::all_or_none(ranks, [] {});
}

void an_exception_that_is_no_failure_is_agreed_on_too(Ranks& ranks) {
    CHECK(contains(failure_of([&] {
                       assay::all_or_none(ranks, [&] {
                           if (ranks.rank() == 1) {
                               throw std::runtime_error("unforeseen");
                           }
                       });
                   }),
                   "it cannot be measured: unforeseen"));
}

void one_rank_of_each_key_is_the_first(Ranks& ranks) {
    CHECK(assay::is_first_with_key(ranks, ranks.rank() % 2 == 0 ? "even" : "odd") == (ranks.rank() < 2));
    CHECK(assay::is_first_with_key(ranks, assay::host_key()) == (ranks.rank() == 0));
    CHECK(assay::first_nonempty(ranks, ranks.rank() > 0 ? std::to_string(ranks.rank()) : "") == "1");
}

void partners_are_mutual(Ranks& ranks) {
    if (ranks.size() % 2 != 0) {
        CHECK(contains(failure_of([&] { assay::pair_of(ranks); }), "ranks are here"));
        return;
    }
    const assay::Pair pair = assay::pair_of(ranks);
    CHECK(pair.pairs == ranks.size() / 2 && pair.first == (ranks.rank() < pair.partner));
    const std::vector<std::string> partners = ranks.gather(std::to_string(pair.partner));
    for (std::size_t rank = 0; rank < partners.size(); ++rank) {
        CHECK(partners[static_cast<std::size_t>(std::stoi(partners[rank]))] == std::to_string(rank));
    }
}

void the_library_names_itself(const Ranks& ranks) {
    const auto library = ranks.library();
    CHECK(library.at("library").size() > 3 && library.at("standard") >= "3.0");
    CHECK(!library.at("threads").empty());
}

}  // namespace

int main() {
    assay::World world(assay::Threads::single);
    no_rank_leaves_a_barrier_before_all_have_arrived(world);
    every_rank_learns_the_largest_of_each_value(world);
    texts_of_any_length_come_in_the_order_of_ranks(world);
    every_rank_learns_the_text_of_each(world);
    a_failure_of_any_rank_is_thrown_by_all_and_says_where_it_began(world);
    an_exception_that_is_no_failure_is_agreed_on_too(world);
    one_rank_of_each_key_is_the_first(world);
    partners_are_mutual(world);
    the_library_names_itself(world);
    const bool sound = assay::test::failures == 0;
    world.leave(sound ? assay::Exit::complete : assay::Exit::failed);
    return sound ? 0 : 1;
}
