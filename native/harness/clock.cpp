#include "harness/clock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <sstream>

#include "harness/failure.hpp"

namespace assay {
namespace {

[[noreturn]] void unreadable(const std::string& why) {
    throw Failure(Exit::environment, "the clock cannot be used", why,
                  "measure on a machine whose kernel offers a working CLOCK_MONOTONIC");
}

/// Smallest step between two different readings, in nanoseconds.
std::int64_t resolution() {
    constexpr int steps = 1000;
    constexpr int max_readings = 10'000'000;
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (int step = 0; step < steps; ++step) {
        const std::int64_t before = nanoseconds();
        std::int64_t after = before;
        for (int reading = 0; after == before && reading < max_readings; ++reading) {
            after = nanoseconds();
        }
        if (after <= before) {
            unreadable(after == before ? "it stands still" : "it goes back");
        }
        smallest = std::min(smallest, after - before);
    }
    return smallest;
}

/// Median over batches of the mean cost of a reading, in nanoseconds.
double overhead() {
    constexpr int readings = 1000;
    std::array<double, 11> batches{};
    for (double& batch : batches) {
        const std::int64_t before = nanoseconds();
        for (int reading = 1; reading < readings; ++reading) {
            nanoseconds();
        }
        batch = static_cast<double>(nanoseconds() - before) / readings;
    }
    std::nth_element(batches.begin(), batches.begin() + batches.size() / 2, batches.end());
    return batches[batches.size() / 2];
}

}  // namespace

std::int64_t nanoseconds() {
    static timespec start{};
    static const bool started = clock_gettime(CLOCK_MONOTONIC, &start) == 0;
    timespec time{};
    if (!started || clock_gettime(CLOCK_MONOTONIC, &time) != 0) {
        return -1;
    }
    constexpr std::int64_t in_a_second = 1'000'000'000;
    return (time.tv_sec - start.tv_sec) * in_a_second + (time.tv_nsec - start.tv_nsec);
}

std::string format_seconds(double seconds) {
    std::ostringstream text;
    text << seconds << " s";
    return text.str();
}

Clock measure_clock() {
    if (nanoseconds() < 0) {
        unreadable(std::string("clock_gettime(CLOCK_MONOTONIC): ") + std::strerror(errno));
    }
    return {"CLOCK_MONOTONIC", to_seconds(resolution()), overhead() / 1e9};
}

}  // namespace assay
