// IS, integer sort: the rank of each of many small whole numbers (RNR-94-007, 3.6.1).
#pragma once

#include <bit>
#include <span>
#include <utility>

#include "benchmarks/kernels/nas_problem.hpp"
#include "benchmarks/kernels/nas_random.hpp"
#include "harness/memory.hpp"

namespace assay::nas {

/// Ranks own whole buckets, which are equal ranges of values. A rank receives the keys of its buckets and
/// counts, for each of its values, how many keys of all ranks are smaller. A single rank counts directly.
class Is final : public Problem {
  public:
    using Key = std::int32_t;

    Is(Class size, const Numbers& numbers, Messages& messages, Memory& memory)
        : published_(of_class(published, size)),
          count_(count_of(numbers, "keys")),
          log_values_(log_of(count_of(numbers, "values"))),
          messages_(messages),
          own_(messages.part(keys())),
          bucket_bits_(bucket_bits(messages.ranks(), log_values_)),
          sizes_(buckets() * interleaved),
          totals_(buckets()),
          owners_(buckets()),
          next_(static_cast<std::size_t>(messages.ranks()) * interleaved) {
        const std::size_t count = own_.end - own_.begin;
        keys_ = touched<Key>(memory, count);
        if (messages.ranks() > 1) {
            sorted_ = touched<Key>(memory, count);
            received_ = touched<Key>(memory, count + count / 4 + 1);
        } else {
            ranked_[0] = {keys_, count};
            last_bucket_ = buckets();
        }
        below_ = touched<std::uint32_t>(memory, values());
        for (auto* each : {&send_counts_, &send_starts_, &receive_counts_, &receive_starts_}) {
            each->resize(static_cast<std::size_t>(messages.ranks()));
        }
    }

    /// Writes the keys: each is the sum of four random numbers.
    void prepare() override {
        constexpr std::size_t summands = 4;
        Random random(default_seed, summands * own_.begin);
        const auto scale = static_cast<double>(values() / summands);
        for (std::size_t key = 0; key < own_.end - own_.begin; ++key) {
            double sum = random.next();
            for (std::size_t each = 1; each < summands; ++each) {
                sum += random.next();
            }
            keys_[key] = static_cast<Key>(scale * sum);
        }
        tested_ = {};
        for (std::size_t test = 0; test < tests; ++test) {
            const std::size_t index = published_.at(test).index;
            if (index >= own_.begin && index < own_.end) {
                tested_.at(test) = keys_[index - own_.begin];
            }
        }
        messages_.add_up(tested_);
        right_ranks_ = 0;
        iteration_ = 0;
    }

    void solve() override {
        for (iteration_ = 1; iteration_ <= iterations; ++iteration_) {
            change(static_cast<std::size_t>(iteration_), iteration_);
            change(static_cast<std::size_t>(iteration_ + iterations), static_cast<Key>(values()) - iteration_);
            if (messages_.ranks() > 1) {
                count_buckets();
                share_buckets();
                sort_by_owners();
                exchange();
            }
            count_values();
            check_ranks();
        }
    }

    /// Number of ranks that differ from the published ones, and of keys in wrong places after all were placed by
    /// rank.
    [[nodiscard]] double error() override {
        return static_cast<double>(tests * iterations) - messages_.sum(right_ranks_) +
               messages_.sum(wrong_places());
    }
    [[nodiscard]] double tolerance() const override { return 0; }

  private:
    static constexpr std::size_t tests = 5;
    static constexpr int iterations = 10;
    static constexpr unsigned min_bucket_bits = 8;
    static constexpr unsigned buckets_of_rank_bits = 4;
    /// Counters of a bucket, used in turn: a single counter would wait for its own last value.
    static constexpr std::size_t interleaved = 4;

    /// A key with a published rank after iteration i: `rank` + `step` i.
    struct Test {
        std::size_t index;
        std::int64_t rank;
        int step;
    };
    using Published = std::array<Test, tests>;

    // S, A, B: RNR-94-007, tables 3.9 and 3.10 (S: sample code); W, C: NPB 2; D: NPB 3.
    static constexpr ByClass<Published> published{{
        {{{48427, 0, 1}, {17148, 18, 1}, {23627, 346, 1}, {62548, 64917, -1}, {4431, 65463, -1}}},
        {{{357773, 1247, 1},
          {934767, 11696, 1},
          {875723, 1039987, -1},
          {898999, 1043896, -1},
          {404505, 1048018, -1}}},
        {{{2112377, 103, 1},
          {662041, 17522, 1},
          {5336171, 123927, 1},
          {3642833, 8288933, -1},
          {4250760, 8388265, -1}}},
        {{{41869, 33422937, -1},
          {812306, 10244, 1},
          {5102857, 59149, 1},
          {18232239, 33135281, -1},
          {26860214, 99, 1}}},
        {{{44172927, 61147, 1},
          {72999161, 882988, 1},
          {74326391, 266290, 1},
          {129606274, 133997595, -1},
          {21736814, 133525895, -1}}},
        {{{1317351170, 1, 1},
          {995930646, 36538729, 1},
          {1157283250, 1978098519, -1},
          {1503301535, 2145192618, -1},
          {1453734525, 2147425337, -1}}},
    }};

