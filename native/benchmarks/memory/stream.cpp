// Sustainable memory bandwidth, after J. D. McCalpin's STREAM: copy, scale, add and triad over arrays of doubles
// much larger than the caches.
#include "declared/stream.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "harness/failure.hpp"
#include "harness/program.hpp"
#include "harness/thread_times.hpp"
#include "harness/vector.hpp"

namespace {

using assay::Part;
using assay::Setting;
using assay::Team;

constexpr double scalar = 3.0;
constexpr std::size_t line_doubles = 64 / sizeof(double);
/// Offset of arrays modulo a page: equal elements then do not share a cache set or memory bank.
constexpr std::size_t stagger_bytes = 1024 + 64;
constexpr double invalid_value = -1.0;

enum Kernel : std::size_t { copy, scale, add, triad };

/// The arrays that a kernel reads (y, z) and writes (x), and the factor of x relative to the first array's start
/// values.
struct Operands {
    double* x;
    const double* y;
    const double* z;
    double factor;
};

template <std::size_t kernel, class Number>
Number element(const Number& y, const Number& z) {
    switch (kernel) {
        case copy:
            return y;
        case scale:
            return scalar * y;
        case add:
            return y + z;
        default:
            return y + scalar * z;
    }
}

template <std::size_t kernel>
void ordinary(const Operands& arrays, Part part) {
    double* __restrict x = arrays.x;
    const double* __restrict y = arrays.y;
    const double* __restrict z = arrays.z;
    for (std::size_t i = part.begin; i < part.end; ++i) {
        x[i] = element<kernel, double>(y[i], z[i]);
    }
}

/// Parts begin at a cache line; only the last one can end inside a vector.
template <std::size_t kernel>
void non_temporal(const Operands& arrays, Part part) {
    constexpr std::size_t width = assay::vector_doubles;
    const std::size_t whole = part.begin + (part.end - part.begin) / width * width;
    for (std::size_t i = part.begin; i < whole; i += width) {
        assay::store_non_temporal(
            reinterpret_cast<assay::Vector*>(arrays.x + i),
            element<kernel, assay::Vector>(*reinterpret_cast<const assay::Vector*>(arrays.y + i),
                                           *reinterpret_cast<const assay::Vector*>(arrays.z + i)));
    }
    ordinary<kernel>(arrays, {whole, part.end});
    assay::fence_non_temporal();
}

using Loop = void (*)(const Operands&, Part);
constexpr Loop ordinary_loops[] = {ordinary<copy>, ordinary<scale>, ordinary<add>, ordinary<triad>};
constexpr Loop non_temporal_loops[] = {non_temporal<copy>, non_temporal<scale>, non_temporal<add>,
                                       non_temporal<triad>};

constexpr std::size_t period = 16;

/// Initial values of the first array: exact in binary, different from element to element.
double start_value(std::size_t i) { return 1.0 + static_cast<double>(i % period) / period; }

/// Overwrites a part of an array, past the caches if possible: its lines need not be read first.
void overwrite(double* array, Part part) {
    std::size_t i = part.begin;
    if constexpr (assay::has_non_temporal_stores) {
        constexpr std::size_t width = assay::vector_doubles;
        for (; i + width <= part.end; i += width) {
            assay::store_non_temporal(reinterpret_cast<assay::Vector*>(array + i),
                                      assay::Vector{} + invalid_value);
        }
        assay::fence_non_temporal();
    }
    std::fill(array + i, array + part.end, invalid_value);
}

/// Largest relative error of a part. Elements a period apart have the same correct value: each position in the
/// period has its own largest error, so that no comparison waits for the previous one.
double largest_error(const double* array, Part part, double factor) {
    double right[period];
    double worst[period] = {};
    const auto compare = [&](std::size_t i, std::size_t place) {
        const double error = std::abs(array[i] - right[place]);
        worst[place] = std::max(worst[place], error <= DBL_MAX ? error : DBL_MAX);  // also takes NaN
    };
    for (std::size_t place = 0; place < period; ++place) {
        right[place] = factor * start_value(part.begin + place);
    }
    std::size_t i = part.begin;
    for (; i + period <= part.end; i += period) {
        for (std::size_t place = 0; place < period; ++place) {
            compare(i + place, place);
        }
    }
    for (; i < part.end; ++i) {
        compare(i, (i - part.begin) % period);
    }
    double largest = 0;
    for (std::size_t place = 0; place < period; ++place) {
        largest = std::max(largest, worst[place] / right[place]);
    }
    return largest;
}

class Stream : public assay::Benchmark {
  public:
    explicit Stream(const Setting& setting)
        : team_(setting.team),
          times_(team_.size()),
          elements_(static_cast<std::size_t>(setting.params.number("elements"))),
          non_temporal_(setting.params.word("stores") == "non-temporal") {
        if (non_temporal_ && !assay::has_non_temporal_stores) {
            throw assay::Failure(assay::Exit::failed, "there are no non-temporal stores",
                                 "the compiler that built this program offers none for this processor",
                                 "--stores ordinary, or build with clang");
        }
        const std::size_t apart = elements_ * sizeof(double) / 4096 * 4096 + 4096 + stagger_bytes;
        const bool serial = setting.params.word("touch") == "serial";
        std::byte* buffer = setting.memory->allocate(
            3 * apart, serial ? assay::Touch::by_one(setting.cpus.front()) : assay::Touch::by_parts(setting.cpus));
        a_ = reinterpret_cast<double*>(buffer);
        b_ = reinterpret_cast<double*>(buffer + apart);
        c_ = reinterpret_cast<double*>(buffer + 2 * apart);
        touch(serial);
    }

