// What the network interfaces of this host carried, by their own counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace assay {

/// Bytes of one interface.
struct Counter {
    std::int64_t sent;
    std::int64_t received;
};

/// Interface (`eth0`), port of an RDMA adapter (`mlx5_0:1`) or Slingshot card (`cxi0`) -> what it counted.
using Counters = std::map<std::string, Counter>;

/// Interface -> its largest frame in bytes (MTU).
using FrameSizes = std::map<std::string, std::int64_t>;

/// What the cpus of this host have done since it booted: all of them together, in seconds. Time that the kernel
/// takes for interrupts counts as nothing: that of messages is no program's.
struct CpuTimes {
    int cpus = 0;
    double used_s = 0;
    double stolen_s = 0;  ///< by a hypervisor
};

/// Zeros where the kernel does not tell.
CpuTimes read_cpu_times(const std::string& proc = "/proc");

/// Cpu seconds of this process so far, and of children that it has waited for.
double own_cpu_s();

/// Counters of all interfaces of this network namespace, loopback included, and of all ports and cards; those that
/// cannot be read are left out.
Counters read_counters(const std::string& sys = "/sys");

/// MTUs of all interfaces of this network namespace; those that cannot be read are left out.
FrameSizes read_mtus(const std::string& sys = "/sys");

/// What the cpus did between two readings; nothing where either tells nothing.
CpuTimes spent(const CpuTimes& before, const CpuTimes& after);

/// What was carried between two readings, by the interfaces that both have. A counter that was set back meanwhile
/// counts from nothing.
Counters carried(const Counters& before, const Counters& after);

}  // namespace assay
