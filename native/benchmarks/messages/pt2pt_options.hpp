// What a request for pt2pt says, and which requests are invalid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "benchmarks/messages/gap.hpp"

namespace assay::pt2pt {

inline const Declaration declaration{
    .name = "pt2pt",
    .summary = "latency, bandwidth and rate of messages between pairs of MPI ranks",
    .kernels = {"message"},
    .axes =
        {messages::pattern_axis,
         messages::bytes_axis(0),
         {"calls",
          "nonblocking: Isend, Irecv; blocking: Send, Recv; persistent: Start; synchronous: Ssend, or Issend in "
          "windows",
          {"nonblocking", "blocking", "persistent", "synchronous"},
          "nonblocking",
          ""},
         {"source", "any: received from MPI_ANY_SOURCE", {"named", "any"}, "named", ""},
         {"exchange", "combined: both directions in one MPI_Sendrecv", {"separate", "combined"}, "separate", ""},
         messages::buffers_axis,
         messages::offset_axis,
         {"alignment", "largest power of two that divides the address of a buffer", {}, std::int64_t{64}, "B"},
         {"datatype",
          "contiguous: bytes; vector: blocks of 8 B, gaps of 8 B; indexed: blocks of 8 B, one in each 16 B",
          {"contiguous", "vector", "indexed"},
          "contiguous",
          ""},
         messages::window_axis,
         messages::gap_axis,
         {"threads",
          "of each rank that pass messages at once, each over a communicator of its own",
          {},
          std::int64_t{1},
          ""},
         messages::pool_axis},
    .work = messages::quantities,
    .threads_pass_messages = [](const Params& params) { return params.number("threads") > 1; },
};

using messages::Pattern;
enum class Calls { nonblocking, blocking, persistent, synchronous };

/// One parsed case. The number of pairs makes no difference for one pair of ranks.
struct Options {
    Pattern pattern;
    Calls calls;
    bool any_source;
    bool combined;
    Layout layout;
    Spacing spacing;
    bool cold;
    int window;
    int threads;
    messages::Gap gap;
};

namespace detail {

/// Index of a word in its axis, which is the value of its enumeration.
inline int index_of(const Params& params, const std::string& axis) {
    const auto& axes = declaration.axes;
    const auto& words =
        std::find_if(axes.begin(), axes.end(), [&](const Axis& each) { return each.name == axis; })->words;
    return static_cast<int>(std::find(words.begin(), words.end(), params.word(axis)) - words.begin());
}

inline Failure bad_request(const std::string& what, const std::string& why, const std::string& next) {
    return {Exit::usage, what, why, next};
}

using messages::option_text;

inline void refuse_bad_request(const Params& params, const Options& options) {
    const bool bidirectional = options.pattern == Pattern::bidirectional;
    if (options.combined && !(bidirectional && options.calls == Calls::blocking)) {
        throw bad_request(
            "--exchange combined cannot be had with " + option_text(params, bidirectional ? "calls" : "pattern"),
            "MPI_Sendrecv blocks, and sends and receives at once",
            "--pattern bidirectional --calls blocking --exchange combined");
    }
    if (bidirectional && options.calls == Calls::blocking && !options.combined) {
        throw bad_request("--pattern bidirectional cannot be had with --calls blocking and --exchange separate",
                          "two ranks that both send first, and wait, would wait for ever",
                          "--pattern bidirectional --calls blocking --exchange combined");
    }
    if (options.cold && options.calls == Calls::persistent) {
        throw bad_request("--buffers cold cannot be had with --calls persistent",
                          "a persistent request keeps its buffer, and a pool has too many", "--buffers rotating");
    }
    if (options.layout.kind != Layout::Kind::contiguous && options.layout.bytes > 0 &&
        options.layout.bytes % options.layout.block() != 0) {
        throw bad_request(option_text(params, "datatype") + " cannot be had with messages of " +
                              std::to_string(options.layout.bytes) + " B (--bytes and --offset)",
                          "they are made of whole blocks of " + std::to_string(options.layout.block()) + " B",
                          "--datatype contiguous");
    }
    if ((options.spacing.alignment & (options.spacing.alignment - 1)) != 0) {
        throw bad_request("--alignment " + std::to_string(options.spacing.alignment) + " is no power of two",
                          "it is the largest that divides the address of a buffer", "--alignment 64");
    }
}

}  // namespace detail

/// Failure (usage) names the axes of an invalid request.
inline Options options_of(const Params& params) {
    Options options{};
    options.pattern = messages::pattern_of(params);
    options.calls = static_cast<Calls>(detail::index_of(params, "calls"));
    options.any_source = params.word("source") == "any";
    options.combined = params.word("exchange") == "combined";
    options.layout = {static_cast<Layout::Kind>(detail::index_of(params, "datatype")),
                      messages::size_of(params, 0)};
    options.spacing =
        messages::spacing_of(params, options.layout, static_cast<std::size_t>(params.number("alignment")));
    options.cold = params.word("buffers") == "cold";
    options.window = static_cast<int>(messages::window_of(params));
    options.threads = static_cast<int>(std::min<std::int64_t>(params.number("threads"), 1 << 20U));
    options.gap = messages::Gap(params);
    detail::refuse_bad_request(params, options);
    return options;
}

/// Messages of one pair of threads in one iteration, in both directions.
inline std::uint64_t count(const Options& options) {
    return messages::count(options.pattern, static_cast<std::uint64_t>(options.window));
}

/// Failure (usage) if so many ranks, with so many threads, cannot have this pattern.
inline void require_fitting(const Options& options, const Params& params, int ranks, int cpus) {
    messages::require_pairs(params, ranks);
    if (options.threads > cpus) {
        throw detail::bad_request("--threads " + std::to_string(options.threads) + " cannot be had with " +
                                      std::to_string(cpus) + (cpus == 1 ? " cpu" : " cpus") + " a rank (--cpus)",
                                  "each thread has a cpu of its own", "--threads " + std::to_string(cpus));
    }
}

}  // namespace assay::pt2pt
