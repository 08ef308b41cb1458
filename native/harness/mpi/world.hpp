// The ranks of MPI_COMM_WORLD.
#pragma once

#include <mpi.h>

#include <vector>

#include "harness/program.hpp"
#include "harness/ranks.hpp"

namespace assay {

/// Starts MPI; `leave` ends it. Its own messages have their own communicator: MPI_COMM_WORLD is free for
/// benchmarks.
class World final : public Ranks {
  public:
    /// `library` reports the thread level that MPI granted.
    explicit World(Threads threads);
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    World(World&&) = delete;
    World& operator=(World&&) = delete;
    ~World() override = default;

    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] std::map<std::string, std::string> library() const override { return library_; }
    void barrier() override { allreduce_max({}); }
    void allreduce_max(std::span<double> values) override;
    std::vector<std::string> gather(const std::string& text) override;
    std::string broadcast(const std::string& text) override;
    void abandon(Exit exit) override;
    void leave(Exit exit) override;

  private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = 0;
    int size_ = 1;
    std::vector<double> others_;
    std::map<std::string, std::string> library_;
};

}  // namespace assay
