// What a request for tcp says, and which requests are invalid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "benchmarks/messages/gap.hpp"
#include "harness/connection.hpp"

namespace assay::tcp {

inline const Declaration declaration{
    .name = "tcp",
    .summary = "latency, bandwidth and rate of messages over TCP between pairs of MPI ranks",
    .kernels = {"message"},
    .axes = {messages::pattern_axis,
             messages::bytes_axis(1),
             messages::buffers_axis,
             messages::offset_axis,
             messages::window_axis,
             messages::gap_axis,
             {"waiting",
              "blocking: the kernel wakes the waiting process; polling: the process asks the kernel repeatedly",
              {"blocking", "polling"},
              "blocking",
              ""},
             {"nodelay", "on: TCP_NODELAY, small messages go at once", {"on", "off"}, "on", ""},
             {"send-buffer", "of each socket (SO_SNDBUF); 0: the system's choice", {}, std::int64_t{0}, "B", 0},
             {"receive-buffer", "of each socket (SO_RCVBUF); 0: the system's choice", {}, std::int64_t{0}, "B", 0},
             {"segment",
              "most bytes of a segment, its options included (TCP_MAXSEG); 0: what the MTU takes",
              {},
              std::int64_t{0},
              "B",
              0},
             {"family", "of the addresses", {"ipv4", "ipv6"}, "ipv4", ""},
             messages::pool_axis},
    .work = messages::quantities,
    .max_cpus = 1,
};

using messages::Pattern;

/// One parsed case.
struct Options {
    Pattern pattern;
    Layout layout;
    Spacing spacing;
    std::uint64_t window;
    bool polling;
    SocketOptions socket;
    Family family;
    messages::Gap gap;
};

inline Options options_of(const Params& params) {
    const Layout layout{Layout::Kind::contiguous, messages::size_of(params, 1)};
    const auto bytes_of = [&](const std::string& axis) {
        return static_cast<int>(std::min<std::int64_t>(params.number(axis), std::numeric_limits<int>::max()));
    };
    return {.pattern = messages::pattern_of(params),
            .layout = layout,
            .spacing = messages::spacing_of(params, layout, Spacing{}.alignment),
            .window = messages::window_of(params),
            .polling = params.word("waiting") == "polling",
            .socket = {params.word("nodelay") == "on", bytes_of("send-buffer"), bytes_of("receive-buffer"),
                       bytes_of("segment")},
            .family = params.word("family") == "ipv4" ? Family::ipv4 : Family::ipv6,
            .gap = messages::Gap(params)};
}

}  // namespace assay::tcp
