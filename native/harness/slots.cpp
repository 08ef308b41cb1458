#include "harness/slots.hpp"

#include <algorithm>

#include "harness/barrier.hpp"
#include "harness/payload.hpp"

namespace assay {
namespace {

constexpr std::byte invalid_value{0xA5};

}  // namespace

std::size_t Layout::place(std::size_t index) const {
    const std::size_t cell = 2 * block();
    constexpr std::size_t odd = 0x9E3779B97F4A7C15;
    const bool second = kind == Kind::indexed && (index * odd >> 60U) % 2 == 1;
    return index * cell + (second ? block() : 0);
}

std::size_t Slots::stride(const Layout& layout, std::size_t alignment) {
    // Neighbours share neither a cache line nor a pair of lines that is fetched together.
    const std::size_t grain = std::max(interference_bytes, 2 * alignment);
    return (std::max<std::size_t>(1, layout.extent()) + grain - 1) / grain * grain;
}

Slots::Slots(Memory& memory, const Layout& layout, const Spacing& spacing)
    : layout_(layout),
      count_(spacing.count),
      stride_(stride(layout, spacing.alignment)),
      first_(memory.allocate(spacing.alignment + count_ * stride_) + spacing.alignment) {}

void Slots::fill(std::uint64_t sender) const {
    for (std::size_t slot = 0; slot < count_; ++slot) {
        if (layout_.kind == Layout::Kind::contiguous) {
            assay::fill(at(slot), layout_.bytes, {sender, slot});
            continue;
        }
        message_.resize(layout_.bytes);
        assay::fill(message_.data(), layout_.bytes, {sender, slot});
        overwrite(slot);
        for (std::size_t byte = 0; byte < layout_.bytes; byte += layout_.block()) {
            std::copy_n(message_.data() + byte, layout_.block(), at(slot) + layout_.place(byte / layout_.block()));
        }
    }
}

void Slots::overwrite(std::size_t slot) const { std::fill_n(at(slot), layout_.extent(), invalid_value); }

bool Slots::right(std::size_t slot, std::uint64_t sender) const {
    if (layout_.kind == Layout::Kind::contiguous) {
        return wrong_bytes(at(slot), layout_.bytes, {sender, slot}) == 0;
    }
    message_.resize(layout_.bytes);
    std::size_t in_gaps = 0;
    for (std::size_t byte = 0; byte < layout_.bytes; byte += layout_.block()) {
        const std::size_t index = byte / layout_.block();
        const std::byte* cell = at(slot) + 2 * byte;
        const std::byte* block = at(slot) + layout_.place(index);
        const std::byte* gap = block == cell ? cell + layout_.block() : cell;
        std::copy_n(block, layout_.block(), message_.data() + byte);
        in_gaps += std::all_of(gap, gap + layout_.block(), [](std::byte found) { return found == invalid_value; })
                       ? 0
                       : 1;
    }
    return in_gaps == 0 && wrong_bytes(message_.data(), layout_.bytes, {sender, slot}) == 0;
}

}  // namespace assay
