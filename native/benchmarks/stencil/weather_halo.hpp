// The halo exchange: two columns at each side of a block. The plane is periodic.
#pragma once

#include <mpi.h>

#include <array>

#include "benchmarks/stencil/weather_flow.hpp"

namespace assay::weather {

/// Fills the columns around some rows from both ends of the same rows, for a rank that has the whole plane.
inline void wrap(const Layout& layout, double* values, Part rows) {
    for (std::size_t row = rows.begin; row < rows.end; ++row) {
        for (std::size_t variable = 0; variable < variables; ++variable) {
            double* first = values + layout.at(row + halo, variable);
            double* end = first + layout.columns();
            std::copy(end - halo, end, first - halo);
            std::copy(first, first + halo, end);
        }
    }
}

/// The same for all rows, from the previous and the next rank; by one thread. A rank that is alone in `comm` does
/// all of this but passing messages: what it sends to one side it has got from the other.
class Halo {
  public:
    Halo(MPI_Comm comm, const Layout& layout) : layout_(layout) {
        int rank = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks_);
        const std::array<int, 2> neighbours{(rank + ranks_ - 1) % ranks_, (rank + 1) % ranks_};
        for (std::size_t side = 0; side < 2; ++side) {
            sent_[side].resize(layout.rows() * variables * halo);
            got_[side].resize(sent_[side].size());
            const auto count = static_cast<int>(sent_[side].size());
            // What goes to one side comes from the other: with two ranks both sides are the same rank.
            MPI_Recv_init(got_[side].data(), count, MPI_DOUBLE, neighbours[side], tag + static_cast<int>(1 - side),
                          comm, &requests_[side]);
            MPI_Send_init(sent_[side].data(), count, MPI_DOUBLE, neighbours[side], tag + static_cast<int>(side),
                          comm, &requests_[2 + side]);
        }
    }
    Halo(const Halo&) = delete;
    Halo& operator=(const Halo&) = delete;
    Halo(Halo&&) = delete;
    Halo& operator=(Halo&&) = delete;
    ~Halo() {
        for (MPI_Request& request : requests_) {
            MPI_Request_free(&request);
        }
    }

    void pass(double* values) {
        const std::size_t columns = layout_.columns();
        each_row(values, [&](const double* first, std::size_t place) {
            std::copy_n(first, halo, sent_[0].data() + place);
            std::copy_n(first + columns - halo, halo, sent_[1].data() + place);
        });
        if (ranks_ > 1) {
            MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
            MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
            sent_bytes_ += static_cast<double>(2 * sent_[0].size() * sizeof(double));
        } else {
            sent_[0].swap(got_[1]);
            sent_[1].swap(got_[0]);
        }
        each_row(values, [&](double* first, std::size_t place) {
            std::copy_n(got_[0].data() + place, halo, first - halo);
            std::copy_n(got_[1].data() + place, halo, first + columns);
        });
    }

    /// By this rank so far.
    [[nodiscard]] double sent_bytes() const { return sent_bytes_; }

  private:
    static constexpr int tag = 12;

    /// Calls visit(first value of a row and variable, place in a message).
    template <class Visit>
    void each_row(double* values, const Visit& visit) const {
        std::size_t place = 0;
        for (std::size_t row = 0; row < layout_.rows(); ++row) {
            for (std::size_t variable = 0; variable < variables; ++variable) {
                visit(values + layout_.at(row + halo, variable), place);
                place += halo;
            }
        }
    }

    const Layout& layout_;
    int ranks_ = 1;
    std::array<std::vector<double>, 2> sent_;
    std::array<std::vector<double>, 2> got_;
    std::array<MPI_Request, 4> requests_{};
    double sent_bytes_ = 0;
};

}  // namespace assay::weather
