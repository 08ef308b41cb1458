// A random cycle through the lines of a buffer, for walks in which each load waits for the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/memory.hpp"

namespace assay {

/// Lines of `line` bytes, each of which begins with the address of the next: one cycle through all of them,
/// drawn uniformly from all such cycles, so that no prefetcher can predict the next line.
class PointerCycle {
  public:
    /// Failure if `bytes` hold no line, or more than 2^32. The calling thread, on `cpu`, touches the lines
    /// first.
    PointerCycle(Memory& memory, std::size_t bytes, std::size_t line, std::uint64_t seed, int cpu);

    /// From the axes `bytes`, `line`, `seed` and `pages` (small or huge) of a case.
    static PointerCycle of(const Setting& setting);

    /// Follows the cycle for so many loads from the end of the last walk.
    void walk(std::uint64_t loads) {
        const Line* line = position_;
        for (; loads >= unrolled; loads -= unrolled) {
            for (int load = 0; load < unrolled; ++load) {
                line = line->next;
            }
        }
        for (; loads > 0; --loads) {
            line = line->next;
        }
        position_ = line;
    }

    [[nodiscard]] std::size_t lines() const { return lines_; }

    /// The current line.
    [[nodiscard]] const void* at() const { return position_; }

    /// Place of the current line in the cycle, from 0.
    [[nodiscard]] std::uint64_t place() const { return position_->place; }

    /// Walks whole laps until their times agree: afterwards the caches hold what they hold in an endless walk,
    /// and no longer the lines just written. Returns the number of lines with a wrong successor. If it is 0, a
    /// walk of `lines()` loads from any line visits each line once and comes back, because all places are
    /// different.
    [[nodiscard]] std::size_t settle() const;

  private:
    /// A lap is walked in stretches, one after another, and each stretch by several walks at once: about as many
    /// as a core has loads from memory in flight.
    static constexpr std::size_t walks = 16;
    static constexpr std::size_t stretches = 64;

    static constexpr int unrolled = 16;

    struct Line {
        Line* next;
        std::uint64_t place;
    };

    [[nodiscard]] bool returns_to_start() const;
    [[nodiscard]] std::size_t broken() const;
    [[nodiscard]] bool is_intact(std::size_t stretch) const;

    /// Place where a walk of a lap begins, and the previous one ends.
    [[nodiscard]] std::uint64_t begin_of(std::size_t walk) const {
        return lines_ / (walks * stretches) * walk + lines_ % (walks * stretches) * walk / (walks * stretches);
    }

    [[nodiscard]] Line& line_of(std::size_t index) const {
        return *reinterpret_cast<Line*>(buffer_ + index * line_bytes_);
    }

    std::byte* buffer_;
    std::size_t line_bytes_;
    std::size_t lines_;
    const Line* position_;
    std::vector<const Line*> begins_;  ///< of the walks of a lap, then the first again
};

}  // namespace assay
