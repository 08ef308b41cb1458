// Replaces a program in its launch line, and reports which ranks that line starts, how each of them is placed,
// and whether messages pass between them.
#include <mpi.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "harness/arguments.hpp"
#include "harness/cpus.hpp"
#include "harness/environment.hpp"
#include "harness/host.hpp"
#include "harness/json.hpp"
#include "harness/memory.hpp"
#include "harness/mpi/world.hpp"
#include "harness/parent.hpp"
#include "harness/records.hpp"
#include "harness/traffic.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

namespace json = assay::json;

constexpr const char* usage = "audit [--patience SECONDS]\n       audit --help | --describe";
constexpr const char* summary = "says which ranks a launch line starts, and how each is placed";

/// Time limit of the start and all messages; a rank that needs longer is stuck.
constexpr unsigned default_timeout_s = 4;
/// Other ranks shall report that they are stuck before the launcher kills them all.
constexpr unsigned report_time_s = 1;
/// Far above the eager limit of any MPI.
constexpr std::size_t message_bytes = 1U << 20U;
constexpr int tag = 7;
constexpr std::size_t touched_bytes = 1U << 20U;
constexpr std::uint64_t mark = 0x6173736179;

/// Variables that launchers set for each rank.
constexpr std::array<const char*, 12> launcher_variables{
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",       "PMI_SIZE",    "PMIX_RANK",
    "SLURM_PROCID",         "SLURM_NTASKS",         "SLURM_MPI_TYPE", "PALS_RANKID", "FLUX_TASK_RANK",
    "FLUX_JOB_SIZE",        "OMP_NUM_THREADS"};

/// The line that the alarm writes: that this rank is stuck, and where. Stdout is the launcher's.
std::string stuck;
int launchers_stdout = STDOUT_FILENO;

void write_line(const std::string& line) {
    for (std::size_t at = 0; at < line.size();) {
        const ssize_t count = write(launchers_stdout, line.data() + at, line.size() - at);
        if (count <= 0) {
            return;
        }
        at += static_cast<std::size_t>(count);
    }
}

void give_up(int /*signal*/) {
    write_line(stuck);
    sleep(report_time_s);
    _exit(static_cast<int>(assay::Exit::failed));
}

void enter(const std::string& phase, const std::string& partner) {
    stuck = json::object({{"type", json::string("stuck")},
                          {"host", json::string(assay::host())},
                          {"phase", json::string(phase)},
                          {"partner", json::string(partner)}})
                .text +
            "\n";
}

template <class Counts>
json::Text counts_of(const Counts& counts) {
    std::vector<json::Member> members;
    for (const auto& [key, count] : counts) {
        std::ostringstream name;
        name << key;
        members.push_back({name.str(), json::number(static_cast<std::int64_t>(count))});
    }
    return json::object(members);
}

/// The first line of a file, or the text behind a word that begins a line; empty if there is none.
std::string line_of(const std::string& path, const std::string& word = "") {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.rfind(word, 0) == 0) {
            const std::size_t begin = line.find_first_not_of(": \t", word.size());
            return begin == std::string::npos ? "" : line.substr(begin);
        }
    }
    return "";
}

/// What ranks depend on in a host.
json::Text node() {
    std::map<std::string, std::string> facts{
        {"cpus", line_of("/sys/devices/system/cpu/online")},
        {"model", line_of("/proc/cpuinfo", "model name")},
        {"memory", line_of("/proc/meminfo", "MemTotal")},
        {"ptrace scope", line_of("/proc/sys/kernel/yama/ptrace_scope")},
        {"NUMA balancing", line_of("/proc/sys/kernel/numa_balancing")},
        {"migrated pages", line_of("/proc/vmstat", "numa_pages_migrated")},
    };
    utsname kernel{};
    if (uname(&kernel) == 0) {
        facts["kernel"] = kernel.release;
    }
    for (const int number : assay::listed("/sys/devices/system/node/online")) {
        const std::string name = "node" + std::to_string(number);
        facts["cpus of " + name] = line_of("/sys/devices/system/node/" + name + "/cpulist");
    }
    return json::strings(facts);
}

