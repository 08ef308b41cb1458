// The records of schema/records.schema.json, written between phases and flushed after each case.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/arguments.hpp"
#include "harness/json.hpp"

namespace assay {

/// Where a process was asked to be and where it was found.
struct Whereabouts {
    std::vector<int> requested_cpus;
    std::vector<int> cpus;
    std::string requested_memory;
    PageNodes page_nodes;
    std::optional<double> huge_page_share;
};

/// Collects the records of a case.
class Records {
  public:
    void header(const Declaration& declaration, const CaseRequest& request, const Work& work, const Clock& clock,
                const Whereabouts& whereabouts);
    void series(const std::string& kernel, const Series& series);
    void verdict(bool passed, double error, double tolerance);
    void end(const std::string& status, const std::string& reason);

    /// Writes what was collected to stdout; Failure (environment) if it takes not all of it.
    void flush();

  private:
    void add(const std::vector<json::Member>& members);

    std::string lines_;
};

/// Writes text to stdout; Failure (environment) if it takes not all of it.
void write_out(const std::string& text);

}  // namespace assay
