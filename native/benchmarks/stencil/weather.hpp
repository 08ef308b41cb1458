// Dry air in a vertical plane by the equations of miniWeather: the grid, the atmosphere at rest, and the rising
// bubble of warm air.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace assay::weather {

/// The variables of a cell, as departures from the atmosphere at rest: density, momentum along x and z, and
/// density x potential temperature.
enum Variable : std::size_t { density, momentum_x, momentum_z, heat };
inline constexpr std::size_t variables = 4;

/// Cells on each side on which the new values of a cell depend, in one stage of a sweep.
inline constexpr std::size_t halo = 2;
/// Stages of a sweep, and sweeps of a step: one along x and one along z.
inline constexpr std::size_t stages = 3;

// SI units.
inline constexpr double gravity = 9.8;
inline constexpr double heat_at_pressure = 1004;  ///< specific heat of dry air
inline constexpr double heat_at_volume = 717;
inline constexpr double gas_constant = 287;
inline constexpr double gamma = heat_at_pressure / heat_at_volume;
inline constexpr double surface_pressure = 1e5;
inline constexpr double rest_temperature = 300;  ///< potential temperature of the atmosphere at rest
inline constexpr double length = 2e4;
inline constexpr double height = 1e4;
inline constexpr double fastest = 450;       ///< of waves and wind, m/s
inline constexpr double courant = 1.5;       ///< cells that the fastest wave crosses in a step
inline constexpr double dissipation = 0.25;  ///< beta of the hyper-viscosity

/// Cells of a plane. Those of a whole one are square; a part of it, taken as a plane of its own, is stretched.
struct Plane {
    std::size_t columns;
    std::size_t rows = columns / 2;

    [[nodiscard]] std::size_t cells() const { return columns * rows; }
    [[nodiscard]] double dx() const { return length / static_cast<double>(columns); }
    [[nodiscard]] double dz() const { return height / static_cast<double>(rows); }
    [[nodiscard]] double step_s() const { return courant * std::min(dx(), dz()) / fastest; }
};

/// The atmosphere at rest in a row of cells, or between two rows.
struct Level {
    double density;
    double heat;
    double pressure;
    double per_heat;  ///< 1 / heat
};

/// Pressure of air with this density x potential temperature.
inline double pressure_of(double heat) {
    return surface_pressure * std::pow(gas_constant * heat / surface_pressure, gamma);
}

/// Hydrostatic balance at one potential temperature: Exner's pressure falls linearly.
inline Level at_rest(double z) {
    const double exner = 1 - gravity * z / (heat_at_pressure * rest_temperature);
    const double pressure = surface_pressure * std::pow(exner, heat_at_pressure / gas_constant);
    const double density = pressure / (gas_constant * rest_temperature * exner);
    const double heat = density * rest_temperature;
    return {density, heat, pressure, 1 / heat};
}

/// Mean over [-1/2, 1/2] by the three points of Gauss and Legendre; mirror images have exactly the same mean.
template <class Function>
double mean(const Function& function) {
    const double outer = std::sqrt(0.15);
    return (5 * (function(-outer) + function(outer)) + 8 * function(0.)) / 18;
}

/// The atmosphere at rest: means of each row of cells, and values between rows, walls included.
struct Background {
    explicit Background(const Plane& plane) {
        for (std::size_t row = 0; row <= plane.rows; ++row) {
            const auto z = [&](double offset) { return (static_cast<double>(row) + 0.5 + offset) * plane.dz(); };
            borders.push_back(at_rest(z(-0.5)));
            if (row < plane.rows) {
                const double density = mean([&](double offset) { return at_rest(z(offset)).density; });
                const double heat = mean([&](double offset) { return at_rest(z(offset)).heat; });
                rows.push_back({density, heat, pressure_of(heat), 1 / heat});
            }
        }
    }

    std::vector<Level> rows;
    std::vector<Level> borders;
};

/// The published test: a bubble 2 km in radius, 2 km above the ground, up to 3 K warmer; mean heat of a cell.
inline double bubble(const Plane& plane, std::size_t row, std::size_t column) {
    constexpr double radius = 2000;
    constexpr double altitude = 2000;
    constexpr double warmest = 3;
    const double middle = static_cast<double>(plane.columns) / 2;
    const auto x_at = [&](double along) {
        return (static_cast<double>(column) + 0.5 - middle + along) * plane.dx();
    };
    const auto z_at = [&](double up) { return (static_cast<double>(row) + 0.5 + up) * plane.dz(); };
    if (std::hypot(x_at(0), z_at(0) - altitude) > radius + plane.dx() + plane.dz()) {
        return 0;
    }
    return mean([&](double up) {
        const double z = z_at(up);
        const double warmer = mean([&](double along) {
            const double far = std::hypot(x_at(along), z - altitude) / radius;
            const double cosine = far < 1 ? std::cos(std::numbers::pi / 2 * far) : 0;
            return warmest * cosine * cosine;
        });
        return warmer * at_rest(z).density;
    });
}

using Values = std::array<double, variables>;

/// Initial values of a cell. `windy` adds winds of up to 20 m/s, so that every term of the equations counts.
inline Values start_of(const Plane& plane, const Level& rest, std::size_t row, std::size_t column, bool windy) {
    Values values{0, 0, 0, bubble(plane, row, column)};
    if (windy) {
        constexpr double pi = std::numbers::pi;
        const double x = (static_cast<double>(column) + 0.5) / static_cast<double>(plane.columns);
        const double z = (static_cast<double>(row) + 0.5) / static_cast<double>(plane.rows);
        values[density] = 0.01 * rest.density * std::cos(4 * pi * x + 1) * std::cos(3 * pi * z);
        values[momentum_x] = 20 * rest.density * std::sin(2 * pi * x + 2 * z);
        values[momentum_z] = 10 * rest.density * std::sin(6 * pi * x) * std::sin(pi * z);
    }
    return values;
}

}  // namespace assay::weather
