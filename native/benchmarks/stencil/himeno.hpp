// The grid of the Himeno benchmark: its arrays, one Jacobi sweep, and what its results must be.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "harness/team.hpp"
#include "harness/vector.hpp"

namespace himeno {

using assay::Part;

/// Points along i, j and k, boundaries included; k is contiguous.
struct Size {
    std::size_t i;
    std::size_t j;
    std::size_t k;

    [[nodiscard]] std::size_t points() const { return i * j * k; }
    [[nodiscard]] std::size_t inner_points() const { return (i - 2) * (j - 2) * (k - 2); }
};

/// A part of a grid: inner points, with one layer of points around them. These are boundary points of the grid,
/// or inner points of neighbours.
struct Block {
    Size whole;
    Size size;                           ///< of the part, including the points around it
    std::array<std::size_t, 3> begin{};  ///< position of its first point in the whole grid, along i, j and k
};

inline constexpr float omega = 0.8F;
inline constexpr float invalid_value = -1;

/// As wide as the compiled instruction set.
using Lanes = float __attribute__((vector_size(assay::vector_bytes)));
inline constexpr std::size_t lanes = assay::vector_bytes / sizeof(float);

/// What a check of some rows finds.
struct Residual {
    double squares = 0;  ///< sum of the squared changes that the next sweep would make before relaxation
    double largest = 0;  ///< of these changes
    double misplaced =
        0;             ///< largest difference of a boundary from its start, or of p from the last sweep's result
    double first = 0;  ///< largest difference of p from the result of one sweep of the start
};

/// GOSA of a sweep and of the next one.
struct Gosa {
    double of_sweep = 0;
    double of_next = 0;
};

/// The change of every inner point in the first sweep: a sixth of the start's second difference.
inline double first_change(const Size& size) {
    const auto intervals = static_cast<double>(size.i - 1);
    return 1 / (3 * intervals * intervals);
}

/// Number of sine modes along i in the changes.
inline std::size_t modes(const Size& size) { return (size.i - 1) / 2; }

/// GOSA in exact arithmetic after `sweeps` (from 1) sweeps of the start: the share of modes [begin, end) of
/// modes(size). The coefficients are constant, the boundaries fixed and the start is a parabola along i. So the
/// first sweep changes all inner points by the same amount, and each sine mode of the changes shrinks by its own
/// factor, 1 - omega + omega/3 (cos x + cos y + cos z), from sweep to sweep.
inline Gosa exact_gosa(const Size& size, std::uint64_t sweeps, Part modes) {
    const auto angle = [](std::size_t mode, std::size_t points) {
        return std::numbers::pi * static_cast<double>(2 * mode + 1) / static_cast<double>(points - 1);
    };
    // The share of one odd mode in the sum of squares of ones along a line of inner points.
    const auto weight = [](double angle, std::size_t points) {
        const double cotangent = 1 / std::tan(angle / 2);
        return 2 / static_cast<double>(points - 1) * cotangent * cotangent;
    };
    const double relaxation = omega;
    Gosa gosa;
    for (std::size_t l = modes.begin; l < modes.end; ++l) {
        const double x = angle(l, size.i);
        for (std::size_t m = 0; m < (size.j - 1) / 2; ++m) {
            const double y = angle(m, size.j);
            const double weight_xy = weight(x, size.i) * weight(y, size.j);
            for (std::size_t n = 0; n < (size.k - 1) / 2; ++n) {
                const double z = angle(n, size.k);
                const double factor = 1 - relaxation + relaxation / 3 * (std::cos(x) + std::cos(y) + std::cos(z));
                const double squares =
                    weight_xy * weight(z, size.k) * std::pow(factor * factor, static_cast<double>(sweeps - 1));
                gosa.of_sweep += squares;
                gosa.of_next += squares * factor * factor;
            }
        }
    }
    const double change = first_change(size);
    return {gosa.of_sweep * change * change, gosa.of_next * change * change};
}

/// The arrays a (4), b (3), c (3), p, bnd, wrk1 and wrk2, of a whole grid or of a block of one. Work is divided
/// by rows: runs of inner points along k, in memory order.
class Grid {
  public:
    static constexpr std::size_t arrays = 14;

    static std::size_t bytes(const Size& size) { return arrays * apart(size) * sizeof(float); }

    /// Floats from a row to the next: whole cache lines.
    static std::size_t stride(const Size& size) { return (size.k + line_floats - 1) / line_floats * line_floats; }

