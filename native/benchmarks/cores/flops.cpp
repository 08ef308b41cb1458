// Floating-point operations in registers: the peak of each width and precision, of single operations and of the
// mixes in A. Aburto's flops; and the clock of the cores with and without such work.
#include "benchmarks/cores/flops.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "benchmarks/cores/flops_mixes.hpp"
#include "declared/flops.hpp"
#include "harness/error.hpp"
#include "harness/failure.hpp"
#include "harness/program.hpp"

namespace {

using assay::Setting;
using assay::Team;
using flops::Mix;
using flops::mixes;
using flops::Operands;
using flops::Operation;

enum Kernel : std::size_t { clock, loaded_clock, arithmetic };
template <std::size_t mix>
constexpr auto order = flops::order_of(mixes[mix]);

/// The same value in every lane.
template <class Vector>
struct Lanes {
    typename Vector::Register plus, opposite, minus, factor, inverse, divisor, numerator;
};

/// Chains of operations if integer adds shall take the time.
constexpr std::size_t few_chains = 6;
constexpr std::size_t widest_bytes = 64;

/// Integer adds for each operation of the few chains, so that the adds take the time and not the operations.
constexpr int adds_per_operation(Operation operation) {
    const int for_each = operation == Operation::divide || operation == Operation::root ? 64 : 2;
    return for_each * static_cast<int>(few_chains);
}

/// The data of one thread.
struct alignas(assay::interference_bytes) Slot {
    std::array<std::byte, flops::chains * widest_bytes> values;
    std::uint64_t sum;    ///< of the dependent adds
    std::uint64_t turns;  ///< done; some mixes end with the values with which they began
};

/// One operation on one value. An operation that is alone in its mix alternates between two operands.
template <class Vector, std::size_t mix, std::size_t position>
FLOPS_INLINE void operate(typename Vector::Register& x, Lanes<Vector>& of) {
    constexpr Operation operation = order<mix>[position];
    constexpr bool other = position % 2 == 1;
    if constexpr (operation == Operation::add) {
        x = Vector::add(x, mixes[mix].alone(mixes[mix].adds) && other ? of.opposite : of.plus);
    } else if constexpr (operation == Operation::subtract) {
        x = Vector::subtract(x, of.minus);
    } else if constexpr (operation == Operation::multiply) {
        x = Vector::multiply(x, mixes[mix].alone(mixes[mix].multiplications) && other ? of.inverse : of.factor);
    } else if constexpr (operation == Operation::divide) {
        x = mixes[mix].alone(mixes[mix].divisions) ? Vector::divide(of.numerator, x)
                                                   : Vector::divide(x, of.divisor);
    } else if constexpr (operation == Operation::fma) {
        x = Vector::accumulate(x, of.factor, other ? of.opposite : of.plus);
    } else {
        flops::keep(of.numerator);  // a chain of square roots would end at 1, which is no work
        x = Vector::root(of.numerator);
    }
}

/// One operation on each chain; with `loaded`, dependent integer adds too.
template <class Vector, std::size_t mix, bool loaded, std::size_t position, std::size_t... chain>
FLOPS_INLINE void operate_all(typename Vector::Register* x, Lanes<Vector>& of, std::uint64_t& sum,
                              std::index_sequence<chain...> /*chains*/) {
    (operate<Vector, mix, position>(x[chain], of), ...);
    flops::keep_all<sizeof...(chain)>(x);
    if constexpr (loaded) {
        flops::dependent_adds<adds_per_operation(order<mix>[position])>(sum, 1);
    }
}

template <class Vector, std::size_t mix, bool loaded, std::size_t... position>
FLOPS_INLINE void turn(typename Vector::Register* x, Lanes<Vector>& of, std::uint64_t& sum,
                       std::index_sequence<position...> /*positions*/) {
    constexpr std::size_t in_flight = loaded ? few_chains : flops::chains;
    (operate_all<Vector, mix, loaded, position>(x, of, sum, std::make_index_sequence<in_flight>{}), ...);
}

/// Unrolled, so that a variable never indexes an array of registers.
template <class Vector, class Body>
FLOPS_INLINE void for_each_chain(const Body& body) {
    [&]<std::size_t... chain>(std::index_sequence<chain...> /*chains*/) { (body(chain), ...); }
    (std::make_index_sequence<flops::chains>{});
}

/// So many turns of a mix on the values of a slot.
template <class Number, class Vector, std::size_t mix, bool loaded>
void run(std::uint64_t turns, Slot& slot) {
    using Register = typename Vector::Register;
    const Operands<Number> numbers;
    Lanes<Vector> of{Vector::all_lanes(numbers.plus),     Vector::all_lanes(numbers.opposite),
                     Vector::all_lanes(numbers.minus),    Vector::all_lanes(numbers.factor),
                     Vector::all_lanes(numbers.inverse),  Vector::all_lanes(numbers.divisor),
                     Vector::all_lanes(numbers.numerator)};
    for (Register* operand : {&of.plus, &of.opposite, &of.minus, &of.factor, &of.inverse, &of.divisor}) {
        flops::keep(*operand);
    }
    const auto at = [&](std::size_t chain) { return slot.values.data() + chain * sizeof(Register); };
    // One by one: an array that is copied as a whole would stay in memory.
    Register x[flops::chains];
    for_each_chain<Vector>([&](std::size_t chain) { std::memcpy(&x[chain], at(chain), sizeof(Register)); });
    std::uint64_t sum = slot.sum;
    std::uint64_t done = 0;
    for (; done < turns; ++done) {
        turn<Vector, mix, loaded>(x, of, sum, std::make_index_sequence<mixes[mix].operations()>{});
    }
    for_each_chain<Vector>([&](std::size_t chain) { std::memcpy(at(chain), &x[chain], sizeof(Register)); });
    slot.sum = sum;
    slot.turns += done;
}

/// One precision and width, as compiled.
struct Unit {
    const char* format;
    const char* width;
    std::size_t number_bytes;
    std::size_t lanes;    ///< 0 if this program was built without it
    std::size_t numbers;  ///< of a register
    std::array<void (*)(std::uint64_t, Slot&), mixes.size()> alone;
    std::array<void (*)(std::uint64_t, Slot&), mixes.size()> loaded;
};

template <class Number, class Vector, std::size_t... mix>
Unit unit_of(const char* format, const char* width, std::index_sequence<mix...> /*mixes*/) {
    if constexpr (Vector::available) {
        return {format,
                width,
                sizeof(Number),
                Vector::lanes,
                sizeof(typename Vector::Register) / sizeof(Number),
                {run<Number, Vector, mix, false>...},
                {run<Number, Vector, mix, true>...}};
    } else {
        return {format, width, sizeof(Number), 0, 1, {}, {}};
    }
}

template <class Number, class Vector>
Unit unit(const char* format, const char* width) {
    return unit_of<Number, Vector>(format, width, std::make_index_sequence<mixes.size()>{});
}

const std::array units{
    unit<double, flops::Double>("fp64", "scalar"),  unit<double, flops::Doubles128>("fp64", "128"),
    unit<double, flops::Doubles256>("fp64", "256"), unit<double, flops::Doubles512>("fp64", "512"),
    unit<float, flops::Float>("fp32", "scalar"),    unit<float, flops::Floats128>("fp32", "128"),
    unit<float, flops::Floats256>("fp32", "256"),   unit<float, flops::Floats512>("fp32", "512"),
};

/// What this processor has that the program was not built for.
assay::Failure unsupported(const std::string& what, [[maybe_unused]] bool present) {
    return {assay::Exit::failed, "there are no " + what,
            present ? "this processor has them, but the flags that this program was built with leave them out"
                    : "neither this processor nor the program that was built for it has them",
            present ? "build with -march=native" : "choose what this processor has"};
}

bool processor_has([[maybe_unused]] const std::string& what) {
#if defined(__x86_64__)
    return what == "512"   ? __builtin_cpu_supports("avx512f") != 0
           : what == "256" ? __builtin_cpu_supports("avx") != 0
           : what == "fma" ? __builtin_cpu_supports("fma") != 0
                           : true;
#else
    return false;
#endif
}

class Flops : public assay::Benchmark {
  public:
    explicit Flops(const Setting& setting)
        : team_(setting.team),
          unit_(*std::find_if(units.begin(), units.end(),
                              [&](const Unit& unit) {
                                  return unit.format == setting.params.word("format") &&
                                         unit.width == setting.params.word("width");
                              })),
          mix_(static_cast<std::size_t>(
              std::find_if(mixes.begin(), mixes.end(),
                           [&](const Mix& mix) { return mix.name == setting.params.word("mix"); }) -
              mixes.begin())) {
        const std::string& width = setting.params.word("width");
        if (unit_.lanes == 0) {
            throw unsupported(width + "-bit vectors", processor_has(width));
        }
        if (mixes[mix_].fmas > 0 && !flops::has_fma) {
            throw unsupported("fused operations", processor_has("fma"));
        }
        slots_ = reinterpret_cast<Slot*>(
            setting.memory->allocate(sizeof(Slot) * static_cast<std::size_t>(team_.size())));
        prepare(clock);
    }

