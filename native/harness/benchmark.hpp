// What a benchmark is to the harness: a declaration, and a type that prepares, iterates and verifies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/memory.hpp"
#include "harness/ranks.hpp"
#include "harness/team.hpp"

namespace assay {

using Value = std::variant<std::int64_t, std::string>;

/// Axis -> value, every axis of the declaration.
struct Params {
    std::map<std::string, Value> values;

    [[nodiscard]] std::int64_t number(const std::string& axis) const {
        return std::get<std::int64_t>(values.at(axis));
    }
    [[nodiscard]] const std::string& word(const std::string& axis) const {
        return std::get<std::string>(values.at(axis));
    }
};

/// One parameter: a closed set of words, or a whole number with a unit.
struct Axis {
    std::string name;
    std::string meaning;
    std::vector<std::string> words;  ///< empty for numbers
    Value default_value;
    std::string unit;
    std::int64_t least = 1;                                        ///< of numbers
    std::int64_t most = std::numeric_limits<std::int64_t>::max();  ///< of numbers
};

/// Kernel -> quantity -> amount in one iteration.
using Work = std::map<std::string, std::map<std::string, double>>;

struct Declaration {
    std::string name;
    std::string summary;
    std::vector<std::string> kernels;  ///< in the order they run
    std::vector<Axis> axes;
    std::map<std::string, std::vector<std::string>> work;  ///< kernel -> quantities
    int min_cpus = 1;
    int max_cpus = 0;          ///< 0 for as many as there are
    bool own_threads = false;  ///< the benchmark starts its own threads: the team is the calling one alone
    bool solves =
        false;  ///< an iteration is a whole solution: the first kernel is its figure, the others its phases
    /// Of an MPI program: whether threads of a case pass messages at once, which MPI has to know from its start.
    bool (*threads_pass_messages)(const Params&) = nullptr;
};

/// What a program states of one whole solution, which all ranks reached together.
struct Solution {
    std::string name;  ///< of the figure: `rate`
    std::string unit;
    double value = 0;
    double seconds = 0;
    std::map<std::string, double>
        phases;  ///< part of the solution -> seconds; parts that there were not are absent
    std::map<std::string, std::vector<double>> steps{};  ///< the same of each of its steps, where it has any
};

/// One case, set up: buffers allocated and touched. In an MPI program every rank has one, and its constructor and
/// destructor pass no messages.
class Benchmark {
  public:
    Benchmark() = default;
    Benchmark(const Benchmark&) = delete;
    Benchmark& operator=(const Benchmark&) = delete;
    Benchmark(Benchmark&&) = delete;
    Benchmark& operator=(Benchmark&&) = delete;
    virtual ~Benchmark() = default;

    [[nodiscard]] virtual Work work() const = 0;

    /// Called when every rank is set up: here ranks may pass each other their first messages. Its Failure ends the
    /// case on all of them.
    virtual void connect() {}

    /// Spoils the kernel's results, so that those found later were made since.
    virtual void prepare(std::size_t kernel) = 0;

    /// Brings this rank and its partners in step, untimed: called on every thread before samples.
    virtual void meet(int /*thread*/) {}

    /// Whether samples may follow each other without a pause, because `iterate` itself keeps ranks in step.
    [[nodiscard]] virtual bool flows() const { return false; }

    /// The timed region: called on every thread of the team at once, ends with a barrier. It may not allocate,
    /// print or throw.
    virtual void iterate(std::size_t kernel, std::uint64_t iterations, int thread) = 0;

    /// Error of the results that the iterations since `prepare` left; finite.
    virtual double verify(std::size_t kernel) = 0;

    /// Largest error of right results.
    [[nodiscard]] virtual double tolerance() const = 0;

    /// Of a program that solves: the figure of the last iteration, in which the slowest rank took so many seconds.
    /// Ranks may pass messages here. The same on every rank.
    [[nodiscard]] virtual Solution solution(double /*seconds*/) { return {}; }

    /// Whether this rank's times count: they are recorded, and sampling goes by the largest of them.
    [[nodiscard]] virtual bool times() const { return true; }

    /// Iterations of a sample, if it may not have more: those after a pause are alone.
    [[nodiscard]] virtual std::uint64_t most_iterations() const { return std::uint64_t{1} << 40U; }

    /// Seconds that the last `iterate` timed itself, where only the benchmark can tell work from waiting. Without
    /// a value the harness times the whole call.
    [[nodiscard]] virtual std::optional<double> self_timed_seconds() const { return std::nullopt; }

    /// Seconds that each thread has worked so far, without its waiting for others; empty where they are not timed.
    [[nodiscard]] virtual std::vector<double> thread_seconds() const { return {}; }

    /// Bytes of all messages that this rank has sent so far.
    [[nodiscard]] virtual double sent_bytes() const { return 0; }

    /// The network path of this rank's messages, for the header; empty where only the MPI library knows it.
    [[nodiscard]] virtual std::string path() const { return {}; }

    /// Bytes of a message that one of its segments carries at most, for the header; empty where none are known.
    [[nodiscard]] virtual std::string segment() const { return {}; }

    /// Throws Failure if the last iterations were aborted, so that their times do not count.
    virtual void require_undisturbed() const {}

    /// Cpus, read back, of threads that are not of the team.
    [[nodiscard]] virtual std::vector<int> own_cpus() const { return {}; }

    /// Whether each thread stands on a cpu of its own. A library may start and end its threads in each call: then
    /// they run on all cpus of the rank together, and the placement is proven for the rank alone.
    [[nodiscard]] virtual bool threads_pinned() const { return true; }

    /// What was loaded at launch, for the header: role (`blas`) -> facts that the library states of itself.
    [[nodiscard]] virtual std::map<std::string, std::map<std::string, std::string>> libraries() const {
        return {};
    }

    /// Further facts of this case, for the header: name -> value with its unit.
    [[nodiscard]] virtual std::map<std::string, std::string> facts() const { return {}; }
};

/// What a case is set up with.
struct Setting {
    const Params& params;
    const Team& team;
    std::shared_ptr<Memory> memory;  ///< shared with threads that may outlive the case
    const std::vector<int>& cpus;    ///< asked for, of this rank
    Ranks& ranks;
    const std::string& network;  ///< device that messages were asked to use; empty for any
    const std::map<std::string, std::string>& libraries;  ///< role -> file to load; absent for the system's

    /// The file to load for a role; empty for the system's.
    [[nodiscard]] std::string library(const std::string& role) const {
        const auto found = libraries.find(role);
        return found == libraries.end() ? "" : found->second;
    }
};

using Factory = std::unique_ptr<Benchmark> (*)(const Setting&);

}  // namespace assay
