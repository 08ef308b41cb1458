// The command line of every program:
//   PROGRAM --help | --describe
//   PROGRAM [options] [--AXIS VALUE]... [--case ID [--AXIS VALUE]... [--seconds S]]...
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/sampler.hpp"

namespace assay {

/// One case as requested.
struct CaseRequest {
    std::string id;
    Params params;
    Stopping stopping;
};

/// One launch as requested.
struct Request {
    enum class Action { measure, help, describe };

    Action action = Action::measure;
    std::vector<std::vector<int>> cpus;  ///< for each rank of a host; one entry: for all; none: the allowed cpus
    int expected_ranks = 0;              ///< 0: any number
    std::string network;                 ///< interface or port requested for messages; empty for any
    std::vector<std::vector<std::string>> devices;  ///< for each rank; one entry: for all
    std::vector<std::string> folders;               ///< the same
    std::map<std::string, std::string> libraries;   ///< role -> file to load
    MemoryPolicy memory;
    std::vector<CaseRequest> cases;
};

/// Failure (usage) for an unknown option, axis or value.
Request parse_arguments(const std::vector<std::string>& arguments, const Declaration& declaration);

/// A whole number with an optional suffix K, M, G or T (powers of 1024, also as KiB, MiB ...).
std::int64_t parse_size(const std::string& text, const std::string& option);

std::string help(const Declaration& declaration);

/// The JSON of the declaration; of a program that is no benchmark, its name and what it is for.
std::string describe(const Declaration& declaration);

}  // namespace assay
