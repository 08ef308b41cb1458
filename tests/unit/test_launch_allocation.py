"""Inside which allocation a process runs, told by its environment."""

import pytest

from assay.launch.allocation import Allocation, allocation

FILES = {"/spool/nodes": "n1.site\nn1.site\nn2.site\nn2.site\n", "/lsf/hosts": "n2\nn1\nn1\n"}


def found(host: str = "login", **environment: str) -> Allocation:
    def ask(argv: tuple[str, ...]) -> str:
        assert argv == ("flux", "hostlist", "--expand", "local")
        return "n2 n1\n"

    return allocation(environment, FILES.__getitem__, ask, host)


def test_outside_there_is_none() -> None:
    assert found(SLURM_CONF="/etc/slurm.conf", FLUX_URI="local:///run/flux/local") == Allocation()


@pytest.mark.parametrize(
    ("nodes", "hosts"),
    [
        ("node01", ("node01",)),
        ("node[01-03,07]", ("node01", "node02", "node03", "node07")),
        ("a1,b[2-3]", ("a1", "b2", "b3")),
        ("r[1-2]n[01-02]", ("r1n01", "r1n02", "r2n01", "r2n02")),
    ],
)
def test_slurm_names_its_nodes_as_a_set(nodes: str, hosts: tuple[str, ...]) -> None:
    assert found(SLURM_JOB_ID="7", SLURM_JOB_NODELIST=nodes) == Allocation("slurm", hosts, "7")


@pytest.mark.parametrize(
    ("counts", "cpus"), [("2(x3),1", (2, 2, 2, 1)), ("1(x4)", (1, 1, 1, 1)), ("", ()), ("8(x2)", ()), ("all", ())]
)
def test_slurm_tells_how_many_cpus_it_gave_of_each_node(counts: str, cpus: tuple[int, ...]) -> None:
    assert found(SLURM_JOB_NODELIST="n[1-4]", SLURM_JOB_CPUS_PER_NODE=counts).cpus == cpus


def test_pbs_names_each_node_once_for_each_slot_in_a_file() -> None:
    variables = {"PBS_JOBID": "7.server", "PBS_NODEFILE": "/spool/nodes"}
    assert found(**variables) == Allocation("pbs", ("n1.site", "n2.site"), "7.server")


def test_this_host_keeps_its_own_name_with_or_without_a_domain() -> None:
    assert found("n2", PBS_NODEFILE="/spool/nodes").hosts == ("n1.site", "n2")
    assert found("n1.site", SLURM_JOB_NODELIST="n[1-2]").hosts == ("n1.site", "n2")


@pytest.mark.parametrize("variable", ["FLUX_JOB_ID", "FLUX_ENCLOSING_ID"])
def test_flux_is_asked_and_is_the_inner_one(variable: str) -> None:
    variables = {variable: "ƒ7", "SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-9]"}
    assert found(**variables) == Allocation("flux", ("n2", "n1"), "ƒ7")


def test_lsf_names_its_nodes_in_a_file() -> None:
    assert found(LSB_JOBID="7", LSB_DJOB_HOSTFILE="/lsf/hosts") == Allocation("lsf", ("n2", "n1"), "7")