    template <class Number>
    static Number* touched(Memory& memory, std::size_t count) {
        auto* found = reinterpret_cast<Number*>(memory.allocate(count * sizeof(Number)));
        std::fill_n(found, count, Number{});
        return found;
    }

    /// A rank has at least a few buckets, so that no rank gets many more keys than others.
    static unsigned bucket_bits(int ranks, unsigned log_values) {
        const auto bits =
            static_cast<unsigned>(std::bit_width(static_cast<unsigned>(ranks))) + buckets_of_rank_bits;
        return std::min(std::max(bits, min_bucket_bits), log_values);
    }

    [[nodiscard]] std::size_t keys() const { return count_; }
    [[nodiscard]] std::size_t values() const { return std::size_t{1} << log_values_; }
    [[nodiscard]] std::size_t buckets() const { return std::size_t{1} << bucket_bits_; }
    [[nodiscard]] std::size_t bucket_of(Key key) const {
        return static_cast<std::size_t>(key) >> (log_values_ - bucket_bits_);
    }
    [[nodiscard]] std::size_t first_value(std::size_t bucket) const {
        return bucket << (log_values_ - bucket_bits_);
    }

    void change(std::size_t index, Key key) {
        if (index >= own_.begin && index < own_.end) {
            keys_[index - own_.begin] = key;
        }
    }

    /// Counts the keys of this rank in each bucket.
    void count_buckets() {
        std::fill(sizes_.begin(), sizes_.end(), 0U);
        const std::size_t count = own_.end - own_.begin;
        const unsigned shift = log_values_ - bucket_bits_;
        const Key* const from = keys_;
        std::uint32_t* const sizes = sizes_.data();
        for (std::size_t key = 0; key < count; ++key) {
            ++sizes[(static_cast<std::size_t>(from[key]) >> shift) * interleaved + key % interleaved];
        }
        for (std::size_t bucket = 0; bucket < buckets(); ++bucket) {
            totals_[bucket] = 0;
            for (std::size_t turn = 0; turn < interleaved; ++turn) {
                totals_[bucket] += sizes_[bucket * interleaved + turn];
            }
        }
    }

    /// Distributes buckets over ranks, in order and as evenly as whole buckets allow.
    void share_buckets() {
        messages_.pass(static_cast<double>(buckets() * sizeof(std::uint32_t)), [&] {
            MPI_Allreduce(MPI_IN_PLACE, totals_.data(), static_cast<int>(buckets()), MPI_UINT32_T, MPI_SUM,
                          messages_.comm());
        });
        std::fill(next_.begin(), next_.end(), 0U);
        std::uint64_t before = 0;
        first_bucket_ = last_bucket_ = buckets();
        below_own_ = 0;
        for (std::size_t bucket = 0; bucket < buckets(); ++bucket) {
            const auto ranks = static_cast<std::uint64_t>(messages_.ranks());
            const std::uint64_t owner = std::min(before * ranks / keys(), ranks - 1);
            owners_[bucket] = static_cast<std::uint32_t>(owner);
            for (std::size_t turn = 0; turn < interleaved; ++turn) {
                next_[owner * interleaved + turn] += sizes_[bucket * interleaved + turn];
            }
            if (owner == static_cast<std::uint64_t>(messages_.rank())) {
                if (first_bucket_ == buckets()) {
                    first_bucket_ = bucket;
                    below_own_ = before;
                }
                last_bucket_ = bucket + 1;
            }
            before += totals_[bucket];
        }
        first_bucket_ = std::min(first_bucket_, last_bucket_);
    }

    /// Sorts the keys of this rank by the ranks that own them; those of its own buckets stay here. Keys of four
    /// turns have separate places, so that a key need not wait for the place of the previous one.
    void sort_by_owners() {
        std::uint32_t start = 0;
        for (std::size_t rank = 0; rank < send_counts_.size(); ++rank) {
            const std::uint32_t first = start;
            for (std::size_t turn = 0; turn < interleaved; ++turn) {
                start += std::exchange(next_[rank * interleaved + turn], start);
            }
            send_starts_[rank] = static_cast<int>(first);
            send_counts_[rank] = static_cast<int>(start - first);
        }
        const auto here = static_cast<std::size_t>(messages_.rank());
        const int kept = std::exchange(send_counts_[here], 0);
        ranked_[0] = {sorted_ + send_starts_[here], static_cast<std::size_t>(kept)};
        const std::size_t count = own_.end - own_.begin;
        const unsigned shift = log_values_ - bucket_bits_;
        const Key* const from = keys_;
        Key* const to = sorted_;
        const std::uint32_t* const owners = owners_.data();
        std::uint32_t* const next = next_.data();
        for (std::size_t key = 0; key < count; ++key) {
            const std::uint32_t owner = owners[static_cast<std::size_t>(from[key]) >> shift];
            to[next[owner * interleaved + key % interleaved]++] = from[key];
        }
    }

