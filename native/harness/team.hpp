// The threads of a benchmark, each pinned to its own cpu.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/barrier.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace assay {

/// OpenMP threads, thread i on cpus[i]. Without OpenMP: only the calling thread.
class Team {
  public:
    /// Pins the threads. Failure (usage) for a cpu that is not allowed, with the list of allowed ones; Failure
    /// (environment) if several threads are requested and OpenMP is missing or gives fewer.
    Team(const std::vector<int>& cpus, const std::vector<int>& allowed);

    [[nodiscard]] int size() const { return size_; }

    /// The cpu of each thread, read back from its affinity mask now; -1 where the mask is not exactly one cpu.
    [[nodiscard]] std::vector<int> cpus() const;

    /// Calls body(thread) on all threads at once; it must not throw. A single thread calls it outside any
    /// parallel region: inside, a library that starts its own OpenMP threads would put all of them on this cpu.
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

    /// Barrier of all threads, inside `run`.
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

/// The part of [0, size) of `thread` among `threads`; borders are multiples of `grain`.
Part part_of(std::size_t size, int thread, int threads, std::size_t grain);

/// Failure (usage) if one of these cpus is not allowed.
void require_allowed(const std::vector<int>& cpus, const std::vector<int>& allowed);

}  // namespace assay
