// The P x Q process grid of an LU, and the broadcast of a panel along one of its rows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace assay::hpl {

/// Count of a message: MPI counts in int.
inline int count_of(std::int64_t numbers) { return static_cast<int>(numbers); }

/// HPL's row-major mapping: rank r is at row r / Q and column r % Q.
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
    /// The processes of this row: the rank in it is the column.
    [[nodiscard]] MPI_Comm along_row() const { return along_row_; }
    [[nodiscard]] MPI_Comm along_column() const { return along_column_; }

    /// Counts numbers that this process sends.
    void count_sent(std::int64_t numbers) const { sent_ += numbers; }
    /// Bytes of all messages of this process so far.
    [[nodiscard]] double sent_bytes() const { return static_cast<double>(sent_) * sizeof(double); }

  private:
    int p_;
    int q_;
    int row_ = 0;
    int column_ = 0;
    MPI_Comm along_row_ = MPI_COMM_NULL;
    MPI_Comm along_column_ = MPI_COMM_NULL;
    mutable std::int64_t sent_ = 0;
};

enum class Algorithm { ring, modified_ring, spread_roll, library, shared };

inline Algorithm algorithm_named(const std::string& word) {
    return word == "ring"            ? Algorithm::ring
           : word == "modified-ring" ? Algorithm::modified_ring
           : word == "long"          ? Algorithm::spread_roll
           : word == "library"       ? Algorithm::library
                                     : Algorithm::shared;
}

/// The broadcast of a panel along a row of the grid; each call of `progress` advances it.
///
/// Ring: each process passes it to the next one. Modified ring: the first process sends it to the second, which
/// keeps it (it factors the next panel), and to the third, which passes it on. Long (spread-roll): it is
/// scattered in one piece per process, and the pieces roll round a ring: no process sends much more than one
/// panel. Library: MPI_Ibcast. Shared: the processes read it in shared memory; a message says that it is ready.
class Broadcast {
  public:
    Broadcast(const Grid& grid, Algorithm algorithm)
        : grid_(grid),
          comm_(grid.along_row()),
          size_(grid.columns()),
          at_(grid.column()),
          algorithm_(algorithm),
          pieces_(algorithm == Algorithm::spread_roll ? size_ : 1),
          arrivals_(static_cast<std::size_t>(pieces_)),
          receive_(arrivals_.size(), MPI_REQUEST_NULL),
          send_(2 * static_cast<std::size_t>(size_), MPI_REQUEST_NULL) {}
    Broadcast(const Broadcast&) = delete;
    Broadcast& operator=(const Broadcast&) = delete;
    Broadcast(Broadcast&&) = delete;
    Broadcast& operator=(Broadcast&&) = delete;
    /// If a case ends before its panels arrive, nothing waits for them.
    ~Broadcast() = default;

    void start(int root, double* numbers, std::int64_t count) {
        numbers_ = numbers;
        count_ = algorithm_ == Algorithm::shared ? 0 : count;
        distance_ = (at_ - root + size_) % size_;
        expected_ = 0;
        arrived_ = 0;
        if (size_ == 1) {
            return;
        }
        if (algorithm_ == Algorithm::library) {
            MPI_Ibcast(numbers_, count_of(count_), MPI_DOUBLE, root, comm_, receive_.data());
            grid_.count_sent(at_ == root ? count_ * (size_ - 1) : 0);  // only the library knows who passes it on
            expected_ = 1;
        } else if (distance_ == 0) {
            send_all();
        } else {
            receive_all(root);
        }
    }

    /// Lets MPI make progress, and passes on what has arrived. Returns whether nothing is in flight any more.
    bool progress() {
        int done = 0;
        for (; arrived_ < expected_; arrive()) {
            MPI_Test(&receive_[arrived_], &done, MPI_STATUS_IGNORE);
            if (done == 0) {
                return false;
            }
        }
        MPI_Testall(sending_, send_.data(), &done, MPI_STATUSES_IGNORE);
        return done != 0;
    }

    /// Waits until the panel is here.
    void wait() {
        for (; arrived_ < expected_; arrive()) {
            MPI_Wait(&receive_[arrived_], MPI_STATUS_IGNORE);
        }
    }

    /// Waits until the panel's memory may be reused.
    void finish() {
        MPI_Waitall(sending_, send_.data(), MPI_STATUSES_IGNORE);
        sending_ = 0;
    }

  private:
    static constexpr int tag = 7;

    /// Offset of a piece.
    [[nodiscard]] std::int64_t begin(int piece) const { return count_ * piece / pieces_; }
    [[nodiscard]] int length(int piece) const { return count_of(begin(piece + 1) - begin(piece)); }

    void receive(int piece, int from) {
        arrivals_[expected_] = piece;
        MPI_Irecv(numbers_ + begin(piece), length(piece), MPI_DOUBLE, from, tag + piece, comm_,
                  &receive_[expected_]);
        ++expected_;
    }

    void send(int piece, int to) {
        MPI_Isend(numbers_ + begin(piece), length(piece), MPI_DOUBLE, to % size_, tag + piece, comm_,
                  &send_[static_cast<std::size_t>(sending_)]);
        grid_.count_sent(length(piece));
        ++sending_;
    }

    /// What the process with the panel sends.
    void send_all() {
        const bool to_all = algorithm_ == Algorithm::shared || algorithm_ == Algorithm::spread_roll;
        for (int to = 1; to < size_; ++to) {
            if (to_all || to == 1 || (to == 2 && algorithm_ == Algorithm::modified_ring)) {
                send(pieces_ > 1 ? to : 0, at_ + to);
            }
        }
        for (int turn = 0; turn + 2 <= pieces_; ++turn) {  // all except the next process's own piece
            send((size_ - turn) % size_, at_ + 1);
        }
    }

    void receive_all(int root) {
        const int before = (at_ + size_ - 1) % size_;
        if (algorithm_ == Algorithm::spread_roll) {
            receive(distance_, root);
            for (int turn = 1; turn < size_; ++turn) {
                receive((distance_ - turn + size_) % size_, before);
            }
        } else {
            receive(0,
                    algorithm_ == Algorithm::shared || (algorithm_ == Algorithm::modified_ring && distance_ == 2)
                        ? root
                        : before);
        }
    }

    /// Passes what has arrived to the next process.
    void arrive() {
        const int piece = arrivals_[arrived_];
        ++arrived_;
        const bool keeps = algorithm_ == Algorithm::library || algorithm_ == Algorithm::shared ||
                           distance_ + 1 == size_ || (algorithm_ == Algorithm::modified_ring && distance_ == 1) ||
                           (algorithm_ == Algorithm::spread_roll && piece == distance_ + 1);
        if (!keeps) {
            send(piece, at_ + 1);
        }
    }

    const Grid& grid_;
    MPI_Comm comm_;
    int size_;
    int at_;
    Algorithm algorithm_;
    int pieces_;
    double* numbers_ = nullptr;
    std::int64_t count_ = 0;
    int distance_ = 0;          ///< from the process with the panel
    std::size_t expected_ = 0;  ///< number of pieces
    std::size_t arrived_ = 0;
    std::vector<int> arrivals_;  ///< pieces in the order of their arrival
    std::vector<MPI_Request> receive_;
    std::vector<MPI_Request> send_;
    int sending_ = 0;
};

}  // namespace assay::hpl
