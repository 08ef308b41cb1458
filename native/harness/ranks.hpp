// The processes that measure together: a single one, or the ranks of an MPI program (harness/mpi/).
#pragma once

#include <exception>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/failure.hpp"

namespace assay {

/// All processes of a launch. Every rank makes the same calls in the same order.
class Ranks {
  public:
    Ranks() = default;
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    Ranks(Ranks&&) = delete;
    Ranks& operator=(Ranks&&) = delete;
    virtual ~Ranks() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;

    /// What passes the messages, for the header: `library`, `standard`, `threads`, and environment variables
    /// that can change its behaviour; empty if no messages are passed.
    [[nodiscard]] virtual std::map<std::string, std::string> library() const = 0;

    /// No rank leaves before all ranks have arrived. Our own dissemination barrier, the same with all MPIs: it
    /// may be inside timed regions.
    virtual void barrier() = 0;

    /// Replaces each value by its maximum over all ranks.
    virtual void allreduce_max(std::span<double> values) = 0;

    /// On rank 0 the texts of all ranks, in rank order; elsewhere nothing.
    virtual std::vector<std::string> gather(const std::string& text) = 0;

    /// Rank 0's text, on every rank.
    virtual std::string broadcast(const std::string& text) = 0;

    /// Aborts all ranks: for an error that a rank cannot report to the others.
    virtual void abandon(Exit exit) = 0;

    /// The last call: ends the message passing. If that hangs, the process ends with this code.
    virtual void leave(Exit exit) = 0;
};

/// A program without MPI: a single process.
class SingleProcess final : public Ranks {
  public:
    [[nodiscard]] int rank() const override { return 0; }
    [[nodiscard]] int size() const override { return 1; }
    [[nodiscard]] std::map<std::string, std::string> library() const override { return {}; }
    void barrier() override {}
    void allreduce_max(std::span<double> /*values*/) override {}
    std::vector<std::string> gather(const std::string& text) override { return {text}; }
    std::string broadcast(const std::string& text) override { return text; }
    void abandon(Exit exit) override;
    void leave(Exit /*exit*/) override {}
};

/// Maximum over all ranks, on every rank.
double allreduce_max(Ranks& ranks, double value);

/// The text of the first rank whose text is not empty, on every rank.
std::string first_nonempty(Ranks& ranks, const std::string& text);

/// The texts of all ranks, on every rank. They contain no zero byte.
std::vector<std::string> allgather(Ranks& ranks, const std::string& text);

/// Whether this rank is the first of all ranks with the same key (their host, for example).
bool is_first_with_key(Ranks& ranks, const std::string& key);

/// Identity of this machine, for `is_first_with_key`: its name, its kernel and its network namespace.
std::string host_key();

/// Throws the first Failure of any rank on every rank, with the rank and host where it occurred.
void throw_if_any(Ranks& ranks, const Failure* own);

/// Runs an action that may fail on some ranks. If it fails on any, every rank throws that Failure, so that no
/// rank waits for one that has given up. The action must not pass messages that other ranks wait for.
template <class Action>
void all_or_none(Ranks& ranks, const Action& action) {
    try {
        action();
    } catch (const Failure& failure) {
        throw_if_any(ranks, &failure);
        return;
    } catch (const std::exception& error) {
        const Failure failure(Exit::failed, "it cannot be measured", error.what(), "");
        throw_if_any(ranks, &failure);
        return;
    }
    throw_if_any(ranks, nullptr);
}

/// Rank i of the first half and rank i + n/2 are partners.
struct Pair {
    int partner;
    bool first;  ///< this rank is in the first half
    int pairs;   ///< of all ranks
};

/// Failure (usage) where the number of ranks is odd.
Pair pair_of(const Ranks& ranks);

}  // namespace assay
