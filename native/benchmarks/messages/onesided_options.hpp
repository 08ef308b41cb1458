// What a request for onesided says, and which requests are invalid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "harness/benchmark.hpp"
#include "harness/failure.hpp"

namespace assay::onesided {

enum class Operation { put, get, accumulate };
enum class Synchronisation { flush, lock, fence, pscw };

struct Options {
    Operation operation = Operation::put;
    Synchronisation synchronisation = Synchronisation::flush;
    bool bandwidth = false;
    bool allocate = true;
    std::size_t bytes = 0;
    int slots = 1;  ///< transfers in one synchronisation

    /// The target makes no calls.
    [[nodiscard]] bool passive() const {
        return synchronisation == Synchronisation::flush || synchronisation == Synchronisation::lock;
    }

    /// Transfers alternate between the ranks; otherwise only the first rank starts them.
    [[nodiscard]] bool ping_pong() const { return !bandwidth && !(passive() && operation == Operation::get); }

    /// Bytes from one slot to the next: no two slots share a cache line or a pair of lines that is fetched
    /// together.
    [[nodiscard]] std::size_t stride() const {
        constexpr std::size_t grain = 128;
        return (std::max<std::size_t>(1, bytes) + grain - 1) / grain * grain;
    }
};

/// Failure (usage) names what is invalid in a request.
inline Options options_of(const Params& params, int ranks) {
    if (ranks != 2) {
        throw Failure(Exit::usage, std::to_string(ranks) + (ranks == 1 ? " rank is here" : " ranks are here"),
                      "onesided is measured between two", "start it as 2 ranks");
    }
    const auto bytes = static_cast<std::size_t>(params.number("bytes"));
    const std::string& operation = params.word("operation");
    const std::string& synchronisation = params.word("synchronisation");
    if (operation == "accumulate" && bytes % sizeof(double) != 0) {
        throw Failure(Exit::usage, "--operation accumulate cannot be had with --bytes " + std::to_string(bytes),
                      "it adds doubles of 8 B", "--bytes " + std::to_string(bytes / 8 * 8 + 8));
    }
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        throw Failure(Exit::usage, "--bytes " + std::to_string(bytes) + " is too much",
                      "an MPI count ends at 2147483647", "--bytes 1073741824");
    }
    Options options{};
    options.operation = operation == "put"   ? Operation::put
                        : operation == "get" ? Operation::get
                                             : Operation::accumulate;
    options.synchronisation = synchronisation == "flush"   ? Synchronisation::flush
                              : synchronisation == "lock"  ? Synchronisation::lock
                              : synchronisation == "fence" ? Synchronisation::fence
                                                           : Synchronisation::pscw;
    options.bandwidth = params.word("pattern") == "bandwidth";
    options.allocate = params.word("allocation") == "allocate";
    options.bytes = bytes;
    options.slots =
        options.bandwidth ? static_cast<int>(std::min<std::int64_t>(params.number("window"), 1 << 20U)) : 1;
    return options;
}

}  // namespace assay::onesided
