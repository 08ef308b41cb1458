#include "harness/program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>

#include "harness/arguments.hpp"
#include "harness/clock.hpp"
#include "harness/cpus.hpp"
#include "harness/failure.hpp"
#include "harness/parent.hpp"
#include "harness/records.hpp"
#include "harness/sampler.hpp"

namespace assay {
namespace {

/// What to do next is shown with the program, as it was called, where it begins with an option of it.
void say(const std::string& program, const std::string& what, const std::string& why, const std::string& next) {
    std::cerr << program << ": " << what << '\n';
    if (!why.empty()) {
        std::cerr << "  why: " << why << '\n';
    }
    if (!next.empty()) {
        const bool option = next.rfind("--", 0) == 0;
        std::cerr << "  next: " << (option ? std::string(program_invocation_name) + ' ' : "") << next << '\n';
    }
}

/// How many cpus a benchmark can use, in words.
std::string wanted_cpus(const Declaration& declaration) {
    const std::string least = std::to_string(declaration.least_cpus);
    if (declaration.least_cpus == declaration.most_cpus) {
        return "exactly " + least;
    }
    return "at least " + least +
           (declaration.most_cpus > 0 ? " and at most " + std::to_string(declaration.most_cpus) : "");
}

/// The cpus asked for, else those that are allowed; as many as the benchmark can use.
std::vector<int> choose_cpus(const Declaration& declaration, const Request& request,
                             const std::vector<int>& allowed) {
    std::vector<int> cpus = request.cpus.empty() ? allowed : request.cpus;
    const auto least = static_cast<std::size_t>(declaration.least_cpus);
    const auto most = declaration.most_cpus > 0 ? static_cast<std::size_t>(declaration.most_cpus) : cpus.size();
    if (request.cpus.empty() && cpus.size() > most) {
        cpus.resize(most);
    }
    require_allowed(cpus, allowed);
    if (cpus.size() < least || cpus.size() > most) {
        throw Failure(
            Exit::usage, std::to_string(cpus.size()) + (cpus.size() == 1 ? " cpu is" : " cpus are") + " given",
            declaration.name + " needs " + wanted_cpus(declaration) + "; allowed: " + format_list(allowed),
            "name them with --cpus");
    }
    return cpus;
}

/// One launch: what all of its cases share.
class Launch {
  public:
    Launch(const Declaration& declaration, Factory factory, const Request& request)
        : declaration_(declaration),
          factory_(factory),
          request_(request),
          allowed_(affinity()),
          clock_(measure_clock()),
          cpus_(choose_cpus(declaration, request, allowed_)),
          team_(declaration.own_threads ? std::vector<int>{cpus_.front()} : cpus_, allowed_) {}

    /// Measures one case and writes its records.
    Exit measure(const CaseRequest& request, Records& records) const {
        const auto memory = std::make_shared<Memory>(request_.memory);
        const auto benchmark = factory_({request.params, team_, memory, cpus_});
        const Whereabouts whereabouts = find(*benchmark, *memory);
        records.header(declaration_, request, benchmark->work(), clock_, whereabouts);
        const double error = sample(request, *benchmark, records);
        const bool passed = error <= benchmark->tolerance();
        records.verdict(passed, error, benchmark->tolerance());
        std::string misplaced = misplacement(whereabouts, *memory);
        if (misplaced.empty()) {
            misplaced = misplacement(find(*benchmark, *memory), *memory);
        }
        return conclude(records, passed, misplaced);
    }

  private:
    [[nodiscard]] Whereabouts find(const Benchmark& benchmark, const Memory& memory) const {
        std::vector<int> found = team_.cpus();
        const std::vector<int> own = benchmark.own_cpus();
        found.insert(found.end(), own.begin(), own.end());
        return {cpus_, found, request_.memory.text, memory.page_nodes(), memory.huge_page_share()};
    }

