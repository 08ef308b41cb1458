"""The command lines of srun and ssh, word for word, and what a shell makes of them."""

import shlex
import subprocess

import msgspec
import pytest

from assay import launch
from assay.launch.command import Layout, Site
from assay.model.toolchain import Mpi

OPEN_MPI = Mpi("openmpi-4.1.4", "openmpi", "4.1.4", "/opt/bin/mpicxx", "/opt/bin/mpiexec")
MPICH = Mpi("mpich-4.0.2", "mpich", "4.0.2", "/opt/bin/mpicxx", "/opt/bin/mpiexec")
CRAY = Mpi("cray-mpich-8.1.25", "cray", "8.1.25", "/opt/cray/pe/craype/2.7.20/bin/CC", "")
INTEL = Mpi("intel-2021.13", "intel", "2021.13", "/opt/bin/mpicxx", "/opt/bin/mpiexec")
RANKS = ((0,), (2, 3))
ALLOCATED = Site("n1", scheduler="slurm", run="r1")
STEP = "srun --quiet --overlap --mem=0 --export=ALL --input=none --kill-on-bad-exit=1"
SSH = "-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 -o ServerAliveCountMax=3"


def line(layout: Layout, site: Site) -> str:
    found = launch.select(layout, site)
    return shlex.join(found.translate(layout, site, ("/cache/prog", "--cpus", "0/2-3"), {}).argv)


@pytest.mark.parametrize(("mpi", "pmi"), [(OPEN_MPI, "pmix"), (MPICH, "pmi2")])
def test_srun_starts_a_step_on_the_hosts_in_their_order(mpi: Mpi, pmi: str) -> None:
    assert line(Layout(("n2", "n1"), RANKS, mpi), ALLOCATED) == (
        f"{STEP} --nodes=2 --ntasks=4 --distribution=arbitrary"
        f" --cpu-bind=mask_cpu:0x1,0xc --mpi={pmi} /cache/prog --cpus 0/2-3"
    )


def test_srun_takes_its_hosts_from_a_file_of_a_line_for_each_rank() -> None:
    command = launch.get("srun").translate(Layout(("n2", "n1"), RANKS, MPICH), ALLOCATED, ("p",), {})
    assert command.files == {"SLURM_HOSTFILE": ("n2", "n2", "n1", "n1")}
    hosts, ranks = tuple(f"node{number:04}" for number in range(128)), tuple((cpu,) for cpu in range(128))
    large = launch.get("srun").translate(Layout(hosts, ranks, MPICH), ALLOCATED, ("p",), {})
    assert max(map(len, large.argv)) < 2**17  # MAX_ARG_STRLEN of Linux, execve(2)


def test_srun_starts_a_program_that_stands_alone_on_one_other_host() -> None:
    assert line(Layout(("n2",), ((0, 1, 64),)), ALLOCATED) == (
        f"{STEP} --nodes=1 --ntasks=1 --distribution=arbitrary"
        " --cpu-bind=mask_cpu:0x10000000000000003 --mpi=none /cache/prog --cpus 0/2-3"
    )


def test_a_network_reaches_the_ranks_of_srun_by_their_environment() -> None:
    wanted = Layout(("n1", "n2"), RANKS, OPEN_MPI, "eth0")
    assert launch.get("srun").translate(wanted, ALLOCATED, ("p",), {}).environment == {
        "ASSAY_PARENT": "",
        "ASSAY_RUN": "r1",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "self,vader,tcp",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_osc": "^ucx",
        "OMPI_MCA_coll": "^hcoll,ucc",
    }


MPICH_ENV = {"ASSAY_PARENT": "", "ASSAY_RUN": "r1", "UCX_NET_DEVICES": "mlx5_0:1", "FI_PROVIDER": "verbs;ofi_rxm"}
MPICH_ENV |= {"FI_VERBS_DEVICE_NAME": "mlx5_0"}
OWN = "ASSAY_PARENT= {0} ASSAY_RUN=r1 {0} UCX_NET_DEVICES=mlx5_0:1 {0} 'FI_PROVIDER=verbs;ofi_rxm' {0} "
SETS = "jsrun --nrs=2 --rs_per_host=1 --tasks_per_rs=2 --cpu_per_rs=ALL_CPUS --gpu_per_rs=ALL_GPUS --bind=none"
OWN += "FI_VERBS_DEVICE_NAME=mlx5_0"