    Grid(const Size& size, std::byte* buffer) : Grid(Block{size, size}, buffer) {}

    /// `buffer` holds bytes(block.size) and is aligned to a page.
    Grid(const Block& block, std::byte* buffer)
        : block_(block), size_(block.size), stride_(stride(size_)), points_(size_.i * size_.j * stride_) {
        const auto array = [&](std::size_t index) {
            return reinterpret_cast<float*>(buffer) + index * apart(size_) + lead;
        };
        for (std::size_t index = 0; index < 3; ++index) {
            b_[index] = array(4 + index);
            c_[index] = array(7 + index);
        }
        a_ = {array(0), array(1), array(2), array(3)};
        p_ = array(10);
        bnd_ = array(11);
        wrk1_ = array(12);
        wrk2_ = array(13);
    }

    [[nodiscard]] std::size_t rows() const { return (size_.i - 2) * (size_.j - 2); }

    /// Writes the initial values of all arrays around these rows; parts that cover all rows cover all points.
    void initialise(Part rows) {
        const Part points = points_around(rows);
        for (std::size_t index = 0; index < 3; ++index) {
            std::fill(a_[index] + points.begin, a_[index] + points.end, 1.0F);
            std::fill(b_[index] + points.begin, b_[index] + points.end, 0.0F);
            std::fill(c_[index] + points.begin, c_[index] + points.end, 1.0F);
        }
        std::fill(a_[3] + points.begin, a_[3] + points.end, 1.0F / 6.0F);
        std::fill(bnd_ + points.begin, bnd_ + points.end, 1.0F);
        std::fill(wrk1_ + points.begin, wrk1_ + points.end, 0.0F);
        restart(rows);
    }

    /// Initial values of p, and an invalid result of the last sweep.
    void restart(Part rows) {
        const Part points = points_around(rows);
        for (std::size_t point = points.begin; point < points.end; point += stride_) {
            std::fill_n(p_ + point, stride_, start_value(point / stride_ / size_.j));
        }
        std::fill(wrk2_ + points.begin, wrk2_ + points.end, invalid_value);
    }

    /// One Jacobi sweep over these rows: wrk2 from p. Returns their part of GOSA.
    [[nodiscard]] double sweep(Part rows) {
        double gosa = 0;
        for (std::size_t row = rows.begin; row < rows.end; ++row) {
            gosa += sweep_row(first_point(row));
        }
        return gosa;
    }

    /// p from wrk2.
    void copy_back(Part rows) {
        for (std::size_t row = rows.begin; row < rows.end; ++row) {
            const std::size_t point = first_point(row);
            std::size_t k = 0;
            for (; k + lanes <= size_.k - 2; k += lanes) {
                assay::store(p_ + point + k, assay::load<Lanes>(wrk2_ + point + k));
            }
            for (; k < size_.k - 2; ++k) {
                p_[point + k] = wrk2_[point + k];
            }
        }
    }

    /// Checks the arrays after a sweep and its copy-back, in double precision.
    [[nodiscard]] Residual residual(Part rows) const {
        Residual found;
        const double first = omega * first_change(block_.whole);
        for (std::size_t row = rows.begin; row < rows.end; ++row) {
            const std::size_t begin = first_point(row);
            const double start = start_value(begin / stride_ / size_.j);
            for (std::size_t point = begin; point < begin + size_.k - 2; ++point) {
                const double change = change_of(point);
                found.squares += change * change;
                found.largest = greater(found.largest, std::abs(change));
                found.misplaced = greater(found.misplaced, std::abs(double{p_[point]} - double{wrk2_[point]}));
                found.first = greater(found.first, std::abs(double{p_[point]} - start - first));
            }
        }
        const Part points = points_around(rows);
        for (std::size_t point = points.begin; point < points.end; ++point) {
            if (is_boundary(point)) {
                const double start = start_value(point / stride_ / size_.j);
                found.misplaced = greater(found.misplaced, std::abs(p_[point] - start));
            }
        }
        return found;
    }

    /// All pressures: the points of a row are contiguous, rows are `stride` apart.
    [[nodiscard]] float* pressures() { return p_; }

    /// For tests that insert a fault.
    [[nodiscard]] float& pressure(std::size_t point) { return p_[point]; }

  private:
    static constexpr std::size_t line_floats = 64 / sizeof(float);
    /// Before each array, so that the first inner point of a row begins a cache line.
    static constexpr std::size_t lead = line_floats - 1;
    /// After each array, so that equal points of two arrays do not share a cache set or memory bank.
    static constexpr std::size_t stagger = 17 * line_floats;

