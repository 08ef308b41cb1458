// What each rank gives to a collective operation, and what it must receive.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "benchmarks/collectives/collective_options.hpp"
#include "harness/memory.hpp"
#include "harness/payload.hpp"

namespace assay::collective {

/// Terms of the reductions: whole numbers, so that every order of additions gives the same sum.
inline double term(int rank, std::size_t index) {
    constexpr std::size_t period = 1021;  // a prime: no block of a power of two repeats
    return static_cast<double>(rank + 1) * static_cast<double>(1 + index % period);
}

/// Sum of `term` over ranks 0 to ranks - 1; exact below 2^53.
inline double sum_of_terms(int ranks, std::size_t index) { return term(0, index) * ranks * (ranks + 1) / 2; }

/// The buffers of one rank: one block, or consecutive blocks for all ranks, to send from and to receive into.
class Blocks {
  public:
    /// Fills and touches them. Failure if there is not enough memory.
    Blocks(Memory& memory, const Options& options, int rank, int ranks)
        : options_(options), rank_(rank), ranks_(ranks), portions_(portions_of(options.bytes, ranks)) {
        const auto all = static_cast<std::size_t>(ranks);
        const Operation operation = options.operation;
        to_each_ = operation == Operation::scatter || operation == Operation::alltoall;
        from_each_ = operation == Operation::gather || operation == Operation::allgather ||
                     operation == Operation::alltoall;
        sent_ = memory.allocate(std::max<std::size_t>(1, (to_each_ ? all : 1) * options.bytes));
        received_ = memory.allocate(std::max<std::size_t>(1, received_bytes()));
        fill_sent();
        overwrite();
    }

    [[nodiscard]] std::byte* sent() const { return sent_; }
    [[nodiscard]] std::byte* received() const { return received_; }

    /// Doubles of the sum for each rank: equal parts; the first ones are larger by one if the sum does not
    /// divide.
    [[nodiscard]] const std::vector<int>& portions() const { return portions_; }

    /// Overwrites the receive buffer: what is found there later was received since.
    void overwrite() {
        std::fill_n(received_, received_bytes(), std::byte{0xA5});
        root_.reset();
    }

    /// Notes that the operation was done with this root (if it has one).
    void done(int root) {
        if (receives_from(root)) {
            root_ = root;
        }
    }

    /// Share of the data that should have been received since `overwrite` and is wrong.
    [[nodiscard]] double wrong() const {
        if (!root_ || options_.bytes == 0) {
            return 0;
        }
        return adds(options_.operation) ? wrong_sums() : wrong_blocks(*root_);
    }

  private:
    static std::vector<int> portions_of(std::size_t bytes, int ranks) {
        const auto elements = static_cast<int>(bytes / sizeof(double));
        std::vector<int> portions(static_cast<std::size_t>(ranks), elements / ranks);
        std::for_each_n(portions.begin(), elements % ranks, [](int& portion) { ++portion; });
        return portions;
    }

    [[nodiscard]] bool receives_from(int root) const {
        switch (options_.operation) {
            case Operation::bcast:
                return root != rank_;
            case Operation::reduce:
            case Operation::gather:
                return root == rank_;
            default:
                return true;
        }
    }

    [[nodiscard]] std::size_t received_bytes() const {
        return (from_each_ ? static_cast<std::size_t>(ranks_) : 1) * options_.bytes;
    }

    void fill_sent() const {
        if (adds(options_.operation)) {
            for (std::size_t index = 0; index < options_.bytes / sizeof(double); ++index) {
                const double value = term(rank_, index);
                std::memcpy(sent_ + index * sizeof(double), &value, sizeof(double));
            }
            return;
        }
        for (std::size_t block = 0; block < (to_each_ ? static_cast<std::size_t>(ranks_) : 1); ++block) {
            fill(sent_ + block * options_.bytes, options_.bytes, {static_cast<std::uint64_t>(rank_), block});
        }
    }

    [[nodiscard]] double wrong_sums() const {
        const auto mine = static_cast<std::size_t>(rank_);
        const bool part = options_.operation == Operation::reduce_scatter;
        std::size_t first = 0;
        for (std::size_t rank = 0; part && rank < mine; ++rank) {
            first += static_cast<std::size_t>(portions_[rank]);
        }
        const std::size_t count =
            part ? static_cast<std::size_t>(portions_[mine]) : options_.bytes / sizeof(double);
        std::size_t wrong = 0;
        for (std::size_t index = 0; index < count; ++index) {
            double found = 0;
            std::memcpy(&found, received_ + index * sizeof(double), sizeof(double));
            wrong += found == sum_of_terms(ranks_, first + index) ? 0 : 1;
        }
        return count == 0 ? 0 : static_cast<double>(wrong) / static_cast<double>(count);
    }

    [[nodiscard]] double wrong_blocks(int root) const {
        const auto blocks = static_cast<std::size_t>(from_each_ ? ranks_ : 1);
        std::size_t wrong = 0;
        for (std::size_t block = 0; block < blocks; ++block) {
            const std::uint64_t sender = from_each_ ? block : static_cast<std::uint64_t>(root);
            const std::uint64_t index = to_each_ ? static_cast<std::uint64_t>(rank_) : 0;
            wrong += wrong_bytes(received_ + block * options_.bytes, options_.bytes, {sender, index});
        }
        return static_cast<double>(wrong) / static_cast<double>(blocks * options_.bytes);
    }

    Options options_;
    int rank_;
    int ranks_;
    std::vector<int> portions_;
    bool to_each_ = false;
    bool from_each_ = false;
    std::byte* sent_ = nullptr;
    std::byte* received_ = nullptr;
    std::optional<int> root_;  ///< of the last operation in which this rank received
};

}  // namespace assay::collective
