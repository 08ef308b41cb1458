// The eight mixes of A. Aburto's flops as sums of functions in plain C++: what compilers and flags make of them.
#include "benchmarks/cores/flops_plain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "declared/flops_plain.hpp"
#include "harness/error.hpp"
#include "harness/program.hpp"

namespace {

using assay::Setting;
using assay::Team;
using flops_plain::mixes;

using Sum = double (*)(std::uint64_t, double);
using Check = long double (*)(std::uint64_t, long double);

template <std::size_t... mix>
constexpr auto sums_of(std::index_sequence<mix...> /*mixes*/) {
    return std::array<Sum, sizeof...(mix)>{flops_plain::sum<mix + 1, double>...};
}

template <std::size_t... mix>
constexpr auto checks_of(std::index_sequence<mix...> /*mixes*/) {
    return std::array<Check, sizeof...(mix)>{flops_plain::sum<mix + 1, long double>...};
}

constexpr auto sums = sums_of(std::make_index_sequence<mixes.size()>{});
constexpr auto checks = checks_of(std::make_index_sequence<mixes.size()>{});

/// The data of one thread.
struct alignas(assay::interference_bytes) Slot {
    double total;
};

class FlopsPlain : public assay::Benchmark {
  public:
    explicit FlopsPlain(const Setting& setting)
        : team_(setting.team),
          mix_(static_cast<std::size_t>(
              std::find_if(mixes.begin(), mixes.end(),
                           [&](const auto& mix) { return mix.name == setting.params.word("mix"); }) -
              mixes.begin())),
          slots_(reinterpret_cast<Slot*>(
              setting.memory->allocate(sizeof(Slot) * static_cast<std::size_t>(team_.size())))) {
        prepare(0);  // touched by its threads: each case reports where its page is
    }

    [[nodiscard]] assay::Work work() const override {
        return {
            {"sum",
             {{"flops", static_cast<double>(turns) * mixes[mix_].flops() * static_cast<double>(team_.size())}}}};
    }

    void prepare(std::size_t /*kernel*/) override {
        team_.run([&](int thread) { slots_[thread].total = 0; });
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int thread) override {
        const Sum sum = sums[mix_];
        double total = 0;
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            total = sum(turns_, step_);
        }
        slots_[thread].total = total;
        team_.barrier();
    }

    /// Largest relative error of a thread's sum, compared with extended precision.
    double verify(std::size_t /*kernel*/) override {
        const long double right = checks[mix_](turns, 1.L / turns);
        double worst = 0;
        for (int thread = 0; thread < team_.size(); ++thread) {
            const auto error = static_cast<double>(std::abs(slots_[thread].total / right - 1));
            worst = error <= worst ? worst : error;  // also takes NaN
        }
        return assay::finite_error(worst);
    }

    [[nodiscard]] double tolerance() const override { return 1e-11; }

  private:
    /// Of one iteration: so many that the barrier at its end does not matter.
    static constexpr std::uint64_t turns = std::uint64_t{1} << 14U;

    const Team& team_;
    std::size_t mix_;
    Slot* slots_;
    volatile std::uint64_t turns_ = turns;  ///< volatile, so that the compiler repeats the work in each iteration
    volatile double step_ = 1. / turns;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_program<FlopsPlain>(assay::declared::flops_plain, argc, argv);
}
