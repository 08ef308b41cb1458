// The LINPACK benchmark of order 100 and 1000 on one core: a dense system of equations by plain loops, or by a
// library.
#include "benchmarks/linear_algebra/linpack.hpp"

#include <optional>

#include "harness/clock.hpp"
#include "harness/program.hpp"

namespace {

using assay::Exit;
using assay::Failure;
using assay::Setting;
using assay::linear_algebra::Index;
using assay::linear_algebra::Level3;
using assay::linear_algebra::View;

const assay::Declaration declaration{
    .name = "linpack",
    .summary = "LINPACK: a dense system of order 100 or 1000, solved on one core by plain loops or by a library",
    .kernels = {"solve"},
    .axes = {{"n", "order of the system of equations", {}, std::int64_t{100}, ""},
             {"leading", "numbers from one column of the matrix to the next", {}, std::int64_t{201}, ""},
             {"method",
              "what factors the matrix: plain: DGEFA, loops of the compiler; lapack: the library's LU",
              {"plain", "lapack"},
              "plain",
              ""}},
    .work = {{"solve", {"flops"}}},
    .max_cpus = 1,
    .own_threads = true,
};

class Linpack : public assay::Benchmark {
  public:
    explicit Linpack(const Setting& setting)
        : n_(setting.params.number("n")), stride_(setting.params.number("leading")) {
        if (stride_ < n_) {
            throw Failure(Exit::usage, "--leading " + std::to_string(stride_) + " is too small",
                          "a column has " + std::to_string(n_) + " numbers",
                          "--leading " + std::to_string(n_ + 1));
        }
        if (n_ > largest) {
            throw Failure(Exit::usage, "--n " + std::to_string(n_) + " is too large",
                          "the benchmark's generator repeats its columns from 2048 on", "assay run hpl");
        }
        if (setting.params.word("method") == "lapack") {
            const auto found = setting.libraries.find("blas");
            blas_.emplace(found == setting.libraries.end() ? "" : found->second, setting.cpus);
            level3_.emplace(*blas_);
            if (!level3_->has_lapack()) {
                throw Failure(Exit::environment, "this BLAS has no LAPACK", "it lacks dgetrf_", "--method plain");
            }
        }
        const auto size = static_cast<std::size_t>(stride_ * n_);
        const auto order = static_cast<std::size_t>(n_);
        auto* numbers =
            reinterpret_cast<double*>(setting.memory->allocate((2 * size + 2 * order) * sizeof(double)));
        given_ = {numbers, n_, n_, stride_};
        work_ = {numbers + size, n_, n_, stride_};
        b_ = numbers + 2 * size;
        x_ = b_ + order;
        pivots_.resize(order);
        assay::linpack::generate(given_, b_);
    }

    [[nodiscard]] assay::Work work() const override {
        const auto n = static_cast<double>(n_);
        return {{"solve", {{"flops", (2 * n / 3 + 2) * n * n}}}};
    }

    void prepare(std::size_t /*kernel*/) override { std::fill_n(x_, n_, 0.); }

    /// Each on a fresh copy of the matrix, which is not timed.
    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        std::int64_t taken = 0;
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            std::copy_n(given_.first, stride_ * n_, work_.first);
            std::copy_n(b_, n_, x_);
            const std::int64_t begin = assay::nanoseconds();
            if (level3_) {
                level3_->factor(work_, pivots_.data());
                assay::linpack::solve_lapack(work_, pivots_.data(), x_);
            } else {
                assay::linpack::dgefa(work_, pivots_.data());
                assay::linpack::dgesl(work_, pivots_.data(), x_);
            }
            taken += assay::nanoseconds() - begin;
        }
        seconds_ = assay::to_seconds(taken);
    }

    [[nodiscard]] std::optional<double> self_timed_seconds() const override { return seconds_; }

    double verify(std::size_t /*kernel*/) override { return assay::linpack::residual(given_, b_, x_); }

    /// Right solutions have about 2 at order 100 and 10 at order 1000; wrong ones are far beyond.
    [[nodiscard]] double tolerance() const override { return 100; }

    [[nodiscard]] std::map<std::string, std::map<std::string, std::string>> libraries() const override {
        return blas_ ? std::map<std::string, std::map<std::string, std::string>>{{"blas", blas_->identity()}}
                     : std::map<std::string, std::map<std::string, std::string>>{};
    }

  private:
    static constexpr Index largest = 2000;

    Index n_;
    Index stride_;
    std::optional<assay::Blas> blas_;
    std::optional<Level3> level3_;
    View given_;
    View work_;
    double* b_ = nullptr;
    double* x_ = nullptr;
    std::vector<Index> pivots_;
    double seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_program(
        declaration,
        [](const Setting& setting) -> std::unique_ptr<assay::Benchmark> {
            return std::make_unique<Linpack>(setting);
        },
        argc, argv);
}
