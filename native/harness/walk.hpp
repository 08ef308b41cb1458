// The order of visits to cold blocks.
#pragma once

#include <cstddef>

namespace assay {

/// Visits `slots` equal blocks endlessly, each once in a round. A block and its neighbour are at least a third
/// of a round apart (a quarter, a sixth and three tenths for 4, 6 and 10 slots), so that a neighbouring line
/// that was fetched as well has left the caches before its turn.
class Walk {
  public:
    explicit Walk(std::size_t slots);

    std::size_t next() {
        const std::size_t slot = slot_;
        slot_ = slot_ + step_ < slots_ ? slot_ + step_ : slot_ + step_ - slots_;
        return slot;
    }

  private:
    std::size_t slots_;
    std::size_t step_;
    std::size_t slot_ = 0;
};

}  // namespace assay