    [[nodiscard]] assay::Work work() const override {
        assay::Work work = assay::declared::stream.work_of(static_cast<double>(elements_));
        for (auto& [kernel, amounts] : work) {
            if (non_temporal_) {  // the target's lines are not read
                amounts["traffic_bytes"] = amounts["bytes"];
            }
        }
        return work;
    }

    void prepare(std::size_t kernel) override {
        double* target = operands(kernel).x;
        team_.run([&](int thread) { overwrite(target, part(thread)); });
    }

    void iterate(std::size_t kernel, std::uint64_t iterations, int thread) override {
        const Loop loop = (non_temporal_ ? non_temporal_loops : ordinary_loops)[kernel];
        const Operands arrays = operands(kernel);
        const Part mine = part(thread);
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            times_.time(thread, [&] { loop(arrays, mine); });
            team_.barrier();
        }
    }

    /// Largest relative error.
    double verify(std::size_t kernel) override {
        const Operands arrays = operands(kernel);
        std::vector<double> worst(static_cast<std::size_t>(team_.size()), 0);
        team_.run([&](int thread) {
            worst[static_cast<std::size_t>(thread)] = largest_error(arrays.x, part(thread), arrays.factor);
        });
        return *std::max_element(worst.begin(), worst.end());
    }

    [[nodiscard]] double tolerance() const override { return 1e-13; }

    [[nodiscard]] std::vector<double> thread_seconds() const override { return times_.seconds(); }

  private:
    /// In their order the kernels give c = a, b = 3a, c = 4a, a = 15a.
    [[nodiscard]] Operands operands(std::size_t kernel) const {
        switch (kernel) {
            case copy:
                return {c_, a_, a_, 1};
            case scale:
                return {b_, c_, c_, 3};
            case add:
                return {c_, a_, b_, 4};
            default:
                return {a_, b_, c_, 15};
        }
    }

    [[nodiscard]] Part part(int thread) const {
        return assay::part_of(elements_, thread, team_.size(), line_doubles);
    }

    void touch(bool serial) {
        team_.run([&](int thread) {
            const Part mine = !serial ? part(thread) : thread == 0 ? Part{0, elements_} : Part{0, 0};
            for (std::size_t i = mine.begin; i < mine.end; ++i) {
                a_[i] = start_value(i);
                b_[i] = invalid_value;
                c_[i] = invalid_value;
            }
        });
    }

    const Team& team_;
    assay::ThreadTimes times_;
    std::size_t elements_;
    bool non_temporal_;
    double* a_;
    double* b_;
    double* c_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Stream>(assay::declared::stream, argc, argv); }
