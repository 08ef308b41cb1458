// The send and receive buffers of one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "harness/slots.hpp"
#include "harness/walk.hpp"

namespace assay {

/// Slots to send from and to receive into, in the order of a walk: a message goes to the partner's slot of the
/// same number.
class Buffers {
  public:
    /// `rank` is the sender. Failure if there is not enough memory.
    Buffers(Memory& memory, const Layout& layout, const Spacing& spacing, int rank)
        : sent_(memory, layout, spacing),
          received_(memory, layout, spacing),
          walk_(spacing.count),
          visited_(walk_) {
        sent_.fill(static_cast<std::uint64_t>(rank));
        for (std::size_t slot = 0; slot < received_.count(); ++slot) {
            received_.overwrite(slot);
        }
    }

    [[nodiscard]] std::size_t count() const { return sent_.count(); }
    [[nodiscard]] std::byte* to_send(std::size_t slot) const { return sent_.at(slot); }
    [[nodiscard]] std::byte* to_receive(std::size_t slot) const { return received_.at(slot); }

    /// The slot of the next message.
    std::size_t next() {
        ++visits_;
        return walk_.next();
    }

    /// A copy of the walk: a thread that sends and receives at once visits the send slots with it.
    [[nodiscard]] Walk walk() const { return walk_; }

    /// Overwrites what was received since the last call.
    void prepare() {
        for_visited([&](std::size_t slot) { received_.overwrite(slot); });
        visited_ = walk_;
        visits_ = 0;
    }

    /// Share of the slots visited since `prepare` that do not hold what `partner` sends from them.
    [[nodiscard]] double wrong(int partner) const {
        std::uint64_t wrong = 0;
        std::uint64_t slots = 0;
        for_visited([&](std::size_t slot) {
            wrong += received_.right(slot, static_cast<std::uint64_t>(partner)) ? 0 : 1;
            ++slots;
        });
        return slots == 0 ? 1 : static_cast<double>(wrong) / static_cast<double>(slots);
    }

  private:
    template <class Visit>
    void for_visited(const Visit& visit) const {
        Walk walk = visited_;
        for (std::uint64_t visits = std::min<std::uint64_t>(visits_, received_.count()); visits > 0; --visits) {
            visit(walk.next());
        }
    }

    Slots sent_;
    Slots received_;
    Walk walk_;
    Walk visited_;  ///< position of the walk at `prepare`
    std::uint64_t visits_ = 0;
};

}  // namespace assay
