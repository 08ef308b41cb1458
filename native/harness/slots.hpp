// Message buffers: one that is reused, a few in turn, or a pool larger than the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/memory.hpp"
#include "harness/walk.hpp"

namespace assay {

/// Layout of a message in memory: contiguous, or blocks with gaps, one block in each cell of twice its size.
struct Layout {
    enum class Kind { contiguous, vector, indexed };

    Kind kind = Kind::contiguous;
    std::size_t bytes = 0;  ///< of the message

    /// Bytes of a block: 8, or the whole message if it is shorter.
    [[nodiscard]] std::size_t block() const { return bytes < sizeof(double) ? bytes : sizeof(double); }

    /// Where block `index` begins: in the first half of its cell; `indexed`: in an irregularly chosen half.
    [[nodiscard]] std::size_t place(std::size_t index) const;

    /// Bytes from the first to the last one, gaps included.
    [[nodiscard]] std::size_t extent() const { return kind == Kind::contiguous ? bytes : 2 * bytes; }
};

/// Number of buffers, and their alignment.
struct Spacing {
    std::size_t count = 1;
    std::size_t alignment = 64;  ///< the largest power of two that divides their addresses
};

/// Equal buffers in a row, of a sender or a receiver.
class Slots {
  public:
    /// Untouched. Failure if there is not enough memory.
    Slots(Memory& memory, const Layout& layout, const Spacing& spacing);

    [[nodiscard]] std::byte* at(std::size_t slot) const { return first_ + slot * stride_; }
    [[nodiscard]] std::size_t count() const { return count_; }

    /// Writes the messages that `sender` sends, different in each slot.
    void fill(std::uint64_t sender) const;

    /// Overwrites a slot: what is found there later was received since.
    void overwrite(std::size_t slot) const;

    /// Whether a slot holds what `sender` sends from it, and its gaps are unchanged.
    [[nodiscard]] bool right(std::size_t slot, std::uint64_t sender) const;

    /// Bytes from one slot to the next.
    static std::size_t stride(const Layout& layout, std::size_t alignment);

  private:
    Layout layout_;
    std::size_t count_;
    std::size_t stride_;
    std::byte* first_;
    mutable std::vector<std::byte> message_;  ///< contiguous copy, if the layout is not contiguous
};

}  // namespace assay