    [[nodiscard]] assay::Work work() const override {
        const double numbers =
            static_cast<double>(flops::chains * unit_.lanes) * static_cast<double>(team_.size());
        return {
            {"clock", {{"cycles", static_cast<double>(clock_adds)}}},
            {"loaded-clock", {{"cycles", static_cast<double>(turns(loaded_clock) * adds_in_turn())}}},
            {"arithmetic", {{"flops", static_cast<double>(turns(arithmetic)) * mixes[mix_].flops() * numbers}}}};
    }

    void prepare(std::size_t /*kernel*/) override {
        done_ = 0;
        team_.run([&](int thread) {
            Slot& slot = slots_[thread];
            slot.sum = 0;
            slot.turns = 0;
            for (std::size_t index = 0; index < flops::chains * unit_.lanes; ++index) {
                write(slot, index, flops::start_value(index));
            }
        });
    }

    void iterate(std::size_t kernel, std::uint64_t iterations, int thread) override {
        Slot& slot = slots_[thread];
        if (kernel == clock) {
            std::uint64_t sum = slot.sum;
            for (std::uint64_t done = 0; done < iterations * (clock_adds / clock_run); ++done) {
                flops::dependent_adds<clock_run>(sum, 1);
            }
            slot.sum = sum;
        } else {
            (kernel == arithmetic ? unit_.alone : unit_.loaded)[mix_](iterations * turns(kernel), slot);
        }
        team_.barrier();
        if (thread == 0) {
            done_ += iterations;
        }
    }

