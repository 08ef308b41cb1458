// One system of LINPACK as a case: generated once, solved repeatedly on new copies, checked by its residual.
#pragma once

#include <string>

#include "benchmarks/linear_algebra/linpack.hpp"
#include "harness/benchmark.hpp"
#include "harness/clock.hpp"
#include "harness/failure.hpp"

namespace assay::linpack {

/// What the programs share, except the solution itself.
class Solution : public Benchmark {
  public:
    Solution(const Declaration& declaration, const Setting& setting)
        : flops_(declaration.amount("solve", "flops", {{"n", static_cast<double>(setting.params.number("n"))}})),
          n_(setting.params.number("n")),
          stride_(setting.params.number("leading")) {
        if (stride_ < n_) {
            throw Failure(Exit::usage, "--leading " + std::to_string(stride_) + " is too small",
                          "a column has " + std::to_string(n_) + " numbers",
                          "--leading " + std::to_string(n_ + 1));
        }
        if (n_ > largest) {
            throw Failure(Exit::usage, "--n " + std::to_string(n_) + " is too large",
                          "the benchmark's generator repeats its columns from 2048 on", "assay run hpl");
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
        generate(given_, b_);
    }

    [[nodiscard]] Work work() const override { return {{"solve", {{"flops", flops_}}}}; }

    void prepare(std::size_t /*kernel*/) override { std::fill_n(x_, n_, 0.); }

    /// Each on a new copy of the matrix; the copy is not timed.
    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        std::int64_t taken = 0;
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            std::copy_n(given_.first, stride_ * n_, work_.first);
            std::copy_n(b_, n_, x_);
            const std::int64_t begin = nanoseconds();
            solve(work_, pivots_.data(), x_);
            taken += nanoseconds() - begin;
        }
        seconds_ = to_seconds(taken);
    }

    [[nodiscard]] std::optional<double> self_timed_seconds() const override { return seconds_; }

    double verify(std::size_t /*kernel*/) override { return residual(given_, b_, x_); }

    /// Correct solutions have about 2 at order 100 and 10 at order 1000; wrong ones are far above.
    [[nodiscard]] double tolerance() const override { return 100; }

  protected:
    /// Replaces `b` by the solution of A x = b, A by its factors, and fills `pivots`.
    virtual void solve(const View& a, Index* pivots, double* b) = 0;

  private:
    static constexpr Index largest = 2000;

    double flops_;
    Index n_;
    Index stride_;
    View given_;
    View work_;
    double* b_ = nullptr;
    double* x_ = nullptr;
    std::vector<Index> pivots_;
    double seconds_ = 0;
};

}  // namespace assay::linpack
