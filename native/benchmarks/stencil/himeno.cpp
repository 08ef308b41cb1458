// R. Himeno's benchmark: Jacobi sweeps of a pressure Poisson equation in curvilinear coordinates, in single
// precision.
#include "declared/himeno.hpp"

#include "benchmarks/stencil/himeno_check.hpp"
#include "harness/program.hpp"
#include "harness/thread_times.hpp"

namespace {

using assay::Part;
using assay::Setting;
using assay::Team;

class Himeno : public assay::Benchmark {
  public:
    explicit Himeno(const Setting& setting)
        : team_(setting.team),
          times_(team_.size()),
          size_(himeno::size_of(assay::declared::himeno, setting.params)),
          grid_(size_, setting.memory->allocate(himeno::Grid::bytes(size_), touch(setting))),
          gosa_(static_cast<std::size_t>(team_.size())) {
        const bool serial = touches_serially(setting);
        team_.run([&](int thread) {
            if (!serial) {
                grid_.initialise(part(thread));
            } else if (thread == 0) {
                grid_.initialise({0, grid_.rows()});
            }
        });
    }

    [[nodiscard]] assay::Work work() const override {
        return assay::declared::himeno.work_of(static_cast<double>(size_.inner_points()));
    }

    void prepare(std::size_t /*kernel*/) override {
        sweeps_ = 0;
        team_.run([&](int thread) { grid_.restart(part(thread)); });
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int thread) override {
        const Part mine = part(thread);
        double gosa = 0;
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            times_.time(thread, [&] { gosa = grid_.sweep(mine); });
            team_.barrier();
            times_.time(thread, [&] { grid_.copy_back(mine); });
            team_.barrier();
        }
        gosa_[static_cast<std::size_t>(thread)].value = gosa;
        if (thread == 0) {
            sweeps_ += iterations;
        }
    }

    /// Largest error of a pressure, or of the root mean square of its changes: of those that GOSA reports, and
    /// of those of the next sweep.
    double verify(std::size_t /*kernel*/) override {
        double gosa = 0;
        for (const Sum& sum : gosa_) {
            gosa += sum.value;
        }
        const Part modes{0, himeno::modes(size_)};
        return himeno::error(size_, sweeps_, gosa, himeno::residual(grid_, team_),
                             himeno::exact_gosa(size_, sweeps_, modes, team_));
    }

    [[nodiscard]] double tolerance() const override { return himeno::tolerance; }

    [[nodiscard]] std::vector<double> thread_seconds() const override { return times_.seconds(); }

  private:
    struct alignas(assay::interference_bytes) Sum {
        double value = 0;
    };

    static bool touches_serially(const Setting& setting) { return setting.params.word("touch") == "serial"; }

    static assay::Touch touch(const Setting& setting) {
        return touches_serially(setting) ? assay::Touch::by_one(setting.cpus.front())
                                         : assay::Touch::by_parts(setting.cpus);
    }

    [[nodiscard]] Part part(int thread) const { return assay::part_of(grid_.rows(), thread, team_.size(), 1); }

    const Team& team_;
    assay::ThreadTimes times_;
    himeno::Size size_;
    himeno::Grid grid_;
    std::vector<Sum> gosa_;
    std::uint64_t sweeps_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Himeno>(assay::declared::himeno, argc, argv); }
