// Threads wait for each other inside timed regions.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay {

/// Destructive interference reaches two lines: processors fetch them in pairs.
inline constexpr std::size_t apart_bytes = 128;

/// Tells the core that it waits.
inline void relax() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Until `ready()`. Others may need this very cpu, where a sandbox refuses to pin threads: after a while they get
/// it.
template <class Ready>
void wait_until(const Ready& ready) {
    constexpr int patience = 1 << 14;
    for (int looks = 0; !ready();) {
        if (looks < patience) {
            ++looks;
            relax();
        } else {
            sched_yield();
        }
    }
}

/// A barrier of our own, so that all compilers' OpenMP libraries share one (GCC's enters the kernel each time).
class Barrier {
  public:
    explicit Barrier(int threads) : threads_(threads) {}

    /// Returns when all threads are here. Also keeps the compiler from merging what stands before with what
    /// follows.
    void wait() {
        asm volatile("" ::: "memory");
        if (threads_ == 1) {
            return;
        }
        const std::uint64_t generation = generation_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            generation_.store(generation + 1, std::memory_order_release);
            return;
        }
        wait_until([&] { return generation_.load(std::memory_order_acquire) != generation; });
    }

  private:
    int threads_;
    alignas(apart_bytes) std::atomic<int> arrived_{0};
    alignas(apart_bytes) std::atomic<std::uint64_t> generation_{0};
};

}  // namespace assay
