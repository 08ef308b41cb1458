// The rate of a BLAS library's matrix product, C = A B of square matrices.
#include "declared/dgemm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>
#include <type_traits>

#include "harness/blas.hpp"
#include "harness/cpus.hpp"
#include "harness/crew.hpp"
#include "harness/failure.hpp"
#include "harness/program.hpp"

namespace {

using assay::Setting;

/// Some libraries start their threads with the first product of at most this order.
constexpr std::int64_t first_order = 1024;
/// Finite in both formats, and far above any sum of products.
constexpr double invalid_value = 1e30;

/// A number in [-1/2, 1/2) that depends on its place.
double entry(std::uint64_t place) {
    std::uint64_t bits = (place + 1) * 0x9E3779B97F4A7C15U;
    bits = (bits ^ bits >> 29U) * 0xBF58476D1CE4E5B9U;
    return static_cast<double>(bits >> 11U) * 0x1p-53 - .5;
}

/// A and B of type Given, C of type Number.
template <class Given, class Number>
class Product : public assay::Benchmark {
  public:
    explicit Product(const Setting& setting)
        : n_(setting.params.number("n")),
          size_(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_)),
          own_(setting.params.word("product") == "own"),
          blas_(setting.library("blas"), setting.cpus) {
        const std::size_t sets = own_ ? setting.cpus.size() : 1;
        const auto touch = assay::Touch::by_parts(setting.cpus);
        if constexpr (std::is_same_v<Given, assay::Bfloat16>) {
            static_cast<void>(blas_.bfloat16_product());  // refused before memory is touched
        }
        std::byte* place = setting.memory->allocate(sets * set_bytes(), touch);
        for (std::size_t set = 0; set < sets; ++set) {
            auto* given = reinterpret_cast<Given*>(place + set * set_bytes());
            products_.push_back({given, given + size_, reinterpret_cast<Number*>(given + 2 * size_)});
        }
        fill(setting.cpus);
        multiply(products_.front(), std::min(n_, first_order));
        if (own_) {
            blas_.use_calling_threads();
            crew_.emplace(setting.cpus, assay::Crew::Between::awake);
        } else {
            blas_.pin_threads();
        }
    }

    [[nodiscard]] assay::Work work() const override {
        const auto sets = static_cast<double>(products_.size());
        const double flops = assay::declared::dgemm.amount("multiply", "flops", {{"n", static_cast<double>(n_)}});
        return {{"multiply", {{"flops", sets * flops}, {"bytes", sets * static_cast<double>(set_bytes())}}}};
    }

    void prepare(std::size_t /*kernel*/) override {
        for (const Matrices& each : products_) {
            std::fill_n(each.c, size_, static_cast<Number>(invalid_value));
        }
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        const auto repeat = [&](int set) {
            for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
                multiply(products_[static_cast<std::size_t>(set)], n_);
            }
        };
        crew_ ? crew_->run(repeat) : repeat(0);
    }

    /// Largest entry of C x - A (B x), x of ones of both signs, over eps n^(3/2): far below 1 for pure rounding
    /// errors.
    double verify(std::size_t /*kernel*/) override {
        const auto order = static_cast<std::size_t>(n_);
        std::vector<double> x(order);
        for (std::size_t row = 0; row < order; ++row) {
            x[row] = entry(row) < 0 ? -1 : 1;
        }
        const Matrices& first = products_.front();
        const std::vector<double> expected = product(first.a, product(first.b, x));
        double error = 0;
        for (const Matrices& each : products_) {
            const std::vector<double> found = product(each.c, x);
            for (std::size_t row = 0; row < order; ++row) {
                const double off = std::abs(found[row] - expected[row]);
                error = off <= error ? error : off;  // also takes NaN
            }
        }
        const double scale = std::numeric_limits<Number>::epsilon() * std::pow(static_cast<double>(n_), 1.5);
        return std::isfinite(error) ? error / scale : std::numeric_limits<double>::max();
    }

    [[nodiscard]] double tolerance() const override { return 1; }

    [[nodiscard]] std::vector<int> own_cpus() const override { return crew_ ? crew_->cpus() : blas_.cpus(); }
    [[nodiscard]] bool threads_pinned() const override { return blas_.threads_pinned(); }

    [[nodiscard]] std::map<std::string, std::map<std::string, std::string>> libraries() const override {
        return {{"blas", blas_.identity()}};
    }

  private:
    struct Matrices {
        Given* a;
        Given* b;
        Number* c;
    };

    /// Bytes of A, B and C.
    [[nodiscard]] std::size_t set_bytes() const { return size_ * (2 * sizeof(Given) + sizeof(Number)); }

    void multiply(const Matrices& of, std::int64_t order) const { blas_.multiply(order, of.a, of.b, of.c); }

    /// Each cpu first touches the data on which it works: its own matrices, or its part of shared ones.
    void fill(const std::vector<int>& cpus) {
        const int threads = static_cast<int>(cpus.size());
        std::vector<std::thread> team;
        for (int thread = 0; thread < threads; ++thread) {
            team.emplace_back([this, thread, threads, cpu = cpus[static_cast<std::size_t>(thread)]] {
                assay::pin({cpu});
                const Matrices& of = products_[own_ ? static_cast<std::size_t>(thread) : 0];
                const auto [begin, end] = assay::part_of(size_, own_ ? 0 : thread, own_ ? 1 : threads, 1);
                for (std::size_t place = begin; place < end; ++place) {
                    of.a[place] = static_cast<Given>(entry(place));
                    of.b[place] = static_cast<Given>(entry(size_ + place));
                    of.c[place] = 0;
                }
            });
        }
        std::for_each(team.begin(), team.end(), [](std::thread& thread) { thread.join(); });
    }

    template <class Entry>
    [[nodiscard]] std::vector<double> product(const Entry* matrix, const std::vector<double>& x) const {
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
    bool own_;  ///< each core computes its own product
    assay::Blas blas_;
    std::vector<Matrices> products_;
    std::optional<assay::Crew> crew_;  // last: its threads use all other members
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_program(
        assay::declared::dgemm,
        [](const Setting& setting) -> std::unique_ptr<assay::Benchmark> {
            const std::string& format = setting.params.word("format");
            if (format == "bf16") {
                return std::make_unique<Product<assay::Bfloat16, float>>(setting);
            }
            if (format == "fp32") {
                return std::make_unique<Product<float, float>>(setting);
            }
            return std::make_unique<Product<double, double>>(setting);
        },
        argc, argv);
}
