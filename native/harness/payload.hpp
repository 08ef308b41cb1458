// The content of messages: other bytes at each place, from each sender, in each message.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

/// Names one message: who sent it and which of theirs it is.
struct Stamp {
    std::uint64_t sender;
    std::uint64_t index;
};

/// Writes the content of a message.
void fill(std::byte* message, std::size_t bytes, Stamp stamp);

/// Bytes that are not those of the message.
std::size_t wrong_bytes(const std::byte* message, std::size_t bytes, Stamp stamp);

}  // namespace assay
