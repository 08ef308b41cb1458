// HPL-MxP: one dense system of equations, solved by LU in low precision and refined to double precision.
#include "declared/mxp.hpp"

#include <optional>

#include "benchmarks/linear_algebra/mxp_solver.hpp"
#include "harness/program.hpp"

namespace {

using assay::Setting;
using assay::mxp::Options;
using assay::mxp::Solver;

/// The benchmark's limit of the scaled residual.
constexpr double threshold = 16;

Options options_of(const assay::Params& params) {
    const std::int64_t n = params.number("n");
    return {n, std::min(params.number("nb"), n), params.word("format") == "bf16"};
}

class Mxp : public assay::Benchmark {
  public:
    explicit Mxp(const Setting& setting)
        : options_(options_of(setting.params)),
          blas_(setting.library("blas"), setting.cpus),
          single_(blas_),
          exact_(blas_) {
        if (options_.narrow) {
            single_.use_bfloat16(blas_);
        }
        std::byte* memory = setting.memory->allocate(Solver::room(options_));
        assay::linear_algebra::start_threads<float>(blas_);
        // After the library has its threads, which are counted when they are pinned.
        crew_.emplace(setting.cpus, assay::Crew::Between::asleep);
        solver_.emplace(options_, *crew_, single_, exact_, memory);
        solver_->generate();
    }

    [[nodiscard]] assay::Work work() const override {
        return {{"rate", {{"solution", 1.}, {"flops", operations()}}}};
    }

    void prepare(std::size_t /*kernel*/) override { solver_->forget(); }

    void iterate(std::size_t /*kernel*/, std::uint64_t /*iterations*/, int /*thread*/) override {
        solver_->solve();
    }

    double verify(std::size_t /*kernel*/) override { return solver_->residual(); }

    [[nodiscard]] double tolerance() const override { return threshold; }

    /// Operations as the benchmark counts, whatever the refinement needs.
    [[nodiscard]] assay::Solution solution(double seconds) override {
        assay::Solution solution{"rate", "flop/s", operations() / seconds, seconds, {}, {}};
        for (std::size_t phase = 0; phase < solver_->phases().size(); ++phase) {
            solution.phases[assay::declared::mxp.kernels.at(phase + 1)] = solver_->phases().at(phase);
        }
        solution.steps["refinement"] = solver_->refinement_steps();
        return solution;
    }

    [[nodiscard]] std::vector<int> own_cpus() const override { return blas_.cpus(); }
    [[nodiscard]] bool threads_pinned() const override { return blas_.threads_pinned(); }

    [[nodiscard]] std::map<std::string, std::map<std::string, std::string>> libraries() const override {
        return {{"blas", blas_.identity()}};
    }

  private:
    /// Of one solution.
    [[nodiscard]] double operations() const {
        return assay::declared::mxp.amount("rate", "flops", {{"n", static_cast<double>(options_.n)}});
    }

    Options options_;
    assay::Blas blas_;
    assay::linear_algebra::Level3Of<float> single_;
    assay::linear_algebra::Level3Of<double> exact_;
    std::optional<assay::Crew> crew_;
    std::optional<Solver> solver_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Mxp>(assay::declared::mxp, argc, argv); }
