#include "harness/launch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "harness/counted.hpp"
#include "harness/cpus.hpp"
#include "harness/failure.hpp"
#include "harness/loaded.hpp"
#include "harness/sampler.hpp"
#include "harness/statistics.hpp"
#include "harness/traffic.hpp"

namespace assay {
namespace {

/// Number of cpus that a benchmark can use, in words.
std::string wanted_cpus(const Declaration& declaration) {
    const std::string min_count = std::to_string(declaration.min_cpus);
    if (declaration.min_cpus == declaration.max_cpus) {
        return "exactly " + min_count;
    }
    return "at least " + min_count +
           (declaration.max_cpus > 0 ? " and at most " + std::to_string(declaration.max_cpus) : "");
}

/// The cpus requested for this rank; empty if there are none.
std::vector<int> asked_cpus(const Request& request, const Ranks& ranks) {
    const auto& lists = request.cpus;
    if (lists.size() > static_cast<std::size_t>(ranks.size())) {
        throw Failure(Exit::usage,
                      "--cpus names those of " + std::to_string(lists.size()) + " ranks, " +
                          std::to_string(ranks.size()) + (ranks.size() == 1 ? " is here" : " are here"),
                      "a / stands between the cpus of one rank and of the next", "--cpus 0-3");
    }
    return lists.empty() ? std::vector<int>{} : lists[static_cast<std::size_t>(ranks.rank()) % lists.size()];
}

/// The cpus if none are requested: all allowed ones, or one for each rank.
std::vector<int> default_cpus(const Declaration& declaration, const Ranks& ranks) {
    std::vector<int> allowed = affinity();
    if (!ranks.library().empty()) {
        return {allowed[static_cast<std::size_t>(ranks.rank()) % allowed.size()]};
    }
    const auto max_count = static_cast<std::size_t>(declaration.max_cpus);
    if (max_count > 0 && allowed.size() > max_count) {
        allowed.resize(max_count);
    }
    return allowed;
}

/// The cpus of this rank, as many as the benchmark can use.
std::vector<int> choose_cpus(const Declaration& declaration, const Request& request, const Ranks& ranks) {
    std::vector<int> cpus = asked_cpus(request, ranks);
    if (cpus.empty()) {
        cpus = default_cpus(declaration, ranks);
    } else if (!ranks.library().empty()) {
        unpin();  // undo the binding of the MPI launcher
    }
    const std::vector<int> allowed = affinity();
    require_allowed(cpus, allowed);
    const auto min_count = static_cast<std::size_t>(declaration.min_cpus);
    const auto max_count = declaration.max_cpus > 0 ? static_cast<std::size_t>(declaration.max_cpus) : cpus.size();
    if (cpus.size() < min_count || cpus.size() > max_count) {
        throw Failure(
            Exit::usage, std::to_string(cpus.size()) + (cpus.size() == 1 ? " cpu is" : " cpus are") + " given",
            declaration.name + " needs " + wanted_cpus(declaration) + "; allowed: " + format_list(allowed),
            "name them with --cpus");
    }
    return cpus;
}

/// The devices requested for this rank; empty if there are none.
std::vector<std::string> own_devices(const Request& request, const Ranks& ranks) {
    const auto& lists = request.devices;
    if (lists.size() > static_cast<std::size_t>(ranks.size())) {
        throw Failure(Exit::usage,
                      "--devices names those of " + std::to_string(lists.size()) + " ranks, " +
                          std::to_string(ranks.size()) + (ranks.size() == 1 ? " is here" : " are here"),
                      "a / stands between the devices of one rank and of the next",
                      "--devices " + lists.front().front());
    }
    return lists.empty() ? std::vector<std::string>{}
                         : lists[static_cast<std::size_t>(ranks.rank()) % lists.size()];
}

/// The folder in which this rank makes its own; empty if the program uses none.
std::string own_folder(const Declaration& declaration, const Request& request, const Ranks& ranks) {
    const auto& folders = request.folders;
    if (declaration.folder && folders.empty()) {
        throw Failure(Exit::usage, "no folder is given", declaration.name + " writes into one", "--folder /tmp");
    }
    return folders.empty() ? "" : folders[static_cast<std::size_t>(ranks.rank()) % folders.size()];
}

/// Usage of the hosts' cpus since construction, and traffic of their interfaces if messages are passed. One rank
/// of each host reads the counters.
class UsageMonitor {
  public:
    UsageMonitor(Ranks& ranks, const Benchmark& benchmark)
        : ranks_(ranks),
          benchmark_(benchmark),
          reads_(is_first_with_key(ranks, host_key())),
          counts_(reads_ && !ranks.library().empty()),
          start_(now()),
          sent_bytes_(benchmark.sent_bytes()),
          before_(counts_ ? read_counters() : Counters{}),
          cpus_before_(reads_ ? read_cpu_times() : CpuTimes{}),
          own_before_s_(own_cpu_s()) {}

