// MG, multigrid: a few V-cycles on a Poisson equation in a cube with periodic borders (RNR-94-007, 3.2.1).
#pragma once

#include <cmath>
#include <memory>

#include "benchmarks/kernels/nas_grid.hpp"
#include "benchmarks/kernels/nas_random.hpp"

namespace assay::nas {

class Mg final : public Problem {
  public:
    /// Ranks own boxes of the finer grids. A grid whose boxes would be too small is whole on every rank.
    Mg(Class size, const Numbers& sizes, Messages& messages, Memory& memory)
        : published_(of_class(published, size)),
          iterations_(static_cast<int>(sizes.at("mg-iterations"))),
          messages_(messages),
          n_(static_cast<Index>(sizes.at("side"))),
          log_n_(log_of(static_cast<std::size_t>(n_))),
          boxes_(messages, n_),
          whole_levels_(log_n_ - boxes_.log_grain()),
          borders_(boxes_, messages),
          gathered_(boxes_, messages, boxes_.log_grain()) {
        const Box own = boxes_.own();
        v_ = std::make_unique<Grid>(own, n_, numbers(memory, own));
        for (unsigned level = 1; level <= log_n_; ++level) {
            const Box box = level <= whole_levels_ ? whole(level) : halved(own, log_n_ - level);
            u_.emplace_back(box, Index{1} << level, numbers(memory, box));
            r_.emplace_back(box, Index{1} << level, numbers(memory, box));
        }
        const auto longest = static_cast<std::size_t>(own[2].count() + n_ / 2 + 4);
        faces_.resize(longest);
        corners_.resize(longest);
    }

    void prepare() override {
        if (charges_.empty()) {
            place_charges();
        }
        top(u_).clear();
        top(r_).clear();
        v_->clear();
        for (const Charge& charge : charges_) {
            const Point at = point(charge.index);
            if (inside(at)) {
                v_->row(at[0], at[1])[at[2]] = charge.value;
            }
        }
        norm_ = 0;
    }

    void solve() override {
        residual_of_all();
        norm_ = norm();
        for (int iteration = 0; iteration < iterations_; ++iteration) {
            v_cycle();
            residual_of_all();
        }
        norm_ = norm();
    }

    [[nodiscard]] double error() override { return deviation(norm_, published_.norm); }
    [[nodiscard]] double tolerance() const override { return 1e-8; }

  private:
    struct Published {
        double smoother_centre;
        double smoother_face;
        double smoother_edge;
        double norm;
    };

    // S, A, B: RNR-94-007, tables 3.1 and 3.3; W and D (as of NPB 3), C: NPB.
    static constexpr ByClass<Published> published{{{-3. / 8, 1. / 32, -1. / 64, 0.5307707005734e-4},
                                                   {-3. / 8, 1. / 32, -1. / 64, 0.6467329375339e-5},
                                                   {-3. / 8, 1. / 32, -1. / 64, 0.2433365309069e-5},
                                                   {-3. / 17, 1. / 33, -1. / 61, 0.1800564401355e-5},
                                                   {-3. / 17, 1. / 33, -1. / 61, 0.5706732285740e-6},
                                                   {-3. / 17, 1. / 33, -1. / 61, 0.1583275060440e-9}}};

    using Grids = std::vector<Grid>;
    using Point = std::array<Index, 3>;

    /// A point with a non-zero right-hand side.
    struct Charge {
        double value;
        Index index;  ///< in the cube, x fastest
    };

    static double* numbers(Memory& memory, const Box& box) {
        const std::size_t room = Grid::room(box);
        auto* found = reinterpret_cast<double*>(memory.allocate(room * sizeof(double)));
        std::fill_n(found, room, 0.);
        return found;
    }

    static Box whole(unsigned level) {
        const Range all{0, Index{1} << level};
        return {all, all, all};
    }

