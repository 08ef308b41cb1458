// Every pair of many ranks, in the rounds of a round-robin schedule: each pair alone, or all pairs of a round at
// once.
#include "declared/pairs.hpp"

#include <optional>
#include <string>

#include "benchmarks/messages/pt2pt_flow.hpp"
#include "harness/mpi/program.hpp"
#include "harness/round_robin.hpp"

namespace {

using assay::Exit;
using assay::Failure;
using assay::Pair;
using assay::Params;
using assay::Setting;
using assay::pt2pt::Calls;
using assay::pt2pt::Flow;
using assay::pt2pt::Options;
using assay::pt2pt::Pattern;

/// Blocking calls for latency, non-blocking ones for the other patterns, reused buffers: like OSU.
Options options_of(const Params& params) {
    Options options{};
    options.pattern = assay::messages::pattern_of(params);
    options.calls = options.pattern == Pattern::latency ? Calls::blocking : Calls::nonblocking;
    options.layout = {assay::Layout::Kind::contiguous, static_cast<std::size_t>(params.number("bytes"))};
    options.window = static_cast<int>(assay::messages::window_of(params));
    options.threads = 1;
    return options;
}

/// Failure (usage) if a schedule of so many ranks has no such round.
int round_of(const Params& params, int ranks) {
    if (ranks < 2) {
        throw Failure(Exit::usage, "one rank alone is here", "a pair has two", "mpiexec -n 2 ...");
    }
    const std::int64_t round = params.number("round");
    const int last = assay::rounds_of(ranks) - 1;
    if (round > last) {
        throw Failure(
            Exit::usage,
            "--round " + std::to_string(round) + " cannot be had with " + std::to_string(ranks) + " ranks",
            "a tournament of them has rounds 0 to " + std::to_string(last), "--round 0");
    }
    return static_cast<int>(round);
}

class Pairs : public assay::Benchmark {
  public:
    explicit Pairs(const Setting& setting)
        : options_(options_of(setting.params)),
          one_by_one_(setting.params.word("schedule") == "one"),
          ranks_(setting.ranks),
          round_(round_of(setting.params, ranks_.size())),
          pair_(pair_of(ranks_.rank())),
          flow_(options_, *setting.memory, ranks_.rank(), pair_) {}

    void connect() override { flow_.connect(); }

    /// For one pair.
    [[nodiscard]] assay::Work work() const override {
        return assay::messages::work(options_.pattern, static_cast<double>(assay::pt2pt::count(options_)),
                                     options_.layout.bytes);
    }

    void prepare(std::size_t /*kernel*/) override { flow_.prepare(); }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        if (!one_by_one_) {
            run(iterations);
            return;
        }
        for (int first = 0; first < ranks_.size(); ++first) {
            const int other = opponent_of(first);
            if (first < other) {
                if (ranks_.rank() == first || ranks_.rank() == other) {
                    run(iterations);
                }
                ranks_.barrier();
            }
        }
    }

    double verify(std::size_t /*kernel*/) override { return rests() ? 0 : flow_.wrong(); }

    [[nodiscard]] double tolerance() const override { return 0; }

    /// The starting rank, or both ranks in bidirectional patterns.
    [[nodiscard]] bool times() const override {
        return !rests() && (pair_.first || options_.pattern == Pattern::bidirectional);
    }

    /// For this rank's own pair.
    [[nodiscard]] std::optional<double> self_timed_seconds() const override { return seconds_; }

    [[nodiscard]] double sent_bytes() const override { return flow_.sent_bytes(); }

    /// The pairs of the round: `0-3 1-2`.
    [[nodiscard]] std::string path() const override {
        std::string pairs;
        for (int first = 0; first < ranks_.size(); ++first) {
            if (const int other = opponent_of(first); first < other) {
                pairs += (pairs.empty() ? "" : " ") + std::to_string(first) + '-' + std::to_string(other);
            }
        }
        return pairs;
    }

  private:
    [[nodiscard]] int opponent_of(int rank) const { return assay::opponent(rank, round_, ranks_.size()); }

    [[nodiscard]] Pair pair_of(int rank) const {
        const int other = opponent_of(rank);
        return {other < 0 ? MPI_PROC_NULL : other, rank < other, ranks_.size() / 2};
    }

    [[nodiscard]] bool rests() const { return pair_.partner == MPI_PROC_NULL; }

    void run(std::uint64_t iterations) {
        if (!rests()) {
            seconds_ = flow_.run(iterations);
        }
    }

    Options options_;
    bool one_by_one_;
    assay::Ranks& ranks_;
    int round_;
    Pair pair_;
    Flow flow_;
    double seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Pairs>(assay::declared::pairs, argc, argv); }
