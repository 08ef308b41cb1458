// One launch: what its cases share, and how a case is measured.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/arguments.hpp"
#include "harness/benchmark.hpp"
#include "harness/clock.hpp"
#include "harness/ranks.hpp"
#include "harness/records.hpp"
#include "harness/team.hpp"

namespace assay {

/// Clock of the calling process with the coarsest resolution and highest cost of all ranks; the same on every
/// rank.
Clock agreed_clock(Ranks& ranks);

/// The work of every kernel, without amounts where a program states none. Failure if an amount is not declared.
Work stated_work(const Declaration& declaration, const Work& stated);

/// The pinned threads of one rank.
class Launch {
  public:
    /// Passes no messages. Failure if cpus cannot be used.
    Launch(const Declaration& declaration, Factory factory, const Request& request, Ranks& ranks,
           const Clock& clock);

    /// Measures one case; rank 0 then has its records. A Failure is the same on every rank.
    Exit measure(const CaseRequest& request, Records& records) const;

  private:
    [[nodiscard]] PlacementReadback read_placement(const Benchmark& benchmark, const Memory& memory) const;
    double sample(const CaseRequest& request, Benchmark& benchmark, Records& records) const;
    double solve(const Stopping& stopping, Benchmark& benchmark, Records& records) const;
    double check(Benchmark& benchmark, std::size_t kernel) const;

    const Declaration& declaration_;
    Factory factory_;
    const Request& request_;
    Ranks& ranks_;
    const Clock& clock_;
    std::vector<int> cpus_;
    std::vector<std::string> devices_;
    std::string folder_;
    Team team_;
    std::shared_ptr<KeptBuffers> kept_ = std::make_shared<KeptBuffers>();
};

}  // namespace assay
