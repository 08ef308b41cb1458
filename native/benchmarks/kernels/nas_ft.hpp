// FT: a partial differential equation in three dimensions, solved by fast Fourier transforms (RNR-94-007, 3.4.1).
#pragma once

#include <complex>
#include <span>

#include "benchmarks/kernels/nas_fft.hpp"
#include "benchmarks/kernels/nas_ft_checksums.hpp"
#include "benchmarks/kernels/nas_problem.hpp"
#include "benchmarks/kernels/nas_random.hpp"
#include "harness/memory.hpp"

namespace assay::nas {

/// Each rank has some planes of points for transforms along x and y, and some lines of each plane of wave
/// numbers for those along z; in between there is an all-to-all exchange.
///
/// Complex numbers along x form groups as long as a vector: real parts, then imaginary ones.
class Ft final : public Problem {
  public:
    Ft(Class size, const Numbers& numbers, Messages& messages, Memory& memory)
        : checksums_of_class_(of_class(published, size)),
          nx_(count_of(numbers, "x")),
          ny_(count_of(numbers, "y")),
          nz_(count_of(numbers, "z")),
          iterations_(static_cast<int>(numbers.at("ft-iterations"))),
          messages_(messages),
          planes_(messages.part(nz_)),
          lines_(messages.part(ny_)),
          along_x_(nx_),
          along_y_(ny_),
          along_z_(nz_),
          place_of_line_(ny_),
          plane_step_(ny_),
          of_x_(nx_),
          of_y_(ny_),
          of_z_(nz_) {
        checksums_.reserve(checksums_of_class_.size());
        const std::size_t here = std::max(lines() * nz_, planes() * ny_) * nx_;
        for (double** each : {&waves_, &now_}) {
            *each = allocated(memory, here);
        }
        points_ = messages.ranks() > 1 ? allocated(memory, here) : now_;
        const std::size_t longest = std::max({nx_, ny_, nz_});
        lanes_ = reinterpret_cast<Complexes*>(memory.allocate(2 * longest * sizeof(Complexes)));
        other_lanes_ = lanes_ + longest;
        std::fill_n(reinterpret_cast<double*>(lanes_), 2 * longest * sizeof(Complexes) / sizeof(double), 0.);
        const std::size_t row = row_doubles();
        for (int rank = 0; rank < messages.ranks(); ++rank) {
            const Part their_lines = messages.part(ny_, 1, rank);
            const Part their_planes = messages.part(nz_, 1, rank);
            const std::size_t width = their_lines.end - their_lines.begin;
            for (std::size_t y = their_lines.begin; y < their_lines.end; ++y) {
                place_of_line_[y] = (planes() * their_lines.begin + y - their_lines.begin) * row;
                plane_step_[y] = width * row;
            }
            counts_by_lines_.push_back(static_cast<int>(planes() * width * row));
            starts_by_lines_.push_back(static_cast<int>(planes() * their_lines.begin * row));
            counts_by_planes_.push_back(static_cast<int>((their_planes.end - their_planes.begin) * lines() * row));
            starts_by_planes_.push_back(static_cast<int>(their_planes.begin * lines() * row));
        }
    }

    void prepare() override { checksums_.clear(); }

    void solve() override {
        write_start();
        for (std::size_t z = 0; z < planes(); ++z) {
            transform_plane<false>(z);
        }
        pass(points_, counts_by_lines_, starts_by_lines_, now_, counts_by_planes_, starts_by_planes_);
        transform_along_z<false>(now_, waves_, 0);
        for (int iteration = 1; iteration <= iterations_; ++iteration) {
            transform_along_z<true>(waves_, now_, iteration);
            pass(now_, counts_by_planes_, starts_by_planes_, points_, counts_by_lines_, starts_by_lines_);
            for (std::size_t z = 0; z < planes(); ++z) {
                transform_plane<true>(z);
            }
            checksums_.push_back(checksum());
        }
    }

    [[nodiscard]] double error() override {
        if (checksums_.size() != checksums_of_class_.size()) {
            return 1;
        }
        double largest = 0;
        for (std::size_t each = 0; each < checksums_.size(); ++each) {
            const Checksum right{checksums_of_class_[each][0], checksums_of_class_[each][1]};
            const double share = std::abs(checksums_[each] - right) / std::abs(right);
            largest = std::max(largest, share <= 1 ? share : 1);
        }
        return largest;
    }
    [[nodiscard]] double tolerance() const override { return 1e-12; }

