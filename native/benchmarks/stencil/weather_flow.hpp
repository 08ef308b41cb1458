// The air of one rank: its columns of the plane, and the stages of sweeps over them.
#pragma once

#include "benchmarks/stencil/weather.hpp"
#include "harness/team.hpp"
#include "harness/vector.hpp"

namespace assay::weather {

/// As wide as the compiled instruction set.
using Lanes = double __attribute__((vector_size(assay::vector_bytes)));
inline constexpr std::size_t lanes = assay::vector_doubles;

/// Doubles of a cache line.
inline constexpr std::size_t line = 8;

/// Fewest columns of a rank and rows of a thread: a vector of any instruction set; the rows that a wall mirrors.
inline constexpr std::size_t fewest_columns = 8;
inline constexpr std::size_t fewest_rows = 2;

/// Relative departures of heat from rest up to which `excess` is exact to rounding.
inline constexpr double max_departure = 0.1;

/// (1 + x)^gamma - 1 by its binomial series. The bubble departs by about 0.01.
template <class Number>
Number excess(Number x) {
    constexpr std::size_t terms = 12;
    constexpr auto coefficients = [] {
        std::array<double, terms> found{};
        double each = 1;
        for (std::size_t term = 0; term < terms; ++term) {
            each *= (gamma - static_cast<double>(term)) / static_cast<double>(term + 1);
            found[term] = each;
        }
        return found;
    }();
    Number sum = Number{} + coefficients[terms - 1];
    for (std::size_t term = terms - 1; term-- > 0;) {
        sum = sum * x + coefficients[term];
    }
    return sum * x;
}

/// Memory layout of a block: rows with their variables one after another, and two cells around.
class Layout {
  public:
    Layout(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows) {
        const std::size_t lines = (columns + halo + line - 1) / line + 1;
        // An odd number of lines: equal columns of all rows do not share a cache set.
        stride_ = (lines + (lines % 2 == 0 ? 1 : 0)) * line;
    }

    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::size_t rows() const { return rows_; }
    /// Doubles from a variable of a row to the next.
    [[nodiscard]] std::size_t stride() const { return stride_; }
    /// Doubles from a row to the next.
    [[nodiscard]] std::size_t apart() const { return variables * stride_; }
    [[nodiscard]] std::size_t doubles() const { return (rows_ + 2 * halo) * apart() + lead; }

    /// Index of the first column of a variable; the row is counted from the lowest one of the halo.
    [[nodiscard]] std::size_t at(std::size_t row, std::size_t variable) const {
        return row * apart() + variable * stride_ + lead;
    }

  private:
    /// Before the first column, so that it begins a cache line.
    static constexpr std::size_t lead = line;

    std::size_t columns_;
    std::size_t rows_;
    std::size_t stride_;
};

/// One stage: to = start + share of a step x tendencies of `from`.
struct Stage {
    const double* start;
    double* from;  ///< the cells around its own are filled before
    double* to;
    double share;
};

/// Columns and rows to work on.
struct Tile {
    Part columns;
    Part rows;
};

enum class Axis { x, z };

/// Computes the tendencies of a tile, with one thread.
class Kernel {
  public:
    Kernel(const Plane& plane, const Background& rest, const Layout& layout)
        : plane_(plane),
          rest_(rest),
          layout_(layout),
          stride_(layout.stride() + line),
          fluxes_(2 * variables * stride_ / line) {}

    /// Along x, row by row. The halo of `from` next to these rows must be complete.
    void along_x(const Stage& stage, const Tile& tile) {
        double* fluxes = fluxes_.data()->values;
        const double scale = stage.share * plane_.step_s() / plane_.dx();
        for (std::size_t row = tile.rows.begin; row < tile.rows.end; ++row) {
            const Part borders{tile.columns.begin, tile.columns.end + 1};
            borders_of<Axis::x>(stage.from + layout_.at(row + halo, 0) - halo, 1, rest_.rows[row], borders,
                                fluxes);
            for (std::size_t variable = 0; variable < variables; ++variable) {
                const double* lower = fluxes + variable * stride_;
                update(stage, row, variable, tile.columns, [&](auto load, std::size_t each, std::size_t) {
                    return scale * (load(lower + each + 1) - load(lower + each));
                });
            }
        }
    }

