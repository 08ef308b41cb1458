// The rate of the C library's memcpy by size, inside and outside the caches, like NetPIPE's memcpy module.
#include "declared/memcpy.hpp"

#include <algorithm>
#include <cstring>

#include "harness/program.hpp"
#include "harness/walk.hpp"

namespace {

using assay::Setting;

constexpr std::size_t line_bytes = 64;
/// Offset of targets from sources modulo a page: loads then do not wait for stores whose low address bits are
/// equal.
constexpr std::size_t stagger_bytes = 2048 + line_bytes;

using Copy = void* (*)(void*, const void*, std::size_t);
/// volatile: the compiler cannot know which function is called, so it must call it.
Copy volatile const library_copy = std::memcpy;

/// The source's bytes at a place: never 0, which is what overwritten targets hold.
std::uint64_t pattern(std::size_t word) {
    constexpr std::uint64_t odd_bytes = 0x0101010101010101;
    return (word * 0x9E3779B97F4A7C15U ^ word >> 7U) | odd_bytes;
}

class Memcpy : public assay::Benchmark {
  public:
    explicit Memcpy(const Setting& setting)
        : bytes_(static_cast<std::size_t>(
              std::max<std::int64_t>(1, setting.params.number("bytes") + setting.params.number("offset")))),
          stride_((bytes_ + line_bytes - 1) / line_bytes * line_bytes),
          slots_(slots_of(setting.params, stride_)),
          walk_(slots_),
          visited_(walk_) {
        const std::size_t pool = slots_ * stride_;
        const std::size_t lead = (pool + 4095) / 4096 * 4096 + stagger_bytes;
        source_ = setting.memory->allocate(lead + pool, assay::Touch::by_one(setting.cpus.front()));
        target_ = source_ + lead;
        auto* words = reinterpret_cast<std::uint64_t*>(source_);
        for (std::size_t word = 0; word < pool / sizeof(std::uint64_t); ++word) {
            words[word] = pattern(word);
        }
        std::fill(target_, target_ + pool, std::byte{0});
    }

    [[nodiscard]] assay::Work work() const override {
        return {{"memcpy", {{"bytes", static_cast<double>(bytes_)}}}};
    }

    void prepare(std::size_t /*kernel*/) override {
        for_visited([&](std::size_t place) { std::fill_n(target_ + place, bytes_, std::byte{0}); });
        visited_ = walk_;
        copies_ = 0;
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        const Copy copy = library_copy;
        assay::Walk walk = walk_;
        for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
            const std::size_t place = walk.next() * stride_;
            copy(target_ + place, source_ + place, bytes_);
        }
        walk_ = walk;
        copies_ += iterations;
    }

    /// Share of the targets that do not hold the bytes of their source.
    double verify(std::size_t /*kernel*/) override {
        std::uint64_t wrong = 0;
        std::uint64_t targets = 0;
        for_visited([&](std::size_t place) {
            wrong += std::equal(target_ + place, target_ + place + bytes_, source_ + place) ? 0U : 1U;
            ++targets;
        });
        return static_cast<double>(wrong) / static_cast<double>(targets);
    }

    [[nodiscard]] double tolerance() const override { return 0; }

  private:
    static std::size_t slots_of(const assay::Params& params, std::size_t stride) {
        const bool cold = params.word("buffers") == "cold";
        return cold ? std::max<std::size_t>(1, static_cast<std::size_t>(params.number("pool")) / stride) : 1;
    }

    /// Calls visit(place) for each block that was copied since `prepare`.
    template <class Visit>
    void for_visited(const Visit& visit) const {
        assay::Walk walk = visited_;
        for (std::uint64_t copy = 0; copy < std::min<std::uint64_t>(copies_, slots_); ++copy) {
            visit(walk.next() * stride_);
        }
    }

    std::size_t bytes_;
    std::size_t stride_;
    std::size_t slots_;
    assay::Walk walk_;
    assay::Walk visited_;  ///< position of the walk at `prepare`
    std::uint64_t copies_ = 0;
    std::byte* source_;
    std::byte* target_;
};

}  // namespace

int main(int argc, char** argv) { return assay::run_program<Memcpy>(assay::declared::memcpy, argc, argv); }
