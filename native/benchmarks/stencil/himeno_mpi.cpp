// R. Himeno's benchmark over MPI: the grid is distributed over ranks along its three axes; the sweep is that of
// one node.
#include "declared/himeno_mpi.hpp"

#include <array>
#include <optional>

#include "benchmarks/stencil/himeno_check.hpp"
#include "benchmarks/stencil/himeno_halo.hpp"
#include "harness/mpi/program.hpp"
#include "harness/thread_times.hpp"

namespace {

using assay::Exit;
using assay::Failure;
using assay::Params;
using assay::Part;
using assay::Setting;
using assay::Team;
using himeno::Shape;

bool is_sharing(const Params& params) { return params.word("coupling") == "sharing"; }

/// Failure (usage) if there is no such shape.
Shape shape_of(const Params& params, int ranks) {
    const himeno::Size size = himeno::size_of(assay::declared::himeno_mpi, params);
    Shape wanted{};
    for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
        wanted[axis] = static_cast<std::size_t>(params.number(std::string(1, "ijk"[axis])));
    }
    const Shape shape = himeno::shape_of(size, is_sharing(params) ? static_cast<std::size_t>(ranks) : 1, wanted);
    if (shape[0] == 0) {
        throw Failure(Exit::usage,
                      "a grid of size " + params.word("size") + " cannot be dealt to " + std::to_string(ranks) +
                          (ranks == 1 ? " rank" : " ranks") + " in this way",
                      "ranks along i, j and k make up all ranks, and each has a point along i and j and " +
                          std::to_string(himeno::fewest_k) + " along k",
                      "--i 0 --j 0 --k 0");
    }
    return shape;
}

class HimenoMpi : public assay::Benchmark {
  public:
    explicit HimenoMpi(const Setting& setting)
        : team_(setting.team),
          times_(team_.size()),
          size_(himeno::size_of(assay::declared::himeno_mpi, setting.params)),
          sharing_(is_sharing(setting.params)),
          ranks_(setting.ranks.size()),
          rank_(sharing_ ? setting.ranks.rank() : 0),
          shape_(shape_of(setting.params, ranks_)),
          block_(himeno::block_of(size_, static_cast<std::size_t>(rank_), shape_)),
          grid_(block_,
                setting.memory->allocate(himeno::Grid::bytes(block_.size), assay::Touch::by_parts(setting.cpus))),
          gosa_(static_cast<std::size_t>(team_.size())) {
        team_.run([&](int thread) { grid_.initialise(part(thread)); });
    }

    void connect() override { halo_.emplace(all(), shape_, block_, grid_.pressures()); }

    [[nodiscard]] assay::Work work() const override {
        const auto grids = static_cast<double>(sharing_ ? 1 : ranks_);
        return assay::declared::himeno_mpi.work_of(grids * static_cast<double>(size_.inner_points()));
    }

    void prepare(std::size_t /*kernel*/) override {
        sweeps_ = 0;
        team_.run([&](int thread) { grid_.restart(part(thread)); });
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int thread) override {
        const Part mine = part(thread);
        double& gosa = gosa_[static_cast<std::size_t>(thread)].value;
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            times_.time(thread, [&] { gosa = grid_.sweep(mine); });
            team_.barrier();
            times_.time(thread, [&] { grid_.copy_back(mine); });
            team_.barrier();
            if (thread == 0) {
                pass_messages();
            }
            team_.barrier();
        }
        if (thread == 0) {
            sweeps_ += iterations;
            exchanges_ += iterations;
        }
    }

    double verify(std::size_t /*kernel*/) override {
        himeno::Residual found = himeno::residual(grid_, team_);
        std::array<double, 3> maxima{found.largest, found.misplaced, found.first};
        MPI_Allreduce(MPI_IN_PLACE, maxima.data(), static_cast<int>(maxima.size()), MPI_DOUBLE, MPI_MAX, all());
        const Part modes = assay::part_of(himeno::modes(size_), rank_, sharing_ ? ranks_ : 1, 1);
        himeno::Gosa exact = himeno::exact_gosa(size_, sweeps_, modes, team_);
        std::array<double, 3> sums{found.squares, exact.of_sweep, exact.of_next};
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, all());
        found = {sums[0], maxima[0], maxima[1], maxima[2]};
        exact = {sums[1], sums[2]};
        return himeno::error(size_, sweeps_, whole_gosa_, found, exact);
    }

    [[nodiscard]] double tolerance() const override { return himeno::tolerance; }

    [[nodiscard]] std::vector<double> thread_seconds() const override { return times_.seconds(); }

    [[nodiscard]] double sent_bytes() const override {
        return halo_ ? static_cast<double>(exchanges_) * halo_->sent_bytes() : 0;
    }

    [[nodiscard]] std::map<std::string, std::string> facts() const override {
        const auto [i, j, k] = shape_;
        return {{"shape", std::to_string(i) + " x " + std::to_string(j) + " x " + std::to_string(k)}};
    }

  private:
    struct alignas(assay::interference_bytes) Sum {
        double value = 0;
    };

    /// The ranks that share a grid.
    [[nodiscard]] MPI_Comm all() const { return sharing_ ? MPI_COMM_WORLD : MPI_COMM_SELF; }

    [[nodiscard]] Part part(int thread) const { return assay::part_of(grid_.rows(), thread, team_.size(), 1); }

    /// The sum of GOSA over all threads and ranks, and the halo exchange of each block.
    void pass_messages() {
        whole_gosa_ = 0;
        for (const Sum& sum : gosa_) {
            whole_gosa_ += sum.value;
        }
        if (sharing_ && ranks_ > 1) {
            MPI_Allreduce(MPI_IN_PLACE, &whole_gosa_, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            halo_->exchange();
        }
    }

    const Team& team_;
    assay::ThreadTimes times_;
    himeno::Size size_;
    bool sharing_;
    int ranks_;
    int rank_;
    Shape shape_;
    himeno::Block block_;
    himeno::Grid grid_;
    std::vector<Sum> gosa_;
    std::optional<himeno::Halo> halo_;
    double whole_gosa_ = 0;
    std::uint64_t sweeps_ = 0;
    std::uint64_t exchanges_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_mpi_program<HimenoMpi>(assay::declared::himeno_mpi, argc, argv);
}
