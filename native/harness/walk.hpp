// The order in which cold blocks are visited.
#pragma once

#include <cstddef>

namespace assay {

/// Goes through `slots` equal blocks for ever, each once in a round. Between a block and its neighbour lies at
/// least a third of a round (a quarter, a sixth and three tenths where there are 4, 6 and 10), so that a line
/// fetched beside the one that was wanted is gone from the caches before its turn comes.
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
