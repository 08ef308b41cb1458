// Starts an external command with a placement that is set and proven, and keeps its whole output.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "harness/arguments.hpp"
#include "harness/child.hpp"
#include "harness/cpus.hpp"
#include "harness/failure.hpp"
#include "harness/parent.hpp"
#include "harness/records.hpp"
#include "harness/traffic.hpp"
#include "interposed/embedded.hpp"

namespace {

using assay::Exit;
using assay::Failure;

constexpr const char* usage =
    "start --benchmark NAME --case ID --cpus LIST [--memory POLICY] [--param AXIS=VALUE]... [--figure NAME]...\n"
    "      [--input FILE=CONTENT]... [--file FILE=PATH]... [--prologue LINE] [--output FILE] [--limit SECONDS]\n"
    "      [--prefix FOLDER] [--mpi-calls uncounted] [--expect-ranks COUNT] -- COMMAND [ARGUMENT]...\n"
    "       start --help | --describe";

constexpr const char* summary = "runs a command with a placement that is set and proven";

assay::Declaration declaration_of(const std::string& benchmark) {
    return {.name = benchmark, .measures = summary, .kernels = {}, .axes = {}, .work = {}};
}

struct Request {
    std::string benchmark = "start";
    std::string id = "start";
    assay::Params params;
    assay::Work figures;
    assay::Command command;
    std::string cpus;  ///< as requested; / separates ranks
    int ranks = 0;     ///< number of ranks that a launcher started; 0 for a single process
    int rank = 0;
    bool counts_calls = true;  ///< whether calls of MPI are counted, which takes time in each of them
};

/// Variables in which launchers give each rank its number, and the number of ranks.
constexpr std::array<std::pair<const char*, const char*>, 4> launcher_variables{{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
    {"PMIX_RANK", "PMIX_SIZE"},
}};

/// Number of this process among so many ranks. Failure (environment) if no launcher gives it, or there is
/// another number of ranks.
int rank_of(int ranks) {
    for (const auto& [rank, size] : launcher_variables) {
        const char* number = std::getenv(rank);
        const char* count = std::getenv(size);
        if (number == nullptr) {
            continue;
        }
        if (count != nullptr && std::atoi(count) != ranks) {
            throw Failure(Exit::environment,
                          std::string(count) + " ranks were started, not " + std::to_string(ranks),
                          "the launcher is not that of the MPI that was chosen", "assay list mpis");
        }
        return std::atoi(number);
    }
    throw Failure(Exit::environment, "no launcher says which rank this is", "it sets none of the usual variables",
                  "assay list mpis");
}

/// Cpu lists, separated by / between ranks.
std::vector<std::string> by_rank(const std::string& text) {
    std::vector<std::string> lists(1);
    for (const char letter : text) {
        if (letter == '/') {
            lists.emplace_back();
        } else {
            lists.back() += letter;
        }
    }
    return lists;
}

std::pair<std::string, std::string> halves(const std::string& option, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
        throw Failure(Exit::usage, "'" + text + "' is no value of " + option, "NAME=VALUE is wanted", usage);
    }
    return {text.substr(0, equals), text.substr(equals + 1)};
}

assay::Value value_of(const std::string& text) {
    const bool whole = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return whole ? assay::Value{assay::parse_size(text, "--param")} : assay::Value{text};
}

Request parse(const std::vector<std::string>& arguments) {
    Request request;
    std::size_t at = 0;
    for (; at + 1 < arguments.size() && arguments[at] != "--"; at += 2) {
        const std::string& option = arguments[at];
        const std::string& text = arguments[at + 1];
        if (option == "--benchmark") {
            request.benchmark = text;
        } else if (option == "--case") {
            request.id = text;
        } else if (option == "--cpus") {
            request.cpus = text;
        } else if (option == "--expect-ranks") {
            request.ranks = static_cast<int>(assay::parse_size(text, option));
        } else if (option == "--mpi-calls") {
            request.counts_calls = text != "uncounted";
        } else if (option == "--network") {
            continue;  // the launcher handles it
        } else if (option == "--memory") {
            request.command.memory = assay::MemoryPolicy::parse(text);
        } else if (option == "--param") {
            const auto [axis, value] = halves(option, text);
            request.params.values[axis] = value_of(value);
        } else if (option == "--figure") {
            request.figures[text] = {{"solution", 1}};
        } else if (option == "--input") {
            request.command.inputs.insert(halves(option, text));
        } else if (option == "--file") {
            request.command.files.insert(halves(option, text));
        } else if (option == "--prologue") {
            request.command.prologue = text;
        } else if (option == "--prefix") {
            request.command.prefix = text;
        } else if (option == "--limit") {
            request.command.limit_s = std::stod(text);
        } else if (option == "--output") {
            request.command.output = text;
        } else {
            throw Failure(Exit::usage, "'" + option + "' is not known", "it is no option of this program", usage);
        }
    }
    if (at >= arguments.size() || arguments[at] != "--" || at + 1 == arguments.size()) {
        throw Failure(Exit::usage, "no command is given", "it stands after --", usage);
    }
    request.command.words.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
    if (request.ranks > 0) {
        request.rank = rank_of(request.ranks);
        if (request.counts_calls) {
            request.command.interposed = assay::mpi_times_library();
        }
        assay::unpin();  // undo the binding of the launcher
    }
    if (!request.cpus.empty()) {
        const std::vector<std::string> lists = by_rank(request.cpus);
        request.command.cpus =
            assay::parse_list(lists[static_cast<std::size_t>(request.rank) % lists.size()], "cpu");
    } else {
        request.command.cpus = assay::affinity();
    }
    assay::require_allowed(request.command.cpus, assay::affinity());
    return request;
}

