// The time of one load from a working set of a given size: a walk along a random cycle through its lines, in
// which each load waits for the address that the previous one brings.
#include "declared/latency.hpp"

#include "harness/pointer_cycle.hpp"
#include "harness/program.hpp"

namespace {

class Latency : public assay::Benchmark {
  public:
    explicit Latency(const assay::Setting& setting)
        : cycle_(assay::PointerCycle::of(setting)), broken_(cycle_.settle()) {}

    [[nodiscard]] assay::Work work() const override { return assay::declared::latency.work_of(1); }

    void prepare(std::size_t /*kernel*/) override {
        loads_ = 0;
        begin_ = cycle_.place();
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        cycle_.walk(iterations);
        loads_ += iterations;
    }

    /// Lines that break the cycle (nothing writes to them after set-up, and checking again would refill the
    /// caches), and whether the walk ended at the wrong place.
    double verify(std::size_t /*kernel*/) override {
        const bool off_cycle = cycle_.place() != (begin_ + loads_) % cycle_.lines();
        return static_cast<double>(broken_) + (off_cycle ? 1 : 0);
    }

    [[nodiscard]] double tolerance() const override { return 0; }

  private:
    assay::PointerCycle cycle_;
    std::size_t broken_;
    std::uint64_t loads_ = 0;
    std::uint64_t begin_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Latency>(assay::declared::latency, argc, argv); }
