// Counters of interfaces from inserted folders, and which environment variables are recorded.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <ctime>

#include "check.hpp"
#include "harness/environment.hpp"
#include "harness/traffic.hpp"
#include "planted.hpp"

using assay::carried;
using assay::Counters;
using assay::CpuTimes;
using assay::FrameSizes;
using assay::read_counters;
using assay::read_cpu_times;
using assay::read_mtus;
using assay::test::Planted;

namespace {

void interfaces_and_ports_are_read_in_bytes() {
    Planted sys;
    sys.file("class/net/lo/statistics/tx_bytes", "11\n")
        .file("class/net/lo/statistics/rx_bytes", "12\n")
        .file("class/net/lo/mtu", "65536\n")
        .file("class/net/bond/address", "no counters here\n")
        .file("class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "100\n")
        .file("class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "200\n")
        .file("class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "N/A (no PMA)\n");
    const Counters counters = read_counters(sys.path());
    CHECK(counters.size() == 2);
    CHECK(counters.at("lo").sent == 11 && counters.at("lo").received == 12);
    CHECK(counters.at("mlx5_0:1").sent == 400 && counters.at("mlx5_0:1").received == 800);
    CHECK(read_counters(sys.path() + "/nowhere").empty());
    const FrameSizes mtus = read_mtus(sys.path());
    CHECK(mtus.size() == 1 && mtus.at("lo") == 65536);
}

void cpus_are_read_in_seconds_without_interrupts() {
    const auto per_s = static_cast<double>(sysconf(_SC_CLK_TCK));
    Planted proc;
    proc.file("stat", "cpu  1000 200 300 9999 7 50 60 40 3 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3\nintr 5 6\n");
    const CpuTimes times = read_cpu_times(proc.path());
    CHECK(times.cpus == 2 && times.used_s == 1500 / per_s && times.stolen_s == 40 / per_s);
    const CpuTimes later{2, times.used_s + 3, times.stolen_s + 1};
    const CpuTimes meanwhile = assay::spent(times, later);
    CHECK(meanwhile.cpus == 2 && std::abs(meanwhile.used_s - 3) < 1e-9 && std::abs(meanwhile.stolen_s - 1) < 1e-9);
    CHECK(read_cpu_times(proc.path() + "/nowhere").cpus == 0);
    CHECK(assay::spent({}, later).used_s == 0);
}

void work_of_this_process_and_of_its_children_counts() {
    const double before = assay::own_cpu_s();
    const auto work = [] {
        for (const std::clock_t begin = std::clock(); std::clock() - begin < CLOCKS_PER_SEC / 20;) {
        }
    };
    work();
    const double alone = assay::own_cpu_s() - before;
    CHECK(alone > 0.04);
    if (const pid_t child = fork(); child == 0) {
        work();
        _exit(0);
    } else {
        waitpid(child, nullptr, 0);
    }
    CHECK(assay::own_cpu_s() - before > alone + 0.04);
}

/// The folders of an EFA of p5.48xlarge, a Slingshot card with its interface, an Omni-Path and an iWARP card, as
/// posted by their users.
void each_fabric_is_read_by_its_own_counters() {
    Planted sys;
    sys.file("class/infiniband/rdmap144s27/ports/1/counters/port_xmit_data", "N/A (no PMA)\n")
        .file("class/infiniband/rdmap144s27/ports/1/hw_counters/tx_bytes", "84417311044934\n")
        .file("class/infiniband/rdmap144s27/ports/1/hw_counters/rx_bytes", "71\n")
        .file("class/infiniband/rdmap144s27/ports/1/hw_counters/send_bytes", "1665042978528\n")
        .file("class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets", "900490@1674414354.329651605\n")
        .file("class/cxi/cxi0/device/telemetry/hni_sts_rx_ok_octets", "31@1674414354.329651605\n")
        .file("class/cxi/cxi1/device/telemetry/hni_pcs_uncorrected_cw", "90049@1674414354.3\n")
        .file("class/net/hsn0/statistics/tx_bytes", "5\n")
        .file("class/net/hsn0/statistics/rx_bytes", "6\n")
        .file("class/infiniband/hfi1_0/ports/1/counters/port_xmit_data", "10\n")
        .file("class/infiniband/hfi1_0/ports/1/counters/port_rcv_data", "20\n")
        .file("class/infiniband/hfi1_0/ports/1/hw_counters/TxPkt", "7\n")
        .file("class/infiniband/i40iw0/ports/1/counters/port_xmit_data", "N/A (no PMA)\n")
        .file("class/infiniband/i40iw0/ports/1/hw_counters/ip4OutOctets", "7\n");
    const Counters counters = read_counters(sys.path());
    CHECK(counters.size() == 4);
    CHECK(counters.at("rdmap144s27:1").sent == 84417311044934 && counters.at("rdmap144s27:1").received == 71);
    CHECK(counters.at("cxi0").sent == 900490 && counters.at("cxi0").received == 31);
    CHECK(counters.at("hsn0").sent == 5);
    CHECK(counters.at("hfi1_0:1").sent == 40);
}

void what_was_carried_is_the_difference_of_interfaces_that_stayed() {
    const Counters difference = carried({{"eth0", {10, 20}}, {"gone", {1, 1}}, {"reset", {1000, 5}}},
                                        {{"eth0", {15, 20}}, {"new", {9, 9}}, {"reset", {7, 6}}});
    CHECK(difference.size() == 2);
    CHECK(difference.at("eth0").sent == 5 && difference.at("eth0").received == 0);
    CHECK(difference.at("reset").sent == 7 && difference.at("reset").received == 1);
}

void settings_of_libraries_are_recorded_but_no_secrets() {
    const std::array variables{"OMPI_MCA_btl=tcp,self",
                               "UCX_TLS=rc=x",
                               "FI_PROVIDER=tcp",
                               "SLURM_MPI_TYPE=pmix",
                               "HOME=/root",
                               "PATH_UCX_=x",
                               "MPICH_AUTH_TOKEN=x",
                               "OMPI_MCA_some_password=x",
                               "OMPI_MCA_orte_hnp_uri=x",
                               "OMPI_MCA_orte_precondition_transports=x",
                               "OMPI_MCA_orte_jobid=17",
                               "OMPI_MCA_ess=pmi",
                               "OMPI_MCA_initial_wdir=/project",
                               "I_MPI_broken",
                               static_cast<const char*>(nullptr)};
    const std::map<std::string, std::string> wanted{
        {"OMPI_MCA_btl", "tcp,self"}, {"UCX_TLS", "rc=x"}, {"FI_PROVIDER", "tcp"}, {"SLURM_MPI_TYPE", "pmix"}};
    CHECK(assay::library_environment(variables.data()) == wanted);
}

}  // namespace

int main() {
    interfaces_and_ports_are_read_in_bytes();
    cpus_are_read_in_seconds_without_interrupts();
    work_of_this_process_and_of_its_children_counts();
    each_fabric_is_read_by_its_own_counters();
    what_was_carried_is_the_difference_of_interfaces_that_stayed();
    settings_of_libraries_are_recorded_but_no_secrets();
    return assay::test::failures == 0 ? 0 : 1;
}
