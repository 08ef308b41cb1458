// Collective operations among all ranks; each repetition starts with its own barrier.
#include "declared/collective.hpp"

#include "benchmarks/collectives/collective_calls.hpp"
#include "benchmarks/collectives/collective_repetitions.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Setting;
using assay::collective::Calls;
using assay::collective::Repetitions;
using assay::collective::TimeOf;

class Collective : public assay::Benchmark {
  public:
    explicit Collective(const Setting& setting)
        : calls_(*setting.memory,
                 assay::collective::options_of(setting.params, setting.params.word("calls") == "nonblocking"),
                 setting.ranks),
          repetitions_(setting.ranks),
          team_(setting.team) {}

    void connect() override { calls_.connect(); }

    [[nodiscard]] assay::Work work() const override { return {}; }

    void prepare(std::size_t /*kernel*/) override { calls_.blocks().overwrite(); }

    void iterate(std::size_t kernel, std::uint64_t iterations, int thread) override {
        if (thread == 0) {
            seconds_ = repetitions_.run(
                iterations, kernel == 0 ? TimeOf::slowest : TimeOf::own, [this] { calls_.perform(); },
                [this] { calls_.count(); });
        }
        team_.barrier();
    }

    double verify(std::size_t /*kernel*/) override { return calls_.blocks().wrong(); }

    [[nodiscard]] double tolerance() const override { return 0; }

    [[nodiscard]] std::optional<double> self_timed_seconds() const override { return seconds_; }

    [[nodiscard]] double sent_bytes() const override { return calls_.sent_bytes(); }

  private:
    Calls calls_;
    Repetitions repetitions_;
    const assay::Team& team_;
    double seconds_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_mpi_program<Collective>(assay::declared::collective, argc, argv);
}
