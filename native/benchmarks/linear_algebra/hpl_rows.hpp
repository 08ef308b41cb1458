// Row swaps right of a panel: its pivot rows become the top rows, on every process of a grid column, and the
// rows that they replace go where the pivots were.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "benchmarks/linear_algebra/hpl_panel.hpp"
#include "harness/crew.hpp"

namespace assay::hpl {

enum class Exchange { binary, ring };

/// Swaps the rows of one panel after another.
class Rows {
  public:
    Rows(const Grid& grid, const BlockCyclic& rows, Exchange exchange, Crew& crew)
        : grid_(grid), rows_(rows), exchange_(exchange), crew_(crew) {}

    /// Room for panels of so many columns of a system of order n: nothing is allocated during a solution.
    void reserve(Index n, Index block, Index columns) {
        const auto places = static_cast<std::size_t>(rows_.places());
        const auto width = static_cast<std::size_t>(block);
        swaps_.reserve(width);
        if (places == 1) {
            return;
        }
        original_.resize(static_cast<std::size_t>(n));
        std::iota(original_.begin(), original_.end(), Index{0});
        sources_.reserve(width);
        targets_.reserve(width);
        gathered_places_.resize(width);
        pivots_.resize(places);
        for (auto& each : pivots_) {
            each.reserve(width);
        }
        replaced_.resize(places + 1);
        begins_.resize(places + 1);
        requests_.reserve(places);
        gathered_.resize(width * static_cast<std::size_t>(columns));
        replacing_.resize(gathered_.size());
    }

    /// Plans the swaps of a panel for the columns right of it.
    void plan(const Panel& panel) {
        start_ = panel.first_row();
        count_ = panel.columns();
        swaps_.clear();
        for (Index c = 0; c < count_; ++c) {
            swaps_.emplace_back(start_ + c, panel.pivot(c));
        }
        if (rows_.places() > 1) {
            plan_messages();
        }
    }

    /// Swaps rows within the columns `a`, if one process has all of their rows; by the calling thread.
    void swap_here(const RowView& a) const {
        for (const auto& [row, pivot] : swaps_) {
            if (row != pivot) {
                std::swap_ranges(a.row(row), a.row(row) + a.columns, a.row(pivot));
            }
        }
    }

    /// Collects the pivot rows in `u` on every process of the grid column, and puts the rows that they replace
    /// into `a`.
    void exchange(const RowView& a, const RowView& u) {
        const auto columns = static_cast<std::size_t>(a.columns);
        const std::size_t places = pivots_.size();
        const auto here = static_cast<std::size_t>(rows_.place());
        const int top = rows_.owner(start_);
        // Place in the buffer for the pivot rows of each process, starting with this process.
        std::size_t next = 0;
        for (std::size_t turn = 0; turn < places; ++turn) {
            begins_[turn] = next * columns;
            for (const Index row : pivots_[(here + turn) % places]) {
                gathered_places_[static_cast<std::size_t>(row)] = next++;
            }
        }
        begins_[places] = next * columns;
        const std::vector<Index>& own = pivots_[here];
        copy(own.size(), a.columns, [&](std::size_t each) {
            return std::pair{a.row(rows_.before(sources_[static_cast<std::size_t>(own[each])])),
                             gathered_.data() + each * columns};
        });
        requests_.clear();
        replace(a, top);
        gather();
        copy(static_cast<std::size_t>(count_), a.columns, [&](std::size_t row) {
            return std::pair{gathered_.data() + gathered_places_[row] * columns, u.row(static_cast<Index>(row))};
        });
        MPI_Waitall(count_of(static_cast<Index>(requests_.size())), requests_.data(), MPI_STATUSES_IGNORE);
        if (rows_.place() != top) {
            unpack(a, replacing_.data());
        }
    }

  private:
    static constexpr int replace_tag = 4;
    static constexpr int gather_tag = 5;

