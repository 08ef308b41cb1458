// What one rank sends from or receives into, slot by slot, and whether the received data is right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "benchmarks/messages/onesided_options.hpp"
#include "harness/payload.hpp"

namespace assay::onesided {

/// Doubles that are added: whole numbers, so that sums of any number of them are exact.
inline double term(std::size_t index) {
    constexpr std::size_t period = 1021;
    return static_cast<double>(1 + index % period);
}

/// Fills each slot of the sender: different bytes at each place, or the doubles that are added.
inline void give(const Options& options, std::byte* first, int rank) {
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(options.slots); ++slot) {
        std::byte* place = first + slot * options.stride();
        if (options.operation != Operation::accumulate) {
            fill(place, options.bytes, {static_cast<std::uint64_t>(rank), slot});
            continue;
        }
        for (std::size_t index = 0; index < options.bytes / sizeof(double); ++index) {
            const double value = term(index);
            std::memcpy(place + index * sizeof(double), &value, sizeof(double));
        }
    }
}

/// Before anything is received: zeros for additions, otherwise bytes that no rank sends.
inline void overwrite(const Options& options, std::byte* first) {
    const std::byte invalid_value = options.operation == Operation::accumulate ? std::byte{0} : std::byte{0xA5};
    std::fill_n(first, static_cast<std::size_t>(options.slots) * options.stride(), invalid_value);
}

/// Share of the expected data, after so many transfers into each slot, that is wrong.
inline double wrong(const Options& options, const std::byte* first, int sender, std::uint64_t transfers) {
    if (transfers == 0 || options.bytes == 0) {
        return 0;
    }
    std::size_t wrong = 0;
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(options.slots); ++slot) {
        const std::byte* place = first + slot * options.stride();
        if (options.operation != Operation::accumulate) {
            wrong += wrong_bytes(place, options.bytes, {static_cast<std::uint64_t>(sender), slot});
            continue;
        }
        for (std::size_t index = 0; index < options.bytes / sizeof(double); ++index) {
            double found = 0;
            std::memcpy(&found, place + index * sizeof(double), sizeof(double));
            wrong += found == static_cast<double>(transfers) * term(index) ? 0 : sizeof(double);
        }
    }
    return static_cast<double>(wrong) / static_cast<double>(options.bytes) / options.slots;
}

}  // namespace assay::onesided
