// What ranks give to a collective operation and must receive: correct results pass, inserted errors are found.
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "benchmarks/collectives/collective_blocks.hpp"
#include "check.hpp"

using assay::Memory;
using assay::MemoryPolicy;
using assay::collective::Blocks;
using assay::collective::min_sent_bytes;
using assay::collective::Operation;
using assay::collective::Options;

namespace {

constexpr int ranks = 3;
constexpr int root = 1;
constexpr std::size_t bytes = 80;  ///< ten doubles: the three portions differ
constexpr std::size_t doubles = bytes / sizeof(double);

/// All ranks in one process; the operation is done by copying and adding.
struct World {
    explicit World(Operation asked) : operation(asked) {
        for (int rank = 0; rank < ranks; ++rank) {
            blocks.emplace_back(memory, Options{asked, bytes, false, false}, rank, ranks);
        }
    }

    void copy(std::size_t to, std::size_t place, std::size_t from, std::size_t block) {
        std::memcpy(blocks[to].received() + place * bytes, blocks[from].sent() + block * bytes, bytes);
    }

    void add(std::size_t to, std::size_t first, std::size_t count) {
        for (std::size_t index = 0; index < count; ++index) {
            double sum = 0;
            for (const Blocks& each : blocks) {
                double value = 0;
                std::memcpy(&value, each.sent() + (first + index) * sizeof(double), sizeof(double));
                sum += value;
            }
            std::memcpy(blocks[to].received() + index * sizeof(double), &sum, sizeof(double));
        }
    }

    void perform() {
        std::size_t first = 0;
        for (std::size_t to = 0; to < ranks; ++to) {
            const auto portion = static_cast<std::size_t>(blocks[to].portions()[to]);
            if (operation == Operation::reduce_scatter) {
                add(to, first, portion);
            } else if (operation == Operation::allreduce || (operation == Operation::reduce && to == root)) {
                add(to, 0, doubles);
            } else if (operation == Operation::bcast || operation == Operation::scatter) {
                copy(to, 0, root, operation == Operation::scatter ? to : 0);
            }
            for (std::size_t from = 0; from < ranks; ++from) {
                if (operation == Operation::alltoall) {
                    copy(to, from, from, to);
                } else if (operation == Operation::allgather || (operation == Operation::gather && to == root)) {
                    copy(to, from, from, 0);
                }
            }
            first += portion;
        }
        done();
    }

    void done() {
        for (Blocks& each : blocks) {
            each.done(root);
        }
    }

    [[nodiscard]] int wrong_ranks() const {
        int wrong = 0;
        for (const Blocks& each : blocks) {
            wrong += each.wrong() > 0 ? 1 : 0;
        }
        return wrong;
    }

    Operation operation;
    Memory memory{MemoryPolicy{}};
    std::deque<Blocks> blocks;
};

/// Operation -> number of ranks that receive.
struct Receivers {
    Operation operation;
    int count;
};

const std::vector<Receivers> all{
    {Operation::bcast, 2},   {Operation::reduce, 1},    {Operation::allreduce, 3}, {Operation::gather, 1},
    {Operation::scatter, 3}, {Operation::allgather, 3}, {Operation::alltoall, 3},  {Operation::reduce_scatter, 3}};

void right_results_are_right() {
    for (const auto& [operation, count] : all) {
        World world(operation);
        world.perform();
        CHECK(world.wrong_ranks() == 0);
    }
}

void an_operation_that_did_nothing_is_found_on_every_rank_that_should_have_received() {
    for (const auto& [operation, count] : all) {
        World world(operation);
        world.done();
        CHECK(world.wrong_ranks() == count);
    }
}

void one_wrong_bit_is_found() {
    for (const auto& [operation, count] : all) {
        World world(operation);
        world.perform();
        const std::size_t receiver = operation == Operation::bcast ? 0 : root;
        world.blocks[receiver].received()[sizeof(double)] ^= std::byte{1};
        CHECK(world.wrong_ranks() == 1);
    }
}

void blocks_in_the_wrong_order_are_found() {
    World world(Operation::alltoall);
    world.perform();
    world.copy(0, 1, 2, 0);
    world.copy(2, 1, 1, 0);
    CHECK(world.wrong_ranks() == 2);
}

void a_sum_that_lacks_a_rank_is_found() {
    World world(Operation::allreduce);
    world.perform();
    std::memcpy(world.blocks[0].received(), world.blocks[0].sent(), sizeof(double));
    CHECK(world.wrong_ranks() == 1);
    CHECK(world.blocks[0].wrong() == 0.1);
}

void sums_are_exact() {
    CHECK(assay::collective::sum_of_terms(1000, 1020) == 500500.0 * 1021);
    double sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        sum += assay::collective::term(rank, 7);
    }
    CHECK(sum == assay::collective::sum_of_terms(ranks, 7));
}

/// 4 ranks on 2 hosts, 10 blocks of 8 B.
void the_smallest_traffic_between_hosts_is_counted() {
    const auto min_bytes = [](Operation operation) {
        return min_sent_bytes({operation, bytes, false, false}, 4, 2);
    };
    CHECK(min_bytes(Operation::barrier) == 0);
    CHECK(min_bytes(Operation::bcast) == 80 && min_bytes(Operation::reduce) == 80);
    CHECK(min_bytes(Operation::allreduce) == 160 && min_bytes(Operation::reduce_scatter) == 80);
    CHECK(min_bytes(Operation::gather) == 160 && min_bytes(Operation::scatter) == 160);
    CHECK(min_bytes(Operation::allgather) == 320);  // each host gets two blocks of the other
    CHECK(min_bytes(Operation::alltoall) == 640);   // four ranks send two blocks each
}

}  // namespace

int main() {
    right_results_are_right();
    an_operation_that_did_nothing_is_found_on_every_rank_that_should_have_received();
    one_wrong_bit_is_found();
    blocks_in_the_wrong_order_are_found();
    a_sum_that_lacks_a_rank_is_found();
    sums_are_exact();
    the_smallest_traffic_between_hosts_is_counted();
    return assay::test::failures == 0 ? 0 : 1;
}
