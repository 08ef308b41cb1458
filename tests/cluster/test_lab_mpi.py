"""Every MPI starts its ranks in the lab, over ssh and by Slurm, and uses the network that it is told to use."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cluster.lab_cluster import Lab

pytestmark = pytest.mark.cluster

COUNT = 4 << 20
#: Every rank says who it is, after rank 0 has sent some bytes to the others. MPI_Finalize of Debian's MPICH over
#: UCX and TCP now and then waits for ever (one rank for a peer that has stopped listening): all is said before it,
#: and an alarm ends it.
PROGRAM = f"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static char bytes[{COUNT}];
static void leave(int signal) {{
    (void)signal;
    _exit(0);
}}
int main(int argc, char** argv) {{
    int rank, size;
    char host[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gethostname(host, sizeof host);
    MPI_Bcast(bytes, {COUNT}, MPI_BYTE, 0, MPI_COMM_WORLD);
    printf("%d of %d on %s\\n", rank, size, host);
    fflush(stdout);
    signal(SIGALRM, leave);
    alarm(3);
    return MPI_Finalize();
}}
"""
RANKS = ["0 of 2 on node01", "1 of 2 on node02"]
HOSTS = "node01,node02"
#: MPI -> variables that keep its messages in the network gbe, under whichever launcher.
GBE = {
    "openmpi": {"OMPI_MCA_btl_tcp_if_include": "gbe0"},
    "mpich": {"UCX_NET_DEVICES": "gbe0", "FI_TCP_IFACE": "gbe0"},
}


@pytest.fixture(scope="module")
def programs(lab: Lab) -> Mapping[str, Path]:
    """The program built with each MPI."""
    source = lab.shared / "hello.c"
    source.write_text(PROGRAM)
    built = {name: lab.shared / f"hello-{name}" for name in GBE}
    for name, program in built.items():
        compiler = shutil.which(f"mpicc.{name}")
        if not compiler:
            pytest.skip(f"no mpicc.{name}; next: sudo apt install libopenmpi-dev openmpi-bin libmpich-dev mpich")
        subprocess.run([compiler, "-o", program, source], check=True)
    return built


def check(lab: Lab, machine: str, command: list[str | Path], variables: Mapping[str, str]) -> None:
    """One rank on each node, and the bytes went by gbe."""
    before = lab.bytes_sent("node01")
    done = lab.run(machine, command, variables)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == RANKS
    sent = {name: count - before[name] for name, count in lab.bytes_sent("node01").items()}
    assert sent["gbe0"] > COUNT
    assert sent["fast0"] + sent["fe0"] < COUNT / 4


def settings(option: str, variables: Mapping[str, str]) -> list[str]:
    """For a launcher that takes a variable as two words after an option."""
    return [word for pair in variables.items() for word in (option, *pair)]


def test_open_mpi_by_ssh_from_a_node(lab: Lab, programs: Mapping[str, Path]) -> None:
    launch = ["mpirun.openmpi", "-np", "2", "--host", HOSTS, "--map-by", "node", "--mca", "plm", "rsh"]
    launch += ["--mca", "oob_tcp_if_include", "fast0", "--mca", "btl_tcp_if_include", "gbe0"]
    check(lab, "node01", [*launch, programs["openmpi"]], {})


def test_open_mpi_by_ssh_from_here(lab: Lab, programs: Mapping[str, Path]) -> None:
    launch = ["mpirun.openmpi", "-np", "2", "--host", HOSTS, "--map-by", "node", "--mca", "plm", "rsh"]
    launch += ["--mca", "plm_rsh_agent", f"ssh -F {lab.ssh_config}", "--mca", "btl_tcp_if_include", "gbe0"]
    launch += ["--mca", "oob_tcp_if_include", f"{lab.addresses['head']}/24"]
    check(lab, "head", [*launch, programs["openmpi"]], {})


def test_mpich_by_ssh_from_a_node(lab: Lab, programs: Mapping[str, Path]) -> None:
    launch = ["mpiexec.hydra", "-n", "2", "-ppn", "1", "-hosts", HOSTS, "-launcher", "ssh", "-iface", "fast0"]
    check(lab, "node01", [*launch, *settings("-genv", GBE["mpich"]), programs["mpich"]], {})


def test_mpich_by_ssh_from_here(lab: Lab, programs: Mapping[str, Path]) -> None:
    launch = ["mpiexec.hydra", "-n", "2", "-ppn", "1", "-hosts", HOSTS, "-launcher", "ssh"]
    launch += ["-localhost", lab.addresses["head"], *settings("-genv", GBE["mpich"])]
    check(lab, "head", [*launch, programs["mpich"]], {"HYDRA_LAUNCHER_EXTRA_ARGS": f"-F {lab.ssh_config}"})


@pytest.mark.parametrize("machine", ["head", "node02"])
@pytest.mark.parametrize(("name", "interface"), [("openmpi", "pmix"), ("mpich", "pmi2")])
def test_slurm_starts_the_ranks_of_each_mpi_by_the_interface_that_it_speaks(
    lab: Lab, programs: Mapping[str, Path], machine: str, name: str, interface: str
) -> None:
    launch = ["srun", "-Q", "-N2", "--ntasks-per-node=1", f"--mpi={interface}"]
    check(lab, machine, [*launch, programs[name]], GBE[name])


def test_inside_a_job_each_launcher_finds_its_nodes_by_itself(lab: Lab, programs: Mapping[str, Path]) -> None:
    for name, launcher in (("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.hydra")):
        check(lab, "head", ["salloc", "-Q", "-N2", "--ntasks-per-node=1", launcher, programs[name]], GBE[name])
