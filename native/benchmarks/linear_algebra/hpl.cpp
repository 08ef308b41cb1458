// HPL: one dense system of equations, solved by LU with partial pivoting on a grid of MPI processes.
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

const assay::Declaration declaration{
    .name = "hpl",
    .summary = "HPL: a dense system of equations, solved by LU with partial pivoting on a grid of MPI ranks",
    .kernels = {"rate", "panel", "broadcast", "swap", "update", "substitution"},
    .axes =
        {{"n", "order of the system of equations", {}, std::int64_t{2000}, ""},
         {"nb", "columns of a block", {}, std::int64_t{256}, ""},
         {"p",
          "rows of the grid of ranks; 0: as many as make it square, or wider than high",
          {},
          std::int64_t{0},
          "",
          0},
         {"q", "columns of the grid of ranks; 0: as many as there are ranks for", {}, std::int64_t{0}, "", 0},
         {"broadcast",
          "how a panel passes along the grid: ring: from rank to rank; modified-ring: past the rank that "
          "factors next; library: MPI_Ibcast",
          {"ring", "modified-ring", "library"},
          "modified-ring",
          ""},
         {"exchange",
          "how ranks exchange rows: binary: each passes on all that it has; ring: piece by piece to the next",
          {"binary", "ring"},
          "binary",
          ""},
         {"look-ahead",
          "panels that are factored while the step before still updates its columns",
          {"none", "one"},
          "one",
          ""},
         {"panel-lu",
          "what factors a panel: own: recursively, with the library's products; lapack: the library's LU where "
          "one rank has the whole panel, else own",
          {"own", "lapack"},
          "lapack",
          ""}},
    .work = {{"rate", {"solution"}},
             {"panel", {}},
             {"broadcast", {}},
             {"swap", {}},
             {"update", {}},
             {"substitution", {}}},
    .own_threads = true,
    .solves = true,
};

/// P x Q of all ranks.
struct Shape {
    int p;
    int q;
};

/// Failure (usage) where P x Q are not as many as the ranks.
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
    return {p, q};
}

Options options_of(const Params& params) {
    return {params.number("n"),
            std::min(params.number("nb"), params.number("n")),
            assay::hpl::way_named(params.word("broadcast")),
            params.word("exchange") == "ring" ? assay::hpl::Exchange::ring : assay::hpl::Exchange::binary,
            params.word("look-ahead") == "one",
            params.word("panel-lu") == "lapack"};
}

class Hpl : public assay::Benchmark {
  public:
    explicit Hpl(const Setting& setting)
        : options_(options_of(setting.params)),
          shape_(shape_of(setting.params, setting.ranks.size())),
          ranks_(setting.ranks.size()),
          blas_(file(setting), setting.cpus),
          level3_(blas_),
          numbers_(reinterpret_cast<double*>(
              setting.memory->allocate(Solver::room(options_, shape_.p, shape_.q) * sizeof(double)))) {
        start_threads();
    }

    void connect() override {
        grid_.emplace(MPI_COMM_WORLD, shape_.p, shape_.q);
        solver_.emplace(options_, *grid_, level3_, numbers_);
        solver_->generate();  // first touch
    }

    [[nodiscard]] assay::Work work() const override {
        assay::Work work{{"rate", {{"solution", 1.}}}};
        for (const char* phase : assay::hpl::phase_names) {
            work[phase] = {};
        }
        return work;
    }

    void prepare(std::size_t /*kernel*/) override { solver_->generate(); }

    void iterate(std::size_t /*kernel*/, std::uint64_t /*iterations*/, int /*thread*/) override {
        solver_->solve();
    }

    double verify(std::size_t /*kernel*/) override { return solver_->residual(); }

    [[nodiscard]] double tolerance() const override { return threshold; }

    /// 2 n^3 / 3 + 3 n^2 / 2, as HPL counts; phases are means over the ranks.
    [[nodiscard]] assay::Solution solution(double seconds) override {
        const auto n = static_cast<double>(options_.n);
        assay::hpl::Phases sums = solver_->phases();
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        assay::Solution solution{"rate", "flop/s", (2 * n / 3 + 1.5) * n * n / seconds, seconds, {}};
        for (std::size_t phase = 0; phase < sums.size(); ++phase) {
            if (shape_.q == 1 && phase == static_cast<std::size_t>(assay::hpl::Phase::broadcast)) {
                continue;  // nobody else needs a panel
            }
            solution.phases[assay::hpl::phase_names.at(phase)] = sums.at(phase) / ranks_;
        }
        return solution;
    }

    [[nodiscard]] std::vector<int> own_cpus() const override { return blas_.cpus(); }
    [[nodiscard]] bool threads_pinned() const override { return blas_.threads_pinned(); }
    [[nodiscard]] double sent_bytes() const override { return solver_->passed_bytes(); }

    [[nodiscard]] std::map<std::string, std::map<std::string, std::string>> libraries() const override {
        return {{"blas", blas_.identity()}};
    }

    [[nodiscard]] std::map<std::string, std::string> facts() const override {
        return {{"grid", std::to_string(shape_.p) + " x " + std::to_string(shape_.q)}};
    }

  private:
    /// Some libraries start their threads with the first product of this order or less.
    static constexpr Index first_order = 256;

    static std::string file(const Setting& setting) {
        const auto found = setting.libraries.find("blas");
        return found == setting.libraries.end() ? "" : found->second;
    }

    void start_threads() {
        std::vector<double> numbers(3 * first_order * first_order, 1.);
        const double* a = numbers.data();
        blas_.multiply(first_order, a, a + first_order * first_order,
                       numbers.data() + 2 * first_order * first_order);
        blas_.pin_threads();
    }

    Options options_;
    Shape shape_;
    int ranks_;
    assay::Blas blas_;
    assay::linear_algebra::Level3 level3_;
    double* numbers_;
    std::optional<Grid> grid_;
    std::optional<Solver> solver_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Hpl>(declaration, argc, argv); }
