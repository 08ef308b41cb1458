// What is seen of a running command of somebody else: where its tasks may run, how long they work, its pages.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "harness/clock.hpp"
#include "harness/memory.hpp"

namespace assay {

/// A process and all that it started.
std::set<int> family(int process);

/// What a running command was seen to do so far. Libraries move a thread over other cpus while they start (hwloc
/// in MPI_Init over all of them, the constructor of libpsm2 to cpu 0), longer on a busy machine, and back. So it
/// counts where tasks work and stay, not what a look meets: a command is on a cpu that was not asked for where it
/// ended so; where tasks that were last seen there did a twentieth of its work there; where a fifth of a second
/// and a tenth of its work was done there.
class Observed {
  public:
    explicit Observed(const std::vector<int>& wanted) : wanted_(wanted.begin(), wanted.end()) {}

    void look(int process);

    /// The command has ended and nobody has waited for it yet: its first thread's mask is that of its end.
    void look_at_end(int process);

    /// Whether the threads, when there were most of them, stood on one cpu each, and all cpus were taken. On a
    /// single cpu any number of them does.
    [[nodiscard]] bool pinned(const std::vector<int>& wanted) const;

    /// Where it ran: cpus that were asked for and are in a mask, and those that it strayed to for long.
    [[nodiscard]] std::vector<int> cpus() const;

    /// Seconds that its tasks worked with any cpu in their masks that was not asked for.
    [[nodiscard]] double strayed_s() const { return strayed_s_; }
    [[nodiscard]] const PageNodes& page_nodes() const { return page_nodes_; }

  private:
    struct Task {
        std::vector<int> mask;
        double worked_s = 0;
        std::map<int, double> strayed_s;  ///< cpu that was not asked for -> work with it in the mask
    };

    [[nodiscard]] std::set<int> strays_of(const std::vector<int>& mask) const;
    [[nodiscard]] std::set<int> strays() const;  ///< cpus that it was on too long
    [[nodiscard]] double worked_s(const std::filesystem::path& task) const;
    void add_masks(int process, std::vector<std::vector<int>>& masks);
    bool look_at(int id, const std::filesystem::path& task);

    std::vector<std::vector<int>> masks_;  ///< of all tasks, when there were most of them and none strayed
    std::set<int> wanted_;
    std::set<int> ended_on_;  ///< strays in the mask with which it ended
    std::map<int, Task> tasks_;
    double strayed_s_ = 0;
    PageNodes page_nodes_;
    double begin_s_ = now();
};

}  // namespace assay