    /// Verifies, samples and verifies each kernel; the result is the largest error.
    double sample(const CaseRequest& request, Benchmark& benchmark, Records& records) const {
        Sampler sampler(clock_, team_, benchmark);
        double error = 0;
        double seconds = request.stopping.seconds;
        for (std::size_t kernel = 0; kernel < declaration_.kernels.size(); ++kernel) {
            benchmark.prepare(kernel);
            team_.run([&](int thread) { benchmark.iterate(kernel, 1, thread); });
            benchmark.require_unhindered();
            error = std::max(error, benchmark.verify(kernel));
            benchmark.prepare(kernel);
            Stopping stopping = request.stopping;
            // What one kernel leaves the next ones get; what it took too much never leaves them less than half.
            const double share = request.stopping.seconds / static_cast<double>(declaration_.kernels.size());
            stopping.seconds =
                std::max(share / 2, seconds / static_cast<double>(declaration_.kernels.size() - kernel));
            const double begin = now();
            const std::vector<Series> phases = sampler.sample(kernel, stopping);
            seconds = std::max(0.0, seconds - (now() - begin));
            benchmark.require_unhindered();
            error = std::max(error, benchmark.verify(kernel));
            for (const Series& phase : phases) {
                records.series(declaration_.kernels[kernel], phase);
            }
        }
        return error;
    }

    [[nodiscard]] static std::string misplacement(const Whereabouts& whereabouts, const Memory& memory) {
        if (whereabouts.cpus != whereabouts.requested_cpus) {
            return "a thread is not on the cpu that was asked for";
        }
        return memory.misplaced(whereabouts.page_nodes, whereabouts.huge_page_share);
    }

    static Exit conclude(Records& records, bool passed, const std::string& misplaced) {
        if (!passed) {
            records.end("failed", "the results are wrong");
        } else if (!misplaced.empty()) {
            records.end("invalid", misplaced);
        } else {
            records.end("complete", "");
            return Exit::complete;
        }
        return Exit::failed;
    }

    const Declaration& declaration_;
    Factory factory_;
    const Request& request_;
    std::vector<int> allowed_;
    Clock clock_;
    std::vector<int> cpus_;
    Team team_;
};

/// The graver of two: what the environment cannot do outranks a case that failed.
Exit graver(Exit one, Exit other) { return static_cast<int>(one) > static_cast<int>(other) ? one : other; }

Exit measure_case(const Launch& launch, const CaseRequest& request, const std::string& program) {
    Records records;
    Exit exit = Exit::complete;
    const std::string about =
        request.id == program ? "" : request.id + ": ";  // alone it is named after the program
    try {
        exit = launch.measure(request, records);
    } catch (const Failure& failure) {
        say(program, about + failure.what(), failure.why, failure.next);
        records.end("failed", std::string(failure.what()) + ": " + failure.why);
        exit = failure.exit;
    } catch (const std::exception& error) {
        say(program, about + "it cannot be measured", error.what(), "");
        records.end("failed", error.what());
        exit = Exit::failed;
    }
    records.flush();
    return exit;
}

Exit measure_all(const Declaration& declaration, Factory factory, const Request& request) {
    std::unique_ptr<Launch> launch;
    try {
        launch = std::make_unique<Launch>(declaration, factory, request);
    } catch (const Failure& failure) {
        Records records;
        for (std::size_t each = 0; each < request.cases.size(); ++each) {
            records.end("failed", std::string(failure.what()) + ": " + failure.why);
        }
        records.flush();
        throw;
    }
    Exit exit = Exit::complete;
    for (const CaseRequest& each : request.cases) {
        exit = graver(exit, measure_case(*launch, each, declaration.name));
    }
    return exit;
}

Exit act(const Declaration& declaration, Factory factory, const Request& request) {
    switch (request.action) {
        case Request::Action::help:
            write_out(help(declaration));
            return Exit::complete;
        case Request::Action::describe:
            write_out(describe(declaration));
            return Exit::complete;
        case Request::Action::measure:
            break;
    }
    return measure_all(declaration, factory, request);
}

}  // namespace

int run_program(const Declaration& declaration, Factory factory, int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that is gone is told as a failed write, with a message
    try {
        end_with_parent();
        const Request request = parse_arguments({argv + 1, argv + argc}, declaration);
        return static_cast<int>(act(declaration, factory, request));
    } catch (const Failure& failure) {
        say(declaration.name, failure.what(), failure.why, failure.next);
        return static_cast<int>(failure.exit);
    } catch (const std::exception& error) {
        say(declaration.name, "it cannot go on", error.what(), "");
        return static_cast<int>(Exit::failed);
    }
}

}  // namespace assay
