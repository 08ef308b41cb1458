// The content of messages: different bytes at each place, from each sender, in each message.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

/// Identifies one message: its sender, and its number.
struct Stamp {
    std::uint64_t sender;
    std::uint64_t index;
};

/// Writes the content of a message.
void fill(std::byte* message, std::size_t bytes, Stamp stamp);

/// Number of bytes that differ from the message.
std::size_t wrong_bytes(const std::byte* message, std::size_t bytes, Stamp stamp);

}  // namespace assay
