// The tests of a solution; each returns an error that is at most 1 if it passes.
#pragma once

#include <cmath>

#include "benchmarks/stencil/weather_air.hpp"
#include "benchmarks/stencil/weather_plain.hpp"
#include "harness/error.hpp"

namespace assay::weather {

/// As published: mass changes by rounding only, and the scheme may lose this energy in 400 s. It never gains
/// any.
inline constexpr double max_mass_change = 1e-13;
inline constexpr double max_energy_loss = 4.5e-5;
inline constexpr double max_energy_gain = 1e-12;
/// For rounding errors, as shares of the largest value of a variable.
inline constexpr double max_asymmetry = 1e-9;
inline constexpr double max_deviation = 1e-11;
/// Steps and columns of the plain definition, which is slow.
inline constexpr std::uint64_t plain_steps = 2;
inline constexpr std::size_t plain_columns = 96;

/// Departures of the whole plane from the atmosphere at rest, as shares of its values.
struct Totals {
    double mass;
    double energy;     ///< internal, kinetic and potential
    double departure;  ///< largest departure of heat, as a share of the heat at rest in the same row
};

/// Over all ranks in `comm`, which share the plane.
inline Totals totals(const Air& air, MPI_Comm comm) {
    const std::size_t columns = air.columns().end - air.columns().begin;
    const auto count = static_cast<double>(columns);
    std::array<double, 4> sums{};  // mass and energy, then both at rest
    double departure = 0;
    for (std::size_t row = 0; row < air.plane().rows; ++row) {
        const Level& rest = air.rest().rows[row];
        const double internal = heat_at_volume / gas_constant * rest.pressure;
        const double potential = gravity * (static_cast<double>(row) + 0.5) * air.plane().dz();
        double mass = 0;
        double energy = 0;
        for (std::size_t column = 0; column < columns; ++column) {
            const double heavier = air.values(row, density)[column];
            const double warmer = air.values(row, heat)[column] * rest.per_heat;
            const double u = air.values(row, momentum_x)[column];
            const double w = air.values(row, momentum_z)[column];
            mass += heavier;
            energy +=
                internal * excess(warmer) + (u * u + w * w) / (heavier + rest.density) / 2 + potential * heavier;
            departure = std::abs(warmer) <= departure ? departure : std::abs(warmer);  // takes NaN
        }
        sums[0] += mass;
        sums[1] += energy;
        sums[2] += count * rest.density;
        sums[3] += count * (internal + potential * rest.density);
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm);
    MPI_Allreduce(MPI_IN_PLACE, &departure, 1, MPI_DOUBLE, MPI_MAX, comm);
    return {sums[0] / sums[2], sums[1] / sums[3], departure};
}

/// How mass and energy have changed, and whether the departure of heat still allows exact pressures.
inline double imbalance(const Totals& before, const Totals& now) {
    const double gained = now.energy - before.energy;
    return std::max({error_of(now.mass - before.mass, max_mass_change),
                     error_of(gained, gained > 0 ? max_energy_gain : max_energy_loss),
                     error_of(now.departure, max_departure)});
}

/// Difference of the plane from its mirror image, by sums over its columns: what moves left on one side moves
/// right on the other.
inline double asymmetry(const Air& air, MPI_Comm comm) {
    const std::size_t count = air.plane().columns;
    std::vector<double> sums(variables * count);
    for (std::size_t row = 0; row < air.plane().rows; ++row) {
        for (std::size_t variable = 0; variable < variables; ++variable) {
            const double* values = air.values(row, variable);
            for (std::size_t column = air.columns().begin; column < air.columns().end; ++column) {
                sums[variable * count + column] += values[column - air.columns().begin];
            }
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm);
    double error = 0;
    for (std::size_t variable = 0; variable < variables; ++variable) {
        const double sign = variable == momentum_x ? -1 : 1;
        const double* of_columns = sums.data() + variable * count;
        double largest = 0;
        double difference = 0;
        for (std::size_t column = 0; column < count; ++column) {
            const double here = of_columns[column];
            const double apart = std::abs(here - sign * of_columns[count - 1 - column]);
            largest = std::max(largest, std::abs(here));
            difference = apart <= difference ? difference : apart;
        }
        error = std::max(error, difference > 0 ? error_of(difference, max_asymmetry * largest) : 0);
    }
    return error;
}

/// Difference of the first steps from a windy start from those of the plain definition, at both sides of this
/// rank's block. Leaves the air in that state.
inline double deviation(Air& air) {
    air.start(true);
    air.advance(plain_steps);
    const Part own = air.columns();
    const std::size_t width = std::min(own.end - own.begin, plain_columns);
    double error = 0;
    for (const std::size_t begin : {own.begin, own.end - width}) {
        const Plain plain(air.plane(), air.rest(), {begin, begin + width}, plain_steps);
        Values largest{};
        Values difference{};
        for (std::size_t row = 0; row < air.plane().rows; ++row) {
            for (std::size_t column = 0; column < width; ++column) {
                const Values& expected = plain.at(row, column);
                for (std::size_t variable = 0; variable < variables; ++variable) {
                    const double found = air.values(row, variable)[begin - own.begin + column];
                    const double apart = std::abs(found - expected[variable]);
                    largest[variable] = std::max(largest[variable], std::abs(expected[variable]));
                    difference[variable] = apart <= difference[variable] ? difference[variable] : apart;
                }
            }
        }
        for (std::size_t variable = 0; variable < variables; ++variable) {
            error = std::max(error, error_of(difference[variable], max_deviation * largest[variable]));
        }
    }
    return error;
}

}  // namespace assay::weather