/// Number of cores of these cpus: cpus that share a core count once.
std::int64_t cores_of(const std::vector<int>& cpus) {
    std::set<std::string> cores;
    for (const int cpu : cpus) {
        const std::string number = std::to_string(cpu);
        const std::string siblings =
            line_of("/sys/devices/system/cpu/cpu" + number + "/topology/thread_siblings_list");
        cores.insert(siblings.empty() ? number : siblings);
    }
    return static_cast<std::int64_t>(cores.size());
}

/// Allowed cpus -> number of threads that may use exactly these, in an OpenMP region.
std::map<std::string, std::int64_t> threads() {
    std::map<std::string, std::int64_t> masks;
#ifdef _OPENMP
#pragma omp parallel
    {
        const std::string mask = assay::format_list(assay::affinity());
#pragma omp critical
        ++masks[mask];
    }
#else
    masks[assay::format_list(assay::affinity())] = 1;
#endif
    return masks;
}

assay::PageNodes touched() {
    assay::Memory memory(assay::MemoryPolicy{});
    std::memset(memory.allocate(touched_bytes), 1, touched_bytes);
    return memory.page_nodes();
}

/// What the other ranks know of a rank.
struct Peer {
    std::string key;
    std::string host;
    pid_t process;
    std::uintptr_t mark;
};

std::vector<Peer> meet(assay::Ranks& ranks, const std::uint64_t& own) {
    std::ostringstream text;
    text << getpid() << ' ' << reinterpret_cast<std::uintptr_t>(&own) << ' ' << assay::host() << '\n'
         << assay::host_key();
    std::vector<Peer> peers;
    for (const std::string& each : allgather(ranks, text.str())) {
        std::istringstream words(each);
        Peer peer{};
        words >> peer.process >> peer.mark >> peer.host;
        peer.key = each.substr(each.find('\n') + 1);
        peers.push_back(std::move(peer));
    }
    return peers;
}

/// Whether a rank may copy from the memory of the next one on its host (cross-memory attach): `ok`, or why not;
/// empty for a rank that is alone on its host.
std::string copies(int rank, const std::vector<Peer>& peers) {
    const auto size = static_cast<int>(peers.size());
    for (int step = 1; step < size; ++step) {
        const Peer& peer = peers[static_cast<std::size_t>((rank + step) % size)];
        if (peer.key == peers[static_cast<std::size_t>(rank)].key) {
            std::uint64_t found = 0;
            const iovec here{&found, sizeof found};
            const iovec there{reinterpret_cast<void*>(peer.mark), sizeof found};
            if (process_vm_readv(peer.process, &here, 1, &there, 1, 0) < 0) {
                return std::strerror(errno);
            }
            return found == mark ? "ok" : "another process has its number";
        }
    }
    return "";
}

/// The ranks that pass messages: the first of each host, or all of them on a single host.
std::vector<int> messaging_ranks(const std::vector<Peer>& peers) {
    std::vector<int> first;
    std::vector<int> all;
    std::set<std::string> keys;
    for (int rank = 0; rank < static_cast<int>(peers.size()); ++rank) {
        all.push_back(rank);
        if (keys.insert(peers[static_cast<std::size_t>(rank)].key).second) {
            first.push_back(rank);
        }
    }
    return first.size() > 1 ? first : all;
}

