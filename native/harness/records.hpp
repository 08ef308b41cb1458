// The records of schema/records.schema.json, written between phases and flushed after each case.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/arguments.hpp"
#include "harness/benchmark.hpp"
#include "harness/traffic.hpp"

namespace assay {

/// What a process of somebody else took of the machine.
struct ProcessUsage {
    std::int64_t resident_bytes;  ///< most at once; of several processes those of the largest
    std::int64_t voluntary_switches;
    std::int64_t involuntary_switches;
    double strayed_s;  ///< that it worked with a cpu in its mask that was not asked for
};

/// The placement of a process as it was requested, and as it was read back.
struct PlacementReadback {
    std::vector<int> requested_cpus;
    std::vector<int> cpus;
    std::string requested_memory;
    PageNodes page_nodes;
    std::optional<double> huge_page_share;
    bool threads_pinned = true;  ///< else `cpus` are those of the rank, ascending
    std::optional<ProcessUsage> usage = {};
    std::string mpi = {};  ///< its calls of MPI, as JSON; empty where nobody counted them
};

/// The entry of this rank in the header.
std::string rank_entry(int rank, const PlacementReadback& readback);

/// Records of this rank's samples of one kernel, as lines.
std::string series_lines(const std::string& kernel, int rank, const std::vector<Series>& phases);

/// The entry of this host in the record of the traffic; the cpus' times are those of the same span, `own_s` of
/// them those of the ranks here.
std::string host_entry(const Counters& carried, const FrameSizes& mtus, const CpuTimes& spent, double own_s);

/// What opens a case. Entries of ranks are those of `rank_entry`.
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
    /// It stands first, whenever it is known.
    void header(const Header& header);
    void lines(const std::vector<std::string>& lines);
    /// Hosts are entries of `host_entry`.
    void traffic(double seconds, double payload_bytes, const std::vector<std::string>& hosts);
    /// One value of a whole solution.
    void figure(const std::string& name, const std::string& unit, double value);
    /// The same with its time and its phases; `warmup`: a later one counts.
    void figure(const Solution& solution, bool warmup);
    /// What a command of somebody else wrote, whole.
    void output(const std::string& text);
    void verdict(bool passed, double error, double tolerance);
    /// `cause`: of a failure, see failure.hpp.
    void end(const std::string& status, const std::string& reason, const std::string& cause = "");

    /// Writes what was collected to stdout; Failure (environment) if it takes not all of it.
    void flush();

  private:
    std::string lines_;
};

/// What Assay's starter says of a rank beside rank 0: its entry, that of its host, how its command ended, and the
/// last of its output.
std::string placed_line(const std::string& entry, const std::string& host, const std::string& status,
                        const std::string& reason, const std::string& output);

/// Keeps stdout for `write_out`: what libraries print there goes to stderr from now on.
void reserve_stdout();

/// Writes text to stdout; Failure (environment) if it takes not all of it.
void write_out(const std::string& text);

}  // namespace assay
