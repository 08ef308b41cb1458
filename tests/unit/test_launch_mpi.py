"""The command lines of the launchers that belong to an MPI, word for word."""

import shlex

import msgspec
import pytest

from assay import launch
from assay.launch.command import Layout, Site
from assay.model.toolchain import Mpi

OPEN_MPI_4 = Mpi("openmpi-4.1.4", "openmpi", "4.1.4", "/opt/bin/mpicxx", "/opt/bin/mpiexec")
OPEN_MPI_5 = msgspec.structs.replace(OPEN_MPI_4, name="openmpi-5.0.8", version="5.0.8")
MPICH = Mpi("mpich-4.0.2", "mpich", "4.0.2", "/opt/bin/mpicxx", "/opt/bin/mpiexec")
INTEL = Mpi("intel-2021.13", "intel", "2021.13", "/opt/bin/mpicxx", "/opt/bin/mpiexec")
RANKS = ((0,), (2, 3))
SITE = Site("n1", run="r1")
SSH = "-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 -o ServerAliveCountMax=3"
BLOCKS = "--map-by ppr:2:node:OVERSUBSCRIBE --rank-by slot --bind-to none --mca mpi_yield_when_idle 0"
REACH_4 = (
    f"--mca plm_rsh_agent 'ssh {SSH}' --mca plm_rsh_no_tree_spawn 1"
    " --mca orte_launch_agent 'env ASSAY_RUN=r1 orted'"
)
REACH_5 = (
    f"--prtemca plm_ssh_agent 'ssh {SSH}' --prtemca plm_ssh_no_tree_spawn 1"
    " --prtemca prte_launch_agent 'env ASSAY_RUN=r1 prted'"
)
EXPORTED = "-x OMP_DYNAMIC=false -x ASSAY_PARENT= -x ASSAY_RUN=r1"
GENV = "-genv OMP_DYNAMIC false -genv ASSAY_PARENT '' -genv ASSAY_RUN r1"
PROGRAM = "/cache/pt2pt --cpus 0/2-3"
HERE, THERE, BACK = ("n1",), ("n1", "n2"), ("n2", "n1")


def line(layout: Layout, site: Site = SITE) -> str:
    found = launch.select(layout, site)
    command = found.translate(layout, site, tuple(shlex.split(PROGRAM)), {"OMP_DYNAMIC": "false"})
    assert command.environment["ASSAY_PARENT"] == ""
    assert command.environment["ASSAY_RUN"] == "r1"
    assert command.grace_s > 3
    return shlex.join(command.argv)


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, OPEN_MPI_5])
def test_open_mpi_on_this_host_reaches_no_other(mpi: Mpi) -> None:
    assert line(Layout(HERE, RANKS, mpi)) == f"/opt/bin/mpiexec {BLOCKS} --host n1:2 {EXPORTED} {PROGRAM}"


@pytest.mark.parametrize(("mpi", "reach"), [(OPEN_MPI_4, REACH_4), (OPEN_MPI_5, REACH_5)])
def test_open_mpi_reaches_others_by_ssh_with_the_runs_name_on_its_daemons(mpi: Mpi, reach: str) -> None:
    assert line(Layout(THERE, RANKS, mpi)) == (
        f"/opt/bin/mpiexec {BLOCKS} {reach} --host n1:2,n2:2 {EXPORTED} {PROGRAM}"
    )


@pytest.mark.parametrize("mpi", [OPEN_MPI_4, OPEN_MPI_5])
def test_an_open_mpi_that_knows_a_schedulers_own_way_to_its_nodes_takes_it(mpi: Mpi) -> None:
    """No `plm` is chosen: `tm` of PBS comes before ssh where the Open MPI has it."""
    job = msgspec.structs.replace(SITE, scheduler="pbs")
    assert line(Layout(THERE, RANKS, mpi), job) == line(Layout(THERE, RANKS, mpi))
    assert not {"plm", "ras"} & set(line(Layout(THERE, RANKS, mpi), job).split())


def test_open_mpi_4_would_number_its_own_host_first_and_is_given_parts_in_order() -> None:
    blocks = BLOCKS.replace("ppr:2:node", "slot")
    assert line(Layout(BACK, RANKS, OPEN_MPI_4)) == (
        f"/opt/bin/mpiexec {blocks} {REACH_4}"
        f" --host n2:2 -n 2 {EXPORTED} {PROGRAM} : --host n1:2 -n 2 {EXPORTED} {PROGRAM}"
    )


def test_open_mpi_5_keeps_the_order_of_the_hosts() -> None:
    assert line(Layout(BACK, RANKS, OPEN_MPI_5)) == (
        f"/opt/bin/mpiexec {BLOCKS} {REACH_5} --host n2:2,n1:2 {EXPORTED} {PROGRAM}"
    )


#: Two ranks of two cpus here, one of four there: hosts that are unlike.
UNLIKE = (((0, 1), (2, 3)), ((0, 1, 2, 3),))