    [[nodiscard]] Grid& of_level(Grids& grids, unsigned level) const { return grids[level - 1]; }
    [[nodiscard]] static Grid& top(Grids& grids) { return grids.back(); }

    [[nodiscard]] Point point(Index index) const { return {index / (n_ * n_), index / n_ % n_, index % n_}; }
    [[nodiscard]] bool inside(const Point& at) const {
        const Box& box = v_->box();
        for (std::size_t direction = 0; direction < at.size(); ++direction) {
            if (at.at(direction) < box.at(direction).begin || at.at(direction) >= box.at(direction).end) {
                return false;
            }
        }
        return true;
    }

    /// +1 at the ten largest of random numbers, one for each point of the cube, and -1 at the ten smallest.
    void place_charges() {
        constexpr std::size_t of_each = 10;
        const auto larger = [](const Charge& one, const Charge& other) { return one.value > other.value; };
        const auto smaller = [](const Charge& one, const Charge& other) { return one.value < other.value; };
        std::vector<Charge> largest;
        std::vector<Charge> smallest;
        for (Index z = v_->z().begin; z < v_->z().end; ++z) {
            for (Index y = v_->y().begin; y < v_->y().end; ++y) {
                const Index first = (z * n_ + y) * n_ + v_->x().begin;
                Random random(default_seed, static_cast<std::uint64_t>(first));
                for (Index x = 0; x < v_->x().count(); ++x) {
                    const Charge found{random.next(), first + x};
                    keep(largest, found, of_each, larger);
                    keep(smallest, found, of_each, smaller);
                }
            }
        }
        for (auto* chosen : {&largest, &smallest}) {
            std::vector<Charge> all(of_each * static_cast<std::size_t>(messages_.ranks()));
            const auto bytes = static_cast<int>(of_each * sizeof(Charge));
            MPI_Allgather(chosen->data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, messages_.comm());
            for (const Charge& each : all) {
                chosen == &largest ? keep(largest, each, of_each, larger) : keep(smallest, each, of_each, smaller);
            }
            for (const Charge& each : *chosen) {
                charges_.push_back({chosen == &largest ? 1. : -1., each.index});
            }
        }
    }

    /// Keeps the first ones in an order, each point of the cube once.
    template <class Before>
    static void keep(std::vector<Charge>& kept, const Charge& found, std::size_t max_count, const Before& before) {
        if (kept.size() == max_count && !before(found, kept.back())) {
            return;
        }
        const auto place = std::find_if(kept.begin(), kept.end(), [&](const Charge& each) {
            return each.index == found.index || before(found, each);
        });
        if (place != kept.end() && place->index == found.index) {
            return;
        }
        kept.insert(place, found);
        if (kept.size() > max_count) {
            kept.pop_back();
        }
    }

    [[nodiscard]] double norm() {
        const Grid& r = top(r_);
        double squares = 0;
        for (Index z = r.z().begin; z < r.z().end; ++z) {
            for (Index y = r.y().begin; y < r.y().end; ++y) {
                const double* row = r.row(z, y) + r.x().begin;
                squares += sum_over(static_cast<std::size_t>(r.x().count()),
                                    [&](std::size_t x) { return row[x] * row[x]; });
            }
        }
        return std::sqrt(messages_.sum(squares) / static_cast<double>(n_ * n_ * n_));
    }

    void residual_of_all() {
        sweep(v_->box(), [&](Index z, Index y) { residual<false>(top(u_), *v_, top(r_), z, y); });
        borders_.exchange(top(r_));
    }

    void v_cycle() {
        for (unsigned level = log_n_; level > 1; --level) {
            restrict_to(level - 1);
        }
        of_level(u_, 1).clear();
        smooth(1);
        for (unsigned level = 2; level < log_n_; ++level) {
            correct<false>(level);
            smooth(level);
        }
        correct<true>(log_n_);
        smooth(log_n_);
    }

