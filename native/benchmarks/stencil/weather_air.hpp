// The air of one rank: its columns of the plane, advanced step by step by the rank's threads.
#pragma once

#include <cstdint>
#include <optional>

#include "benchmarks/stencil/weather_halo.hpp"
#include "harness/clock.hpp"

namespace assay::weather {

/// Seconds of a rank in its last steps.
struct Seconds {
    double tendencies = 0;  ///< computation: mean over its threads
    double halo = 0;        ///< messages with neighbours, including waiting
};

class Air {
  public:
    static std::size_t bytes(const Layout& layout) { return 3 * array_bytes(layout); }

    /// `columns`: this rank's, of the whole plane; `tile`: columns on which a thread works at once.
    Air(const Plane& plane, Part columns, std::size_t tile, const Team& team, std::byte* memory)
        : plane_(plane),
          rest_(plane),
          columns_(columns),
          layout_(columns.end - columns.begin, plane.rows),
          team_(team),
          tiles_(std::min((layout_.columns() + tile - 1) / tile, layout_.columns() / fewest_columns)) {
        for (double*& array : arrays_) {
            array = reinterpret_cast<double*>(memory);
            memory += array_bytes(layout_);
        }
        for (int thread = 0; thread < team.size(); ++thread) {
            workers_.emplace_back(Kernel(plane_, rest_, layout_));
        }
    }
    Air(const Air&) = delete;
    Air& operator=(const Air&) = delete;
    Air(Air&&) = delete;
    Air& operator=(Air&&) = delete;
    ~Air() = default;

    /// Finds the neighbours of a part of a plane; a rank that has a whole plane needs none.
    void connect(MPI_Comm comm) { halo_.emplace(comm, layout_); }

    /// Writes the initial values, each thread its own rows: first touch.
    void start(bool windy) {
        team_.run([&](int thread) {
            const Part own = rows(thread);
            const std::size_t begin = thread == 0 ? 0 : own.begin + halo;
            const std::size_t end = thread + 1 == team_.size() ? own.end + 2 * halo : own.end + halo;
            for (double* array : arrays_) {
                std::fill(array + begin * layout_.apart(), array + end * layout_.apart(), 0.);
            }
            for (std::size_t row = own.begin; row < own.end; ++row) {
                for (std::size_t column = 0; column < layout_.columns(); ++column) {
                    const Values values = start_of(plane_, rest_.rows[row], row, columns_.begin + column, windy);
                    for (std::size_t variable = 0; variable < variables; ++variable) {
                        arrays_[0][layout_.at(row + halo, variable) + column] = values[variable];
                    }
                }
            }
        });
    }

    /// So many steps; every other one begins with the sweep along z.
    void advance(std::uint64_t steps) {
        halo_ns_ = 0;
        team_.run([&](int thread) {
            workers_[static_cast<std::size_t>(thread)].nanoseconds = 0;
            for (std::uint64_t step = 0; step < steps; ++step) {
                sweep(step % 2 == 0 ? Axis::x : Axis::z, thread);
                sweep(step % 2 == 0 ? Axis::z : Axis::x, thread);
            }
        });
    }

    /// Of the last call of `advance`.
    [[nodiscard]] Seconds seconds() const {
        std::int64_t sum = 0;
        for (const Worker& each : workers_) {
            sum += each.nanoseconds;
        }
        return {to_seconds(sum) / team_.size(), to_seconds(halo_ns_)};
    }

    [[nodiscard]] const Plane& plane() const { return plane_; }
    [[nodiscard]] const Background& rest() const { return rest_; }
    [[nodiscard]] Part columns() const { return columns_; }
    [[nodiscard]] double sent_bytes() const { return halo_ ? halo_->sent_bytes() : 0; }

    /// First column of this rank's cells in a row.
    [[nodiscard]] const double* values(std::size_t row, std::size_t variable) const {
        return arrays_[0] + layout_.at(row + halo, variable);
    }

  private:
    struct alignas(interference_bytes) Worker {
        explicit Worker(Kernel made) : kernel(std::move(made)) {}

        Kernel kernel;
        std::int64_t nanoseconds = 0;
    };

    /// Whole lines, and an odd number of them between the arrays, so that they do not share a cache set.
    static std::size_t array_bytes(const Layout& layout) {
        return ((layout.doubles() + line - 1) / line + 17) * line * sizeof(double);
    }

    [[nodiscard]] Part rows(int thread) const { return part_of(layout_.rows(), thread, team_.size(), 1); }

    void sweep(Axis axis, int thread) {
        const auto [now, one, two] = arrays_;
        stage(axis, {now, now, one, 1. / 3}, thread);
        stage(axis, {now, one, two, 1. / 2}, thread);
        stage(axis, {now, two, now, 1}, thread);
    }

    void stage(Axis axis, const Stage& stage, int thread) {
        team_.barrier();  // others have written what this thread reads, and read what it writes
        if (axis == Axis::x) {
            surround(stage.from, thread);
        } else {
            mirror(stage.from, rows(thread));
        }
        Worker& own = workers_[static_cast<std::size_t>(thread)];
        const std::int64_t begin = nanoseconds();
        for (std::size_t tile = 0; tile < tiles_; ++tile) {
            const Part columns =
                part_of(layout_.columns(), static_cast<int>(tile), static_cast<int>(tiles_), fewest_columns);
            if (axis == Axis::x) {
                own.kernel.along_x(stage, {columns, rows(thread)});
            } else {
                own.kernel.along_z(stage, {columns, rows(thread)});
            }
        }
        own.nanoseconds += nanoseconds() - begin;
    }

    /// The columns around the block.
    void surround(double* values, int thread) {
        if (!halo_) {
            wrap(layout_, values, rows(thread));
            return;
        }
        if (thread == 0) {
            const std::int64_t begin = nanoseconds();
            halo_->pass(values);
            halo_ns_ += nanoseconds() - begin;
        }
        team_.barrier();
    }

    /// The rows below and above: walls mirror the flow. The thread next to a wall owns the rows that the wall
    /// mirrors, and no other thread reads them.
    void mirror(double* values, Part rows) const {
        const auto copy = [&](std::size_t to, std::size_t from) {
            for (std::size_t variable = 0; variable < variables; ++variable) {
                const double sign = variable == momentum_z ? -1 : 1;
                const double* source = values + layout_.at(from, variable);
                std::transform(source, source + layout_.columns(), values + layout_.at(to, variable),
                               [&](double value) { return sign * value; });
            }
        };
        for (std::size_t row = 0; row < halo; ++row) {
            if (rows.begin == 0) {
                copy(halo - 1 - row, halo + row);
            }
            if (rows.end == layout_.rows()) {
                copy(layout_.rows() + halo + row, layout_.rows() + halo - 1 - row);
            }
        }
    }

    Plane plane_;
    Background rest_;
    Part columns_;
    Layout layout_;
    const Team& team_;
    std::size_t tiles_;
    std::array<double*, 3> arrays_{};
    std::vector<Worker> workers_;
    std::optional<Halo> halo_;
    std::int64_t halo_ns_ = 0;
};

}  // namespace assay::weather
