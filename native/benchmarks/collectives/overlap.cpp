// Non-blocking collective operations with computation before the wait: how much of the operation is hidden.
#include "declared/overlap.hpp"

#include <algorithm>
#include <vector>

#include "benchmarks/collectives/collective_calls.hpp"
#include "benchmarks/collectives/collective_chain.hpp"
#include "benchmarks/collectives/collective_repetitions.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Setting;
using assay::collective::Calls;
using assay::collective::Chain;
using assay::collective::Repetitions;
using assay::collective::TimeOf;

class Overlap : public assay::Benchmark {
  public:
    explicit Overlap(const Setting& setting)
        : calls_(*setting.memory, assay::collective::options_of(setting.params, true), setting.ranks),
          repetitions_(setting.ranks),
          team_(setting.team),
          pieces_(static_cast<std::uint64_t>(setting.params.number("tests")) + 1) {}

    /// The computation shall take as long as the operation alone.
    void connect() override {
        calls_.connect();
        constexpr std::size_t tries = 21;
        std::vector<double> seconds(tries);
        for (double& each : seconds) {
            each = pure(1);
        }
        std::nth_element(seconds.begin(), seconds.begin() + tries / 2, seconds.end());
        steps_ = chain_.steps_in(seconds[tries / 2]);
    }

    [[nodiscard]] assay::Work work() const override { return {}; }

    void prepare(std::size_t /*kernel*/) override { calls_.blocks().overwrite(); }

    void iterate(std::size_t kernel, std::uint64_t iterations, int thread) override {
        if (thread == 0) {
            seconds_ = kernel == 0   ? pure(iterations)
                       : kernel == 1 ? computing(iterations)
                                     : overlapped(iterations);
        }
        team_.barrier();
    }

    double verify(std::size_t /*kernel*/) override { return calls_.blocks().wrong(); }

    [[nodiscard]] double tolerance() const override { return 0; }

    [[nodiscard]] std::optional<double> self_timed_seconds() const override { return seconds_; }

    [[nodiscard]] double sent_bytes() const override { return calls_.sent_bytes(); }

  private:
    double pure(std::uint64_t iterations) {
        return repetitions_.run(
            iterations, TimeOf::slowest, [this] { calls_.perform(); }, [this] { calls_.count(); });
    }

    double computing(std::uint64_t iterations) {
        return repetitions_.run(
            iterations, TimeOf::slowest, [this] { compute([] {}); }, [] {});
    }

    double overlapped(std::uint64_t iterations) {
        const auto both = [this] {
            calls_.begin();
            compute([this] { calls_.test(); });
            calls_.finish();
        };
        return repetitions_.run(iterations, TimeOf::slowest, both, [this] { calls_.count(); });
    }

    /// All steps, with a call of `between` after each piece but the last.
    template <class Between>
    void compute(const Between& between) {
        std::uint64_t done = 0;
        for (std::uint64_t piece = 1; piece <= pieces_; ++piece) {
            const std::uint64_t until = steps_ * piece / pieces_;
            chain_.steps(until - done);
            done = until;
            if (piece < pieces_) {
                between();
            }
        }
    }

    Calls calls_;
    Repetitions repetitions_;
    const assay::Team& team_;
    std::uint64_t pieces_;
    std::uint64_t steps_ = 1;
    Chain chain_;
    double seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Overlap>(assay::declared::overlap, argc, argv); }