    /// Calls row(z, y) for all rows of a box.
    template <class Row>
    static void sweep(const Box& box, const Row& row) {
        for (Index begin = box[1].begin; begin < box[1].end; begin += strip) {
            const Index end = std::min(begin + strip, box[1].end);
            for (Index z = box[0].begin; z < box[0].end; ++z) {
                for (Index y = begin; y < end; ++y) {
                    row(z, y);
                }
            }
        }
    }

    /// The sum of four rows. One function for all sums: with more pointers GCC 12 makes no vectors of a loop.
    static void add_rows(double* __restrict to, const std::array<const double*, 4>& rows, Index count) {
        const auto [first, second, third, fourth] = rows;
        for (Index x = 0; x < count; ++x) {
            to[x] = (first[x] + second[x]) + (third[x] + fourth[x]);
        }
    }

    /// Sums over the points around each point of a row, in y and z: faces and corners, from one point before the
    /// row to one behind it.
    void sum_around(const Grid& grid, Index z, Index y) {
        const auto row = [&](Index by_z, Index by_y) { return grid.row(z + by_z, y + by_y) + grid.x().begin - 1; };
        const Index count = grid.x().count() + 2;
        add_rows(faces_.data(), {row(-1, 0), row(1, 0), row(0, -1), row(0, 1)}, count);
        add_rows(corners_.data(), {row(-1, -1), row(-1, 1), row(1, -1), row(1, 1)}, count);
    }

    /// A row of r = v - A u; `in_place`: of r -= A u. A has -8/3 in the centre, 0 at faces, 1/6 at edges, 1/12 at
    /// corners.
    template <bool in_place>
    void residual(const Grid& u, const Grid& v, const Grid& r, Index z, Index y) {
        sum_around(u, z, y);
        const Index count = u.x().count();
        const double* faces = faces_.data() + 1;
        const double* corners = corners_.data() + 1;
        const double* centre = u.row(z, y) + u.x().begin;
        const double* right = v.row(z, y) + v.x().begin;
        double* __restrict to = r.row(z, y) + r.x().begin;
        for (Index x = 0; x < count; ++x) {
            const double edges = corners[x] + faces[x - 1] + faces[x + 1];
            const double tips = corners[x - 1] + corners[x + 1];
            const double from = in_place ? to[x] : right[x];
            to[x] = from + 8. / 3 * centre[x] - (1. / 6 * edges + 1. / 12 * tips);
        }
        r.close_row(z, y);
    }

    /// u from the coarser grid, and r from this u, a plane behind: the caches still hold it. `finest`: u is a sum,
    /// and r begins with the right-hand side.
    template <bool finest>
    void correct(unsigned level) {
        const Grid& coarse = of_level(u_, level - 1);
        const Grid& u = of_level(u_, level);
        const Grid& r = of_level(r_, level);
        Index next = u.y().begin - 1;
        for (Index begin = u.y().begin; begin < u.y().end; begin += strip) {
            const Index end = std::min(begin + strip, u.y().end);
            for (Index z = u.z().begin - 1; z <= u.z().end; ++z) {
                for (Index y = next; y <= end; ++y) {
                    interpolate<finest>(coarse, u, z, y);
                }
                for (Index y = begin; y < end && z > u.z().begin; ++y) {
                    residual<!finest>(u, finest ? *v_ : r, r, z - 1, y);
                }
            }
            next = end + 1;
        }
        borders_.exchange(r);
    }

    /// u += S r; the smoother S has weight 0 at corners.
    void smooth(unsigned level) {
        const Grid& r = of_level(r_, level);
        const Grid& u = of_level(u_, level);
        const double c0 = published_.smoother_centre;
        const double c1 = published_.smoother_face;
        const double c2 = published_.smoother_edge;
        const Index count = r.x().count();
        sweep(r.box(), [&](Index z, Index y) {
            sum_around(r, z, y);
            const double* faces = faces_.data() + 1;
            const double* corners = corners_.data() + 1;
            const double* centre = r.row(z, y) + r.x().begin;
            double* __restrict to = u.row(z, y) + u.x().begin;
            for (Index x = 0; x < count; ++x) {
                const double face_sum = centre[x - 1] + centre[x + 1] + faces[x];
                const double edges = corners[x] + faces[x - 1] + faces[x + 1];
                to[x] += c0 * centre[x] + (c1 * face_sum + c2 * edges);
            }
            u.close_row(z, y);
        });
        borders_.exchange(u);
    }

