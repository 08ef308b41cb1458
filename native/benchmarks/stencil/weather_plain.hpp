// A plain implementation of the definition: the reference of the kernels. It passes no messages.
#pragma once

#include <cstdint>

#include "benchmarks/stencil/weather_flow.hpp"

namespace assay::weather {

/// Some columns of the plane from a windy start, and the columns around them on which they depend within so many
/// steps.
class Plain {
  public:
    Plain(const Plane& plane, const Background& rest, Part columns, std::uint64_t steps)
        : plane_(plane),
          rest_(rest),
          margin_(steps * stages * halo),
          width_(columns.end - columns.begin + 2 * margin_) {
        // The plane is periodic: whole planes are added to keep the first column from being negative.
        const std::size_t begin = columns.begin + (margin_ / plane.columns + 1) * plane.columns - margin_;
        for (std::size_t row = 0; row < plane.rows; ++row) {
            for (std::size_t column = 0; column < width_; ++column) {
                cells_.push_back(start_of(plane, rest.rows[row], row, (begin + column) % plane.columns, true));
            }
        }
        for (std::uint64_t step = 0; step < steps; ++step) {
            sweep(step % 2 == 0 ? Axis::x : Axis::z);
            sweep(step % 2 == 0 ? Axis::z : Axis::x);
        }
    }

    /// A cell after the last step; columns are counted from the first requested one.
    [[nodiscard]] const Values& at(std::size_t row, std::size_t column) const {
        return cells_[row * width_ + margin_ + column];
    }

  private:
    using Cells = std::vector<Values>;

    void sweep(Axis axis) {
        const Cells first = advanced(cells_, axis, 1. / 3);
        const Cells second = advanced(first, axis, 1. / 2);
        cells_ = advanced(second, axis, 1);
    }

    /// The cell at a position; walls mirror the flow. Outside the first and the last column these columns are
    /// repeated: the resulting errors never reach the requested columns.
    [[nodiscard]] Values cell(const Cells& cells, std::ptrdiff_t row, std::ptrdiff_t column) const {
        const auto rows = static_cast<std::ptrdiff_t>(plane_.rows);
        const std::ptrdiff_t inside = row < 0 ? -1 - row : row < rows ? row : 2 * rows - 1 - row;
        const std::ptrdiff_t near = std::clamp<std::ptrdiff_t>(column, 0, static_cast<std::ptrdiff_t>(width_) - 1);
        Values values = cells[static_cast<std::size_t>(inside) * width_ + static_cast<std::size_t>(near)];
        if (inside != row) {
            values[momentum_z] = -values[momentum_z];
        }
        return values;
    }

    /// Through the lower border of a cell.
    [[nodiscard]] Values flux(const Cells& cells, Axis axis, std::size_t row, std::size_t column) const {
        const bool along_x = axis == Axis::x;
        std::array<Values, 4> around{};
        for (std::size_t each = 0; each < around.size(); ++each) {
            const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(each) - 2;
            around[each] = cell(cells, static_cast<std::ptrdiff_t>(row) + (along_x ? 0 : step),
                                static_cast<std::ptrdiff_t>(column) + (along_x ? step : 0));
        }
        const auto& [a, b, c, d] = around;
        Values value{};
        Values found{};
        for (std::size_t each = 0; each < variables; ++each) {
            value[each] = -a[each] / 12 + 7 * b[each] / 12 + 7 * c[each] / 12 - d[each] / 12;
            const double third = d[each] - 3 * c[each] + 3 * b[each] - a[each];
            found[each] = dissipation / 16 * (along_x ? plane_.dx() : plane_.dz()) / plane_.step_s() * third;
        }
        const Level& rest = along_x ? rest_.rows[row] : rest_.borders[row];
        const double air = value[density] + rest.density;
        const double u = value[momentum_x] / air;
        const double w = value[momentum_z] / air;
        const double temperature = (value[heat] + rest.heat) / air;
        const double pressure = pressure_of(air * temperature) - rest.pressure;
        const double speed = along_x ? u : w;
        found[density] += air * speed;
        found[momentum_x] += air * speed * u + (along_x ? pressure : 0);
        found[momentum_z] += air * speed * w + (along_x ? 0 : pressure);
        found[heat] += air * speed * temperature;
        return found;
    }

    /// One stage: from the cells at the begin of a sweep and the tendencies of others.
    [[nodiscard]] Cells advanced(const Cells& from, Axis axis, double share) const {
        const bool along_x = axis == Axis::x;
        const std::size_t lines = along_x ? plane_.rows : width_;
        const std::size_t count = along_x ? width_ : plane_.rows;
        const double width = along_x ? plane_.dx() : plane_.dz();
        Cells to = cells_;
        for (std::size_t line = 0; line < lines; ++line) {
            const auto border = [&](std::size_t each) {
                return flux(from, axis, along_x ? line : each, along_x ? each : line);
            };
            Values lower = border(0);
            for (std::size_t each = 0; each < count; ++each) {
                const Values upper = border(each + 1);
                const std::size_t place = along_x ? line * width_ + each : each * width_ + line;
                for (std::size_t variable = 0; variable < variables; ++variable) {
                    double tendency = -(upper[variable] - lower[variable]) / width;
                    if (!along_x && variable == momentum_z) {
                        tendency -= gravity * from[place][density];
                    }
                    to[place][variable] += share * plane_.step_s() * tendency;
                }
                lower = upper;
            }
        }
        return to;
    }

    const Plane& plane_;
    const Background& rest_;
    std::size_t margin_;
    std::size_t width_;
    Cells cells_;
};

}  // namespace assay::weather
