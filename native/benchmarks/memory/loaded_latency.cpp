// The time of a load from memory while other cores read from it: a walk along a random cycle on the first cpu,
// and streams of reads on all others, slowed by a delay after each line.
#include "declared/loaded_latency.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "harness/barrier.hpp"
#include "harness/cpus.hpp"
#include "harness/pointer_cycle.hpp"
#include "harness/program.hpp"

namespace {

using assay::Setting;

enum Kernel : std::size_t { chase, load };

constexpr std::size_t line_words = 64 / sizeof(std::uint64_t);
constexpr std::uint64_t blocks_of_iteration = 64;  ///< for each stream

/// Streams take work in blocks, so that at the end no stream waits long for the last one; slow streams take
/// smaller blocks.
constexpr std::size_t block_words(std::int64_t delay) {
    return (delay < 64 ? std::size_t{8192} : std::size_t{1024});
}

/// Content of a buffer: any 16 consecutive words add up to 120.
constexpr std::uint64_t value_of(std::size_t word) { return word % 16; }

/// Counts out blocks to read, one by one. Each counter has its own cache lines.
class Blocks {
  public:
    static constexpr std::uint64_t no_end = std::uint64_t{1} << 63U;

    /// Offers so many blocks from now on: 0 to stop, `no_end` to continue endlessly. One thread calls it.
    void offer(std::uint64_t blocks) {
        const std::uint64_t unwanted = left_.exchange(blocks, std::memory_order_acq_rel);
        taken_ += offered_ - unwanted;
        offered_ = blocks;
    }

    /// Takes one block; false if there is none.
    bool take() {
        std::uint64_t left = left_.load(std::memory_order_acquire);
        while (left > 0 && !left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) {
        }
        return left > 0;
    }

    void put_back(bool right) {
        if (!right) {
            wrong_.fetch_add(1, std::memory_order_relaxed);
        }
        read_.fetch_add(1, std::memory_order_release);
    }

    /// After `offer(0)`: whether all blocks taken have been read.
    [[nodiscard]] bool quiet() const { return read() == taken_; }

    [[nodiscard]] std::uint64_t read() const { return read_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t wrong() const { return wrong_.load(std::memory_order_relaxed); }

  private:
    std::uint64_t offered_ = 0;
    std::uint64_t taken_ = 0;  ///< of all offers before the last one
    alignas(assay::interference_bytes) std::atomic<std::uint64_t> left_{0};
    alignas(assay::interference_bytes) std::atomic<std::uint64_t> read_{0};
    std::atomic<std::uint64_t> wrong_{0};
};

/// Sum of so many words, as fast as they can be read.
std::uint64_t sum_of(const std::uint64_t* words, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t word = 0; word < count; ++word) {
        sum += words[word];
    }
    return sum;
}

/// The same with a delay after each line.
std::uint64_t sum_of(const std::uint64_t* words, std::size_t count, std::int64_t delay) {
    std::uint64_t sum = 0;
    for (std::size_t line = 0; line < count; line += line_words) {
        for (std::size_t word = 0; word < line_words; ++word) {
            sum += words[line + word];
        }
        for (std::int64_t turn = 0; turn < delay; ++turn) {
            asm volatile("");
        }
    }
    return sum;
}

/// A thread that reads its own buffer repeatedly, in blocks.
class Stream {
  public:
    Stream(Blocks& blocks, std::byte* buffer, std::size_t bytes, std::int64_t delay, int cpu)
        : blocks_(blocks),
          buffer_(reinterpret_cast<std::uint64_t*>(buffer)),
          words_(bytes / sizeof(std::uint64_t)),
          block_words_(block_words(delay)),
          delay_(delay),
          thread_([this, cpu] { run(cpu); }) {}

    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    Stream(Stream&&) = delete;
    Stream& operator=(Stream&&) = delete;

    ~Stream() {
        stop_.store(true, std::memory_order_relaxed);
        thread_.join();
    }

    /// Its kernel id; 0 until its buffer is touched.
    [[nodiscard]] int thread_id() const { return thread_id_.load(std::memory_order_acquire); }

