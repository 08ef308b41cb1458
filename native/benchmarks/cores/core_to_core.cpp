// The time of a cache line from one core to another: two pinned threads pass a flag to and fro. It is also the
// probe before and after every launch.
#include "declared/core_to_core.hpp"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "harness/clock.hpp"
#include "harness/cpus.hpp"
#include "harness/failure.hpp"
#include "harness/program.hpp"

namespace {

using assay::Setting;

constexpr std::uint64_t stop = ~std::uint64_t{0};
constexpr double timeout_s = 1;  ///< a partner that does not answer within it is not running

/// Reads the flag until it differs from `old`. Gives up, and returns `old`, when `may_wait()` is false, which is
/// checked rarely.
template <class Condition>
std::uint64_t await_change(const std::atomic<std::uint64_t>& flag, std::uint64_t old, const Condition& may_wait) {
    constexpr int often = 1 << 16;
    do {
        for (int read = 0; read < often; ++read) {
            if (const std::uint64_t value = flag.load(std::memory_order_acquire); value != old) {
                return value;
            }
        }
    } while (may_wait());
    return old;
}

/// A deadline that starts with its first check: a quick answer costs no reading of the clock.
class Deadline {
  public:
    bool operator()() const {
        if (deadline_ == 0) {
            deadline_ = assay::now() + timeout_s;
        }
        return assay::now() < deadline_;
    }

  private:
    mutable double deadline_ = 0;
};

/// What both threads share. The flag has its own cache lines; the rest is written rarely, or by the partner
/// only.
struct Shared {
    std::shared_ptr<assay::Memory> memory;
    std::atomic<std::uint64_t>* flag = nullptr;
    alignas(assay::interference_bytes) std::atomic<std::uint64_t> answers{0};
    alignas(assay::interference_bytes) std::atomic<int> thread_id{0};
    std::atomic<bool> finished{false};
};

/// Answers each odd value with the next even one.
void partner(const std::shared_ptr<Shared>& shared, int cpu) {
    assay::pin({cpu});
    shared->thread_id.store(gettid(), std::memory_order_release);
    std::uint64_t seen = 0;
    for (std::uint64_t answers = 1;; ++answers) {
        seen = await_change(*shared->flag, seen, [] { return true; });
        if (seen == stop) {
            break;
        }
        shared->answers.store(answers, std::memory_order_relaxed);
        shared->flag->store(++seen, std::memory_order_release);
    }
    shared->finished.store(true, std::memory_order_release);
}

class CoreToCore : public assay::Benchmark {
  public:
    explicit CoreToCore(const Setting& setting) : cpu_(setting.cpus.back()), shared_(std::make_shared<Shared>()) {
        shared_->memory = setting.memory;
        shared_->flag = new (setting.memory->allocate(assay::interference_bytes)) std::atomic<std::uint64_t>(0);
        thread_ = std::thread(partner, shared_, cpu_);
        const Deadline may_wait;
        while (shared_->thread_id.load(std::memory_order_acquire) == 0 && may_wait()) {
            std::this_thread::yield();
        }
        gave_up_ = shared_->thread_id.load(std::memory_order_acquire) == 0;
    }

    CoreToCore(const CoreToCore&) = delete;
    CoreToCore& operator=(const CoreToCore&) = delete;
    CoreToCore(CoreToCore&&) = delete;
    CoreToCore& operator=(CoreToCore&&) = delete;

    ~CoreToCore() override {
        shared_->flag->store(stop, std::memory_order_release);
        const Deadline may_wait;
        while (!shared_->finished.load(std::memory_order_acquire) && may_wait()) {
            std::this_thread::yield();
        }
        // A partner that still does not run is left behind with all shared data.
        if (shared_->finished.load(std::memory_order_acquire)) {
            thread_.join();
        } else {
            thread_.detach();
        }
    }

    [[nodiscard]] assay::Work work() const override { return assay::declared::core_to_core.work_of(1); }

    void prepare(std::size_t /*kernel*/) override {
        requested_ = 0;
        answered_before_ = shared_->answers.load(std::memory_order_relaxed);
    }

    void iterate(std::size_t /*kernel*/, std::uint64_t iterations, int /*thread*/) override {
        for (std::uint64_t iteration = 0; iteration < iterations && !gave_up_; ++iteration) {
            shared_->flag->store(++turn_, std::memory_order_release);
            gave_up_ = await_change(*shared_->flag, turn_, Deadline{}) != turn_ + 1;
            ++turn_;
            ++requested_;
        }
    }

    /// Difference between the hand-overs that the partner counted and those that were made.
    double verify(std::size_t /*kernel*/) override {
        const std::uint64_t answered = shared_->answers.load(std::memory_order_relaxed) - answered_before_;
        return std::abs(static_cast<double>(answered) - static_cast<double>(requested_));
    }

    [[nodiscard]] double tolerance() const override { return 0; }

    void require_undisturbed() const override {
        if (gave_up_) {
            throw assay::Failure(assay::Exit::failed, "cpu " + std::to_string(cpu_) + " does not answer",
                                 "its thread did not run for a second: another process keeps the cpu for itself",
                                 "choose other cpus, or wait until it is free");
        }
    }

    [[nodiscard]] std::vector<int> own_cpus() const override {
        return {assay::pinned_cpu(shared_->thread_id.load(std::memory_order_acquire))};
    }

  private:
    int cpu_;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
    std::uint64_t turn_ = 0;
    std::uint64_t requested_ = 0;
    std::uint64_t answered_before_ = 0;
    bool gave_up_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_program<CoreToCore>(assay::declared::core_to_core, argc, argv);
}
