#include "harness/ring.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "harness/failure.hpp"

namespace assay {
namespace {

/// Where the kernel does not say how large the caches are.
constexpr std::size_t unknown_cache = std::size_t{64} << 20U;

/// Of the largest cache that the cpu has. The C library knows too, but on AMD tells the sum of a whole socket.
std::size_t last_level_cache(int cpu) {
    const std::string caches = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index";
    std::size_t largest = 0;
    for (int index = 0; std::ifstream file{caches + std::to_string(index) + "/size"}; ++index) {
        std::size_t kibibytes = 0;
        file >> kibibytes;
        largest = std::max(largest, kibibytes << 10U);
    }
    return largest > 0 ? largest : unknown_cache;
}

}  // namespace

Ring::Ring(Memory& memory, std::size_t bytes, std::size_t line, std::uint64_t seed)
    : line_bytes_(line), lines_(bytes / line) {
    if (lines_ == 0 || lines_ > std::numeric_limits<std::uint32_t>::max() || line % sizeof(Line) != 0) {
        throw Failure(Exit::failed,
                      "a working set of " + std::to_string(bytes) + " bytes cannot be walked in lines of " +
                          std::to_string(line),
                      "it needs 1 to 2^32 whole lines of a multiple of " + std::to_string(sizeof(Line)) + " bytes",
                      "--bytes 64K --line 64");
    }
    buffer_ = memory.allocate(bytes);
    for (std::size_t index = 0; index < lines_; ++index) {  // first touch, in order: then the faults are cheap
        line_of(index).next = nullptr;
    }
    // An order of the lines, each as likely as any other (Fisher and Yates), closed to a ring: the same choice
    // among all cycles as Sattolo's, but the stores that make it need not wait for each other.
    Memory scratch{MemoryPolicy{}};
    auto* order = reinterpret_cast<std::uint32_t*>(scratch.allocate(lines_ * sizeof(std::uint32_t)));
    std::iota(order, order + lines_, std::uint32_t{0});
    std::mt19937_64 random(seed);
    for (std::size_t last = lines_ - 1; last > 0; --last) {
        std::swap(order[last], order[random() % (last + 1)]);
    }
    for (std::size_t place = 0; place < lines_; ++place) {
        line_of(order[place]) = {&line_of(order[place + 1 < lines_ ? place + 1 : 0]), place};
    }
    position_ = &line_of(order[0]);
}

Ring Ring::of(const Setting& setting) {
    const Params& params = setting.params;
    setting.memory->use(params.word("pages") == "huge" ? Pages::huge : Pages::small);
    return {*setting.memory, static_cast<std::size_t>(params.number("bytes")),
            static_cast<std::size_t>(params.number("line")), static_cast<std::uint64_t>(params.number("seed"))};
}

void Ring::warm(int cpu) { walk(std::min(lines_, 2 * last_level_cache(cpu) / line_bytes_)); }

std::size_t Ring::broken() const {
    std::size_t wrong = 0;
    for (std::size_t index = 0; index < lines_; ++index) {
        const Line& line = line_of(index);
        wrong += line.next->place == (line.place + 1 < lines_ ? line.place + 1 : 0) ? 0 : 1;
    }
    return wrong;
}

}  // namespace assay
