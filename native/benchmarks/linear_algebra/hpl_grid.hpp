// The processes of an LU as a grid P x Q, and how a panel passes along a row of it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>

namespace assay::hpl {

/// A message, and another one of the same kind at once: MPI counts in int.
inline int count_of(std::int64_t numbers) { return static_cast<int>(numbers); }

/// Processes by rows, as HPL's row-major mapping: rank r is at row r / Q and column r % Q.
class Grid {
  public:
    Grid(MPI_Comm all, int p, int q) : p_(p), q_(q) {
        int rank = 0;
        MPI_Comm_rank(all, &rank);
        row_ = rank / q;
        column_ = rank % q;
        MPI_Comm_split(all, row_, column_, &along_row_);
        MPI_Comm_split(all, column_, row_, &along_column_);
    }
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;
    Grid(Grid&&) = delete;
    Grid& operator=(Grid&&) = delete;
    ~Grid() {
        MPI_Comm_free(&along_row_);
        MPI_Comm_free(&along_column_);
    }

    [[nodiscard]] int rows() const { return p_; }
    [[nodiscard]] int columns() const { return q_; }
    [[nodiscard]] int row() const { return row_; }
    [[nodiscard]] int column() const { return column_; }
    /// The processes of this row: the rank there is the column.
    [[nodiscard]] MPI_Comm along_row() const { return along_row_; }
    [[nodiscard]] MPI_Comm along_column() const { return along_column_; }

  private:
    int p_;
    int q_;
    int row_ = 0;
    int column_ = 0;
    MPI_Comm along_row_ = MPI_COMM_NULL;
    MPI_Comm along_column_ = MPI_COMM_NULL;
};

enum class Way { ring, modified_ring, library };

inline Way way_named(const std::string& word) {
    return word == "ring" ? Way::ring : word == "modified-ring" ? Way::modified_ring : Way::library;
}

/// A panel on its way along a row of the grid: it goes on whenever `progress` is called.
///
/// Ring: each process passes it to the next one. Modified ring: the first process passes it to the second, which
/// keeps it (it factors the next panel), and to the third, from where it goes on. Library: MPI_Ibcast.
class Broadcast {
  public:
    Broadcast(const Grid& grid, Way way)
        : comm_(grid.along_row()), size_(grid.columns()), at_(grid.column()), way_(way) {}
    Broadcast(const Broadcast&) = delete;
    Broadcast& operator=(const Broadcast&) = delete;
    Broadcast(Broadcast&&) = delete;
    Broadcast& operator=(Broadcast&&) = delete;
    /// Where a case ends before its panels came, nobody waits for them.
    ~Broadcast() = default;

    void start(int root, double* numbers, std::int64_t count) {
        numbers_ = numbers;
        count_ = count_of(count);
        root_ = root;
        came_ = at_ == root;
        if (size_ == 1) {
            return;
        }
        if (way_ == Way::library) {
            came_ = false;
            MPI_Ibcast(numbers_, count_, MPI_DOUBLE, root, comm_, &receive_);
        } else if (came_) {
            pass_on();
        } else {
            const int distance = (at_ - root + size_) % size_;
            const int before = way_ == Way::modified_ring && distance == 2 ? 2 : 1;
            MPI_Irecv(numbers_, count_, MPI_DOUBLE, (at_ - before + size_) % size_, tag, comm_, &receive_);
        }
    }

    /// Gives MPI the processor for a moment, and passes on what has come. Whether nothing is on its way any more.
    bool progress() {
        int done = 0;
        if (!came_) {
            MPI_Test(&receive_, &done, MPI_STATUS_IGNORE);
            if (done == 0) {
                return false;
            }
            receive_done();
        }
        MPI_Testall(sending_, send_.data(), &done, MPI_STATUSES_IGNORE);
        return done != 0;
    }

    /// Until the panel is here.
    void wait() {
        if (!came_) {
            MPI_Wait(&receive_, MPI_STATUS_IGNORE);
            receive_done();
        }
    }

    /// Until the panel's place may be used anew.
    void finish() {
        MPI_Waitall(sending_, send_.data(), MPI_STATUSES_IGNORE);
        sending_ = 0;
    }

  private:
    static constexpr int tag = 7;

    void receive_done() {
        came_ = true;
        if (way_ != Way::library) {
            pass_on();
        }
    }

    void send(int to) {
        MPI_Isend(numbers_, count_, MPI_DOUBLE, to % size_, tag, comm_,
                  &send_.at(static_cast<std::size_t>(sending_)));
        ++sending_;
    }

    void pass_on() {
        const int distance = (at_ - root_ + size_) % size_;
        const bool keeps = way_ == Way::modified_ring && distance == 1;
        if (distance + 1 < size_ && !keeps) {
            send(at_ + 1);
        }
        if (way_ == Way::modified_ring && distance == 0 && size_ > 2) {
            send(at_ + 2);
        }
    }

    MPI_Comm comm_;
    int size_;
    int at_;
    Way way_;
    double* numbers_ = nullptr;
    int count_ = 0;
    int root_ = 0;
    bool came_ = true;
    MPI_Request receive_ = MPI_REQUEST_NULL;
    std::array<MPI_Request, 2> send_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int sending_ = 0;
};

}  // namespace assay::hpl
