// What the five NAS problems have in common: their classes, their messages, their results.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/clock.hpp"
#include "harness/sum.hpp"
#include "harness/team.hpp"

namespace assay::nas {

/// Names of the sizes of a problem: S, A and B are from RNR-94-007, W and C from NPB 2, D from NPB 2.4 (for IS
/// from NPB 3). The declaration has the sizes.
enum class Class : std::size_t { s, w, a, b, c, d };
inline constexpr std::array<std::string_view, 6> class_names{"S", "W", "A", "B", "C", "D"};

inline Class class_named(std::string_view name) {
    const auto* found = std::find(class_names.begin(), class_names.end(), name);
    return static_cast<Class>(found - class_names.begin());
}

/// One entry for each class.
template <class Entry>
using ByClass = std::array<Entry, class_names.size()>;

template <class Entry>
const Entry& of_class(const ByClass<Entry>& table, Class size) {
    return table.at(static_cast<std::size_t>(size));
}

/// One of the numbers of a class, which is whole.
inline std::size_t count_of(const Numbers& numbers, const std::string& name) {
    return static_cast<std::size_t>(numbers.at(name));
}

/// Exponent of a power of two.
inline unsigned log_of(std::size_t power) { return static_cast<unsigned>(std::bit_width(power)) - 1; }

/// Relative deviation from a published value; the largest number if it is not finite.
inline double deviation(double found, double published) {
    const double share =
        (found > published ? found - published : published - found) / (published < 0 ? -published : published);
    return share <= std::numeric_limits<double>::max() ? share : std::numeric_limits<double>::max();
}

/// The ranks that solve a problem together, and the time of this rank in messages.
class Messages {
  public:
    explicit Messages(MPI_Comm comm = MPI_COMM_WORLD) : comm_(comm) {
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &ranks_);
    }

    [[nodiscard]] MPI_Comm comm() const { return comm_; }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int ranks() const { return ranks_; }

    /// The part of [0, size) of this rank, or of another one.
    [[nodiscard]] Part part(std::size_t size, std::size_t grain = 1) const { return part(size, grain, rank_); }
    [[nodiscard]] Part part(std::size_t size, std::size_t grain, int rank) const {
        return part_of(size, rank, ranks_, grain);
    }

    /// Calls MPI; counts its time, including waiting, and the bytes that this rank sends. A single rank calls
    /// nothing.
    template <class Call>
    void pass(double bytes, const Call& call) {
        if (ranks_ == 1) {
            return;
        }
        const std::int64_t begin = nanoseconds();
        call();
        nanoseconds_ += nanoseconds() - begin;
        sent_bytes_ += bytes;
    }

    /// From the counts of all ranks: the sum for the other ranks.
    [[nodiscard]] double for_others(const std::vector<int>& counts) const {
        return std::accumulate(counts.begin(), counts.end(), 0.) - counts[static_cast<std::size_t>(rank_)];
    }

    /// Every rank receives the numbers of all; its own are already in place.
    void gather(double* numbers, const std::vector<int>& counts, const std::vector<int>& starts) {
        const double own = counts[static_cast<std::size_t>(rank_)];
        pass(own * (ranks_ - 1) * sizeof(double), [&] {
            MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, numbers, counts.data(), starts.data(), MPI_DOUBLE,
                           comm_);
        });
    }

    /// Sums over all ranks, on all of them.
    template <std::size_t count>
    void add_up(std::array<double, count>& values) {
        pass(sizeof values, [&] {
            MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, comm_);
        });
    }

    [[nodiscard]] double sum(double value) {
        std::array<double, 1> values{value};
        add_up(values);
        return values[0];
    }

    void restart() { nanoseconds_ = 0; }
    [[nodiscard]] double seconds() const { return to_seconds(nanoseconds_); }
    [[nodiscard]] double sent_bytes() const { return sent_bytes_; }

  private:
    MPI_Comm comm_;
    int rank_ = 0;
    int ranks_ = 1;
    std::int64_t nanoseconds_ = 0;
    double sent_bytes_ = 0;
};

/// One problem of one class, on one of the ranks that solve it. All ranks call its functions at once.
class Problem {
  public:
    Problem() = default;
    Problem(const Problem&) = delete;
    Problem& operator=(const Problem&) = delete;
    Problem(Problem&&) = delete;
    Problem& operator=(Problem&&) = delete;
    virtual ~Problem() = default;

    /// Sets the initial values, untimed.
    virtual void prepare() = 0;

    /// The timed part of a solution, as NPB defines it.
    virtual void solve() = 0;

    /// Deviation of the last solution from the published values; the same on all ranks.
    [[nodiscard]] virtual double error() = 0;
    [[nodiscard]] virtual double tolerance() const = 0;
};

}  // namespace assay::nas
