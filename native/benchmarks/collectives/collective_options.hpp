// What a request for a collective operation says, and which requests are invalid.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/failure.hpp"

namespace assay::collective {

enum class Operation {
    barrier,
    dissemination,
    bcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce_scatter
};

/// Levels of the axis `operation`, in the order of Operation.
inline const std::vector<std::string> operation_words{"barrier",   "dissemination", "bcast",   "reduce",
                                                      "allreduce", "gather",        "scatter", "allgather",
                                                      "alltoall",  "reduce-scatter"};

struct Options {
    Operation operation = Operation::barrier;
    std::size_t bytes = 0;
    bool nonblocking = false;
    bool rotating = false;
};

/// One rank sends to all, or receives from all.
inline bool has_root(Operation operation) {
    return operation == Operation::bcast || operation == Operation::reduce || operation == Operation::gather ||
           operation == Operation::scatter;
}

/// The operation adds doubles.
inline bool adds(Operation operation) {
    return operation == Operation::reduce || operation == Operation::allreduce ||
           operation == Operation::reduce_scatter;
}

/// The operation only synchronises.
inline bool is_barrier(Operation operation) {
    return operation == Operation::barrier || operation == Operation::dissemination;
}

/// The root is fixed if a program has no such axis. Failure (usage) names the axes of an invalid request.
inline Options options_of(const Params& params, bool nonblocking) {
    const std::string& word = params.word("operation");
    const auto found = std::find(operation_words.begin(), operation_words.end(), word);
    Options options{};
    options.operation = static_cast<Operation>(found - operation_words.begin());
    options.bytes = is_barrier(options.operation) ? 0 : static_cast<std::size_t>(params.number("bytes"));
    options.nonblocking = nonblocking;
    const auto root = params.values.find("root");
    options.rotating = root != params.values.end() && std::get<std::string>(root->second) == "rotating";
    if (options.operation == Operation::dissemination && nonblocking) {
        throw Failure(Exit::usage, "--operation dissemination cannot be had with --calls nonblocking",
                      "it is the barrier of this program, which blocks", "--operation barrier");
    }
    if (options.rotating && !has_root(options.operation)) {
        throw Failure(Exit::usage, "--root rotating cannot be had with --operation " + word, "it has no root",
                      "--root fixed");
    }
    if (adds(options.operation) && options.bytes % sizeof(double) != 0) {
        throw Failure(Exit::usage,
                      "--operation " + word + " cannot be had with --bytes " + std::to_string(options.bytes),
                      "it adds doubles of 8 B", "--bytes " + std::to_string(options.bytes / 8 * 8 + 8));
    }
    if (options.bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        throw Failure(Exit::usage, "--bytes " + std::to_string(options.bytes) + " is too much",
                      "an MPI count ends at 2147483647", "--bytes 1073741824");
    }
    return options;
}

/// Bytes that every algorithm must send, all ranks together, between `groups` equal groups of ranks: between
/// hosts, or between ranks if each is its own group.
inline double min_sent_bytes(const Options& options, double ranks, double groups) {
    const auto bytes = static_cast<double>(options.bytes);
    const double elsewhere = ranks - ranks / groups;  // ranks of other groups
    switch (options.operation) {
        case Operation::barrier:
        case Operation::dissemination:
            return 0;
        case Operation::bcast:
        case Operation::reduce:
        case Operation::reduce_scatter:
            return (groups - 1) * bytes;
        case Operation::allreduce:
            return 2 * (groups - 1) * bytes;
        case Operation::gather:
        case Operation::scatter:
            return elsewhere * bytes;
        case Operation::allgather:
            return ranks * (groups - 1) * bytes;
        case Operation::alltoall:
            break;
    }
    return ranks * elsewhere * bytes;
}

}  // namespace assay::collective