    /// Sends keys to the ranks that own their buckets.
    void exchange() {
        messages_.pass(messages_.for_others(send_counts_) * sizeof(Key), [&] {
            MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT, messages_.comm());
            int received = 0;
            for (std::size_t rank = 0; rank < receive_counts_.size(); ++rank) {
                receive_starts_[rank] = received;
                received += receive_counts_[rank];
            }
            MPI_Alltoallv(sorted_, send_counts_.data(), send_starts_.data(), MPI_INT32_T, received_,
                          receive_counts_.data(), receive_starts_.data(), MPI_INT32_T, messages_.comm());
            ranked_[1] = {received_, static_cast<std::size_t>(received)};
        });
    }

    /// Counts, for each value of this rank's buckets, how many keys of all ranks are smaller.
    void count_values() {
        const std::size_t first = first_value(first_bucket_);
        const std::size_t count = first_value(last_bucket_) - first;
        std::fill_n(below_, count, 0U);
        std::uint32_t* const counters = below_;
        for (const std::span<const Key> part : ranked_) {
            for (const Key key : part) {
                ++counters[static_cast<std::size_t>(key) - first];
            }
        }
        auto below = static_cast<std::uint32_t>(below_own_);
        for (std::size_t value = 0; value < count; ++value) {
            const std::uint32_t equal = below_[value];
            below_[value] = below;
            below += equal;
        }
    }

    void check_ranks() {
        for (std::size_t test = 0; test < tests; ++test) {
            const auto key = static_cast<Key>(tested_.at(test));
            const std::size_t bucket = bucket_of(key);
            if (bucket >= first_bucket_ && bucket < last_bucket_) {
                const Test& known = published_.at(test);
                const std::int64_t rank = below_[static_cast<std::size_t>(key) - first_value(first_bucket_)];
                right_ranks_ += rank == known.rank + std::int64_t{known.step} * iteration_ ? 1 : 0;
            }
        }
    }

    /// Places each key by its rank; counts those that are missing or out of order.
    double wrong_places() {
        if (iteration_ <= iterations) {
            return 1;  // nothing was ranked
        }
        const std::size_t first = first_value(first_bucket_);
        const std::size_t count = ranked_[0].size() + ranked_[1].size();
        std::vector<Key> placed(count, -1);
        double wrong = 0;
        for (const std::span<const Key> part : ranked_) {
            for (const Key key : part) {
                const std::size_t place = below_[static_cast<std::size_t>(key) - first]++ - below_own_;
                if (place < count) {
                    placed[place] = key;
                } else {
                    ++wrong;
                }
            }
        }
        Key before = 0;
        for (const Key key : placed) {
            wrong += key < before ? 1 : 0;
            before = key;
        }
        // Ranks own disjoint ranges of values: keys in order on each rank are in order on all. No key may be
        // lost.
        const double all = messages_.sum(static_cast<double>(count));
        return wrong + (all == static_cast<double>(keys()) ? 0 : 1);
    }

    const Published& published_;
    std::size_t count_;
    unsigned log_values_;
    Messages& messages_;
    Part own_;
    unsigned bucket_bits_;
    std::vector<std::uint32_t> sizes_;   ///< of the buckets on this rank, by turn
    std::vector<std::uint32_t> totals_;  ///< of the buckets on all ranks
    std::vector<std::uint32_t> owners_;
    std::vector<std::uint32_t> next_;  ///< place of the next key for each rank, by turn
    Key* keys_ = nullptr;
    Key* sorted_ = nullptr;    ///< by the ranks that own them
    Key* received_ = nullptr;  ///< of this rank's buckets, from others
    std::array<std::span<const Key>, 2>
        ranked_;                      ///< keys of this rank's buckets: its own ones, and those received
    std::uint32_t* below_ = nullptr;  ///< by value
    std::uint64_t below_own_ = 0;
    std::size_t first_bucket_ = 0;
    std::size_t last_bucket_ = 0;
    std::vector<int> send_counts_;
    std::vector<int> send_starts_;
    std::vector<int> receive_counts_;
    std::vector<int> receive_starts_;
    std::array<double, tests> tested_{};
    double right_ranks_ = 0;
    int iteration_ = 0;
};

}  // namespace assay::nas