@pytest.mark.parametrize(
    ("mpi", "words"),
    [
        (OPEN_MPI_4, f"--host n1:2 -n 2 {EXPORTED} {PROGRAM} : --host n2:1 -n 1 {EXPORTED} {PROGRAM}"),
        (OPEN_MPI_5, f"--host n1:2 -n 2 {EXPORTED} {PROGRAM} : --host n2:1 -n 1 {EXPORTED} {PROGRAM}"),
        (MPICH, f"-hosts n1:2,n2:1 -n 3 -bind-to none {GENV} {PROGRAM}"),
        (INTEL, f"{GENV} -genv I_MPI_PIN off -host n1 -n 2 {PROGRAM} : -host n2 -n 1 {PROGRAM}"),
    ],
    ids=lambda each: each.name if isinstance(each, Mpi) else "",
)
def test_unlike_hosts_have_ranks_of_their_own_number_which_bind_themselves(mpi: Mpi, words: str) -> None:
    assert line(Layout(THERE, UNLIKE[0], mpi, by_host=UNLIKE)).endswith(words)


def test_an_interface_is_asked_of_open_mpi_4_for_messages_and_control() -> None:
    assert line(Layout(THERE, RANKS, OPEN_MPI_4, "eth0")) == (
        f"/opt/bin/mpiexec {BLOCKS} {REACH_4} --mca oob_tcp_if_include eth0"
        " --mca pml ob1 --mca btl self,vader,tcp --mca btl_tcp_if_include eth0"
        f" --mca osc '^ucx' --mca coll '^hcoll,ucc' --host n1:2,n2:2 {EXPORTED} {PROGRAM}"
    )


def test_an_interface_is_asked_of_open_mpi_5_in_its_own_words() -> None:
    assert line(Layout(THERE, RANKS, OPEN_MPI_5, "eth0")) == (
        f"/opt/bin/mpiexec {BLOCKS} {REACH_5} --prtemca prte_if_include eth0"
        " --mca pml ob1 --mca btl self,sm,tcp --mca btl_tcp_if_include eth0"
        f" --mca osc '^ucx' --mca coll '^hcoll,ucc' --host n1:2,n2:2 {EXPORTED} {PROGRAM}"
    )


def test_an_interface_of_other_hosts_is_not_asked_of_the_launcher_here() -> None:
    layout = Layout(("n3", "n4"), RANKS, OPEN_MPI_5, "eth0")
    assert "btl_tcp_if_include eth0" in line(layout)
    assert "prte_if_include" not in line(layout)


@pytest.mark.parametrize(("mpi", "reach"), [(OPEN_MPI_4, REACH_4), (OPEN_MPI_5, REACH_5)])
def test_a_port_is_asked_of_open_mpi_through_ucx(mpi: Mpi, reach: str) -> None:
    assert line(Layout(THERE, RANKS, mpi, "mlx5_0:1")) == (
        f"/opt/bin/mpiexec {BLOCKS} {reach} --mca pml ucx --mca osc ucx --mca coll '^hcoll,ucc'"
        f" --host n1:2,n2:2 {EXPORTED} -x UCX_NET_DEVICES=mlx5_0:1 {PROGRAM}"
    )


def test_root_is_allowed_where_it_is_root() -> None:
    layout = Layout(HERE, RANKS, OPEN_MPI_4)
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for root, expected in ((True, allowed), (False, {})):
        command = launch.get("openmpi").translate(layout, Site("n1", root=root), ("p",), {})
        assert command.environment == {"ASSAY_PARENT": ""} | expected


def test_ssh_takes_the_sites_file_and_keeps_its_connections() -> None:
    site = Site("n1", run="r1", ssh_config="/lab/config", sockets="/run/me")
    kept = "-o ControlMaster=auto -o ControlPath=/run/me/%C -o ControlPersist=60"
    assert f"plm_rsh_agent 'ssh -F /lab/config {SSH} {kept}'" in line(Layout(THERE, RANKS, OPEN_MPI_4), site)


def test_ssh_keeps_no_connection_where_the_path_of_its_socket_would_be_too_long() -> None:
    for folder, kept in (("/tmp/" + "x" * 44, True), ("/tmp/" + "x" * 45, False)):  # noqa: S108 (a name of a length)
        told = line(Layout(THERE, RANKS, OPEN_MPI_4), Site("n1", run="r1", sockets=folder))
        assert ("ControlMaster" in told) is kept


def test_mpich_on_this_host_forks_and_binds_each_rank_to_its_cpus() -> None:
    assert line(Layout(HERE, RANKS, MPICH)) == (
        f"/opt/bin/mpiexec -launcher fork -wdir / -hosts n1:2 -n 2 -bind-to user:0,2+3 {GENV} {PROGRAM}"
    )


