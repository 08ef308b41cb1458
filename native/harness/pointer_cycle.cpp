#include "harness/pointer_cycle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "harness/clock.hpp"
#include "harness/failure.hpp"

namespace assay {
namespace {

constexpr std::size_t timed_lines = std::size_t{1} << 14U;  ///< shorter walks are too fast to be timed
constexpr std::size_t max_groups = 4;  ///< of laps; each has twice as many laps as the one before
constexpr double agree = 0.01;         ///< times of a lap that differ by no more are equal

}  // namespace

PointerCycle::PointerCycle(Memory& memory, std::size_t bytes, std::size_t line, std::uint64_t seed, int cpu)
    : line_bytes_(line), lines_(bytes / line) {
    if (lines_ == 0 || lines_ > std::numeric_limits<std::uint32_t>::max() || line % sizeof(Line) != 0) {
        throw Failure(Exit::failed,
                      "a working set of " + std::to_string(bytes) + " bytes cannot be walked in lines of " +
                          std::to_string(line),
                      "it needs 1 to 2^32 whole lines of a multiple of " + std::to_string(sizeof(Line)) + " bytes",
                      "--bytes 64K --line 64");
    }
    buffer_ = memory.allocate(bytes, Touch::by_one(cpu));
    for (std::size_t index = 0; index < lines_; ++index) {  // first touch, in order: then page faults are cheap
        line_of(index).next = nullptr;
    }
    // A random order of the lines, all equally likely (Fisher and Yates), closed to a ring: the same
    // distribution over all cycles as Sattolo's, but the stores do not wait for each other.
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
    for (std::size_t walk = 0; walk <= walks * stretches; ++walk) {
        begins_.push_back(&line_of(order[begin_of(walk) % lines_]));
    }
}

PointerCycle PointerCycle::of(const Setting& setting) {
    const Params& params = setting.params;
    setting.memory->use(params.word("pages") == "huge" ? Pages::huge : Pages::small);
    return {*setting.memory, static_cast<std::size_t>(params.number("bytes")),
            static_cast<std::size_t>(params.number("line")), static_cast<std::uint64_t>(params.number("seed")),
            setting.cpus.front()};
}

bool PointerCycle::returns_to_start() const {
    bool right = true;
    for (std::size_t stretch = 0; stretch < stretches; ++stretch) {
        right = is_intact(stretch) && right;
    }
    return right;
}

/// Whether each walk of a stretch visits its places in order and ends where the next one begins. A walk that
/// leaves the cycle continues: it stays among the lines as long as all addresses are addresses of lines.
bool PointerCycle::is_intact(std::size_t stretch) const {
    std::array<const Line*, walks> at{};
    std::array<std::uint64_t, walks> first{};
    std::array<std::uint64_t, walks> loads{};
    for (std::size_t walk = 0; walk < walks; ++walk) {
        const std::size_t index = stretch * walks + walk;
        at[walk] = begins_[index];
        first[walk] = begin_of(index);
        loads[walk] = begin_of(index + 1) - first[walk];
    }
    const std::uint64_t common = *std::min_element(loads.begin(), loads.end());
    bool right = true;
    const auto step = [&](std::size_t walk, std::uint64_t load) {
        right = at[walk]->place == first[walk] + load && right;
        at[walk] = at[walk]->next;
    };
    for (std::uint64_t load = 0; load < common; ++load) {
        for (std::size_t walk = 0; walk < walks; ++walk) {
            step(walk, load);
        }
    }
    for (std::size_t walk = 0; walk < walks; ++walk) {
        for (std::uint64_t load = common; load < loads[walk]; ++load) {
            step(walk, load);
        }
        right = at[walk] == begins_[stretch * walks + walk + 1] && right;
    }
    return right;
}

std::size_t PointerCycle::settle() const {
    bool right = true;
    double before = 0;
    std::size_t laps = std::max(std::size_t{1}, timed_lines / lines_);
    for (std::size_t group = 0; group < max_groups; ++group, laps *= 2) {
        const double begin = now();
        for (std::size_t lap = 0; lap < laps; ++lap) {
            right = returns_to_start() && right;
        }
        const double each = (now() - begin) / static_cast<double>(laps);
        if (std::abs(each - before) <= agree * each) {
            break;
        }
        before = each;
    }
    return right ? 0 : broken();
}

std::size_t PointerCycle::broken() const {
    std::size_t wrong = 0;
    for (std::size_t index = 0; index < lines_; ++index) {
        const Line& line = line_of(index);
        wrong += line.next->place == (line.place + 1 < lines_ ? line.place + 1 : 0) ? 0 : 1;
    }
    return wrong;
}

}  // namespace assay
