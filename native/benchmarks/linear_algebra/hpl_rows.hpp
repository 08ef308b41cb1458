// What pivoting does to the columns right of a panel: its pivot rows become the top of them, on every process of a
// grid column, and the rows that they replace go where the pivots were.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "benchmarks/linear_algebra/hpl_panel.hpp"

namespace assay::hpl {

enum class Exchange { binary, ring };

/// Swaps the rows of the panels, one after the other.
class Rows {
  public:
    Rows(const Grid& grid, const Deal& rows, Exchange exchange)
        : comm_(grid.along_column()), rows_(rows), exchange_(exchange) {}

    /// The swaps of a panel, for the columns that follow.
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

    /// Swaps within the columns `a`, where one process has all of their rows.
    void swap_here(const RowView& a) const {
        for (const auto& [row, pivot] : swaps_) {
            if (row != pivot) {
                std::swap_ranges(a.row(row), a.row(row) + a.columns, a.row(pivot));
            }
        }
    }

    /// The rows of the pivots as `u`, on every process of the grid column; rows that they replace are put into
    /// `a`.
    void exchange(const RowView& a, const RowView& u) {
        const auto columns = static_cast<std::size_t>(a.columns);
        const auto places = static_cast<std::size_t>(rows_.places());
        const int here = rows_.place();
        const int top = rows_.holder(start_);
        // A place of the buffer for the pivot rows of each process, in turn from this one on.
        std::vector<std::size_t> begins(places + 1);
        for (std::size_t turn = 0; turn < places; ++turn) {
            begins[turn + 1] = begins[turn] + of(pivots_, turn + static_cast<std::size_t>(here)).size() * columns;
        }
        gathered_.resize(begins[places]);
        pack(a, sources_, of(pivots_, static_cast<std::size_t>(here)), gathered_.data());
        std::vector<MPI_Request> requests;
        replace(a, top, requests);
        gather(begins);
        for (std::size_t turn = 0; turn < places; ++turn) {
            const std::vector<Index>& list = of(pivots_, turn + static_cast<std::size_t>(here));
            const double* numbers = gathered_.data() + begins[turn];
            for (const Index row : list) {
                std::copy_n(numbers, a.columns, u.row(row));
                numbers += a.columns;
            }
        }
        MPI_Waitall(count_of(static_cast<Index>(requests.size())), requests.data(), MPI_STATUSES_IGNORE);
        if (here != top) {
            unpack(replaced_[static_cast<std::size_t>(here)], replacing_.data(), a);
        }
    }

  private:
    static constexpr int replace_tag = 4;
    static constexpr int gather_tag = 5;

    /// Of the process with this number, counted round.
    static const std::vector<Index>& of(const std::vector<std::vector<Index>>& lists, std::size_t place) {
        return lists[place % lists.size()];
    }

    /// Which row of the matrix each row of U comes from, and which one each replaced row goes to. What a swap puts
    /// below the panel's top always began in that top.
    void plan_messages() {
        std::unordered_map<Index, Index> moved;  // row -> the row whose numbers it holds now
        const auto held = [&](Index row) {
            const auto found = moved.find(row);
            return found == moved.end() ? row : found->second;
        };
        for (const auto& [row, pivot] : swaps_) {
            const Index one = held(row);
            const Index two = held(pivot);
            moved[row] = two;
            moved[pivot] = one;
        }
        const auto places = static_cast<std::size_t>(rows_.places());
        sources_.assign(static_cast<std::size_t>(count_), 0);
        pivots_.assign(places, {});
        replaced_.assign(places, {});
        targets_.clear();
        for (Index c = 0; c < count_; ++c) {
            const Index source = held(start_ + c);
            sources_[static_cast<std::size_t>(c)] = source;
            pivots_[static_cast<std::size_t>(rows_.holder(source))].push_back(c);
        }
        for (const auto& [row, source] : moved) {
            if (row >= start_ + count_ && row != source) {
                targets_.emplace_back(source, row);
            }
        }
        std::sort(targets_.begin(), targets_.end());
        for (std::size_t each = 0; each < targets_.size(); ++each) {
            replaced_[static_cast<std::size_t>(rows_.holder(targets_[each].second))].push_back(
                static_cast<Index>(each));
        }
    }

