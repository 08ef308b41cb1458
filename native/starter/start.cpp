// Starts a command of somebody else with a placement that is set and proven, and keeps its output whole.
#include <algorithm>
#include <csignal>
#include <iostream>

#include "harness/arguments.hpp"
#include "harness/child.hpp"
#include "harness/cpus.hpp"
#include "harness/failure.hpp"
#include "harness/parent.hpp"
#include "harness/records.hpp"

namespace {

using assay::Exit;
using assay::Failure;

constexpr const char* usage =
    "start --benchmark NAME --case ID --cpus LIST [--memory POLICY] [--param AXIS=VALUE]... [--figure NAME]...\n"
    "      [--input FILE=CONTENT]... [--output FILE] -- COMMAND [ARGUMENT]...\n"
    "       start --help | --describe";

constexpr const char* summary = "runs a command with a placement that is set and proven";

assay::Declaration declaration_of(const std::string& benchmark) {
    return {.name = benchmark, .summary = summary, .kernels = {}, .axes = {}, .work = {}};
}

struct Request {
    std::string benchmark = "start";
    std::string id = "start";
    assay::Params params;
    assay::Work figures;
    assay::Command command;
};

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
            request.command.cpus = assay::parse_list(text, "cpu");
        } else if (option == "--memory") {
            request.command.memory = assay::MemoryPolicy::parse(text);
        } else if (option == "--param") {
            const auto [axis, value] = halves(option, text);
            request.params.values[axis] = value_of(value);
        } else if (option == "--figure") {
            request.figures[text] = {{"solution", 1}};
        } else if (option == "--input") {
            request.command.inputs.insert(halves(option, text));
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
    if (request.command.cpus.empty()) {
        request.command.cpus = assay::affinity();
    }
    assay::require_allowed(request.command.cpus, assay::affinity());
    return request;
}

/// The proof: threads on a cpu each, or all of them on the cpus of the rank and on no other.
std::string misplaced(const Request& request, const assay::Ended& ended) {
    for (const int cpu : ended.cpus) {
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
    const assay::Ended ended = assay::run_child(request.command);
    assay::PlacementReadback readback{request.command.cpus, ended.cpus,   request.command.memory.text,
                                      ended.page_nodes,     std::nullopt, ended.threads_pinned};
    if (!ended.threads_pinned && misplaced(request, ended).empty()) {
        readback.cpus = request.command.cpus;  // the mask of the rank, in which all threads stayed
        std::sort(readback.cpus.begin(), readback.cpus.end());
    }
    std::string words;
    for (const std::string& word : request.command.words) {
        words += (words.empty() ? "" : " ") + word;
    }
    assay::Records records;
    records.header({declaration,
                    {request.id, request.params, {}},
                    request.figures,
                    clock,
                    {},
                    {},
                    {{"command", words}},
                    {assay::rank_entry(0, readback)}});
    records.output(ended.output);
    records.figure("elapsed", "s", ended.seconds);
    const std::string stray = misplaced(request, ended);
    if (!ended.reason.empty()) {
        records.end("failed", ended.reason);
    } else if (!stray.empty()) {
        records.end("invalid", stray);
    } else {
        records.end("complete", "");
    }
    records.flush();
    return ended.reason.empty() && stray.empty() ? Exit::complete : Exit::failed;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        assay::end_with_parent();
        std::signal(SIGPIPE, SIG_IGN);
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
