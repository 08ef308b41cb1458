// The threads that run a benchmark, each on a cpu of its own.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/barrier.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace assay {

/// OpenMP threads, thread i on cpus[i]. Without OpenMP: the calling thread alone.
class Team {
  public:
    /// Pins the threads; Failure (usage) for a cpu that may not be used, with the list of those that may;
    /// Failure (environment) when there is no OpenMP for more than one, or too few threads are given.
    Team(const std::vector<int>& cpus, const std::vector<int>& allowed);

    [[nodiscard]] int size() const { return size_; }

    /// The cpu of each thread, read back from its affinity mask now; -1 where the mask is not exactly one cpu.
    [[nodiscard]] std::vector<int> cpus() const;

    /// Calls body(thread) on every thread at once. It must not throw. One thread calls it outside of any parallel
    /// region: a library that starts OpenMP's threads by itself would start others inside, all on this cpu.
    template <class Body>
    void run(const Body& body) const {
        if (size_ == 1) {
            body(0);
            return;
        }
#ifdef _OPENMP
#pragma omp parallel num_threads(size_)
        body(omp_get_thread_num());
#endif
    }

    /// Inside `run`: nobody goes on before everybody is here.
    void barrier() const { barrier_.wait(); }

  private:
    int size_;
    mutable Barrier barrier_;
};

/// Half-open range.
struct Part {
    std::size_t begin;
    std::size_t end;
};

/// The part of [0, size) that belongs to `thread` of `threads`; borders are multiples of `grain`.
Part part_of(std::size_t size, int thread, int threads, std::size_t grain);

/// Throws Failure (usage) if one of these cpus is not allowed.
void require_allowed(const std::vector<int>& cpus, const std::vector<int>& allowed);

}  // namespace assay
