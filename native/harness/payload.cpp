#include "harness/payload.hpp"

#include <algorithm>
#include <cstring>

namespace assay {
namespace {

/// Pseudo-random bits from any number (finaliser of splitmix64, S. Vigna).
constexpr std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ number >> 30U) * 0xBF58476D1CE4E5B9U;
    number = (number ^ number >> 27U) * 0x94D049BB133111EBU;
    return number ^ number >> 31U;
}

/// Calls each(place, word, bytes) for the words of a message; the last one may be shorter than 8 bytes.
template <class Each>
void content(std::size_t bytes, Stamp stamp, const Each& each) {
    const std::uint64_t seed = mixed(mixed(stamp.sender + 1) + stamp.index);
    for (std::size_t place = 0; place < bytes; place += sizeof(std::uint64_t)) {
        each(place, mixed(seed + place), std::min(sizeof(std::uint64_t), bytes - place));
    }
}

std::size_t wrong_in_word(const std::byte* found, const std::byte* right, std::size_t bytes) {
    std::size_t wrong = 0;
    for (std::size_t byte = 0; byte < bytes; ++byte) {
        wrong += found[byte] == right[byte] ? 0 : 1;
    }
    return wrong;
}

}  // namespace

void fill(std::byte* message, std::size_t bytes, Stamp stamp) {
    content(bytes, stamp, [&](std::size_t place, std::uint64_t word, std::size_t length) {
        std::memcpy(message + place, &word, length);
    });
}

std::size_t wrong_bytes(const std::byte* message, std::size_t bytes, Stamp stamp) {
    std::size_t wrong = 0;
    content(bytes, stamp, [&](std::size_t place, std::uint64_t word, std::size_t length) {
        if (std::memcmp(message + place, &word, length) != 0) {
            wrong += wrong_in_word(message + place, reinterpret_cast<const std::byte*>(&word), length);
        }
    });
    return wrong;
}

}  // namespace assay
