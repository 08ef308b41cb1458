// What is asked of tcp, and which requests mean nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "harness/benchmark.hpp"
#include "harness/connection.hpp"
#include "harness/failure.hpp"
#include "harness/slots.hpp"

namespace assay::tcp {

inline const Declaration declaration{
    .name = "tcp",
    .summary = "latency, bandwidth and rate of messages over TCP between pairs of MPI ranks",
    .kernels = {"message"},
    .axes =
        {{"pattern",
          "latency: to and fro; bandwidth: a window of messages one way, then an acknowledgement; bidirectional: "
          "windows both ways at once; multi-: all pairs at once",
          {"latency", "bandwidth", "bidirectional", "multi-bandwidth", "multi-latency"},
          "latency",
          ""},
         {"bytes", "size of a message", {}, std::int64_t{8}, "B", 1},
         {"buffers",
          "hot: one to send and one to receive; rotating: a window of each in turn; cold: pools beyond the caches",
          {"hot", "rotating", "cold"},
          "hot",
          ""},
         {"offset",
          "bytes added to the size, as NetPIPE's perturbation of 3 does",
          {},
          std::int64_t{0},
          "B",
          -(std::int64_t{1} << 48U)},
         {"window", "messages on the way before one waits", {}, std::int64_t{64}, ""},
         {"waiting",
          "blocking: the kernel wakes who waits; polling: the kernel is asked again and again",
          {"blocking", "polling"},
          "blocking",
          ""},
         {"nodelay", "on: TCP_NODELAY, small messages go at once", {"on", "off"}, "on", ""},
         {"send-buffer", "of each socket (SO_SNDBUF); 0: the system's choice", {}, std::int64_t{0}, "B", 0},
         {"receive-buffer", "of each socket (SO_RCVBUF); 0: the system's choice", {}, std::int64_t{0}, "B", 0},
         {"family", "of the addresses", {"ipv4", "ipv6"}, "ipv4", ""},
         {"pool", "bytes of each of the two pools of cold buffers", {}, std::int64_t{1} << 28U, "B"}},
    .work = {{"message", {"bytes", "messages", "one-way"}}},
    .most_cpus = 1,
};

enum class Pattern { latency, bandwidth, bidirectional };

/// One case, understood.
struct Options {
    Pattern pattern;
    bool multi;
    Layout layout;
    Spacing spacing;
    std::uint64_t window;
    bool polling;
    SocketOptions socket;
    Family family;
};

inline Options options_of(const Params& params) {
    const std::string& pattern = params.word("pattern");
    const std::string& buffers = params.word("buffers");
    const auto window = static_cast<std::uint64_t>(std::min<std::int64_t>(params.number("window"), 1 << 20U));
    const Layout layout{Layout::Kind::contiguous, static_cast<std::size_t>(std::max<std::int64_t>(
                                                      1, params.number("bytes") + params.number("offset")))};
    const Spacing hot;
    const std::size_t count =
        buffers == "cold" ? static_cast<std::size_t>(params.number("pool")) / Slots::stride(layout, hot.alignment)
        : buffers == "rotating" ? window
                                : 1;
    const auto buffer = [&](const std::string& axis) {
        return static_cast<int>(std::min<std::int64_t>(params.number(axis), std::numeric_limits<int>::max()));
    };
    return {.pattern = pattern.ends_with("latency")     ? Pattern::latency
                       : pattern.ends_with("bandwidth") ? Pattern::bandwidth
                                                        : Pattern::bidirectional,
            .multi = pattern.starts_with("multi"),
            .layout = layout,
            .spacing = {std::max<std::size_t>(1, count), hot.alignment},
            .window = window,
            .polling = params.word("waiting") == "polling",
            .socket = {params.word("nodelay") == "on", buffer("send-buffer"), buffer("receive-buffer")},
            .family = params.word("family") == "ipv4" ? Family::ipv4 : Family::ipv6};
}

/// Messages of one pair in one iteration, both directions counted.
inline std::uint64_t messages(const Options& options) {
    switch (options.pattern) {
        case Pattern::latency:
            return 2;
        case Pattern::bandwidth:
            return options.window;
        case Pattern::bidirectional:
            break;
    }
    return 2 * options.window;
}

/// Failure (usage) where so many ranks make no such pattern.
inline void require_fitting(const Options& options, const Params& params, int ranks) {
    if (!options.multi && ranks != 2) {
        throw Failure(
            Exit::usage,
            "--pattern " + params.word("pattern") + " cannot be had with " + std::to_string(ranks) + " ranks",
            "it is a pattern of one pair",
            options.pattern == Pattern::latency ? "--pattern multi-latency" : "--pattern multi-bandwidth");
    }
}

}  // namespace assay::tcp