  private:
    using Checksum = std::complex<double>;
    using Published = std::span<const ft_checksums::Value>;
    static constexpr ByClass<Published> published{
        {ft_checksums::s, ft_checksums::w, ft_checksums::a, ft_checksums::b, ft_checksums::c, ft_checksums::d}};

    static constexpr std::size_t group = vector_doubles;
    static constexpr double alpha = 1e-6;

    [[nodiscard]] double points() const { return static_cast<double>(nx_ * ny_ * nz_); }
    [[nodiscard]] std::size_t planes() const { return planes_.end - planes_.begin; }
    [[nodiscard]] std::size_t lines() const { return lines_.end - lines_.begin; }
    [[nodiscard]] std::size_t row_doubles() const { return 2 * nx_; }

    static double* allocated(Memory& memory, std::size_t complexes) {
        auto* found = reinterpret_cast<double*>(memory.allocate(2 * complexes * sizeof(double)));
        std::fill_n(found, 2 * complexes, 0.);
        return found;
    }

    /// The line along x at a plane of this rank; the order of lines suits the exchange with those who transform
    /// along z.
    [[nodiscard]] double* line(std::size_t z, std::size_t y) const {
        return points_ + place_of_line_[y] + z * plane_step_[y];
    }

    static Vector& vector_at(double* address) { return *reinterpret_cast<Vector*>(address); }

    /// Real and imaginary parts are consecutive random numbers.
    void write_start() {
        for (std::size_t z = 0; z < planes(); ++z) {
            Random random(default_seed, 2 * (planes_.begin + z) * ny_ * nx_);
            for (std::size_t y = 0; y < ny_; ++y) {
                double* to = line(z, y);
                for (std::size_t x = 0; x < nx_; x += group, to += 2 * group) {
                    for (std::size_t lane = 0; lane < group; ++lane) {
                        to[lane] = random.next();
                        to[group + lane] = random.next();
                    }
                }
            }
        }
    }

    /// Along x and y. The inverse transform exchanges real and imaginary parts when it reads and writes.
    template <bool inverse>
    void transform_plane(std::size_t z) {
        constexpr std::size_t real = inverse ? group : 0;
        constexpr std::size_t imaginary = group - real;
        if (!inverse) {
            transform_rows<inverse>(z);
        }
        for (std::size_t x = 0; x < nx_; x += group) {
            for (std::size_t y = 0; y < ny_; ++y) {
                double* from = line(z, y) + 2 * x;
                lanes_[y] = {vector_at(from + real), vector_at(from + imaginary)};
            }
            const Complexes* result = along_y_.forward(lanes_, other_lanes_);
            for (std::size_t y = 0; y < ny_; ++y) {
                double* to = line(z, y) + 2 * x;
                vector_at(to + real) = result[y].real;
                vector_at(to + imaginary) = result[y].imaginary;
            }
        }
        if (inverse) {
            transform_rows<inverse>(z);
        }
    }

    /// Along x, one line in each lane.
    template <bool inverse>
    void transform_rows(std::size_t z) {
        constexpr std::size_t real = inverse ? group : 0;
        constexpr std::size_t imaginary = group - real;
        std::array<double*, group> rows{};
        for (std::size_t y = 0; y < ny_; y += group) {
            for (std::size_t lane = 0; lane < group; ++lane) {
                rows.at(lane) = line(z, y + lane);
            }
            for (std::size_t x = 0; x < nx_; x += group) {
                transposed(rows, 2 * x + real, &lanes_[x].real);
                transposed(rows, 2 * x + imaginary, &lanes_[x].imaginary);
            }
            const Complexes* result = along_x_.forward(lanes_, other_lanes_);
            for (std::size_t x = 0; x < nx_; x += group) {
                for (std::size_t lane = 0; lane < group; ++lane) {
                    for (std::size_t each = 0; each < group; ++each) {
                        rows[lane][2 * x + real + each] = result[x + each].real[static_cast<int>(lane)];
                        rows[lane][2 * x + imaginary + each] = result[x + each].imaginary[static_cast<int>(lane)];
                    }
                }
            }
        }
    }

    /// Element `each` of all rows to every second vector, starting at `to`.
    static void transposed(const std::array<double*, group>& rows, std::size_t place, Vector* to) {
        for (std::size_t each = 0; each < group; ++each) {
            for (std::size_t lane = 0; lane < group; ++lane) {
                to[2 * each][static_cast<int>(lane)] = rows[lane][place + each];
            }
        }
    }

