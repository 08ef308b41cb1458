// Worker threads, for work that neither a library nor OpenMP distributes.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <thread>
#include <vector>

#include "harness/barrier.hpp"
#include "harness/cpus.hpp"
#include "harness/team.hpp"

namespace assay {

/// The calling thread and a pinned thread for each further cpu. All of them work during `run`.
class Crew {
  public:
    /// State of the threads between two calls of `run`. Awake threads begin at once. Asleep threads leave their
    /// cpus to the threads of a library, and begin some 10 us later.
    enum class Between { awake, asleep };

    Crew(const std::vector<int>& cpus, Between between)
        : between_(between), working_(static_cast<int>(cpus.size()) - 1), ids_(cpus.size() - 1) {
        for (std::size_t thread = 1; thread < cpus.size(); ++thread) {
            threads_.emplace_back([this, thread, cpu = cpus[thread]] {
                pin({cpu});
                ids_[thread - 1] = static_cast<int>(syscall(SYS_gettid));
                work(static_cast<int>(thread));
            });
        }
        wait_for_others();
    }

    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    Crew(Crew&&) = delete;
    Crew& operator=(Crew&&) = delete;

    ~Crew() {
        call_ = nullptr;
        begin();
        std::for_each(threads_.begin(), threads_.end(), [](std::thread& thread) { thread.join(); });
    }

    [[nodiscard]] int size() const { return static_cast<int>(threads_.size()) + 1; }

    /// Calls body(thread) on all threads at once; the calling thread is 0. The body must not throw.
    template <class Body>
    void run(const Body& body) {
        if (threads_.empty()) {
            body(0);
            return;
        }
        body_ = &body;
        call_ = [](const void* of, int thread) { (*static_cast<const Body*>(of))(thread); };
        working_.store(size() - 1, std::memory_order_relaxed);
        begin();
        body(0);
        wait_for_others();
    }

    /// Calls body(begin, end) on all threads at once, for a part of [0, size) each; borders are multiples of
    /// `grain`.
    template <class Body>
    void share(std::size_t size, std::size_t grain, const Body& body) {
        run([&](int thread) {
            const Part mine = part_of(size, thread, this->size(), grain);
            body(mine.begin, mine.end);
        });
    }

    /// Read back now, of each thread except the calling one.
    [[nodiscard]] std::vector<int> cpus() const {
        std::vector<int> found;
        std::transform(ids_.begin(), ids_.end(), std::back_inserter(found), pinned_cpu);
        return found;
    }

  private:
    void begin() {
        round_.fetch_add(1, std::memory_order_release);
        if (between_ == Between::asleep) {
            round_.notify_all();
        }
    }

    void work(int thread) {
        for (int round = 0;; ++round) {
            working_.fetch_sub(1, std::memory_order_acq_rel);
            wait_while(round);
            if (call_ == nullptr) {
                return;
            }
            call_(body_, thread);
        }
    }

    /// Waits until the round has changed.
    void wait_while(int round) const {
        if (between_ == Between::asleep) {
            round_.wait(round, std::memory_order_acquire);
            return;
        }
        wait_until([&] { return round_.load(std::memory_order_acquire) != round; });
    }

    void wait_for_others() const {
        wait_until([&] { return working_.load(std::memory_order_acquire) == 0; });
    }

    Between between_;
    const void* body_ = nullptr;
    void (*call_)(const void* body, int thread) = nullptr;
    alignas(interference_bytes) std::atomic<int> round_{0};
    alignas(interference_bytes) std::atomic<int> working_;
    std::vector<int> ids_;
    std::vector<std::thread> threads_;  // last: they use all other members
};

}  // namespace assay
