// Traffic of this host's network interfaces, from their own counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace assay {

/// Byte counters of one interface.
struct Counter {
    std::int64_t sent;
    std::int64_t received;
};

/// Interface (`eth0`), port of an RDMA adapter (`mlx5_0:1`) or Slingshot card (`cxi0`) -> its counters.
using Counters = std::map<std::string, Counter>;

/// Interface -> its largest frame in bytes (MTU).
using FrameSizes = std::map<std::string, std::int64_t>;

/// Cpu seconds of this host since boot, all cpus together. Time for interrupts is left out: that of messages
/// belongs to no program.
struct CpuTimes {
    int cpus = 0;
    double used_s = 0;
    double stolen_s = 0;  ///< by the hypervisor
};

/// Zeros if the kernel does not report them.
CpuTimes read_cpu_times(const std::string& proc = "/proc");

/// Cpu seconds of this process so far, and of children for which it has waited.
double own_cpu_s();

/// Counters of all interfaces of this network namespace, loopback included, and of all ports and cards;
/// unreadable ones are left out.
Counters read_counters(const std::string& sys = "/sys");

/// MTUs of all interfaces of this network namespace; unreadable ones are left out.
FrameSizes read_mtus(const std::string& sys = "/sys");

/// Difference of two readings; zeros if one of them is missing.
CpuTimes spent(const CpuTimes& before, const CpuTimes& after);

/// Difference of two readings, for interfaces in both. A counter that was reset in between counts from 0.
Counters carried(const Counters& before, const Counters& after);

}  // namespace assay
