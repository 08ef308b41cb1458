// What is observed of a running external command: the cpus of its tasks, their work, its pages.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/clock.hpp"
#include "harness/memory.hpp"

namespace assay {

/// A process and all its descendants.
std::set<int> family(int process);

/// What a command did so far. While libraries start, they move a thread over other cpus and back (hwloc in
/// MPI_Init over all of them, the constructor of libpsm2 to cpu 0), for longer on a busy machine. So one
/// observed mask is not enough: a command is on an unrequested cpu if it ended there; if tasks that were last
/// seen there did a twentieth of its work there; or if a fifth of a second and a tenth of its work was done
/// there.
class Observed {
  public:
    explicit Observed(const std::vector<int>& wanted) : wanted_(wanted.begin(), wanted.end()) {}

    void observe(int process);

    /// Call it when the command has ended and nobody has waited for it: records the final mask of its first
    /// thread.
    void observe_end(int process);

    /// Whether, when there were most threads, each was on one cpu and all cpus were taken. On a single cpu any
    /// number of threads may run.
    [[nodiscard]] bool pinned(const std::vector<int>& wanted) const;

    /// Where it ran: requested cpus in a mask, and unrequested ones that it used for long.
    [[nodiscard]] std::vector<int> cpus() const;

    /// Seconds that its tasks worked with an unrequested cpu in their masks.
    [[nodiscard]] double strayed_s() const { return strayed_s_; }
    [[nodiscard]] const PageNodes& page_nodes() const { return page_nodes_; }

    /// Share of its memory in huge pages when it held the most pages; none if the kernel does not say.
    [[nodiscard]] std::optional<double> huge_page_share() const { return huge_page_share_; }

    /// `program`, and the libraries `mpi` and `blas` -> its file, as far as it has them.
    [[nodiscard]] const std::map<std::string, std::string>& loaded() const { return loaded_; }

  private:
    struct Task {
        std::vector<int> mask;
        double worked_s = 0;
        std::map<int, double> strayed_s;  ///< unrequested cpu -> work with it in the mask
    };

    [[nodiscard]] std::set<int> strays_of(const std::vector<int>& mask) const;
    [[nodiscard]] std::set<int> strays() const;  ///< unrequested cpus that it used too long
    [[nodiscard]] double worked_s(const std::filesystem::path& task) const;
    void observe_huge_pages(int process);
    void add_masks(int process, std::vector<std::vector<int>>& masks);
    bool observe_task(int id, const std::filesystem::path& task);

    std::vector<std::vector<int>> masks_;  ///< of all tasks, when there were most of them and none had strayed
    std::set<int> wanted_;
    std::set<int> ended_on_;  ///< unrequested cpus in its final mask
    std::map<int, Task> tasks_;
    double strayed_s_ = 0;
    PageNodes page_nodes_;
    std::optional<double> huge_page_share_;
    std::map<std::string, std::string> loaded_;
    double begin_s_ = now();
};

}  // namespace assay