@pytest.mark.parametrize(
    ("name", "scheduler", "words"),
    [
        (
            "flux",
            "flux",
            "flux run --exclusive --nodes=2 --tasks-per-node=2 --requires=host:n2,n1 -ocpu-affinity=off",
        ),
        (
            "jsrun",
            "lsf",
            f"{SETS} -E {OWN.format('-E')}",
        ),
        ("pals", "pbs", f"mpiexec --np=4 --ppn=2 --hosts=n2,n1 --cpu-bind=none --env {OWN.format('--env')}"),
    ],
)
def test_schedulers_own_launchers_start_ranks_that_bind_themselves(name: str, scheduler: str, words: str) -> None:
    """As their manuals have it: no such machine was at hand."""
    asked = msgspec.convert({"host": "n1", "scheduler": scheduler, "run": "r1", "launcher": name}, Site)
    layout = Layout(("n2", "n1"), RANKS, MPICH, "mlx5_0:1")
    command = launch.select(layout, asked).translate(layout, asked, ("p", "a b"), {})
    assert shlex.join(command.argv) == f"{words} p 'a b'"
    assert command.environment == MPICH_ENV
    unasked = msgspec.structs.replace(asked, launcher="")
    assert launch.select(layout, unasked).name == "mpich"
    alone = msgspec.structs.replace(MPICH, launcher="")
    assert launch.select(Layout(("n2", "n1"), RANKS, alone), unasked).name == name
    assert not launch.get(name).fits(layout, ALLOCATED)


def test_the_mpi_of_hpe_is_started_by_the_scheduler_as_the_site_has_it() -> None:
    """As other machines have it: none of HPE's was at hand."""
    layout = Layout(("n2", "n1"), RANKS, CRAY, "cxi/cxi0")
    command = launch.select(layout, ALLOCATED).translate(layout, ALLOCATED, ("p",), {})
    assert shlex.join(command.argv) == (
        f"{STEP} --nodes=2 --ntasks=4 --distribution=arbitrary --cpu-bind=mask_cpu:0x1,0xc p"
    )
    fabric = {"FI_PROVIDER": "cxi", "FI_CXI_DEVICE_NAME": "cxi0", "MPICH_OFI_USE_PROVIDER": "cxi"}
    assert fabric.items() <= command.environment.items()
    assert launch.select(layout, Site("n1", scheduler="pbs")).name == "pals"
    tcp = launch.get("pals").translate(Layout(("n2",), RANKS, CRAY, "hsn0"), ALLOCATED, ("p",), {}).environment
    assert {tcp["FI_PROVIDER"], tcp["MPICH_OFI_USE_PROVIDER"]} == {"tcp;ofi_rxm"}
    assert tcp["FI_TCP_IFACE"] == "hsn0"


def test_inside_slurm_srun_goes_before_the_mpis_own_launcher_and_local_before_srun() -> None:
    assert launch.select(Layout(("n1",), RANKS, MPICH), ALLOCATED).name == "srun"
    assert launch.select(Layout(("n1",), RANKS), ALLOCATED).name == "local"


def test_intels_ranks_are_started_by_srun_only_where_the_user_says_so() -> None:
    layout = Layout(("n1", "n2"), RANKS, INTEL)
    assert launch.select(layout, ALLOCATED).name == "intel"
    wanted = Site("n1", scheduler="slurm", launcher="srun")
    assert launch.select(layout, wanted).name == "srun"


def test_without_an_allocation_srun_fits_nothing() -> None:
    assert not launch.get("srun").fits(Layout(("n2",), RANKS), Site("n1"))


def test_ssh_starts_a_program_that_stands_alone_on_one_other_host() -> None:
    assert line(Layout(("n2",), ((0,),)), Site("n1", run="r1", ssh_config="/lab/config")) == (
        f"ssh -F /lab/config {SSH} -- n2 'exec env ASSAY_PARENT= ASSAY_RUN=r1 /cache/prog --cpus 0/2-3'"
    )


def test_ssh_knows_nothing_of_mpi_nor_of_this_host() -> None:
    ssh = launch.get("ssh")
    assert not ssh.fits(Layout(("n1",), ((0,),)), Site("n1"))
    assert not ssh.fits(Layout(("n2",), ((0,),), MPICH), Site("n1"))


def test_every_word_reaches_the_program_through_the_remote_shell() -> None:
    words = ("printf", "%s|", "a b", "$HOME", "it's", "", "*", ";exit 3")
    command = launch.get("ssh").translate(Layout(("n2",), ((0,),)), Site("n1"), words, {"NAME": "x y;$(id)"})
    there = subprocess.run(["sh", "-c", command.argv[-1]], capture_output=True, text=True, check=True)
    assert there.stdout == "a b|$HOME|it's||*|;exit 3|"
    environment = launch.get("ssh").translate(
        Layout(("n2",), ((0,),)), Site("n1"), ("printenv", "NAME"), {"NAME": "x y;$(id)"}
    )
    there = subprocess.run(["sh", "-c", environment.argv[-1]], capture_output=True, text=True, check=True)
    assert there.stdout == "x y;$(id)\n"