/// Why the placement is not as requested; empty if all threads ran on the cpus of the rank only.
std::string misplaced(const Request& request, const assay::Outcome& outcome) {
    for (const int cpu : outcome.cpus) {
        if (std::find(request.command.cpus.begin(), request.command.cpus.end(), cpu) ==
            request.command.cpus.end()) {
            return "a thread of the command ran on cpu " + std::to_string(cpu) + ", which was not asked for";
        }
    }
    return "";
}

Exit measure(const Request& request) {
    const assay::Declaration declaration = declaration_of(request.benchmark);
    const assay::Clock clock = assay::measure_clock();
    const double begin = assay::now();
    const double own_before_s = assay::own_cpu_s();
    const assay::CpuTimes cpus_before = assay::read_cpu_times();
    const assay::Outcome outcome = assay::run_child(request.command);
    const std::string host = assay::host_entry({}, {}, assay::spent(cpus_before, assay::read_cpu_times()),
                                               assay::own_cpu_s() - own_before_s);
    const double seconds = assay::now() - begin;
    assay::PlacementReadback readback{.requested_cpus = request.command.cpus,
                                      .cpus = outcome.cpus,
                                      .requested_memory = request.command.memory.text,
                                      .page_nodes = outcome.page_nodes,
                                      .huge_page_share = outcome.huge_page_share,
                                      .threads_pinned = outcome.threads_pinned,
                                      .usage = outcome.usage,
                                      .mpi = outcome.interposed};
    if (!outcome.threads_pinned && misplaced(request, outcome).empty()) {
        readback.cpus = request.command.cpus;  // the mask of the rank, in which all threads stayed
        std::sort(readback.cpus.begin(), readback.cpus.end());
    }
    const std::string entry = assay::rank_entry(request.rank, readback);
    const std::string stray = misplaced(request, outcome);
    const std::string status = !outcome.reason.empty() ? "failed" : !stray.empty() ? "invalid" : "complete";
    const Exit exit = status == "complete" ? Exit::complete : Exit::failed;
    assay::Records records;
    if (request.rank > 0) {  // launchers may mix the stdout of several ranks within a line
        std::cerr << assay::placed_line(entry, host, status, outcome.reason.empty() ? stray : outcome.reason,
                                        outcome.output)
                  << std::flush;
        return exit;
    }
    std::map<std::string, std::string> facts = outcome.loaded;
    std::string& words = facts["command"];
    for (const std::string& word : request.command.words) {
        words += (words.empty() ? "" : " ") + word;
    }
    records.header(
        {declaration, {request.id, request.params, {}}, request.figures, clock, {}, {}, facts, {entry}});
    records.traffic(seconds, 0, {host});
    records.output(outcome.output);
    records.figure("elapsed", "s", outcome.seconds);
    records.end(status, outcome.reason.empty() ? stray : outcome.reason);
    records.flush();
    return exit;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        assay::end_with_parent();
        std::signal(SIGPIPE, SIG_IGN);
        assay::end_command_on_sigterm();
        if (argc == 2 && std::string(argv[1]) == "--help") {
            std::cout << "start: " << summary << "\n\nusage: " << usage << '\n';
            return 0;
        }
        if (argc == 2 && std::string(argv[1]) == "--describe") {
            std::cout << assay::describe(declaration_of("start"));
            return 0;
        }
        return static_cast<int>(measure(parse({argv + 1, argv + argc})));
    } catch (const Failure& failure) {
        std::cerr << "start: " << failure.what() << '\n';
        if (!failure.why.empty()) {
            std::cerr << "  why: " << failure.why << '\n';
        }
        if (!failure.next.empty()) {
            std::cerr << "  next: " << failure.next << '\n';
        }
        return static_cast<int>(failure.exit);
    }
}