    /// Transforms the lines of this rank along z; the inverse one starts from the waves after so many time
    /// steps.
    template <bool inverse>
    void transform_along_z(double* from, double* to, int time) {
        constexpr std::size_t real = inverse ? group : 0;
        constexpr std::size_t imaginary = group - real;
        decay(of_x_, time);
        decay(of_y_, time);
        decay(of_z_, time);
        const std::size_t step = lines() * row_doubles();
        for (std::size_t y = 0; y < lines(); ++y) {
            for (std::size_t x = 0; x < nx_; x += group) {
                const std::size_t first = y * row_doubles() + 2 * x;
                Vector left{};
                for (std::size_t lane = 0; lane < group; ++lane) {
                    left[static_cast<int>(lane)] = of_x_[x + lane] * of_y_[lines_.begin + y];
                }
                for (std::size_t z = 0; z < nz_; ++z) {
                    double* wave = from + first + z * step;
                    const Vector share = inverse ? left * of_z_[z] : Vector{} + 1;
                    lanes_[z] = {share * vector_at(wave + real), share * vector_at(wave + imaginary)};
                }
                const Complexes* result = along_z_.forward(lanes_, other_lanes_);
                for (std::size_t z = 0; z < nz_; ++z) {
                    double* point = to + first + z * step;
                    vector_at(point + real) = result[z].real;
                    vector_at(point + imaginary) = result[z].imaginary;
                }
            }
        }
    }

    /// exp(-4 alpha pi^2 k^2 t) for each wave number in one direction; the second half of them is negative.
    static void decay(std::vector<double>& found, int time) {
        const std::size_t count = found.size();
        for (std::size_t k = 0; k < count; ++k) {
            const double wave = static_cast<double>(k) - (k < count / 2 ? 0 : static_cast<double>(count));
            found[k] = std::exp(-4 * alpha * std::numbers::pi * std::numbers::pi * wave * wave * time);
        }
    }

    void pass(double* from, const std::vector<int>& counts, const std::vector<int>& starts, double* to,
              const std::vector<int>& their_counts, const std::vector<int>& their_starts) {
        messages_.pass(messages_.for_others(counts) * sizeof(double), [&] {
            MPI_Alltoallv(from, counts.data(), starts.data(), MPI_DOUBLE, to, their_counts.data(),
                          their_starts.data(), MPI_DOUBLE, messages_.comm());
        });
    }

    /// Over 1024 points, divided by the number of all points.
    [[nodiscard]] Checksum checksum() {
        std::array<double, 2> sum{};
        for (std::size_t j = 1; j <= 1024; ++j) {
            const std::size_t x = j % nx_;
            const std::size_t y = 3 * j % ny_;
            const std::size_t z = 5 * j % nz_;
            if (z >= planes_.begin && z < planes_.end) {
                const double* at = line(z - planes_.begin, y) + 2 * (x - x % group) + x % group;
                sum[0] += at[0];
                sum[1] += at[group];
            }
        }
        messages_.add_up(sum);
        return {sum[0] / points(), sum[1] / points()};
    }

    Published checksums_of_class_;
    std::size_t nx_;
    std::size_t ny_;
    std::size_t nz_;
    int iterations_;
    Messages& messages_;
    Part planes_;  ///< range of z of this rank
    Part lines_;   ///< range of y of this rank, for transforms along z
    Transform along_x_;
    Transform along_y_;
    Transform along_z_;
    std::vector<std::size_t> place_of_line_;
    std::vector<std::size_t> plane_step_;
    double* waves_ = nullptr;   ///< in wave numbers
    double* now_ = nullptr;     ///< the waves at one time
    double* points_ = nullptr;  ///< the same memory on a single rank
    Complexes* lanes_ = nullptr;
    Complexes* other_lanes_ = nullptr;
    std::vector<int> counts_by_lines_;
    std::vector<int> starts_by_lines_;
    std::vector<int> counts_by_planes_;
    std::vector<int> starts_by_planes_;
    std::vector<double> of_x_;  ///< factor of a time step for each wave number
    std::vector<double> of_y_;
    std::vector<double> of_z_;
    std::vector<Checksum> checksums_;
};

}  // namespace assay::nas
