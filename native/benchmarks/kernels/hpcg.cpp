// HPCG's definition: conjugate gradients with a multigrid preconditioner on a 27-point problem. Not an official
// result of HPCG.
#include "declared/hpcg.hpp"

#include <algorithm>
#include <optional>

#include "benchmarks/kernels/hpcg_checks.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Exit;
using assay::Failure;
using assay::Params;
using assay::Setting;
using assay::hpcg::Phase;
using assay::hpcg::Place;
using assay::hpcg::Plain;
using assay::hpcg::Solver;

/// Failure (usage) if boxes of this edge cannot be halved three times, or have too many points.
int edge_of(const Params& params) {
    constexpr std::int64_t grain = 1 << (assay::hpcg::levels - 1);
    constexpr std::int64_t smallest = 2 * grain;
    constexpr std::int64_t largest = 1024;
    const std::int64_t n = params.number("n");
    if (n % grain != 0 || n < smallest || n > largest) {
        const std::int64_t close = std::clamp(n / grain * grain, smallest, largest);
        throw Failure(Exit::usage, "a box of " + std::to_string(n) + " points along each edge cannot be solved",
                      "the edge is halved three times: it is a multiple of 8, from 16 to 1024",
                      "--n " + std::to_string(close));
    }
    return static_cast<int>(n);
}

class Hpcg : public assay::Benchmark {
  public:
    explicit Hpcg(const Setting& setting)
        : team_(setting.team),
          n_(edge_of(setting.params)),
          iterations_(static_cast<int>(setting.params.number("cg-iterations"))),
          place_(setting.ranks.size(), setting.ranks.rank()),
          ranks_(setting.ranks.size()),
          rank_(setting.ranks.rank()),
          counts_(assay::hpcg::counts_of(place_.size(), n_, iterations_)),
          solver_(place_, n_, team_, MPI_COMM_WORLD, setting.memory->allocate(Solver::room(place_, n_))) {
        solver_.write();
    }

    [[nodiscard]] assay::Work work() const override {
        const assay::hpcg::Count all = sum_of(counts_);
        return {{"rate", {{"solution", 1.}, {"bytes", all.bytes / all.flops}}}};
    }

    void prepare(std::size_t /*kernel*/) override { solver_.reset(); }

    void iterate(std::size_t /*kernel*/, std::uint64_t /*iterations*/, int /*thread*/) override {
        solver_.solve({iterations_});
    }

    /// The largest error of HPCG's tests. The tests of symmetry and spectrum concern the operators: they run
    /// once.
    double verify(std::size_t /*kernel*/) override {
        if (!plain_) {
            plain_.emplace(place_, n_, MPI_COMM_WORLD);
            expected_ = plain_->residuals(std::min(iterations_, plain_iterations));
        }
        double error = assay::hpcg::deviation(solver_, solver_.x(), *plain_, expected_);
        if (!operators_) {
            operators_ = std::max(asymmetry(solver_, rank_), spectral_excess(solver_));
        }
        return std::max(error, *operators_);
    }

    [[nodiscard]] double tolerance() const override { return 1; }

    /// Operations as HPCG counts them; phases are means over the ranks.
    [[nodiscard]] assay::Solution solution(double seconds) override {
        assay::hpcg::Phases sums = solver_.phases();
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        assay::Solution solution{"rate", "flop/s", sum_of(counts_).flops / seconds, seconds, {}};
        for (std::size_t phase = 0; phase < sums.size(); ++phase) {
            if (ranks_ > 1 || phase != static_cast<std::size_t>(Phase::exchange)) {
                solution.phases[assay::declared::hpcg.kernels.at(phase + 1)] = sums.at(phase) / ranks_;
            }
        }
        return solution;
    }

    [[nodiscard]] double sent_bytes() const override { return solver_.sent_bytes(); }

    [[nodiscard]] std::map<std::string, std::string> facts() const override {
        const assay::hpcg::Triple& size = place_.size();
        return {
            {"grid", std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2])}};
    }

  private:
    /// With the plain definition, which is slow.
    static constexpr int plain_iterations = 2;

    const assay::Team& team_;
    int n_;
    int iterations_;
    Place place_;
    int ranks_;
    int rank_;
    assay::hpcg::Counts counts_;
    Solver solver_;
    std::optional<Plain> plain_;
    assay::hpcg::Vector expected_;
    std::optional<double> operators_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Hpcg>(assay::declared::hpcg, argc, argv); }
