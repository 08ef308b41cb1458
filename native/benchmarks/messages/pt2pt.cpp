// Messages between pairs of MPI ranks: round trips, windows in one direction, and in both directions at once.
#include <vector>

#include "benchmarks/messages/pt2pt_flow.hpp"
#include "benchmarks/messages/pt2pt_options.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Pair;
using assay::Setting;
using assay::pt2pt::Flow;
using assay::pt2pt::Options;
using assay::pt2pt::Pattern;

class Pt2pt : public assay::Benchmark {
  public:
    explicit Pt2pt(const Setting& setting)
        : options_(assay::pt2pt::options_of(setting.params)),
          pair_(assay::pair_of(setting.ranks)),
          team_(setting.team) {
        assay::pt2pt::require_fitting(options_, setting.params, setting.ranks.size(), team_.size());
        for (int thread = 0; thread < options_.threads; ++thread) {
            flows_.push_back(std::make_unique<Flow>(options_, *setting.memory, setting.ranks.rank(), pair_));
        }
        seconds_.resize(flows_.size());
    }

    void connect() override {
        for (const auto& flow : flows_) {
            flow->connect();
        }
    }

    [[nodiscard]] assay::Work work() const override {
        const double flows = static_cast<double>(pair_.pairs) * options_.threads;
        return assay::messages::work(options_.pattern, flows * static_cast<double>(assay::pt2pt::count(options_)),
                                     options_.layout.bytes);
    }

    void prepare(std::size_t /*kernel*/) override {
        for (const auto& flow : flows_) {
            flow->prepare();
        }
    }

    void meet(int thread) override {
        if (const auto flow = static_cast<std::size_t>(thread); flow < flows_.size()) {
            flows_[flow]->meet();
        }
    }

    /// Windows and round trips follow each other without a pause, like OSU's; several pairs begin each sample
    /// together. After a sleep each iteration is alone.
    [[nodiscard]] bool flows() const override {
        return pair_.pairs == 1 && flows_.size() == 1 && max_iterations() > 1;
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int thread) override {
        if (const auto flow = static_cast<std::size_t>(thread); flow < flows_.size()) {
            seconds_[flow] = flows_[flow]->run(iterations);
        }
        team_.barrier();
    }

    double verify(std::size_t /*kernel*/) override {
        double wrong = 0;
        for (const auto& flow : flows_) {
            wrong = std::max(wrong, flow->wrong());
        }
        return wrong;
    }

    [[nodiscard]] double tolerance() const override { return 0; }

    [[nodiscard]] std::uint64_t max_iterations() const override { return options_.gap.max_iterations(); }

    /// The starting rank, or both ranks in bidirectional patterns.
    [[nodiscard]] bool times() const override { return pair_.first || options_.pattern == Pattern::bidirectional; }

    /// Of the slowest thread.
    [[nodiscard]] std::optional<double> self_timed_seconds() const override {
        return *std::max_element(seconds_.begin(), seconds_.end());
    }

    [[nodiscard]] double sent_bytes() const override {
        double bytes = 0;
        for (const auto& flow : flows_) {
            bytes += flow->sent_bytes();
        }
        return bytes;
    }

  private:
    Options options_;
    Pair pair_;
    const assay::Team& team_;
    std::vector<std::unique_ptr<Flow>> flows_;
    std::vector<double> seconds_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Pt2pt>(assay::declared::pt2pt, argc, argv); }
