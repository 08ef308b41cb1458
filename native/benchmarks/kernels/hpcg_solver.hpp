// HPCG's solver: conjugate gradients, preconditioned by a V-cycle of four grids.
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "benchmarks/kernels/hpcg_counts.hpp"
#include "benchmarks/kernels/hpcg_level.hpp"
#include "harness/clock.hpp"
#include "harness/sum.hpp"

namespace assay::hpcg {

/// Divides the time of one thread among the phases of a solution.
class Stopwatch {
  public:
    void start(Phase phase) {
        phases_ = {};
        phase_ = phase;
        since_ = now();
    }

    /// From now on the time belongs to another phase. Returns the previous one.
    Phase enter(Phase phase) {
        const double at = now();
        phases_.at(static_cast<std::size_t>(phase_)) += at - since_;
        since_ = at;
        return std::exchange(phase_, phase);
    }

    void stop() { enter(phase_); }

    [[nodiscard]] const Phases& phases() const { return phases_; }

  private:
    Phases phases_{};
    Phase phase_ = Phase::ddot;
    double since_ = 0;
};

/// When a solution ends.
struct Goal {
    int iterations;
    double reduction = 0;  ///< of the residual, after which iterations stop
    bool preconditioned = true;
};

/// One of the ranks that solve A x = b, where b = A times ones. All ranks call its public functions at once,
/// each from one thread; the team works inside.
class Solver {
  public:
    /// Bytes that an interior rank needs.
    static std::size_t room(const Place& place, int n) {
        std::size_t bytes = 0;
        for (int level = 0; level < levels; ++level) {
            bytes += Level::room(Domain(place, n >> level));
        }
        const Domain finest(place, n);
        return bytes + 3 * Arena::room<double>(finest.rows()) + Arena::room<double>(finest.columns());
    }

    Solver(const Place& place, int n, const Team& team, MPI_Comm comm, std::byte* memory)
        : team_(team), comm_(comm), partial_(static_cast<std::size_t>(team.size())) {
        Arena arena(memory);
        for (int level = 0; level < levels; ++level) {
            levels_.push_back(std::make_unique<Level>(Domain(place, n >> level), team, comm, arena));
        }
        const Domain& finest = levels_.front()->domain();
        b_ = arena.take<double>(finest.rows());
        x_ = arena.take<double>(finest.rows());
        product_ = arena.take<double>(finest.rows());
        p_ = arena.take<double>(finest.columns());
    }

    /// Writes the matrices and b, each thread its own rows: first touch.
    void write() {
        team_.run([&](int thread) {
            for (const auto& level : levels_) {
                level->write(thread);
            }
            const Level& finest = *levels_.front();
            finest.own(thread, [&](Index begin, Index end) {
                for (Index row = begin; row < end; ++row) {
                    b_[row] = own_value + other_value * static_cast<double>(finest.entries(row));
                    x_[row] = p_[row] = product_[row] = 0;
                }
            });
        });
    }

    /// x = 0, the start of a solution.
    void reset() {
        team_.run([&](int thread) {
            levels_.front()->own(thread, [&](Index begin, Index end) { std::fill(x_ + begin, x_ + end, 0.); });
        });
    }

    /// Improves x; residuals() gives the norms on the way.
    void solve(const Goal& goal) {
        residuals_.clear();
        residuals_.reserve(static_cast<std::size_t>(goal.iterations) + 1);
        stopwatch_.start(Phase::spmv);
        team_.run([&](int thread) { gradients(goal, thread); });
        stopwatch_.stop();
    }

    /// Euclidean norm of b - A x before the first iteration and after each one, as the solver updates it.
    [[nodiscard]] const std::vector<double>& residuals() const { return residuals_; }
    /// Seconds of each phase of the last solution, on this rank.
    [[nodiscard]] const Phases& phases() const { return stopwatch_.phases(); }
    [[nodiscard]] Level& finest() { return *levels_.front(); }
    [[nodiscard]] double* b() { return b_; }
    [[nodiscard]] double* x() { return x_; }

    /// y = A x on the finest grid; both have a number for each row. Overwrites the work vectors of a solution.
    void multiply(const double* x, double* y) {
        team_.run([&](int thread) {
            copy(x, p_, thread);
            team_.barrier();
            exchange(finest(), p_, thread);
            finest().multiply(p_, y, thread);
        });
    }

    /// y = V-cycle of r.
    void precondition(const double* r, double* y) {
        team_.run([&](int thread) {
            copy(r, finest().r(), thread);
            team_.barrier();
            cycle(0, thread);
            copy(finest().x(), y, thread);
        });
    }

    /// Dot product over all ranks.
    double dot(const double* a, const double* b) {
        double sum = 0;
        team_.run([&](int thread) {
            const double found = dot(a, b, thread);
            if (thread == 0) {
                sum = found;
            }
        });
        return sum;
    }

