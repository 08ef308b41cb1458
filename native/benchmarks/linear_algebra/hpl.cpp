// HPL: one dense system of equations, solved by LU with partial pivoting on a grid of MPI processes.
#include "declared/hpl.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "benchmarks/linear_algebra/hpl_solver.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Exit;
using assay::Failure;
using assay::Params;
using assay::Setting;
using assay::hpl::Grid;
using assay::hpl::Index;
using assay::hpl::Options;
using assay::hpl::Solver;

/// HPL's limit of the scaled residual.
constexpr double threshold = 16;

/// Process grid P x Q.
struct Shape {
    int p;
    int q;
};

Options options_of(const Params& params) {
    return {params.number("n"),
            std::min(params.number("nb"), params.number("n")),
            assay::hpl::algorithm_named(params.word("broadcast")),
            params.word("exchange") == "ring" ? assay::hpl::Exchange::ring : assay::hpl::Exchange::binary,
            params.word("look-ahead") == "one",
            params.word("panel-lu") == "lapack"};
}

/// Failure (usage) if a message would have more numbers than MPI can count.
void require_countable(const Options& options, const Shape& shape) {
    const Index rows = assay::hpl::BlockCyclic(options.block, 0, shape.p).before(options.n);
    const Index columns = assay::hpl::BlockCyclic(options.block, 0, shape.q).before(options.n + 1);
    const Index largest_message = std::max(assay::hpl::Panel::room(rows, options.block), options.block * columns);
    if (shape.p * shape.q > 1 && largest_message > std::numeric_limits<int>::max()) {
        throw Failure(Exit::usage, "blocks of " + std::to_string(options.block) + " columns are too wide",
                      "a message would have more numbers than MPI can count", "--nb 256");
    }
}

/// Failure (usage) if P x Q is not the number of ranks, or blocks are too wide.
Shape shape_of(const Params& params, int ranks) {
    auto p = static_cast<int>(params.number("p"));
    auto q = static_cast<int>(params.number("q"));
    if (p == 0 && q > 0 && ranks % q == 0) {
        p = ranks / q;
    }
    if (p == 0) {
        for (int each = 1; each * each <= ranks; ++each) {
            p = ranks % each == 0 ? each : p;
        }
    }
    if (q == 0) {
        q = ranks / p;
    }
    if (static_cast<std::int64_t>(p) * q != ranks) {
        throw Failure(Exit::usage,
                      "a grid of " + std::to_string(p) + " x " + std::to_string(q) + " has no use for " +
                          std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"),
                      "each rank has one place of the grid", "--p 1 --q " + std::to_string(ranks));
    }
    const Shape shape{p, q};
    require_countable(options_of(params), shape);
    return shape;
}

class Hpl : public assay::Benchmark {
  public:
    explicit Hpl(const Setting& setting)
        : options_(options_of(setting.params)),
          systems_(setting.params.word("coupling") == "sharing" ? 1 : setting.ranks.size()),
          ranks_(setting.ranks.size()),
          shape_(shape_of(setting.params, ranks_ / systems_)),
          blas_(setting.library("blas"), setting.cpus),
          level3_(blas_),
          numbers_(reinterpret_cast<double*>(
              setting.memory->allocate(Solver::room(options_, shape_.p, shape_.q) * sizeof(double)))) {
        assay::linear_algebra::start_threads<double>(blas_);
        // Several threads call the library at once: one factors the next panel while others update.
        if (setting.cpus.size() > 1) {
            blas_.use_calling_threads();
        }
        crew_.emplace(setting.cpus, assay::Crew::Between::awake);
    }

    void connect() override {
        grid_.emplace(systems_ == 1 ? MPI_COMM_WORLD : MPI_COMM_SELF, shape_.p, shape_.q);
        solver_.emplace(options_, *grid_, level3_, *crew_, numbers_);
        solver_->generate();  // first touch
    }

    [[nodiscard]] assay::Work work() const override {
        return {{"rate", {{"solution", 1.}, {"flops", operations()}}}};
    }

    void prepare(std::size_t /*kernel*/) override { solver_->generate(); }

    void iterate(std::size_t /*kernel*/, std::uint64_t /*iterations*/, int /*thread*/) override {
        solver_->solve();
    }

    double verify(std::size_t /*kernel*/) override { return solver_->residual(); }

    [[nodiscard]] double tolerance() const override { return threshold; }

    /// Operations of each system, as HPL counts; phases are means over the ranks.
    [[nodiscard]] assay::Solution solution(double seconds) override {
        assay::hpl::Phases sums = solver_->phases();
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        assay::Solution solution{"rate", "flop/s", systems_ * operations() / seconds, seconds, {}, {}};
        std::vector<assay::hpl::Phases> steps = solver_->steps();
        MPI_Allreduce(MPI_IN_PLACE, steps.data(), static_cast<int>(steps.size() * sums.size()), MPI_DOUBLE,
                      MPI_SUM, MPI_COMM_WORLD);
        for (std::size_t phase = 0; phase < sums.size(); ++phase) {
            if (shape_.q == 1 && phase == static_cast<std::size_t>(assay::hpl::Phase::broadcast)) {
                continue;  // no other process needs a panel
            }
            const std::string& name = assay::declared::hpl.kernels.at(phase + 1);
            solution.phases[name] = sums.at(phase) / ranks_;
            if (phase != static_cast<std::size_t>(assay::hpl::Phase::substitution)) {
                for (const assay::hpl::Phases& step : steps) {
                    solution.steps[name].push_back(step.at(phase) / ranks_);
                }
            }
        }
        return solution;
    }

    [[nodiscard]] std::vector<int> own_cpus() const override { return crew_->cpus(); }
    [[nodiscard]] bool threads_pinned() const override { return blas_.threads_pinned(); }
    [[nodiscard]] double sent_bytes() const override { return grid_ ? grid_->sent_bytes() : 0; }

    [[nodiscard]] std::map<std::string, std::map<std::string, std::string>> libraries() const override {
        return {{"blas", blas_.identity()}};
    }

    [[nodiscard]] std::map<std::string, std::string> facts() const override {
        return {{"grid", std::to_string(shape_.p) + " x " + std::to_string(shape_.q)},
                {"panels", solver_->shares_panels() ? "shared" : "passed on"}};
    }

  private:
    /// Of one solution.
    [[nodiscard]] double operations() const {
        return assay::declared::hpl.amount("rate", "flops", {{"n", static_cast<double>(options_.n)}});
    }

    Options options_;
    int systems_;  ///< solved at the same time
    int ranks_;
    Shape shape_;
    assay::Blas blas_;
    assay::linear_algebra::Level3 level3_;
    double* numbers_;
    std::optional<assay::Crew> crew_;
    std::optional<Grid> grid_;
    std::optional<Solver> solver_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Hpl>(assay::declared::hpl, argc, argv); }
