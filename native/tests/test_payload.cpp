// The content of messages: everything except the sent message is found.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "harness/payload.hpp"

using assay::fill;
using assay::Stamp;
using assay::wrong_bytes;

namespace {

std::vector<std::byte> message(std::size_t bytes, Stamp stamp) {
    std::vector<std::byte> content(bytes);
    fill(content.data(), bytes, stamp);
    return content;
}

void a_message_is_right_at_every_length() {
    for (const std::size_t bytes : {0UL, 1UL, 7UL, 8UL, 9UL, 4097UL}) {
        CHECK(wrong_bytes(message(bytes, {3, 5}).data(), bytes, {3, 5}) == 0);
    }
}

void another_message_of_the_same_sender_and_the_same_of_another_are_found() {
    constexpr std::size_t bytes = 1024;
    const std::vector<std::byte> received = message(bytes, {3, 5});
    for (const Stamp other : {Stamp{3, 6}, Stamp{3, 4}, Stamp{2, 5}, Stamp{5, 3}, Stamp{4, 5}}) {
        CHECK(wrong_bytes(received.data(), bytes, other) > bytes * 9 / 10);
    }
}

void one_wrong_byte_and_a_shift_by_a_byte_or_a_word_are_found() {
    constexpr std::size_t bytes = 1024;
    std::vector<std::byte> received = message(bytes, {0, 0});
    received[1000] ^= std::byte{1};
    CHECK(wrong_bytes(received.data(), bytes, {0, 0}) == 1);
    for (const std::ptrdiff_t shift : {1, 8, 64}) {
        std::vector<std::byte> shifted = message(bytes, {0, 0});
        std::rotate(shifted.begin(), shifted.begin() + shift, shifted.end());
        CHECK(wrong_bytes(shifted.data(), bytes, {0, 0}) > bytes * 9 / 10);
    }
}

void what_was_overwritten_is_found() {
    const std::vector<std::byte> overwritten(64, std::byte{0});
    CHECK(wrong_bytes(overwritten.data(), overwritten.size(), {0, 0}) > 60);
}

}  // namespace

int main() {
    a_message_is_right_at_every_length();
    another_message_of_the_same_sender_and_the_same_of_another_are_found();
    one_wrong_byte_and_a_shift_by_a_byte_or_a_word_are_found();
    what_was_overwritten_is_found();
    return assay::test::failures == 0 ? 0 : 1;
}
