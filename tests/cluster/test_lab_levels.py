"""Levels that a command sets, in the lab: on both nodes of a launch, and put back on both, whatever happens."""

from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cluster.lab_cluster import Lab
from tests.cluster.lab_runs import PATIENCE_S, SINGLE, Desk, desk_in, leave, mpi_of
from tests.impatient import ASSAY

pytestmark = pytest.mark.cluster

LEVELS = {"usual": 1500, "small": 700}
FACTOR = "[factor.mtu]\nlevels = { usual = 'ip link set gbe0 mtu 1500', small = 'ip link set gbe0 mtu 700' }\n"
STUDY = f"""{SINGLE}
[[measure]]
benchmark = "tcp"
placements = ["pair:other-node"]
axes = {{ pattern = "bandwidth", bytes = "64K", window = 4 }}
"""
GBE = ("--network", "gbe=gbe0", "--vary", "mtu", "--launches", "1")


@pytest.fixture
def desk(lab: Lab) -> Generator[Desk]:
    made = desk_in(lab)
    yield made
    leave(made)


def mtus(desk: Desk) -> dict[str, int]:
    """Node -> what its interface has now."""
    return {node: int(desk.lab.output(node, "cat", "/sys/class/net/gbe0/mtu")) for node in desk.lab.nodes}


def test_the_records_hold_the_mtu_that_each_node_had_for_mpi_and_for_sockets(desk: Desk) -> None:
    (desk.folder / "assay.toml").write_text(FACTOR)
    (desk.folder / "mtu.toml").write_text(STUDY)
    done = desk.typed(desk.words("run", "mtu.toml", *GBE, "--mpi", mpi_of("openmpi")))
    assert done.returncode == 0, done.stdout + done.stderr
    run = desk.run()
    found: dict[tuple[str, str], set[tuple[str, int]]] = {}
    for records in (case for launch in run.launches for case in launch.cases):
        case = run.plan.case(records.header.case)
        if case.benchmark in {"pt2pt", "tcp"}:
            assert records.traffic
            key = case.benchmark, case.factors["mtu"]
            found.setdefault(key, set()).update((host.host, host.mtus["gbe0"]) for host in records.traffic.hosts)
    assert found == {
        (benchmark, level): {(node, mtu) for node in desk.lab.nodes}
        for benchmark in ("pt2pt", "tcp")
        for level, mtu in LEVELS.items()
    }
    assert mtus(desk) == dict.fromkeys(desk.lab.nodes, 1500)


@pytest.mark.long
def test_a_node_that_is_lost_is_put_back_when_the_run_goes_on_and_the_other_at_once(desk: Desk) -> None:
    launcher = desk.stand_in("mpiexec", "mpiexec.openmpi")
    mine = f'[mpi.mine]\ncompiler = "mpicxx.openmpi"\nlauncher = "{launcher}"\n'
    (desk.folder / "assay.toml").write_text(FACTOR + mine)
    mpi_of("openmpi")
    process = desk.started(desk.words("run", "single.toml", *GBE, "--seed", "1", "--mpi", "mine"))
    desk.held()
    with desk.lab.link_down("node02"):
        _, said = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 4, said
        assert "'node02' cannot be reached any more" in said
        assert mtus(desk)["node01"] == 1500
    desk.lab.output("node02", "ip", "link", "set", "gbe0", "mtu", "700")
    (path,) = (desk.folder / "runs").iterdir()
    resume = [*ASSAY, "run", "--resume", str(Path(path)), "--ssh-config", str(desk.lab.ssh_config)]
    done = desk.typed(resume)
    assert done.returncode == 0, done.stdout + done.stderr
    assert mtus(desk) == dict.fromkeys(desk.lab.nodes, 1500)