    /// Adds the record of usage and traffic since construction.
    void record(Records& records) const {
        const double seconds = now() - start_;
        const CpuTimes cpus = reads_ ? spent(cpus_before_, read_cpu_times()) : CpuTimes{};
        const double own_s = sum_over_host(own_cpu_s() - own_before_s_);
        std::vector<std::string> hosts =
            ranks_.gather(reads_ ? host_entry(counts_ ? carried(before_, read_counters()) : Counters{},
                                              counts_ ? read_mtus() : FrameSizes{}, cpus, own_s)
                                 : "");
        std::erase(hosts, "");
        const std::vector<std::string> sent = ranks_.gather(std::to_string(benchmark_.sent_bytes() - sent_bytes_));
        const double payload_bytes =
            std::accumulate(sent.begin(), sent.end(), 0.0,
                            [](double sum, const std::string& bytes) { return sum + std::stod(bytes); });
        records.traffic(seconds, payload_bytes, hosts);
    }

  private:
    /// Sum over the ranks of this host.
    [[nodiscard]] double sum_over_host(double seconds) const {
        const std::string own = ' ' + host_key();
        double sum = 0;
        for (const std::string& each : allgather(ranks_, std::to_string(seconds) + own)) {
            sum += each.ends_with(own) ? std::stod(each) : 0;
        }
        return sum;
    }