    /// r of a level from the finer one: coarse point c is at fine point 2 c + 1.
    void restrict_to(unsigned level) {
        const Grid& fine = of_level(r_, level + 1);
        const Grid& coarse = of_level(r_, level);
        const Box part = halved(fine.box(), 1);
        sweep(part, [&](Index z, Index y) {
            sum_around(fine, 2 * z + 1, 2 * y + 1);
            const double* faces = faces_.data() + 1 - fine.x().begin;
            const double* corners = corners_.data() + 1 - fine.x().begin;
            const double* centre = fine.row(2 * z + 1, 2 * y + 1);
            double* __restrict to = coarse.row(z, y);
            for (Index x = part[2].begin; x < part[2].end; ++x) {
                const Index at = 2 * x + 1;
                const double face_sum = centre[at - 1] + centre[at + 1] + faces[at];
                const double edges = corners[at] + faces[at - 1] + faces[at + 1];
                const double tips = corners[at - 1] + corners[at + 1];
                to[x] = .5 * centre[at] + .25 * face_sum + .125 * edges + .0625 * tips;
            }
            coarse.close_row(z, y);
        });
        if (level == whole_levels_) {
            gathered_.gather(coarse);
        }
        borders_.exchange(coarse);
    }

    /// A row of the fine grid, with the points of the layer before and behind it, by linear interpolation of the
    /// coarse grid; `add`: added to it. An odd point is at a coarse one, an even point between two.
    template <bool add>
    void interpolate(const Grid& coarse, const Grid& fine, Index z, Index y) {
        const Index z_before = (z + 1) / 2 - 1;
        const Index y_before = (y + 1) / 2 - 1;
        const Index z_behind = z_before + (z % 2 == 0 ? 1 : 0);
        const Index y_behind = y_before + (y % 2 == 0 ? 1 : 0);
        const Index begin = (fine.x().begin - 2) / 2;
        const Index count = fine.x().count() / 2 + 2;
        add_rows(faces_.data(),
                 {coarse.row(z_before, y_before) + begin, coarse.row(z_before, y_behind) + begin,
                  coarse.row(z_behind, y_before) + begin, coarse.row(z_behind, y_behind) + begin},
                 count);
        const double* sums = faces_.data();
        double* __restrict to = fine.row(z, y) + fine.x().begin - 1;
        for (Index each = 0; each + 1 < count; ++each) {
            const double on = .25 * sums[each];
            const double between = .125 * (sums[each] + sums[each + 1]);
            to[2 * each] = add ? to[2 * each] + on : on;
            to[2 * each + 1] = add ? to[2 * each + 1] + between : between;
        }
    }

    /// Rows of a plane that a sweep passes before it goes to the next plane: the planes around are then in the
    /// second cache when they are needed again.
    static constexpr Index strip = 32;

    const Published& published_;
    int iterations_;
    Messages& messages_;
    Index n_;
    unsigned log_n_;
    Boxes boxes_;
    unsigned whole_levels_;  ///< grids that are whole on every rank: the coarsest ones
    Borders borders_;
    Gathered gathered_;
    std::unique_ptr<Grid> v_;  ///< right-hand side
    Grids u_;                  ///< of each level, from 2 points a side upwards
    Grids r_;
    std::vector<Charge> charges_;
    std::vector<double> faces_;
    std::vector<double> corners_;
    double norm_ = 0;
};

}  // namespace assay::nas