    [[nodiscard]] double sent_bytes() const {
        double sum = 0;
        for (const auto& level : levels_) {
            sum += level->exchange().sent_bytes();
        }
        return sum;
    }

  private:
    struct alignas(interference_bytes) Partial {
        double value = 0;
    };

    Phase enter(Phase phase, int thread) { return thread == 0 ? stopwatch_.enter(phase) : phase; }

    void copy(const double* from, double* to, int thread) {
        finest().own(thread, [&](Index begin, Index end) { std::copy(from + begin, from + end, to + begin); });
    }

    /// The part of one thread in the conjugate gradients.
    void gradients(const Goal& goal, int thread) {
        double* r = finest().r();
        double* z = finest().x();
        enter(Phase::spmv, thread);
        copy(x_, p_, thread);
        team_.barrier();
        exchange(finest(), p_, thread);
        finest().multiply(p_, product_, thread);
        enter(Phase::waxpby, thread);
        update(r, 1, b_, -1, product_, thread);
        double residual = std::sqrt(dot(r, r, thread));
        const double enough = goal.reduction * residual;
        note(residual, thread);
        double before = 0;
        for (int iteration = 0; iteration < goal.iterations && residual > enough; ++iteration) {
            enter(Phase::mg, thread);
            if (goal.preconditioned) {
                cycle(0, thread);
            } else {
                copy(r, z, thread);
                team_.barrier();
            }
            const double rho = dot(r, z, thread);
            enter(Phase::waxpby, thread);
            update(p_, 1, z, iteration == 0 ? 0 : rho / before, p_, thread);
            before = rho;
            enter(Phase::spmv, thread);
            exchange(finest(), p_, thread);
            finest().multiply(p_, product_, thread);
            team_.barrier();
            const double alpha = rho / dot(p_, product_, thread);
            enter(Phase::waxpby, thread);
            update(x_, 1, x_, alpha, p_, thread);
            update(r, 1, r, -alpha, product_, thread);
            residual = std::sqrt(dot(r, r, thread));
            note(residual, thread);
        }
    }

    void note(double residual, int thread) {
        if (thread == 0) {
            residuals_.push_back(residual);
        }
    }

    /// w = alpha x + beta y; ends with a barrier.
    void update(double* w, double alpha, const double* x, double beta, const double* y, int thread) {
        finest().own(thread, [&](Index begin, Index end) {
            for (Index row = begin; row < end; ++row) {
                w[row] = alpha * x[row] + beta * y[row];
            }
        });
        team_.barrier();
    }

    /// Dot product over all ranks, the same for each thread. Ends the current phase.
    double dot(const double* a, const double* b, int thread) {
        enter(Phase::ddot, thread);
        Partial& own = partial_[static_cast<std::size_t>(thread)];
        own.value = 0;
        finest().own(thread, [&](Index begin, Index end) {
            own.value += sum_over(static_cast<std::size_t>(end - begin),
                                  [&](std::size_t each) { return a[begin + each] * b[begin + each]; });
        });
        team_.barrier();
        if (thread == 0) {
            sum_ = 0;
            for (const Partial& each : partial_) {
                sum_ += each.value;
            }
            MPI_Allreduce(MPI_IN_PLACE, &sum_, 1, MPI_DOUBLE, MPI_SUM, comm_);
        }
        team_.barrier();
        return sum_;
    }

    /// Exchanges values with neighbours, as a phase of its own; needs a barrier before it.
    void exchange(Level& level, double* x, int thread) {
        if (level.exchange().alone()) {
            return;
        }
        if (thread == 0) {
            const Phase phase = stopwatch_.enter(Phase::exchange);
            level.exchange().pass(x);
            stopwatch_.enter(phase);
        }
        team_.barrier();
    }

    void smooth(Level& level, int thread) {
        exchange(level, level.x(), thread);
        level.smooth(thread);
    }

    /// The V-cycle from a level downwards: x from r, starting with x = 0. Ends with a barrier.
    void cycle(std::size_t level, int thread) {
        Level& here = *levels_[level];
        here.clear(thread);
        team_.barrier();
        smooth(here, thread);
        if (level + 1 == levels_.size()) {
            return;
        }
        Level& coarser = *levels_[level + 1];
        exchange(here, here.x(), thread);
        here.multiply(here.x(), here.product(), thread);
        team_.barrier();
        coarser.restrict_from(here, thread);
        team_.barrier();
        cycle(level + 1, thread);
        coarser.prolong_to(here, thread);
        team_.barrier();
        smooth(here, thread);
    }

    const Team& team_;
    MPI_Comm comm_;
    std::vector<std::unique_ptr<Level>> levels_;
    double* b_ = nullptr;
    double* x_ = nullptr;
    double* product_ = nullptr;
    double* p_ = nullptr;
    std::vector<Partial> partial_;
    double sum_ = 0;
    std::vector<double> residuals_;
    Stopwatch stopwatch_;
};

}  // namespace assay::hpcg
