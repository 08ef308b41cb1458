// Dry air in a vertical plane: a warm bubble rises, by the equations of miniWeather.
#include "declared/weather.hpp"

#include <optional>

#include "benchmarks/stencil/weather_checks.hpp"
#include "harness/mpi/program.hpp"

namespace {

using assay::Exit;
using assay::Failure;
using assay::Params;
using assay::Part;
using assay::Setting;
using assay::weather::Air;
using assay::weather::Layout;
using assay::weather::Plane;
using assay::weather::Totals;

bool is_sharing(const Params& params) { return params.word("coupling") == "sharing"; }

/// Failure (usage) if ranks and threads would not have enough cells.
Plane plane_of(const Params& params, int ranks, int threads) {
    constexpr std::int64_t largest = 1 << 20;
    const std::int64_t columns = params.number("nx");
    const std::int64_t smallest = std::max(static_cast<std::int64_t>(assay::weather::fewest_columns) * ranks,
                                           2 * static_cast<std::int64_t>(assay::weather::fewest_rows) * threads);
    if (columns % 2 != 0 || columns < smallest || columns > largest) {
        throw Failure(Exit::usage, "a plane of " + std::to_string(columns) + " cells along x cannot be worked on",
                      "it is an even number, with 8 columns for each of " + std::to_string(ranks) +
                          " ranks and 2 rows for each of " + std::to_string(threads) + " threads",
                      "--nx " + std::to_string(std::clamp(columns + columns % 2, smallest, largest)));
    }
    return {static_cast<std::size_t>(columns)};
}

/// What a rank works on: its columns of the plane, or the same columns as a plane of their own.
struct Block {
    Plane plane;
    Part columns;

    Block(const Plane& whole, Part own, bool sharing)
        : plane(sharing ? whole : Plane{own.end - own.begin, whole.rows}),
          columns(sharing ? own : Part{0, own.end - own.begin}) {}
};

class Weather : public assay::Benchmark {
  public:
    explicit Weather(const Setting& setting)
        : sharing_(is_sharing(setting.params)),
          ranks_(setting.ranks.size()),
          steps_(static_cast<std::uint64_t>(setting.params.number("time-steps"))),
          plane_(plane_of(setting.params, ranks_, setting.team.size())),
          block_(plane_, assay::part_of(plane_.columns, setting.ranks.rank(), ranks_, 1), sharing_),
          air_(block_.plane, block_.columns, static_cast<std::size_t>(setting.params.number("tile")), setting.team,
               setting.memory->allocate(Air::bytes(Layout(block_.columns.end - block_.columns.begin, plane_.rows)),
                                        assay::Touch::by_parts(setting.cpus))) {
        air_.start(false);
    }

    void connect() override {
        if (ranks_ > 1) {
            air_.connect(all());
        }
    }

    /// For one cell in one step, because the figure is a rate of them.
    [[nodiscard]] assay::Work work() const override {
        assay::Work work = assay::declared::weather.work_of(1);
        work["rate"]["steps"] = 1 / cells();
        return work;
    }

    void prepare(std::size_t /*kernel*/) override {
        air_.start(false);
        before_ = totals(air_, all());
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t /*iterations*/, int /*thread*/) override {
        air_.advance(steps_);
    }

    /// The largest error of all tests. The comparison with the plain definition concerns the kernels: it runs
    /// once.
    double verify(std::size_t /*kernel*/) override {
        const double error = std::max(imbalance(before_, totals(air_, all())), asymmetry(air_, all()));
        if (!deviation_) {
            deviation_ = deviation(air_);
        }
        return std::max(error, *deviation_);
    }

    [[nodiscard]] double tolerance() const override { return 1; }

    /// Phases are means over the ranks; the rest of the slowest rank's time is `other`.
    [[nodiscard]] assay::Solution solution(double seconds) override {
        const assay::weather::Seconds own = air_.seconds();
        std::array<double, 2> sums{own.tendencies, own.halo};
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        const double tendencies = sums[0] / ranks_;
        const double halo = sharing_ ? sums[1] / ranks_ : 0;  // without messages, columns are copied in `other`
        assay::Solution solution{"rate", "update/s", cells() * static_cast<double>(steps_) / seconds, seconds, {}};
        solution.phases["tendencies"] = tendencies;
        solution.phases["other"] = std::max(0., seconds - tendencies - halo);
        if (sharing_ && ranks_ > 1) {
            solution.phases["halo"] = halo;
        }
        return solution;
    }

    [[nodiscard]] double sent_bytes() const override { return air_.sent_bytes(); }

    [[nodiscard]] std::map<std::string, std::string> facts() const override {
        return {{"plane", std::to_string(plane_.columns) + " x " + std::to_string(plane_.rows)},
                {"simulated", std::to_string(static_cast<double>(steps_) * plane_.step_s()) + " s"}};
    }

  private:
    /// The ranks that pass messages.
    [[nodiscard]] MPI_Comm all() const { return sharing_ ? MPI_COMM_WORLD : MPI_COMM_SELF; }

    /// Cells of all ranks.
    [[nodiscard]] double cells() const { return static_cast<double>(plane_.cells()); }

    bool sharing_;
    int ranks_;
    std::uint64_t steps_;
    Plane plane_;
    Block block_;
    Air air_;
    Totals before_{};
    std::optional<double> deviation_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_mpi_program<Weather>(assay::declared::weather, argc, argv); }