    /// Rows of `a`, one after the other.
    void pack(const RowView& a, const std::vector<Index>& sources, const std::vector<Index>& list,
              double* to) const {
        for (const Index each : list) {
            to = std::copy_n(a.row(rows_.before(sources[static_cast<std::size_t>(each)])), a.columns, to);
        }
    }

    /// Rows that were replaced, to where they go.
    void unpack(const std::vector<Index>& list, const double* numbers, const RowView& a) const {
        for (const Index each : list) {
            std::copy_n(numbers, a.columns, a.row(rows_.before(targets_[static_cast<std::size_t>(each)].second)));
            numbers += a.columns;
        }
    }

    /// The process with the panel's top gives the others the rows that go to them; what stays there moves at once.
    void replace(const RowView& a, int top, std::vector<MPI_Request>& requests) {
        const auto columns = static_cast<std::size_t>(a.columns);
        if (rows_.place() != top) {
            const std::size_t size = replaced_[static_cast<std::size_t>(rows_.place())].size() * columns;
            replacing_.resize(size);
            if (size > 0) {
                MPI_Irecv(replacing_.data(), count_of(static_cast<Index>(size)), MPI_DOUBLE, top, replace_tag,
                          comm_, &requests.emplace_back());
            }
            return;
        }
        std::vector<Index> sources;
        for (const auto& target : targets_) {
            sources.push_back(target.first);
        }
        replacing_.resize(targets_.size() * columns);
        double* to = replacing_.data();
        for (int place = 0; place < rows_.places(); ++place) {
            const std::vector<Index>& list = replaced_[static_cast<std::size_t>(place)];
            const std::size_t size = list.size() * columns;
            if (size == 0) {
                continue;
            }
            pack(a, sources, list, to);
            if (place != top) {
                MPI_Isend(to, count_of(static_cast<Index>(size)), MPI_DOUBLE, place, replace_tag, comm_,
                          &requests.emplace_back());
            } else {
                unpack(list, to, a);
            }
            to += size;
        }
    }

    /// Every process gets the pivot rows of all: in P - 1 steps round a ring, or in ceil(log2 P) steps in which
    /// each passes on all that it has.
    void gather(const std::vector<std::size_t>& begins) {
        const int size = rows_.places();
        const int here = rows_.place();
        const auto numbers = [&](int turn) { return gathered_.data() + begins[static_cast<std::size_t>(turn)]; };
        const auto length = [&](int turn, int turns) {
            return count_of(static_cast<Index>(begins[static_cast<std::size_t>(turn + turns)] -
                                               begins[static_cast<std::size_t>(turn)]));
        };
        // What is `turn` places ahead of this process came, or comes, from there.
        for (int have = 1; have < size;) {
            const int take = exchange_ == Exchange::ring ? 1 : std::min(have, size - have);
            const int to = exchange_ == Exchange::ring ? here + size - 1 : here + size - have;
            const int from = exchange_ == Exchange::ring ? here + 1 : here + have;
            const int first = exchange_ == Exchange::ring ? have - 1 : 0;
            MPI_Sendrecv(numbers(first), length(first, take), MPI_DOUBLE, to % size, gather_tag, numbers(have),
                         length(have, take), MPI_DOUBLE, from % size, gather_tag, comm_, MPI_STATUS_IGNORE);
            have += take;
        }
    }

    MPI_Comm comm_;
    Deal rows_;
    Exchange exchange_;
    Index start_ = 0;
    Index count_ = 0;
    std::vector<std::pair<Index, Index>> swaps_;
    std::vector<Index> sources_;                    ///< row of U -> row of the matrix
    std::vector<std::pair<Index, Index>> targets_;  ///< from row, to row
    std::vector<std::vector<Index>> pivots_;        ///< process -> rows of U that it holds
    std::vector<std::vector<Index>> replaced_;      ///< process -> numbers of `targets_` that go to it
    std::vector<double> gathered_;
    std::vector<double> replacing_;
};

}  // namespace assay::hpl
