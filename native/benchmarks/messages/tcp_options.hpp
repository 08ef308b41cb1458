// What a request for tcp says, and which requests are invalid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "benchmarks/messages/gap.hpp"
#include "harness/connection.hpp"

namespace assay::tcp {

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
