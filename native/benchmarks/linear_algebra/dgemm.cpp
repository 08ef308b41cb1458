// The rate of a BLAS library's matrix product, C = A B of square matrices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "harness/blas.hpp"
#include "harness/cpus.hpp"
#include "harness/program.hpp"

namespace {

using assay::Setting;

const assay::Declaration declaration{
    .name = "dgemm",
    .summary = "rate of the matrix product of a BLAS library that is loaded at launch",
    .kernels = {"multiply"},
    .axes =
        {{"n", "order of the three square matrices", {}, std::int64_t{1024}, ""},
         {"format", "of the numbers, by IEEE 754: fp64 is DGEMM, fp32 is SGEMM", {"fp64", "fp32"}, "fp64", ""}},
    .work = {{"multiply", {"flops", "bytes"}}},
    .own_threads = true,
};

/// Some libraries start their threads with the first product of this order or less.
constexpr std::int64_t first_order = 1024;
/// Finite in both formats, and no sum of products comes near it.
constexpr double spoilt = 1e30;

/// A number in [-1/2, 1/2) that differs from place to place.
double entry(std::uint64_t place) {
    std::uint64_t bits = (place + 1) * 0x9E3779B97F4A7C15U;
    bits = (bits ^ bits >> 29U) * 0xBF58476D1CE4E5B9U;
    return static_cast<double>(bits >> 11U) * 0x1p-53 - .5;
}

template <class Number>
class Product : public assay::Benchmark {
  public:
    explicit Product(const Setting& setting)
        : n_(setting.params.number("n")),
          size_(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_)),
          blas_(file(setting), setting.cpus) {
        const auto touch = assay::Touch::by_parts(setting.cpus);
        auto* numbers = reinterpret_cast<Number*>(setting.memory->allocate(3 * size_ * sizeof(Number), touch));
        a_ = numbers;
        b_ = a_ + size_;
        c_ = b_ + size_;
        fill(setting.cpus);
        blas_.multiply(std::min(n_, first_order), a_, b_, c_);
        blas_.pin_threads();
    }

    [[nodiscard]] assay::Work work() const override {
        const auto order = static_cast<double>(n_);
        return {
            {"multiply", {{"flops", 2 * order * order * order}, {"bytes", 3. * sizeof(Number) * order * order}}}};
    }

    void prepare(std::size_t /*kernel*/) override { std::fill_n(c_, size_, static_cast<Number>(spoilt)); }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            blas_.multiply(n_, a_, b_, c_);
        }
    }

    /// Largest entry of C x - A (B x), x of ones of both signs, over eps n^(3/2): far below 1 for rounding alone.
    double verify(std::size_t /*kernel*/) override {
        const auto order = static_cast<std::size_t>(n_);
        std::vector<double> x(order);
        for (std::size_t row = 0; row < order; ++row) {
            x[row] = entry(row) < 0 ? -1 : 1;
        }
        const std::vector<double> expected = product(a_, product(b_, x));
        const std::vector<double> found = product(c_, x);
        double error = 0;
        for (std::size_t row = 0; row < order; ++row) {
            error = std::max(error, std::abs(found[row] - expected[row]));
        }
        const double scale = std::numeric_limits<Number>::epsilon() * std::pow(static_cast<double>(n_), 1.5);
        return std::isfinite(error) ? error / scale : std::numeric_limits<double>::max();
    }

    [[nodiscard]] double tolerance() const override { return 1; }

    [[nodiscard]] std::vector<int> own_cpus() const override { return blas_.cpus(); }
    [[nodiscard]] bool threads_pinned() const override { return blas_.threads_pinned(); }

    [[nodiscard]] std::map<std::string, std::map<std::string, std::string>> libraries() const override {
        return {{"blas", blas_.identity()}};
    }

  private:
    static std::string file(const Setting& setting) {
        const auto found = setting.libraries.find("blas");
        return found == setting.libraries.end() ? "" : found->second;
    }

    /// Each cpu touches its part of each matrix first.
    void fill(const std::vector<int>& cpus) {
        const int threads = static_cast<int>(cpus.size());
        std::vector<std::thread> team;
        for (int thread = 0; thread < threads; ++thread) {
            team.emplace_back([this, thread, threads, cpu = cpus[static_cast<std::size_t>(thread)]] {
                assay::pin({cpu});
                const auto [begin, end] = assay::part_of(size_, thread, threads, 1);
                for (std::size_t place = begin; place < end; ++place) {
                    a_[place] = static_cast<Number>(entry(place));
                    b_[place] = static_cast<Number>(entry(size_ + place));
                    c_[place] = 0;
                }
            });
        }
        std::for_each(team.begin(), team.end(), [](std::thread& thread) { thread.join(); });
    }

    [[nodiscard]] std::vector<double> product(const Number* matrix, const std::vector<double>& x) const {
        std::vector<double> found(x.size());
        for (std::size_t row = 0; row < x.size(); ++row) {
            double sum = 0;
            for (std::size_t column = 0; column < x.size(); ++column) {
                sum += static_cast<double>(matrix[row * x.size() + column]) * x[column];
            }
            found[row] = sum;
        }
        return found;
    }

    std::int64_t n_;
    std::size_t size_;
    assay::Blas blas_;
    Number* a_;
    Number* b_;
    Number* c_;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_program(
        declaration,
        [](const Setting& setting) -> std::unique_ptr<assay::Benchmark> {
            if (setting.params.word("format") == "fp32") {
                return std::make_unique<Product<float>>(setting);
            }
            return std::make_unique<Product<double>>(setting);
        },
        argc, argv);
}
