// Slots of one-sided transfers: correct ones pass, and inserted errors are found.
#include <algorithm>
#include <cstring>
#include <vector>

#include "benchmarks/messages/onesided_slots.hpp"
#include "check.hpp"

using assay::onesided::give;
using assay::onesided::Operation;
using assay::onesided::Options;
using assay::onesided::overwrite;
using assay::onesided::wrong;

namespace {

constexpr int sender = 1;

/// Slots of 80 B after so many correct transfers from the sender.
struct Transfer {
    explicit Transfer(Operation operation, std::uint64_t times = 1) : transfers(times) {
        options.operation = operation;
        options.bytes = 80;
        options.slots = 3;
        sent.resize(options.stride() * 3);
        received = sent;
        give(options, sent.data(), sender);
        overwrite(options, received.data());
        for (std::uint64_t time = 0; time < times; ++time) {
            move();
        }
    }

    void move() {
        for (std::size_t place = 0; place < sent.size(); place += sizeof(double)) {
            if (place % options.stride() >= options.bytes) {
                continue;
            }
            double value = 0;
            double sum = 0;
            std::memcpy(&value, sent.data() + place, sizeof(double));
            std::memcpy(&sum, received.data() + place, sizeof(double));
            sum += value;
            std::memcpy(received.data() + place,
                        options.operation == Operation::accumulate ? reinterpret_cast<std::byte*>(&sum)
                                                                   : sent.data() + place,
                        sizeof(double));
        }
    }

    [[nodiscard]] double error() const { return wrong(options, received.data(), sender, transfers); }

    Options options;
    std::uint64_t transfers;
    std::vector<std::byte> sent;
    std::vector<std::byte> received;
};

void right_transfers_are_right_however_often() {
    for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
        CHECK(Transfer(operation).error() == 0);
        CHECK(Transfer(operation, 1000).error() == 0);
    }
}

void what_never_came_is_found() {
    for (const Operation operation : {Operation::put, Operation::get, Operation::accumulate}) {
        Transfer transfer(operation, 0);
        CHECK(transfer.error() == 0);  // nothing was expected
        transfer.transfers = 1;
        CHECK(transfer.error() > 0.9);
    }
}

void a_transfer_too_many_or_too_few_is_found_in_a_sum() {
    Transfer transfer(Operation::accumulate, 5);
    transfer.transfers = 6;
    CHECK(transfer.error() == 1);
    transfer.transfers = 4;
    CHECK(transfer.error() == 1);
}

void one_wrong_bit_and_slots_in_the_wrong_order_are_found() {
    Transfer transfer(Operation::put);
    transfer.received[transfer.options.stride() + 79] ^= std::byte{1};
    CHECK(transfer.error() > 0);
    Transfer swapped(Operation::put);
    std::swap_ranges(swapped.received.begin(), swapped.received.begin() + 80,
                     swapped.received.begin() + static_cast<std::ptrdiff_t>(swapped.options.stride()));
    CHECK(swapped.error() > 0.5);
}

void what_another_rank_sent_is_found() {
    const Transfer transfer(Operation::get);
    CHECK(wrong(transfer.options, transfer.received.data(), sender + 1, 1) > 0.9);
}

}  // namespace

int main() {
    right_transfers_are_right_however_often();
    what_never_came_is_found();
    a_transfer_too_many_or_too_few_is_found_in_a_sum();
    one_wrong_bit_and_slots_in_the_wrong_order_are_found();
    what_another_rank_sent_is_found();
    return assay::test::failures == 0 ? 0 : 1;
}
