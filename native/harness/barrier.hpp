// How threads wait for each other inside timed regions.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay {

/// Distance that avoids false sharing: processors fetch cache lines in pairs.
inline constexpr std::size_t interference_bytes = 128;

/// Tells the core that this thread spins.
inline void relax() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Spins until `ready()`. After a while it yields: others may need this cpu where a sandbox refuses to pin
/// threads.
template <class Ready>
void wait_until(const Ready& ready) {
    constexpr int checks_before_yield = 1 << 14;
    for (int checks = 0; !ready();) {
        if (checks < checks_before_yield) {
            ++checks;
            relax();
        } else {
            sched_yield();
        }
    }
}

/// Our own barrier, the same for programs of all compilers (GCC's OpenMP barrier enters the kernel each time).
class Barrier {
  public:
    explicit Barrier(int threads) : threads_(threads) {}

    /// Returns when all threads have arrived. It is also a compiler barrier between the code before and after
    /// it.
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
    alignas(interference_bytes) std::atomic<int> arrived_{0};
    alignas(interference_bytes) std::atomic<std::uint64_t> generation_{0};
};

}  // namespace assay
