// What a benchmark is for the harness: a declaration, and a class that prepares, iterates and verifies.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "harness/devices.hpp"
#include "harness/memory.hpp"
#include "harness/ranks.hpp"
#include "harness/team.hpp"

namespace assay {

using Value = std::variant<std::int64_t, std::string>;

/// Axis -> value, for every axis of the declaration.
struct Params {
    std::map<std::string, Value> values;

    [[nodiscard]] std::int64_t number(const std::string& axis) const {
        return std::get<std::int64_t>(values.at(axis));
    }
    [[nodiscard]] const std::string& word(const std::string& axis) const {
        return std::get<std::string>(values.at(axis));
    }
};

/// Limit for sizes: their sums and products stay exact in 64-bit integers and in doubles.
inline constexpr std::int64_t largest_number = std::int64_t{1} << 48U;

/// Name -> number, of which amounts of work are made.
using Numbers = std::map<std::string, double>;

/// One parameter: a closed set of words, or a whole number with a unit.
struct Axis {
    std::string name;
    std::string meaning;
    std::vector<std::string> words;  ///< empty for numbers
    Value default_value;
    std::string unit;
    std::int64_t min = 1;                      ///< of numbers
    std::int64_t max = largest_number;         ///< of numbers
    std::map<std::string, Numbers> numbers{};  ///< word -> the numbers that it stands for
};

/// Kernel -> quantity -> amount in one iteration.
using Work = std::map<std::string, std::map<std::string, double>>;

/// A term of a polynomial of numbers.
struct Term {
    double numerator;
    double denominator;
    std::map<std::string, int> powers;
};

/// Quantity -> terms of its amount.
using Amounts = std::map<std::string, std::vector<Term>>;

/// Made from <program>.json: see declarations.cmake.
struct Declaration {
    std::string name;
    std::string measures;
    std::vector<std::string> kernels;  ///< in the order they run
    std::vector<Axis> axes;
    /// Kernel -> quantity -> its amount in one unit of work; no terms: the program counts it.
    std::map<std::string, Amounts> work;
    /// Part of a solution, or problem that a word names -> quantity -> its amount in a solution.
    std::map<std::string, Amounts> parts{};
    int min_cpus = 1;
    int max_cpus = 0;          ///< 0: no limit
    bool own_threads = false;  ///< the benchmark starts its own threads: the team is then the calling thread only
    bool devices = false;      ///< each rank opens the devices that it is given, and reports them
    bool folder = false;       ///< each rank writes into a folder of its own
    bool solves = false;       ///< an iteration is a whole solution: the first kernel is its figure of merit, the
                               ///< others its phases
    std::string message_threads{};  ///< axis of the threads of a rank that pass messages at once: MPI must know it
                                    ///< at its start; empty: one thread passes all
    std::string text{};             ///< the JSON, for `--describe`; empty: no benchmark

    /// Amount of a quantity in one unit of work of a kernel, or in a part. Throws if it lacks a number.
    [[nodiscard]] double amount(const std::string& part, const std::string& quantity,
                                const Numbers& numbers = {}) const {
        const auto kernel = work.find(part);
        const Amounts& amounts = kernel == work.end() ? parts.at(part) : kernel->second;
        double sum = 0;
        for (const Term& term : amounts.at(quantity)) {
            double product = term.numerator;
            for (const auto& [name, power] : term.powers) {
                product *= power == 0 ? 1 : std::pow(numbers.at(name), power);
            }
            sum += product / term.denominator;
        }
        return sum;
    }

    /// The numbers that a word of an axis stands for.
    [[nodiscard]] const Numbers& numbers(const Params& params, const std::string& axis_name) const {
        return axis(axis_name).numbers.at(params.word(axis_name));
    }

    /// Work of so many units: what is declared, without what the program counts.
    [[nodiscard]] Work work_of(double units) const {
        Work amounts;
        for (const auto& [kernel, quantities] : work) {
            for (const auto& [quantity, terms] : quantities) {
                if (!terms.empty()) {
                    amounts[kernel][quantity] = units * amount(kernel, quantity);
                }
            }
        }
        return amounts;
    }

    [[nodiscard]] const Axis& axis(const std::string& axis_name) const {
        return *std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.name == axis_name; });
    }
};

/// Result of one whole solution, which all ranks reached together.
struct Solution {
    std::string name;  ///< of the figure of merit: `rate`
    std::string unit;
    double value = 0;
    double seconds = 0;
    std::map<std::string, double>
        phases;  ///< part of the solution -> seconds; a part that did not occur is absent
    std::map<std::string, std::vector<double>> steps{};  ///< the same for each step, if the solution has steps
};