    Ranks& ranks_;
    const Benchmark& benchmark_;
    bool reads_;
    bool counts_;
    double start_;
    double sent_bytes_;
    Counters before_;
    CpuTimes cpus_before_;
    double own_before_s_;
};

std::string misplacement(const PlacementReadback& readback, const Memory& memory,
                         const std::vector<std::string>& devices) {
    std::vector<int> wanted = readback.requested_cpus;
    if (!readback.threads_pinned) {
        std::sort(wanted.begin(), wanted.end());
    }
    if (readback.cpus != wanted) {
        return "a thread is not on the cpu that was asked for";
    }
    const std::string elsewhere = memory.misplaced(readback.page_nodes, readback.huge_page_share);
    return elsewhere.empty() ? misopened(devices, readback.devices.value_or(std::vector<OpenedDevice>{}))
                             : elsewhere;
}

/// A misplacement with the rank that has it, where there are several; empty for none.
std::string placed_by(const Ranks& ranks, const std::string& misplaced) {
    return misplaced.empty() || ranks.size() == 1 ? misplaced
                                                  : "rank " + std::to_string(ranks.rank()) + ": " + misplaced;
}

Exit conclude(Records& records, bool passed, const std::string& misplaced) {
    if (!passed) {
        records.end("failed", "the results are wrong");
    } else if (!misplaced.empty()) {
        records.end("invalid", misplaced);
    } else {
        records.end("complete", "");
        return Exit::complete;
    }
    return Exit::failed;
}

}  // namespace

Work stated_work(const Declaration& declaration, const Work& stated) {
    Work work;
    for (const std::string& kernel : declaration.kernels) {
        work[kernel] = {};
    }
    for (const auto& [kernel, amounts] : stated) {
        const auto declared = declaration.work.find(kernel);
        for (const auto& [quantity, amount] : amounts) {
            if (declared == declaration.work.end() || !declared->second.contains(quantity)) {
                throw Failure(Exit::failed, "the work of '" + kernel + "' has '" + quantity + "'",
                              "its declaration has not", "add it to `work` in " + declaration.name + ".json");
            }
        }
        work[kernel] = amounts;
    }
    return work;
}

Clock agreed_clock(Ranks& ranks) {
    Clock clock{};
    all_or_none(ranks, [&] { clock = measure_clock(); });
    std::array<double, 2> coarsest{clock.resolution_s, clock.overhead_s};
    ranks.allreduce_max(coarsest);
    return {clock.name, coarsest[0], coarsest[1]};
}

Launch::Launch(const Declaration& declaration, Factory factory, const Request& request, Ranks& ranks,
               const Clock& clock)
    : declaration_(declaration),
      factory_(factory),
      request_(request),
      ranks_(ranks),
      clock_(clock),
      cpus_(choose_cpus(declaration, request, ranks)),
      devices_(own_devices(request, ranks)),
      folder_(own_folder(declaration, request, ranks)),
      team_(declaration.own_threads ? std::vector<int>{cpus_.front()} : cpus_, affinity()) {}

Exit Launch::measure(const CaseRequest& request, Records& records) const {
    const auto memory = std::make_shared<Memory>(request_.memory, kept_);
    std::optional<Folder> folder;
    std::unique_ptr<Benchmark> benchmark;
    all_or_none(ranks_, [&] {
        const std::string none;
        if (declaration_.folder) {
            folder.emplace(folder_);
        }
        benchmark = factory_({request.params, team_, memory, cpus_, ranks_, request_.network, request_.libraries,
                              devices_, folder ? folder->path() : none});
    });
    all_or_none(ranks_, [&] { benchmark->connect(); });
    PlacementReadback readback = read_placement(*benchmark, *memory);
    std::map<std::string, std::string> library = ranks_.library();
    if (!request_.network.empty()) {
        library["network"] = request_.network;
    }
    if (const std::string path = first_nonempty(ranks_, benchmark->path()); !path.empty()) {
        library["way"] = path;
    }
    if (const std::string segment = first_nonempty(ranks_, benchmark->segment()); !segment.empty()) {
        library["segment"] = segment;
    }
    Header header{declaration_, request, stated_work(declaration_, benchmark->work()),
                  clock_,       library, benchmark->libraries(),
                  {},           {}};
    const auto add_header = [&](const std::string& calls) {
        readback.mpi = calls;
        header.facts = benchmark->facts();
        header.facts.merge(loaded_libraries("self"));
        benchmark.reset();  // its files are closed: its folder can be removed
        if (folder) {
            folder->remove();
            readback.folder = folder->readback();
        }
        header.ranks = ranks_.gather(rank_entry(ranks_.rank(), readback));
        records.header(header);
    };
    const UsageMonitor monitor(ranks_, *benchmark);
    double error = 0;
    forget_calls();
    try {
        error = allreduce_max(ranks_, sample(request, *benchmark, records));
    } catch (const Failure&) {
        add_header("");
        throw;
    }
    monitor.record(records);
    const double tolerance = benchmark->tolerance();
    const bool passed = error <= tolerance;
    records.verdict(passed, error, tolerance);
    std::string misplaced = misplacement(readback, *memory, devices_);
    if (misplaced.empty()) {
        const PlacementReadback after = read_placement(*benchmark, *memory);
        misplaced = misplacement(after, *memory, devices_);
        // The kernel may have moved pages since their first touch: then the buffers are not kept.
        if (passed && misplaced.empty() && after.page_nodes == readback.page_nodes) {
            memory->keep();
        }
    }
    add_header(counted_calls());
    return conclude(records, passed, first_nonempty(ranks_, placed_by(ranks_, misplaced)));
}

/// Reads back where threads and pages are.
PlacementReadback Launch::read_placement(const Benchmark& benchmark, const Memory& memory) const {
    const bool pinned = benchmark.threads_pinned();
    std::vector<int> found = pinned ? team_.cpus() : std::vector<int>{};
    const std::vector<int> own = benchmark.own_cpus();
    found.insert(found.end(), own.begin(), own.end());
    PlacementReadback readback{cpus_, found, request_.memory.text, memory.page_nodes(), memory.huge_page_share(),
                               pinned};
    if (declaration_.devices) {
        readback.devices = benchmark.opened_devices();
    }
    return readback;
}

/// Verifies, samples and verifies each kernel. Returns the largest error of this rank.
double Launch::sample(const CaseRequest& request, Benchmark& benchmark, Records& records) const {
    if (declaration_.solves) {
        return solve(request.stopping, benchmark, records);
    }
    Sampler sampler(clock_, team_, ranks_, benchmark);
    double error = 0;
    double seconds = request.stopping.seconds;
    for (std::size_t kernel = 0; kernel < declaration_.kernels.size(); ++kernel) {
        benchmark.prepare(kernel);
        sampler.first(kernel);
        error = std::max(error, check(benchmark, kernel));
        benchmark.prepare(kernel);
        Stopping stopping = request.stopping;
        // Time that one kernel does not use goes to the next ones; each gets at least half of an equal share.
        const double share = request.stopping.seconds / static_cast<double>(declaration_.kernels.size());
        stopping.seconds =
            std::max(share / 2, seconds / static_cast<double>(declaration_.kernels.size() - kernel));
        const double begin = now();
        const std::vector<Series> phases = sampler.sample(kernel, stopping);
        seconds = std::max(0.0, seconds - allreduce_max(ranks_, now() - begin));
        error = std::max(error, check(benchmark, kernel));
        const std::string& name = declaration_.kernels[kernel];
        records.lines(ranks_.gather(benchmark.times() ? series_lines(name, ranks_.rank(), phases) : ""));
    }
    return error;
}

/// Solves at least once, and again as long as time allows; each solution is verified. If there is time for more
/// than one, the first is a warm-up. Returns the largest error of this rank.
double Launch::solve(const Stopping& stopping, Benchmark& benchmark, Records& records) const {
    const double begin = now();
    CheckSchedule schedule(static_cast<std::size_t>(stopping.min_samples));
    std::vector<double> counted;
    std::vector<Solution> solutions;
    double error = 0;
    bool time_left = true;
    bool warmed_up = false;
    while (time_left) {
        const double last = now();
        benchmark.prepare(0);
        ranks_.barrier();
        count_calls(true);
        const double start = now();
        benchmark.iterate(0, 1, 0);
        const double seconds = allreduce_max(ranks_, now() - start);
        count_calls(false);
        solutions.push_back(benchmark.solution(seconds));
        error = std::max(error, check(benchmark, 0));
        // The next one takes as long as this one with preparation and check, on the latest rank.
        std::array<double, 1> next{2 * now() - last - begin};
        ranks_.allreduce_max(next);
        time_left = next[0] <= stopping.seconds;
        if (solutions.size() == 1 && time_left) {
            warmed_up = true;
            forget_calls();
            continue;
        }
        counted.push_back(seconds);
        const bool enough =
            schedule.due(counted.size()) && relative_half_width(counted).value_or(HUGE_VAL) <= stopping.precision;
        time_left = time_left && !enough && counted.size() < static_cast<std::size_t>(stopping.max_samples);
    }
    for (std::size_t each = 0; each < solutions.size(); ++each) {
        records.figure(solutions[each], each == 0 && warmed_up);
    }
    return error;
}

/// Error of this rank's results since `prepare`.
double Launch::check(Benchmark& benchmark, std::size_t kernel) const {
    double error = 0;
    all_or_none(ranks_, [&] {
        benchmark.require_undisturbed();
        error = benchmark.verify(kernel);
    });
    return error;
}

}  // namespace assay
