// What a request for pt2pt says, and which requests are invalid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "benchmarks/messages/gap.hpp"
#include "declared/pt2pt.hpp"

namespace assay::pt2pt {

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
    const std::vector<std::string>& words = declared::pt2pt.axis(axis).words;
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