/// One case, ready to run: buffers are allocated and touched. In an MPI program each rank has one; its
/// constructor and destructor pass no messages.
class Benchmark {
  public:
    Benchmark() = default;
    Benchmark(const Benchmark&) = delete;
    Benchmark& operator=(const Benchmark&) = delete;
    Benchmark(Benchmark&&) = delete;
    Benchmark& operator=(Benchmark&&) = delete;
    virtual ~Benchmark() = default;

    [[nodiscard]] virtual Work work() const = 0;

    /// Called when every rank is set up: ranks may exchange their first messages here. A Failure ends the case
    /// on all ranks.
    virtual void connect() {}

    /// Overwrites the kernel's results, so that `verify` finds only new ones.
    virtual void prepare(std::size_t kernel) = 0;

    /// Synchronises this rank with its partners before samples, untimed; called on every thread.
    virtual void meet(int /*thread*/) {}

    /// Whether samples may follow each other without a pause, because `iterate` itself keeps the ranks
    /// synchronised.
    [[nodiscard]] virtual bool flows() const { return false; }

    /// The timed region: called on all threads of the team at once; ends with a barrier. It must not allocate,
    /// print or throw.
    virtual void iterate(std::size_t kernel, std::uint64_t iterations, int thread) = 0;

    /// Error of the results of the iterations since `prepare`; finite.
    virtual double verify(std::size_t kernel) = 0;

    /// Largest error of correct results.
    [[nodiscard]] virtual double tolerance() const = 0;

    /// Of a program that solves: the figure of merit of the last iteration, which took so many seconds on the
    /// slowest rank. Ranks may pass messages here. The same on every rank.
    [[nodiscard]] virtual Solution solution(double /*seconds*/) { return {}; }

    /// Whether this rank's times count: they are then recorded, and the sampler uses the maximum of them.
    [[nodiscard]] virtual bool times() const { return true; }

    /// Largest number of iterations in a sample; a sample after a pause has only one.
    [[nodiscard]] virtual std::uint64_t max_iterations() const { return std::uint64_t{1} << 40U; }

    /// Seconds that the last `iterate` measured itself, where only the benchmark can separate work from waiting.
    /// Without a value the harness times the whole call.
    [[nodiscard]] virtual std::optional<double> self_timed_seconds() const { return std::nullopt; }

    /// Seconds that each thread has worked so far, without waiting for others; empty if not timed.
    [[nodiscard]] virtual std::vector<double> thread_seconds() const { return {}; }

    /// Bytes of all messages that this rank has sent so far.
    [[nodiscard]] virtual double sent_bytes() const { return 0; }

    /// The network path of this rank's messages, for the header; empty if only the MPI library knows it.
    [[nodiscard]] virtual std::string path() const { return {}; }

    /// Largest number of message bytes in one segment, for the header; empty if unknown.
    [[nodiscard]] virtual std::string segment() const { return {}; }

    /// Throws Failure if the last iterations were aborted: their times do not count.
    virtual void require_undisturbed() const {}

    /// Cpus, read back, of threads outside the team.
    [[nodiscard]] virtual std::vector<int> own_cpus() const { return {}; }

    /// Whether each thread is pinned to its own cpu. A library that starts and ends its threads in each call
    /// runs them on all cpus of the rank: then only the placement of the rank is proven.
    [[nodiscard]] virtual bool threads_pinned() const { return true; }

    /// Libraries loaded at launch, for the header: role (`blas`) -> facts that the library reports of itself.
    [[nodiscard]] virtual std::map<std::string, std::map<std::string, std::string>> libraries() const {
        return {};
    }

    /// The devices that this rank opened, in the order asked for, read back from what is open: never the words
    /// that were asked for.
    [[nodiscard]] virtual std::vector<OpenedDevice> opened_devices() const { return {}; }

    /// More facts of this case, for the header: name -> value with its unit. Called when it was sampled.
    [[nodiscard]] virtual std::map<std::string, std::string> facts() const { return {}; }
};

/// Input of a case's set-up.
struct Setting {
    const Params& params;
    const Team& team;
    std::shared_ptr<Memory> memory;  ///< shared with threads that may outlive the case
    const std::vector<int>& cpus;    ///< requested for this rank
    Ranks& ranks;
    const std::string& network;  ///< interface or port requested for messages; empty for any
    const std::map<std::string, std::string>& libraries;  ///< role -> file to load; absent: the system's library

    const std::vector<std::string>& devices;  ///< requested for this rank; empty: the benchmark's choice
    const std::string& folder;  ///< of this rank alone, removed at the end; empty if none is declared

    /// The file to load for a role; empty: the system's library.
    [[nodiscard]] std::string library(const std::string& role) const {
        const auto found = libraries.find(role);
        return found == libraries.end() ? "" : found->second;
    }
};

using Factory = std::unique_ptr<Benchmark> (*)(const Setting&);

}  // namespace assay
