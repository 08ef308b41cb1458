#include "harness/program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <optional>

#include "harness/arguments.hpp"
#include "harness/failure.hpp"
#include "harness/launch.hpp"
#include "harness/parent.hpp"
#include "harness/records.hpp"

namespace assay {
namespace {

/// Prints a failure; if the next step begins with an option, the program's name comes before it.
void report(const std::string& program, const std::string& what, const std::string& why, const std::string& next) {
    std::string words = program + ": " + what + '\n';
    if (!why.empty()) {
        words += "  why: " + why + '\n';
    }
    if (!next.empty()) {
        const bool option = next.rfind("--", 0) == 0;
        words += "  next: " + (option ? std::string(program_invocation_name) + ' ' : "") + next + '\n';
    }
    std::cerr << words;
}

/// The more severe of two: an unfit environment outranks a failed case.
Exit more_severe(Exit one, Exit other) { return static_cast<int>(one) > static_cast<int>(other) ? one : other; }

/// Rank 0 writes the records of a case.
void write(Records& records, Ranks& ranks) {
    all_or_none(ranks, [&] {
        if (ranks.rank() == 0) {
            records.flush();
        }
    });
}

Exit measure_case(const Launch& launch, const CaseRequest& request, const std::string& program, Ranks& ranks) {
    Records records;
    Exit exit = Exit::complete;
    const std::string prefix =
        request.id == program ? "" : request.id + ": ";  // a single case has the program's name
    try {
        exit = launch.measure(request, records);
    } catch (const Failure& failure) {
        if (ranks.rank() == 0) {
            report(program, prefix + failure.what(), failure.why, failure.next);
        }
        records.end("failed", std::string(failure.what()) + ": " + failure.why, failure.cause);
        exit = failure.exit;
    }
    write(records, ranks);
    return exit;
}

/// With a wrong launcher each process is alone in its MPI, and would measure only itself.
void require_expected(const Ranks& ranks, const Request& request) {
    if (request.expected_ranks == 0 || request.expected_ranks == ranks.size()) {
        return;
    }
    const auto library = ranks.library();
    const std::string name = library.empty() ? "one that passes no messages" : library.at("library");
    throw Failure(Exit::environment,
                  std::to_string(request.expected_ranks) +
                      (request.expected_ranks == 1 ? " rank was" : " ranks were") + " expected, " +
                      std::to_string(ranks.size()) + (ranks.size() == 1 ? " is" : " are") + " here",
                  "the launcher does not belong to this program's MPI (" + name + "), or started another number",
                  "start it with the mpiexec of that MPI: mpiexec -n " + std::to_string(request.expected_ranks));
}

Threads threads_of(const Declaration& declaration, const Request& request) {
    const auto pass_messages = [&](const CaseRequest& each) {
        return !declaration.message_threads.empty() && each.params.number(declaration.message_threads) > 1;
    };
    if (std::any_of(request.cases.begin(), request.cases.end(), pass_messages)) {
        return Threads::multiple;
    }
    const bool alone = std::all_of(request.cpus.begin(), request.cpus.end(),
                                   [](const std::vector<int>& cpus) { return cpus.size() == 1; });
    return alone ? Threads::single : Threads::funneled;
}

void require_threads(const Declaration& declaration, const Request& request, const Ranks& ranks) {
    if (threads_of(declaration, request) == Threads::multiple && ranks.library().at("threads") != "multiple") {
        throw Failure(Exit::environment, "this MPI lets one thread alone pass messages",
                      "MPI_THREAD_MULTIPLE is not granted: " + ranks.library().at("library"), "--threads 1");
    }
}

Exit measure_all(const Declaration& declaration, Factory factory, const Request& request, Ranks& ranks) {
    Clock clock{};
    std::unique_ptr<Launch> launch;
    try {
        require_expected(ranks, request);
        require_threads(declaration, request, ranks);
        clock = agreed_clock(ranks);
        all_or_none(ranks,
                    [&] { launch = std::make_unique<Launch>(declaration, factory, request, ranks, clock); });
    } catch (const Failure& failure) {
        Records records;
        for (std::size_t each = 0; each < request.cases.size(); ++each) {
            records.end("failed", std::string(failure.what()) + ": " + failure.why, failure.cause);
        }
        write(records, ranks);
        throw;
    }
    Exit exit = Exit::complete;
    for (const CaseRequest& each : request.cases) {
        exit = more_severe(exit, measure_case(*launch, each, declaration.name, ranks));
    }
    return exit;
}

/// The parsed command line, or why it is refused; only rank 0 reports that.
struct CommandLine {
    Request request;
    std::optional<Failure> refused;
};

CommandLine read(const Declaration& declaration, int argc, char** argv) {
    try {
        end_with_parent();
        return {parse_arguments({argv + 1, argv + argc}, declaration), std::nullopt};
    } catch (const Failure& failure) {
        return {{}, failure};
    }
}

Exit measure(const Declaration& declaration, Factory factory, const CommandLine& command_line, Ranks& ranks) {
    try {
        if (command_line.refused) {
            throw Failure(*command_line.refused);
        }
        return measure_all(declaration, factory, command_line.request, ranks);
    } catch (const Failure& failure) {
        if (ranks.rank() == 0) {
            report(declaration.name, failure.what(), failure.why, failure.next);
        }
        return failure.exit;
    } catch (const std::exception& error) {
        report(declaration.name, "it cannot go on", error.what(), "");
        ranks.abandon(Exit::failed);
        return Exit::failed;
    }
}

/// Prints the help or the description.
Exit print(const Declaration& declaration, const std::string& text) {
    try {
        write_out(text);
        return Exit::complete;
    } catch (const Failure& failure) {
        report(declaration.name, failure.what(), failure.why, failure.next);
        return failure.exit;
    }
}

}  // namespace

int run_ranks(const Declaration& declaration, Factory factory, Join join, int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a closed reader then causes a failed write, with a message
    const CommandLine command_line = read(declaration, argc, argv);
    switch (command_line.request.action) {
        case Request::Action::help:
            return static_cast<int>(print(declaration, help(declaration)));
        case Request::Action::describe:
            return static_cast<int>(print(declaration, describe(declaration)));
        case Request::Action::measure:
            break;
    }
    const std::unique_ptr<Ranks> ranks = join(threads_of(declaration, command_line.request));
    const Exit exit = measure(declaration, factory, command_line, *ranks);
    ranks->leave(exit);
    return static_cast<int>(exit);
}

int run_program(const Declaration& declaration, Factory factory, int argc, char** argv) {
    const Join alone = [](Threads /*threads*/) -> std::unique_ptr<Ranks> {
        return std::make_unique<SingleProcess>();
    };
    return run_ranks(declaration, factory, alone, argc, argv);
}

}  // namespace assay
