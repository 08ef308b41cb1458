// Threads beside the calling one, for work that no library and no OpenMP deals to threads.
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

/// The calling thread and, for each further cpu, one that stands there. They work at once, whenever `run` is
/// called.
class Crew {
  public:
    /// What the threads do between two calls of `run`. Awake they begin at once. Asleep they leave their cpus to
    /// the threads that a library keeps there, and begin some 10 us later.
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

    /// Calls body(thread) on every thread at once, on the calling one with 0. It must not throw.
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

    /// Calls body(begin, end) on every thread at once, for a part of [0, size) each; borders are multiples of
    /// `grain`.
    template <class Body>
    void share(std::size_t size, std::size_t grain, const Body& body) {
        run([&](int thread) {
            const Part mine = part_of(size, thread, this->size(), grain);
            body(mine.begin, mine.end);
        });
    }

    /// Read back now, of each thread but the calling one.
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

    /// Until the round is another one.
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
    alignas(apart_bytes) std::atomic<int> round_{0};
    alignas(apart_bytes) std::atomic<int> working_;
    std::vector<int> ids_;
    std::vector<std::thread> threads_;  // last: they use all the others
};

}  // namespace assay