/// Each of these ranks sends the next one a message: `ok`, `wrong`, or empty if this rank is none of them.
std::string pass_messages(int rank, const std::vector<Peer>& peers) {
    const std::vector<int> ring = messaging_ranks(peers);
    const auto self = std::find(ring.begin(), ring.end(), rank);
    if (ring.size() < 2 || self == ring.end()) {
        return "";
    }
    const auto at = static_cast<std::size_t>(self - ring.begin());
    const int next = ring[(at + 1) % ring.size()];
    const int before = ring[(at + ring.size() - 1) % ring.size()];
    enter("messages", peers[static_cast<std::size_t>(next)].host);
    const std::vector<char> sent(message_bytes, static_cast<char>(rank));
    std::vector<char> received(message_bytes, static_cast<char>(before + 1));
    MPI_Sendrecv(sent.data(), static_cast<int>(message_bytes), MPI_CHAR, next, tag, received.data(),
                 static_cast<int>(message_bytes), MPI_CHAR, before, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const auto expected = static_cast<char>(before);
    const auto equal = std::count(received.begin(), received.end(), expected);
    return static_cast<std::size_t>(equal) == message_bytes ? "ok" : "wrong";
}

void audit(const std::vector<int>& launched) {
    std::map<std::string, std::string> variables;
    for (const char* name : launcher_variables) {
        if (const char* value = std::getenv(name)) {
            variables[name] = value;
        }
    }
    const std::map<std::string, std::int64_t> masks = threads();
    assay::World world(assay::Threads::funneled);
    const std::uint64_t own = mark;
    enter("messages", "");
    const std::vector<Peer> peers = meet(world, own);
    const std::string single_copy = copies(world.rank(), peers);
    const bool counts = is_first_with_key(world, assay::host_key());
    world.barrier();
    const assay::Counters before = assay::read_counters();
    world.barrier();
    const std::string messages = pass_messages(world.rank(), peers);
    world.barrier();
    std::map<std::string, std::int64_t> sent;
    for (const auto& [name, counter] :
         counts ? assay::carried(before, assay::read_counters()) : assay::Counters{}) {
        sent[name] = counter.sent;
    }
    const std::vector<int> cpus = assay::affinity();
    const std::string line =
        json::object({{"type", json::string("rank")},
                      {"rank", json::number(std::int64_t{world.rank()})},
                      {"size", json::number(std::int64_t{world.size()})},
                      {"host", json::string(assay::host())},
                      {"boot_id", json::string(assay::boot_id())},
                      {"told", json::strings(variables)},
                      {"library", json::strings(world.library())},
                      {"launched_cpus", json::string(assay::format_list(launched))},
                      {"cpus", json::string(assay::format_list(cpus))},
                      {"cores", json::number(cores_of(cpus))},
                      {"threads", counts_of(masks)},
                      {"memory_nodes", json::string(line_of("/proc/self/status", "Mems_allowed_list"))},
                      {"page_nodes", counts_of(touched())},
                      {"single_copy", json::string(single_copy)},
                      {"messages", json::string(messages)},
                      {"sent", counts_of(sent)},
                      {"node", node()}})
            .text +
        "\n";
    for (const std::string& each : world.gather(line)) {
        write_line(each);
    }
    alarm(0);
    world.leave(assay::Exit::complete);
}

unsigned timeout_of(int argc, char** argv) {
    const bool asked = argc == 3 && std::string(argv[1]) == "--patience";
    return asked ? static_cast<unsigned>(assay::parse_size(argv[2], "--patience")) : default_timeout_s;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::string(argv[1]) == "--help") {
        std::cout << "audit: " << summary << "\n\nusage: " << usage << '\n';
        return 0;
    }
    if (argc == 2 && std::string(argv[1]) == "--describe") {
        std::cout << assay::describe(
            {.name = "audit", .measures = summary, .kernels = {}, .axes = {}, .work = {}});
        return 0;
    }
    try {
        assay::end_with_parent();
        enter("start", "");
        launchers_stdout = dup(STDOUT_FILENO);
        write_line(json::object({{"type", json::string("began")}, {"host", json::string(assay::host())}}).text +
                   "\n");
        std::signal(SIGALRM, give_up);
        alarm(timeout_of(argc, argv));
        audit(assay::affinity());
    } catch (const assay::Failure& failure) {
        std::cerr << "audit: " << failure.what() << '\n';
        return static_cast<int>(failure.exit);
    }
    return 0;
}