    /// Along z, upwards, with gravity. The rows of `from` around these must be complete.
    void along_z(const Stage& stage, const Tile& tile) {
        double* lower = fluxes_.data()->values;
        double* upper = lower + variables * stride_;
        const double scale = stage.share * plane_.step_s() / plane_.dz();
        const double weight = stage.share * plane_.step_s() * gravity;
        const auto border = [&](std::size_t row, double* fluxes) {
            borders_of<Axis::z>(stage.from + layout_.at(row, 0), layout_.apart(), rest_.borders[row], tile.columns,
                                fluxes);
        };
        border(tile.rows.begin, lower);
        for (std::size_t row = tile.rows.begin; row < tile.rows.end; ++row) {
            border(row + 1, upper);
            const double* masses = stage.from + layout_.at(row + halo, density);
            for (std::size_t variable = 0; variable < variables; ++variable) {
                const double* below = lower + variable * stride_;
                const double* above = upper + variable * stride_;
                const auto flow = [&](auto load, std::size_t each, std::size_t /*column*/) {
                    return scale * (load(above + each) - load(below + each));
                };
                if (variable == momentum_z) {
                    update(stage, row, variable, tile.columns,
                           [&](auto load, std::size_t each, std::size_t column) {
                               return flow(load, each, column) + weight * load(masses + column);
                           });
                } else {
                    update(stage, row, variable, tile.columns, flow);
                }
            }
            std::swap(lower, upper);
        }
    }

  private:
    /// A cache line: fluxes begin at one.
    struct alignas(line * sizeof(double)) Line {
        double values[line] = {};
    };

    /// The fluxes of all variables through so many borders, from the four cells around each, `apart` doubles
    /// from one to the next. The last vector overlaps the previous one.
    template <Axis axis>
    void borders_of(const double* first, std::size_t apart, const Level& rest, Part borders,
                    double* fluxes) const {
        const std::size_t count = borders.end - borders.begin;
        const double width = axis == Axis::x ? plane_.dx() : plane_.dz();
        const double spread = dissipation * width / (16 * plane_.step_s());
        for (std::size_t each = 0; each < count; each += lanes) {
            const std::size_t place = std::min(each, count - lanes);
            flux<axis>(first + borders.begin + place, apart, rest, spread, fluxes + place);
        }
    }

    /// Fourth-order values between the second and the third of four cells, their fluxes, and the
    /// hyper-viscosity. The sums are written so that mirror images round in the same way.
    template <Axis axis>
    void flux(const double* first, std::size_t apart, const Level& rest, double spread, double* fluxes) const {
        Lanes value[variables];
        Lanes found[variables];
        for (std::size_t variable = 0; variable < variables; ++variable) {
            const double* cells = first + variable * layout_.stride();
            const auto a = assay::load<Lanes>(cells);
            const auto b = assay::load<Lanes>(cells + apart);
            const auto c = assay::load<Lanes>(cells + 2 * apart);
            const auto d = assay::load<Lanes>(cells + 3 * apart);
            value[variable] = (7 * (b + c) - (a + d)) * (1. / 12);
            found[variable] = spread * ((d - a) + 3 * (b - c));
        }
        constexpr std::size_t normal = axis == Axis::x ? momentum_x : momentum_z;
        const Lanes speed = value[normal] * (1. / (value[density] + rest.density));
        found[density] += value[normal];
        found[momentum_x] += speed * value[momentum_x];
        found[momentum_z] += speed * value[momentum_z];
        found[heat] += speed * (value[heat] + rest.heat);
        found[normal] += rest.pressure * excess(value[heat] * rest.per_heat);
        for (std::size_t variable = 0; variable < variables; ++variable) {
            assay::store(fluxes + variable * stride_, found[variable]);
        }
    }

    /// to = start - `change` of each column, counted from the first of these and of all.
    template <class Change>
    void update(const Stage& stage, std::size_t row, std::size_t variable, Part columns,
                const Change& change) const {
        const std::size_t place = layout_.at(row + halo, variable) + columns.begin;
        const std::size_t count = columns.end - columns.begin;
        const auto vector = [](const double* address) -> Lanes { return assay::load<Lanes>(address); };
        const auto scalar = [](const double* address) -> double { return *address; };
        std::size_t each = 0;
        for (; each + lanes <= count; each += lanes) {
            assay::store(stage.to + place + each,
                         vector(stage.start + place + each) - change(vector, each, columns.begin + each));
        }
        for (; each < count; ++each) {
            stage.to[place + each] = stage.start[place + each] - change(scalar, each, columns.begin + each);
        }
    }

    const Plane& plane_;
    const Background& rest_;
    const Layout& layout_;
    std::size_t stride_;  ///< doubles from the fluxes of a variable to those of the next
    std::vector<Line> fluxes_;
};

}  // namespace assay::weather