    /// Copies rows of so many numbers; each thread copies some. `places(row)`: source and target of a row.
    template <class Places>
    void copy(std::size_t rows, Index columns, const Places& places) const {
        crew_.share(rows, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) {
                const auto [from, to] = places(row);
                std::copy_n(from, columns, to);
            }
        });
    }

    /// Finds the matrix row of each row of U, and the target of each replaced row. A row that a swap puts below
    /// the panel's top always came from that top.
    void plan_messages() {
        for (const auto& [row, pivot] : swaps_) {
            std::swap(original(row), original(pivot));
        }
        for (auto& each : pivots_) {
            each.clear();
        }
        sources_.clear();
        targets_.clear();
        for (Index c = 0; c < count_; ++c) {
            const Index source = original(start_ + c);
            sources_.push_back(source);
            pivots_[static_cast<std::size_t>(rows_.owner(source))].push_back(c);
            original(start_ + c) = start_ + c;
        }
        for (const auto& [row, pivot] : swaps_) {
            if (original(pivot) != pivot) {  // below the panel's top, and new
                targets_.emplace_back(original(pivot), pivot);
                original(pivot) = pivot;
            }
        }
        const auto owner = [&](const auto& target) { return rows_.owner(target.second); };
        std::sort(targets_.begin(), targets_.end(), [&](const auto& one, const auto& other) {
            return std::pair{owner(one), one} < std::pair{owner(other), other};
        });
        std::fill(replaced_.begin(), replaced_.end(), std::size_t{0});
        for (const auto& target : targets_) {
            ++replaced_[static_cast<std::size_t>(owner(target)) + 1];
        }
        std::partial_sum(replaced_.begin(), replaced_.end(), replaced_.begin());
    }

    /// The original row that is now in a row of the matrix.
    [[nodiscard]] Index& original(Index row) { return original_[static_cast<std::size_t>(row)]; }

    /// Puts the rows that this process receives in place of pivots where they belong.
    void unpack(const RowView& a, const double* numbers) const {
        const auto here = static_cast<std::size_t>(rows_.place());
        const std::size_t first = replaced_[here];
        copy(replaced_[here + 1] - first, a.columns, [&](std::size_t each) {
            return std::pair{numbers + each * static_cast<std::size_t>(a.columns),
                             a.row(rows_.before(targets_[first + each].second))};
        });
    }

    /// The process with the panel's top sends the other processes their rows; its own rows move at once.
    void replace(const RowView& a, int top) {
        const auto columns = static_cast<std::size_t>(a.columns);
        const auto numbers = [&](std::size_t place) {
            return count_of(static_cast<Index>((replaced_[place + 1] - replaced_[place]) * columns));
        };
        const auto here = static_cast<std::size_t>(rows_.place());
        if (rows_.place() != top) {
            if (numbers(here) > 0) {
                MPI_Irecv(replacing_.data(), numbers(here), MPI_DOUBLE, top, replace_tag, grid_.along_column(),
                          &requests_.emplace_back());
            }
            return;
        }
        copy(targets_.size(), a.columns, [&](std::size_t each) {
            return std::pair{a.row(rows_.before(targets_[each].first)), replacing_.data() + each * columns};
        });
        for (std::size_t place = 0; place < pivots_.size(); ++place) {
            if (place != here && numbers(place) > 0) {
                MPI_Isend(replacing_.data() + replaced_[place] * columns, numbers(place), MPI_DOUBLE,
                          static_cast<int>(place), replace_tag, grid_.along_column(), &requests_.emplace_back());
                grid_.count_sent(numbers(place));
            }
        }
        unpack(a, replacing_.data() + replaced_[here] * columns);
    }

    /// Every process receives the pivot rows of all: in P - 1 steps round a ring, or in ceil(log2 P) steps in
    /// which each process passes on all that it has.
    void gather() {
        const int size = rows_.places();
        const int here = rows_.place();
        const auto numbers = [&](int turn) { return gathered_.data() + begins_[static_cast<std::size_t>(turn)]; };
        const auto length = [&](int turn, int turns) {
            return count_of(static_cast<Index>(begins_[static_cast<std::size_t>(turn + turns)] -
                                               begins_[static_cast<std::size_t>(turn)]));
        };
        // The rows at `turn` belong to the process `turn` places ahead.
        for (int have = 1; have < size;) {
            const int take = exchange_ == Exchange::ring ? 1 : std::min(have, size - have);
            const int to = exchange_ == Exchange::ring ? here + size - 1 : here + size - have;
            const int from = exchange_ == Exchange::ring ? here + 1 : here + have;
            const int first = exchange_ == Exchange::ring ? have - 1 : 0;
            MPI_Sendrecv(numbers(first), length(first, take), MPI_DOUBLE, to % size, gather_tag, numbers(have),
                         length(have, take), MPI_DOUBLE, from % size, gather_tag, grid_.along_column(),
                         MPI_STATUS_IGNORE);
            grid_.count_sent(length(first, take));
            have += take;
        }
    }

    const Grid& grid_;
    BlockCyclic rows_;
    Exchange exchange_;
    Crew& crew_;
    Index start_ = 0;
    Index count_ = 0;
    std::vector<std::pair<Index, Index>> swaps_;
    std::vector<Index> sources_;                    ///< row of U -> row of the matrix
    std::vector<std::pair<Index, Index>> targets_;  ///< from row, to row; sorted by the process that receives them
    std::vector<std::size_t> replaced_;             ///< process -> the first of `targets_` that goes to it
    std::vector<std::vector<Index>> pivots_;        ///< process -> rows of U that it holds
    std::vector<std::size_t> gathered_places_;      ///< row of U -> its position in `gathered_`
    std::vector<Index> original_;
    std::vector<std::size_t> begins_;  ///< of the pivot rows of each process in `gathered_`, from this process on
    std::vector<MPI_Request> requests_;
    std::vector<double> gathered_;
    std::vector<double> replacing_;
};

}  // namespace assay::hpl