    static std::size_t apart(const Size& size) { return size.i * size.j * stride(size) + stagger; }

    /// Also takes NaN.
    static double greater(double one, double other) { return other <= one ? one : other; }

    [[nodiscard]] std::size_t first_point(std::size_t row) const {
        const std::size_t inner = size_.j - 2;
        return ((row / inner + 1) * size_.j + row % inner + 1) * stride_ + 1;
    }

    [[nodiscard]] Part points_around(Part rows) const {
        return {rows.begin == 0 ? 0 : first_point(rows.begin) - 1,
                rows.end == this->rows() ? points_ : first_point(rows.end) - 1};
    }

    /// Whether a point is a boundary point of the whole grid, which never changes; padding is not.
    [[nodiscard]] bool is_boundary(std::size_t point) const {
        const auto outside = [](std::size_t index, std::size_t count) { return index == 0 || index + 1 == count; };
        const std::size_t k = point % stride_;
        return k < size_.k && (outside(block_.begin[2] + k, block_.whole.k) ||
                               outside(block_.begin[1] + point / stride_ % size_.j, block_.whole.j) ||
                               outside(block_.begin[0] + point / stride_ / size_.j, block_.whole.i));
    }

    /// Of a plane of the block.
    [[nodiscard]] float start_value(std::size_t plane) const {
        const std::size_t i = block_.begin[0] + plane;
        return static_cast<float>(i * i) / static_cast<float>((block_.whole.i - 1) * (block_.whole.i - 1));
    }

    /// The definition for type Number, with values from `read`: the change of a point in a sweep before
    /// relaxation.
    template <class Number, class Read>
    [[nodiscard]] Number change(std::size_t point, const Read& read) const {
        const std::size_t i = size_.j * stride_;
        const std::size_t j = stride_;
        const auto p = [&](std::size_t offset) -> Number { return read(p_ + offset); };
        const auto of = [&](const float* array) -> Number { return read(array + point); };
        const Number sum =
            of(a_[0]) * p(point + i) + of(a_[1]) * p(point + j) + of(a_[2]) * p(point + 1) +
            of(b_[0]) * (p(point + i + j) - p(point + i - j) - p(point - i + j) + p(point - i - j)) +
            of(b_[1]) * (p(point + j + 1) - p(point - j + 1) - p(point + j - 1) + p(point - j - 1)) +
            of(b_[2]) * (p(point + i + 1) - p(point - i + 1) - p(point + i - 1) + p(point - i - 1)) +
            of(c_[0]) * p(point - i) + of(c_[1]) * p(point - j) + of(c_[2]) * p(point - 1) + of(wrk1_);
        return (sum * of(a_[3]) - p(point)) * of(bnd_);
    }

    [[nodiscard]] double change_of(std::size_t point) const {
        return change<double>(point, [](const float* address) -> double { return *address; });
    }

    /// The last vector of a row overlaps the previous one; lanes counted there are not counted again.
    [[nodiscard]] double sweep_row(std::size_t begin) {
        const std::size_t inner = size_.k - 2;
        Lanes squares{};
        for (std::size_t k = 0; k + lanes <= inner; k += lanes) {
            const Lanes changes = sweep_lanes(begin + k);
            squares += changes * changes;
        }
        const std::size_t rest = inner % lanes;
        if (rest > 0) {
            const Lanes changes = sweep_lanes(begin + inner - lanes);
            Lanes counted{};
            for (std::size_t lane = lanes - rest; lane < lanes; ++lane) {
                counted[lane] = 1;
            }
            squares += changes * changes * counted;
        }
        double sum = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            sum += squares[lane];
        }
        return sum;
    }

    Lanes sweep_lanes(std::size_t point) {
        const Lanes changes =
            change<Lanes>(point, [](const float* address) -> Lanes { return assay::load<Lanes>(address); });
        assay::store(wrk2_ + point, assay::load<Lanes>(p_ + point) + omega * changes);
        return changes;
    }

    Block block_;
    Size size_;
    std::size_t stride_;
    std::size_t points_;  ///< padding included
    std::array<float*, 4> a_{};
    std::array<float*, 3> b_{};
    std::array<float*, 3> c_{};
    float* p_;
    float* bnd_;
    float* wrk1_;
    float* wrk2_;
};

}  // namespace himeno
