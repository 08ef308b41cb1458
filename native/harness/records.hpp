// The records of schema/records.schema.json, written between phases and flushed after each case.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/arguments.hpp"
#include "harness/benchmark.hpp"
#include "harness/folder.hpp"
#include "harness/traffic.hpp"

namespace assay {

/// What an external process used of the machine.
struct ProcessUsage {
    std::int64_t resident_bytes;  ///< at its peak; of several processes, of the largest
    std::int64_t voluntary_switches;
    std::int64_t involuntary_switches;
    double strayed_s;  ///< of work with an unrequested cpu in its mask
};

/// Placement of a process: requested, and read back.
struct PlacementReadback {
    std::vector<int> requested_cpus;
    std::vector<int> cpus;
    std::string requested_memory;
    PageNodes page_nodes;
    std::optional<double> huge_page_share;
    bool threads_pinned = true;  ///< if false, `cpus` are those of the rank, ascending
    std::optional<ProcessUsage> usage = {};
    std::optional<std::vector<OpenedDevice>> devices = {};  ///< none if the program works on no devices
    std::optional<FolderReadback> folder = {};              ///< none if it works in no folder
    std::string mpi = {};                                   ///< its calls of MPI, as JSON; empty if not counted
};

/// The entry of this rank in the header.
std::string rank_entry(int rank, const PlacementReadback& readback);

/// Records of this rank's samples of one kernel, as lines.
std::string series_lines(const std::string& kernel, int rank, const std::vector<Series>& phases);

/// The entry of this host in the traffic record. `spent` covers the same time; `own_s` of it was used by the
/// ranks here.
std::string host_entry(const Counters& carried, const FrameSizes& mtus, const CpuTimes& spent, double own_s);

/// The first record of a case. `ranks` are entries from `rank_entry`.
struct Header {
    const Declaration& declaration;
    const CaseRequest& request;
    Work work;
    Clock clock;
    std::map<std::string, std::string> library;
    std::map<std::string, std::map<std::string, std::string>> libraries;
    std::map<std::string, std::string> facts;
    std::vector<std::string> ranks;
};

/// Collects the records of a case.
class Records {
  public:
    /// Becomes the first record, whenever it is added.
    void header(const Header& header);
    void lines(const std::vector<std::string>& lines);
    /// `hosts`: entries from `host_entry`.
    void traffic(double seconds, double payload_bytes, const std::vector<std::string>& hosts);
    /// One value of a whole solution.
    void figure(const std::string& name, const std::string& unit, double value);
    /// The same with its time and its phases; `warmup`: a later solution is the result.
    void figure(const Solution& solution, bool warmup);
    /// The whole output of an external command.
    void output(const std::string& text);
    void verdict(bool passed, double error, double tolerance);
    /// `cause` of a failure: see failure.hpp.
    void end(const std::string& status, const std::string& reason, const std::string& cause = "");

    /// Writes the collected records to stdout; Failure (environment) if not all can be written.
    void flush();

  private:
    std::string lines_;
};

/// What Assay's starter reports for a rank other than 0: its entry, its host's entry, how its command ended, and
/// the end of its output.
std::string placed_line(const std::string& entry, const std::string& host, const std::string& status,
                        const std::string& reason, const std::string& output);

/// Reserves stdout for `write_out`: what libraries print goes to stderr from now on.
void reserve_stdout();

/// Writes text to stdout; Failure (environment) if not all can be written.
void write_out(const std::string& text);

}  // namespace assay