def test_mpich_reaches_others_by_ssh() -> None:
    layout = Layout(BACK, RANKS, MPICH)
    assert line(layout) == (
        f"/opt/bin/mpiexec -launcher ssh -wdir / -hosts n2:2,n1:2 -n 4 -bind-to user:0,2+3 {GENV} {PROGRAM}"
    )
    command = launch.get("mpich").translate(layout, Site("n1"), ("p",), {})
    assert command.environment == {"ASSAY_PARENT": "", "HYDRA_LAUNCHER_EXTRA_ARGS": SSH}


def test_an_interface_is_asked_of_ucx_and_of_libfabric_whichever_mpich_has() -> None:
    assert line(Layout(THERE, RANKS, MPICH, "eth0")) == (
        "/opt/bin/mpiexec -launcher ssh -iface eth0 -wdir / -hosts n1:2,n2:2 -n 4 -bind-to user:0,2+3"
        f" {GENV} -genv UCX_NET_DEVICES eth0 -genv UCX_TLS tcp,sm,self"
        f" -genv FI_PROVIDER tcp -genv FI_TCP_IFACE eth0 {PROGRAM}"
    )


def test_a_port_is_asked_of_ucx_and_of_libfabric_whichever_mpich_has() -> None:
    assert line(Layout(THERE, RANKS, MPICH, "mlx5_0:1")) == (
        "/opt/bin/mpiexec -launcher ssh -wdir / -hosts n1:2,n2:2 -n 4 -bind-to user:0,2+3"
        f" {GENV} -genv UCX_NET_DEVICES mlx5_0:1"
        f" -genv FI_PROVIDER 'verbs;ofi_rxm' -genv FI_VERBS_DEVICE_NAME mlx5_0 {PROGRAM}"
    )


def test_intel_mpi_pins_each_rank_to_a_domain_of_its_cpus() -> None:
    assert line(Layout(THERE, RANKS, INTEL)) == (
        "/opt/bin/mpiexec -bootstrap ssh -wdir / -hosts n1,n2 -ppn 2 -n 4"
        f" {GENV} -genv I_MPI_PIN_DOMAIN '[1,C]' {PROGRAM}"
    )


@pytest.mark.parametrize(
    ("network", "asked"),
    [
        ("eth0", "-genv FI_PROVIDER tcp -genv FI_TCP_IFACE eth0"),
        ("mlx5_0:1", "-genv FI_PROVIDER mlx -genv UCX_NET_DEVICES mlx5_0:1"),
    ],
)
def test_a_network_is_asked_of_intel_mpi(network: str, asked: str) -> None:
    assert f"-genv I_MPI_FABRICS shm:ofi {asked} {PROGRAM}" in line(Layout(THERE, RANKS, INTEL, network))


CXI, EFA, OPX = "cxi/cxi0", "efa/rdmap144s27:1", "opx/hfi1_0:1"


@pytest.mark.parametrize(
    ("mpi", "network", "asked"),
    [
        (OPEN_MPI_4, CXI, "--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include cxi --mca osc '^ucx'"),
        (OPEN_MPI_5, CXI, f"{EXPORTED} -x FI_PROVIDER=cxi -x FI_CXI_DEVICE_NAME=cxi0 {PROGRAM}"),
        (OPEN_MPI_5, OPX, f"{EXPORTED} -x FI_PROVIDER=opx {PROGRAM}"),
        (MPICH, CXI, f"{GENV} -genv FI_PROVIDER cxi -genv FI_CXI_DEVICE_NAME cxi0 {PROGRAM}"),
        (MPICH, EFA, "-genv FI_PROVIDER efa -genv FI_EFA_IFACE rdmap144s27"),
        (MPICH, OPX, f"{GENV} -genv FI_PROVIDER opx {PROGRAM}"),
        (INTEL, EFA, "-genv I_MPI_FABRICS shm:ofi -genv FI_PROVIDER efa -genv FI_EFA_IFACE rdmap144s27"),
    ],
)
def test_a_provider_is_asked_of_libfabric_and_its_card_by_name_only(mpi: Mpi, network: str, asked: str) -> None:
    told = line(Layout(THERE, RANKS, mpi, network))
    assert asked in told
    assert "tcp" not in told
    assert "-iface" not in told


def test_intel_mpi_keeps_to_what_is_asked_for_and_has_slurm_start_its_daemons() -> None:
    layout = Layout(THERE, RANKS, INTEL)
    command = launch.get("intel").translate(layout, Site("n1", scheduler="slurm"), ("p",), {})
    assert command.environment == {"ASSAY_PARENT": "", "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT": "0"}
    assert "-bootstrap slurm" in shlex.join(command.argv)
    job = Site("n1", scheduler="pbs", task_starter="/opt/pbs/bin/pbs_tmrsh")
    command = launch.get("intel").translate(layout, job, ("p",), {})
    assert "-bootstrap rsh -bootstrap-exec /opt/pbs/bin/pbs_tmrsh" in shlex.join(command.argv)
    assert not any("ssh" in value for value in command.environment.values())
    command = launch.get("intel").translate(layout, Site("n1"), ("p",), {})
    assert command.environment["I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"] == SSH