  private:
    void run(int cpu) {
        assay::pin({cpu});
        for (std::size_t word = 0; word < words_; ++word) {
            buffer_[word] = value_of(word);
        }
        thread_id_.store(gettid(), std::memory_order_release);
        std::size_t next = 0;
        while (!stop_.load(std::memory_order_relaxed)) {
            if (!blocks_.take()) {
                assay::relax();
                continue;
            }
            const std::uint64_t* block = buffer_ + next;
            const std::uint64_t sum =
                delay_ == 0 ? sum_of(block, block_words_) : sum_of(block, block_words_, delay_);
            blocks_.put_back(sum == block_words_ / 16 * 120);
            next = next + block_words_ < words_ ? next + block_words_ : 0;
        }
    }

    Blocks& blocks_;
    std::uint64_t* buffer_;
    std::size_t words_;
    std::size_t block_words_;
    std::int64_t delay_;
    std::atomic<int> thread_id_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_;  // last: it uses all other members
};

class LoadedLatency : public assay::Benchmark {
  public:
    explicit LoadedLatency(const Setting& setting)
        : cycle_(assay::PointerCycle::of(setting)),
          block_bytes_(block_words(setting.params.number("delay")) * sizeof(std::uint64_t)) {
        const std::size_t others = setting.cpus.size() - 1;
        const auto buffers = static_cast<std::size_t>(setting.params.number("buffers"));
        const std::size_t bytes = std::max(buffers / others / block_bytes_, std::size_t{1}) * block_bytes_;
        for (std::size_t other = 0; other < others; ++other) {
            const int cpu = setting.cpus[other + 1];
            std::byte* buffer = setting.memory->allocate(bytes, assay::Touch::by_one(cpu));
            streams_.push_back(
                std::make_unique<Stream>(blocks_, buffer, bytes, setting.params.number("delay"), cpu));
        }
        for (const auto& stream : streams_) {
            while (stream->thread_id() == 0) {
                std::this_thread::yield();
            }
        }
        broken_ = cycle_.settle();  // last, while the streams read: it fills the caches
    }

    [[nodiscard]] assay::Work work() const override {
        assay::Work work = assay::declared::loaded_latency.work_of(1);
        work["load"] = {{"bytes", static_cast<double>(iteration() * block_bytes_)}};
        return work;
    }

    /// For the walk the streams read endlessly; otherwise they wait for their blocks.
    void prepare(std::size_t kernel) override {
        blocks_.offer(kernel == chase ? Blocks::no_end : 0);
        while (kernel == load && !blocks_.quiet()) {
            std::this_thread::yield();
        }
        requested_ = 0;
        read_ = blocks_.read();
        loads_ = 0;
        begin_ = cycle_.place();
    }

    void iterate(std::size_t kernel, std::uint64_t iterations, int /*thread*/) override {
        if (kernel == chase) {
            walk(iterations);
            return;
        }
        const std::uint64_t blocks = iterations * iteration();
        requested_ += blocks;
        blocks_.offer(blocks);
        do {
            walk(loads_between_checks);
        } while (blocks_.read() - read_ != requested_);
    }

    /// Blocks that were read wrong or not as often as requested, lines that break the cycle, and whether the
    /// walk ended at the wrong place.
    double verify(std::size_t kernel) override {
        const auto missing =
            kernel == load ? static_cast<double>(requested_) - static_cast<double>(blocks_.read() - read_) : 0;
        const bool off_cycle = cycle_.place() != (begin_ + loads_) % cycle_.lines();
        return static_cast<double>(blocks_.wrong()) + std::abs(missing) + static_cast<double>(broken_) +
               (off_cycle ? 1 : 0);
    }

    [[nodiscard]] double tolerance() const override { return 0; }

    [[nodiscard]] std::vector<int> own_cpus() const override {
        std::vector<int> cpus;
        for (const auto& stream : streams_) {
            cpus.push_back(assay::pinned_cpu(stream->thread_id()));
        }
        return cpus;
    }

  private:
    static constexpr std::uint64_t loads_between_checks = 16;

    [[nodiscard]] std::uint64_t iteration() const { return blocks_of_iteration * streams_.size(); }

    void walk(std::uint64_t loads) {
        cycle_.walk(loads);
        loads_ += loads;
    }

    assay::PointerCycle cycle_;
    std::size_t broken_ = 0;
    std::size_t block_bytes_;
    Blocks blocks_;
    std::vector<std::unique_ptr<Stream>> streams_;
    std::uint64_t loads_ = 0;
    std::uint64_t begin_ = 0;
    std::uint64_t requested_ = 0;
    std::uint64_t read_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    return assay::run_program<LoadedLatency>(assay::declared::loaded_latency, argc, argv);
}
