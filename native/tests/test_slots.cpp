// Message buffers: their places, and that wrong content is found.
#include <array>
#include <cstring>

#include "check.hpp"
#include "harness/slots.hpp"

using assay::Layout;
using assay::Memory;
using assay::MemoryPolicy;
using assay::Slots;

namespace {

constexpr std::uint64_t sender = 3;

/// After a correct transfer: every slot of the sender was copied to the same slot of the receiver.
struct Transfer {
    explicit Transfer(const Layout& layout, std::size_t count = 4)
        : layout(layout), sent(memory, layout, {count, 64}), received(memory, layout, {count, 64}) {
        sent.fill(sender);
        for (std::size_t slot = 0; slot < count; ++slot) {
            received.overwrite(slot);
            copy(slot, slot);
        }
    }

    void copy(std::size_t from, std::size_t to) const {
        std::memcpy(received.at(to), sent.at(from), layout.extent());
    }

    [[nodiscard]] std::size_t right() const {
        std::size_t right = 0;
        for (std::size_t slot = 0; slot < received.count(); ++slot) {
            right += received.right(slot, sender) ? 1 : 0;
        }
        return right;
    }

    Layout layout;
    Memory memory{MemoryPolicy{}};
    Slots sent;
    Slots received;
};

constexpr std::array layouts{Layout::Kind::contiguous, Layout::Kind::vector, Layout::Kind::indexed};

void what_was_sent_is_right_in_every_layout() {
    for (const Layout::Kind kind : layouts) {
        for (const std::size_t bytes : {0UL, 1UL, 4UL, 8UL, 4096UL}) {
            CHECK(Transfer({kind, bytes}).right() == 4);
        }
    }
    CHECK(Transfer({Layout::Kind::contiguous, 4099}).right() == 4);
}

void messages_in_the_wrong_order_are_found() {
    for (const Layout::Kind kind : layouts) {
        const Transfer transfer({kind, 64});
        transfer.copy(0, 1);
        transfer.copy(1, 0);
        CHECK(transfer.right() == 2);
    }
}

void a_message_that_did_not_arrive_or_lost_a_byte_is_found() {
    for (const Layout::Kind kind : layouts) {
        const Transfer transfer({kind, 64});
        transfer.received.overwrite(2);
        CHECK(transfer.right() == 3);
        *transfer.received.at(0) ^= std::byte{1};
        CHECK(transfer.right() == 2);
    }
}

void bytes_that_were_written_into_a_gap_are_found() {
    const Transfer transfer({Layout::Kind::vector, 64});
    transfer.received.at(1)[8] = std::byte{0};
    CHECK(transfer.right() == 3);
}

void a_message_of_another_sender_is_found() {
    const Transfer transfer({Layout::Kind::contiguous, 64});
    transfer.sent.fill(sender + 1);
    transfer.copy(3, 3);
    CHECK(transfer.right() == 3);
}

void every_buffer_is_aligned_as_asked_and_no_better() {
    Memory memory{MemoryPolicy{}};
    for (const std::size_t alignment : {1UL, 8UL, 64UL, 4096UL}) {
        const Slots slots(memory, {Layout::Kind::contiguous, 100}, {5, alignment});
        for (std::size_t slot = 0; slot < 5; ++slot) {
            CHECK(reinterpret_cast<std::uintptr_t>(slots.at(slot)) % (2 * alignment) == alignment);
        }
    }
}

void blocks_lie_in_cells_of_their_own_and_indexed_ones_without_a_rule() {
    const Layout vector{Layout::Kind::vector, 800};
    const Layout indexed{Layout::Kind::indexed, 800};
    std::size_t moved = 0;
    for (std::size_t index = 0; index < 100; ++index) {
        CHECK(vector.place(index) == index * 16);
        CHECK(indexed.place(index) / 16 == index && indexed.place(index) % 8 == 0);
        moved += indexed.place(index) % 16 == 0 ? 0 : 1;
    }
    CHECK(moved > 25 && moved < 75);
}

}  // namespace

int main() {
    what_was_sent_is_right_in_every_layout();
    messages_in_the_wrong_order_are_found();
    a_message_that_did_not_arrive_or_lost_a_byte_is_found();
    bytes_that_were_written_into_a_gap_are_found();
    a_message_of_another_sender_is_found();
    every_buffer_is_aligned_as_asked_and_no_better();
    blocks_lie_in_cells_of_their_own_and_indexed_ones_without_a_rule();
    return assay::test::failures == 0 ? 0 : 1;
}
