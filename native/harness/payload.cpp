#include "harness/payload.hpp"

namespace assay {
namespace {

/// Bits that look random, of any number (finaliser of splitmix64, S. Vigna).
constexpr std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ number >> 30U) * 0xBF58476D1CE4E5B9U;
    number = (number ^ number >> 27U) * 0x94D049BB133111EBU;
    return number ^ number >> 31U;
}

/// Calls each(place, byte) for the bytes of a message.
template <class Each>
void content(std::size_t bytes, Stamp stamp, const Each& each) {
    const std::uint64_t seed = mixed(mixed(stamp.sender + 1) + stamp.index);
    std::uint64_t word = 0;
    for (std::size_t place = 0; place < bytes; ++place) {
        if (place % sizeof word == 0) {
            word = mixed(seed + place);
        }
        each(place, static_cast<std::byte>(word >> 8 * (place % sizeof word)));
    }
}

}  // namespace

void fill(std::byte* message, std::size_t bytes, Stamp stamp) {
    content(bytes, stamp, [&](std::size_t place, std::byte byte) { message[place] = byte; });
}

std::size_t wrong_bytes(const std::byte* message, std::size_t bytes, Stamp stamp) {
    std::size_t wrong = 0;
    content(bytes, stamp, [&](std::size_t place, std::byte byte) { wrong += message[place] == byte ? 0 : 1; });
    return wrong;
}

}  // namespace assay