    /// Largest relative error of a number; missing adds or turns count as 1 each.
    double verify(std::size_t kernel) override {
        const std::uint64_t turned = kernel == clock ? 0 : done_ * turns(kernel);
        const std::uint64_t adds = kernel == clock          ? done_ * clock_adds
                                   : kernel == loaded_clock ? turned * adds_in_turn()
                                                            : 0;
        const Operands<double> of = unit_.number_bytes == sizeof(double) ? Operands<double>{} : of_floats();
        double worst = 0;
        const std::size_t worked = kernel == loaded_clock ? few_chains : flops::chains;
        for (std::size_t index = 0; index < worked * unit_.lanes; ++index) {
            const double right = flops::reference(mixes[mix_], of, flops::start_value(index), turned);
            for (int thread = 0; thread < team_.size(); ++thread) {
                const double error = std::abs(read(slots_[thread], index) / right - 1);
                worst = error <= worst ? worst : error;  // also takes NaN
            }
        }
        for (int thread = 0; thread < team_.size(); ++thread) {
            worst += slots_[thread].sum == adds && slots_[thread].turns == turned ? 0 : 1;
        }
        return assay::finite_error(worst);
    }

    [[nodiscard]] double tolerance() const override { return unit_.number_bytes == sizeof(double) ? 1e-13 : 1e-5; }

  private:
    /// An iteration is so long that the barrier at its end and the reading of the clock do not matter.
    static constexpr std::uint64_t operations = std::uint64_t{1} << 20U;
    static constexpr std::uint64_t clock_adds = std::uint64_t{1} << 18U;
    static constexpr int clock_run = 128;

    [[nodiscard]] std::uint64_t adds_in_turn() const {
        int adds = 0;
        const auto turn = flops::order_of(mixes[mix_]);
        for (int position = 0; position < mixes[mix_].operations(); ++position) {
            adds += adds_per_operation(turn[static_cast<std::size_t>(position)]);
        }
        return static_cast<std::uint64_t>(adds);
    }

    /// Turns in an iteration.
    [[nodiscard]] std::uint64_t turns(std::size_t kernel) const {
        return kernel == arithmetic
                   ? operations / (flops::chains * static_cast<std::uint64_t>(mixes[mix_].operations()))
                   : clock_adds / adds_in_turn();
    }

    static Operands<double> of_floats() {
        const Operands<float> of;
        return {of.plus, of.opposite, of.minus, of.factor, of.inverse, of.divisor, of.numerator};
    }

    /// Position of a number in its slot.
    [[nodiscard]] std::size_t place(std::size_t index) const {
        return (index / unit_.lanes * unit_.numbers + index % unit_.lanes) * unit_.number_bytes;
    }

    void write(Slot& slot, std::size_t index, double value) const {
        const auto narrow = static_cast<float>(value);
        const void* number = unit_.number_bytes == sizeof(double) ? static_cast<const void*>(&value) : &narrow;
        std::memcpy(slot.values.data() + place(index), number, unit_.number_bytes);
    }

    [[nodiscard]] double read(const Slot& slot, std::size_t index) const {
        double wide = 0;
        float narrow = 0;
        void* number = unit_.number_bytes == sizeof(double) ? static_cast<void*>(&wide) : &narrow;
        std::memcpy(number, slot.values.data() + place(index), unit_.number_bytes);
        return unit_.number_bytes == sizeof(double) ? wide : double{narrow};
    }

    const Team& team_;
    const Unit& unit_;
    std::size_t mix_;
    Slot* slots_ = nullptr;
    std::uint64_t done_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Flops>(assay::declared::flops, argc, argv); }
