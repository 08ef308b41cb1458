// Where panels are stored while they are factored, broadcast and used.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "benchmarks/linear_algebra/hpl_panel.hpp"

namespace assay::hpl {

/// Numbers of one process in memory shared with others on its node. Nothing of it is left when all have ended.
class SharedNumbers {
  public:
    SharedNumbers() = default;
    SharedNumbers(const SharedNumbers&) = delete;
    SharedNumbers& operator=(const SharedNumbers&) = delete;
    SharedNumbers(SharedNumbers&& other) noexcept { swap(other); }
    SharedNumbers& operator=(SharedNumbers&& other) noexcept {
        swap(other);
        return *this;
    }
    ~SharedNumbers() {
        if (first_ != nullptr) {
            munmap(first_, bytes_);
        }
    }

    /// Creates the object of this name, or opens one that another process has created; stays empty if the system
    /// has no room.
    SharedNumbers(const std::string& name, Index count, bool make)
        : bytes_(static_cast<std::size_t>(count) * sizeof(double)) {
        const int file = shm_open(name.c_str(), make ? O_RDWR | O_CREAT | O_EXCL : O_RDWR, S_IRUSR | S_IWUSR);
        if (file < 0) {
            return;
        }
        // Room is reserved at once: without it the first touch would end the process.
        const auto length = static_cast<off_t>(bytes_);
        if (!make || posix_fallocate(file, 0, length) == 0) {
            constexpr int flags = MAP_SHARED | MAP_POPULATE;  // no page fault while panels are timed
            void* place = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags, file, 0);
            first_ = place == MAP_FAILED ? nullptr : static_cast<double*>(place);
        }
        close(file);
        if (make && first_ == nullptr) {
            shm_unlink(name.c_str());
        }
    }

    [[nodiscard]] double* first() const { return first_; }

  private:
    void swap(SharedNumbers& other) noexcept {
        std::swap(first_, other.first_);
        std::swap(bytes_, other.bytes_);
    }

    double* first_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Two panels of each process: the current one, and the next one.
///
/// If all processes of a grid row are on one node and share their panels, no process copies one: each reads it
/// where it was factored. A process factors its next but one panel into the same memory. By then every other
/// process has begun a later step: it has factored a panel of its own, for which it needed the earlier ones. So
/// no message is needed to say that a panel was read.
class Panels {
  public:
    /// Collective along the grid row. `own`: room for two panels of so many numbers, for panels that are not
    /// shared.
    Panels(const Grid& grid, bool share, double* own, Index numbers)
        : comm_(grid.along_row()), here_(grid.column()), columns_(grid.columns()), numbers_(numbers) {
        places_ = {own, own + numbers};
        if (share && columns_ > 1 && all_of_row(on_one_node())) {
            share_panels();
        }
    }

    [[nodiscard]] bool shared() const { return !row_.empty(); }

    /// Memory of panel k, which the process at `owner` of the grid row factors.
    [[nodiscard]] double* place(Index k, int owner) const {
        return shared() ? row_[static_cast<std::size_t>(owner)].first() + k / columns_ % 2 * numbers_
                        : places_.at(static_cast<std::size_t>(k % 2));
    }

    /// What was written before a message is visible after it.
    void agree() const { std::atomic_thread_fence(std::memory_order_seq_cst); }

  private:
    [[nodiscard]] bool all_of_row(bool here) const {
        int all = here ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_);
        return all == 1;
    }

    [[nodiscard]] bool on_one_node() const {
        MPI_Comm near = MPI_COMM_NULL;
        int count = 0;
        MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
        MPI_Comm_size(near, &count);
        MPI_Comm_free(&near);
        return count == columns_;
    }

    /// Each process creates its own panels and opens those of the others. If one process fails, no process
    /// shares.
    void share_panels() {
        const std::string stem = "/assay-hpl-" + std::to_string(agreed_number()) + "-";
        const auto name = [&](int owner) { return stem + std::to_string(owner); };
        SharedNumbers own(name(here_), 2 * numbers_, true);
        const bool made = own.first() != nullptr;
        bool whole = all_of_row(made);
        std::vector<SharedNumbers> row(static_cast<std::size_t>(columns_));
        for (int owner = 0; owner < columns_ && whole; ++owner) {
            SharedNumbers& of = row[static_cast<std::size_t>(owner)];
            of = owner == here_ ? std::move(own) : SharedNumbers(name(owner), 2 * numbers_, false);
        }
        whole = all_of_row(whole && std::all_of(row.begin(), row.end(), [](const SharedNumbers& each) {
                               return each.first() != nullptr;
                           }));
        if (made) {
            shm_unlink(name(here_).c_str());
        }
        if (whole) {
            row_ = std::move(row);
        }
    }

    /// A number for this grid row that no other grid row on this machine has at the same time.
    [[nodiscard]] std::int64_t agreed_number() const {
        static int made = 0;
        std::int64_t number = static_cast<std::int64_t>(getpid()) * 1'000'000 + made++;
        MPI_Bcast(&number, 1, MPI_INT64_T, 0, comm_);
        return number;
    }

    MPI_Comm comm_;
    int here_;
    int columns_;
    Index numbers_;
    std::array<double*, 2> places_{};
    std::vector<SharedNumbers> row_;  ///< of each process of the grid row; empty if panels are not shared
};

}  // namespace assay::hpl
