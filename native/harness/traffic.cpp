#include "harness/traffic.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

namespace assay {
namespace {

/// InfiniBand counts its data in words of four octets (IBA specification, PortCounters).
constexpr std::int64_t word_bytes = 4;

std::optional<std::int64_t> read_number(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

void add(Counters& counters, const std::string& name, std::optional<std::int64_t> sent,
         std::optional<std::int64_t> received, std::int64_t unit) {
    if (sent && received) {
        counters[name] = {*sent * unit, *received * unit};
    }
}

/// Entries of a folder; none if it is missing.
std::filesystem::directory_iterator entries(const std::filesystem::path& folder) {
    std::error_code missing;
    return std::filesystem::directory_iterator(folder, missing);
}

std::int64_t difference(std::int64_t before, std::int64_t after) {
    return after < before ? after : after - before;
}

}  // namespace

Counters read_counters(const std::string& sys) {
    Counters counters;
    for (const auto& interface : entries(sys + "/class/net")) {
        const auto folder = interface.path() / "statistics";
        add(counters, interface.path().filename(), read_number(folder / "tx_bytes"),
            read_number(folder / "rx_bytes"), 1);
    }
    for (const auto& device : entries(sys + "/class/infiniband")) {
        for (const auto& port : entries(device.path() / "ports")) {
            const auto name = device.path().filename().string() + ":" + port.path().filename().string();
            const auto own = port.path() / "hw_counters";  // Amazon's EFA has no others
            add(counters, name, read_number(own / "tx_bytes"), read_number(own / "rx_bytes"), 1);
            const auto folder = port.path() / "counters";
            add(counters, name, read_number(folder / "port_xmit_data"), read_number(folder / "port_rcv_data"),
                word_bytes);
        }
    }
    for (const auto& card : entries(sys + "/class/cxi")) {  // HPE's Slingshot: `NUMBER@TIME`
        const auto folder = card.path() / "device" / "telemetry";
        add(counters, card.path().filename(), read_number(folder / "hni_sts_tx_ok_octets"),
            read_number(folder / "hni_sts_rx_ok_octets"), 1);
    }
    return counters;
}

CpuTimes read_cpu_times(const std::string& proc) {
    std::ifstream file(proc + "/stat");
    std::string name;
    std::array<double, 8> ticks{};  // proc(5): user, nice, system, idle, iowait, irq, softirq, steal
    file >> name;
    for (double& each : ticks) {
        file >> each;
    }
    if (!file || name != "cpu") {
        return {};
    }
    CpuTimes times{0, ticks[0] + ticks[1] + ticks[2], ticks[7]};
    times.used_s /= static_cast<double>(sysconf(_SC_CLK_TCK));
    times.stolen_s /= static_cast<double>(sysconf(_SC_CLK_TCK));
    for (std::string line; std::getline(file, line);) {
        times.cpus += line.starts_with("cpu") ? 1 : 0;
    }
    return times;
}

double own_cpu_s() {
    double seconds = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        getrusage(who, &used);
        for (const timeval& each : {used.ru_utime, used.ru_stime}) {
            seconds += static_cast<double>(each.tv_sec) + 1e-6 * static_cast<double>(each.tv_usec);
        }
    }
    return seconds;
}

FrameSizes read_mtus(const std::string& sys) {
    FrameSizes mtus;
    for (const auto& interface : entries(sys + "/class/net")) {
        if (const auto mtu = read_number(interface.path() / "mtu")) {
            mtus[interface.path().filename()] = *mtu;
        }
    }
    return mtus;
}

CpuTimes spent(const CpuTimes& before, const CpuTimes& after) {
    if (before.cpus == 0 || after.cpus == 0) {
        return {};
    }
    return {after.cpus, std::max(0.0, after.used_s - before.used_s),
            std::max(0.0, after.stolen_s - before.stolen_s)};
}

Counters carried(const Counters& before, const Counters& after) {
    Counters carried;
    for (const auto& [name, end] : after) {
        if (const auto begin = before.find(name); begin != before.end()) {
            carried[name] = {difference(begin->second.sent, end.sent),
                             difference(begin->second.received, end.received)};
        }
    }
    return carried;
}

}  // namespace assay
