// Options that the programs with messages between pairs share: patterns, sizes, buffers, windows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "harness/benchmark.hpp"
#include "harness/failure.hpp"
#include "harness/slots.hpp"

namespace assay::messages {

enum class Pattern { latency, bandwidth, bidirectional };

/// With or without `multi-`, which makes no difference for one pair.
inline Pattern pattern_of(const Params& params) {
    const std::string& pattern = params.word("pattern");
    return pattern.ends_with("latency")     ? Pattern::latency
           : pattern.ends_with("bandwidth") ? Pattern::bandwidth
                                            : Pattern::bidirectional;
}

inline bool is_multi(const Params& params) { return params.word("pattern").starts_with("multi-"); }

/// Bytes of a message, including its offset.
inline std::size_t size_of(const Params& params, std::int64_t min_bytes) {
    return static_cast<std::size_t>(std::max(min_bytes, params.number("bytes") + params.number("offset")));
}

inline std::uint64_t window_of(const Params& params) {
    return static_cast<std::uint64_t>(std::min<std::int64_t>(params.number("window"), 1 << 20U));
}

/// As many buffers as messages in a window, or as many as fill a pool.
inline Spacing spacing_of(const Params& params, const Layout& layout, std::size_t alignment) {
    const std::string& buffers = params.word("buffers");
    const auto pool = static_cast<std::size_t>(params.number("pool"));
    const std::size_t count = buffers == "cold"       ? pool / Slots::stride(layout, alignment)
                              : buffers == "rotating" ? window_of(params)
                                                      : 1;
    return {std::max<std::size_t>(1, count), alignment};
}

/// Messages of one pair in one iteration, in both directions.
inline std::uint64_t count(Pattern pattern, std::uint64_t window) {
    switch (pattern) {
        case Pattern::latency:
            return 2;
        case Pattern::bandwidth:
            return window;
        case Pattern::bidirectional:
            break;
    }
    return 2 * window;
}

/// Work of so many messages, of all pairs together, in one iteration.
inline Work work(Pattern pattern, double messages, std::size_t bytes) {
    std::map<std::string, double> work{{"messages", messages}, {"bytes", messages * static_cast<double>(bytes)}};
    if (pattern == Pattern::latency) {
        work["one-way"] = 2;
    }
    return {{"message", work}};
}

/// `--axis value` of an axis with words.
inline std::string option_text(const Params& params, const std::string& axis) {
    return "--" + axis + " " + params.word(axis);
}

/// Failure (usage) if so many ranks cannot have this pattern.
inline void require_pairs(const Params& params, int ranks) {
    if (!is_multi(params) && ranks != 2) {
        throw Failure(
            Exit::usage,
            option_text(params, "pattern") + " cannot be had with " + std::to_string(ranks) +
                (ranks == 1 ? " rank" : " ranks"),
            "it is a pattern of one pair",
            pattern_of(params) == Pattern::latency ? "--pattern multi-latency" : "--pattern multi-bandwidth");
    }
}

}  // namespace assay::messages
