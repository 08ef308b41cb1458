"""`assay run network` as users run it: on one machine, over ssh, inside a job; its records prove the way."""

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cluster.lab_cluster import Lab
from tests.cluster.lab_runs import Desk, between, desk_in, first_page, leave, mpi_of, went_by
from tests.impatient import ASSAY
from tests.time_of_runs import closed

from assay import analyse, store
from assay.model.run import Run

pytestmark = pytest.mark.cluster

MEGA = 1e6
#: MB/s of payload: what is left of 1 Gbit/s and of 100 Mbit/s, and what the shaper lets through at first.
LIMITS = {"gbe": (108, 125), "fe": (10.8, 12.5)}
#: Few sizes, one launch each, to a low precision: a third of a minute, and longer where others use the machine.
SHORT = ("--launches", "1", "--refine", "0", "-m", "64K", "--precision", "0.5", "--budget", "3m")
RATES = ("--launches", "2", "--budget", "40s")
NETWORKS = {"gbe": "gbe0", "fast": "fast0"}
CHOSEN = ("--network", ",".join(f"{name}={device}" for name, device in NETWORKS.items()))


@pytest.fixture
def desk(lab: Lab) -> Generator[Desk]:
    made = desk_in(lab)
    yield made
    leave(made)


def both() -> list[str]:
    return ["--mpi", mpi_of("openmpi"), "--mpi", mpi_of("mpich")]


def proven(run: Run) -> None:
    """Both networks carried what they were asked to, in every launch, and no other did."""
    found = between(run)
    assert set(found) == set(NETWORKS.values())
    for interface, all_records in found.items():
        for records in all_records:
            went_by(records, interface)


@pytest.mark.long
def test_network_on_one_machine_with_both_mpis(desk: Desk) -> None:
    done = desk.typed([*ASSAY, "run", "network", *SHORT, *both()])
    assert done.returncode == 0, done.stdout + done.stderr
    levels = {name for case in desk.run().plan.cases for name in [case.factors.get("mpi")] if name}
    assert levels == {mpi_of("openmpi"), mpi_of("mpich")}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_network_between_nodes_over_ssh(desk: Desk, kind: str) -> None:
    done = desk.typed(desk.words("run", "network", *SHORT, *CHOSEN, "--mpi", mpi_of(kind)))
    assert done.returncode == 0, done.stdout + done.stderr
    run = desk.run()
    proven(run)
    assert "are one machine" in " ".join(done.stdout.split())
    page = Path(run.path, "report.html").read_text()
    assert "are one machine" in page
    shown = desk.typed([*ASSAY, "show", run.path, "--format", "osu"])
    assert shown.returncode == 0
    assert re.search(r"# OSU MPI Latency Test", shown.stdout)
    assert re.search(r"# OSU MPI Bandwidth Test", shown.stdout)
    assert re.search(r"^65536 +\d+\.\d+", shown.stdout, re.MULTILINE)
    desk.is_clean()


def test_network_inside_an_allocation_needs_no_option_of_where(desk: Desk) -> None:
    words = [*ASSAY, "run", "network", *SHORT, *CHOSEN, "--mpi", mpi_of("openmpi")]
    done = desk.typed(["salloc", "--quiet", "--nodes=2", "--exclusive", *words])
    assert done.returncode == 0, done.stdout + done.stderr
    run = desk.run()
    assert run.plan.hosts == desk.lab.nodes
    launched = [records.launch for records in run.launches if records.launch.program == "pt2pt"]
    assert {launch.argv[0] for launch in launched} == {"srun"}
    assert closed(run).sampled_s > 0
    proven(run)
    desk.is_clean()


def test_an_allocation_of_one_cpu_a_node_measures_what_that_allows_and_says_how_to_have_more(desk: Desk) -> None:
    words = [*ASSAY, "run", "both.toml", "--network", "gbe0", "--mpi", mpi_of("openmpi")]
    done = desk.typed(["salloc", "--quiet", "--nodes=2", *words])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the job may use 1 of " in done.stderr
    assert "next: salloc -N2 --exclusive" in done.stderr
    run = desk.run()
    assert {case.placement.label for case in run.plan.cases if case.role == "measure"} == {"pair:other-node"}
    assert [left.reason for left in run.plan.left_out if left.request == "pt2pt at pair"] == [
        "one core may be used"
    ]
    asked = {machine.topology.allowed_cpus for machine in run.machines.values()}
    assert {len(cpus) for cpus in asked} == {1}
    whole = desk.typed(["salloc", "--quiet", "--nodes=2", "--exclusive", *ASSAY, "plan", "both.toml"])
    assert whole.returncode == 0, whole.stderr
    assert "may use" not in whole.stderr
    assert "pair:other-node" in whole.stdout
    desk.is_clean()


def test_the_doctor_tells_what_an_allocation_has_of_its_nodes(desk: Desk) -> None:
    done = desk.typed(["salloc", "--quiet", "--nodes=2", *ASSAY, "doctor"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning: cpus on node[01-02]: 1 of " in done.stdout
    assert "next: salloc -N2 --exclusive" in done.stdout


def best(desk: Desk) -> dict[str, float]:
    """Network -> MB/s of the best launch of all runs of this desk."""
    found: dict[str, float] = {}
    for path in (desk.folder / "runs").iterdir():
        for estimate in analyse.analyse(store.load(path)).estimates:
            network = estimate.factors.get("network")
            if network and estimate.metric == "bandwidth" and estimate.hi is not None:
                found[network] = max(found.get(network, 0.0), estimate.hi / MEGA)
    return found


@pytest.mark.long
@pytest.mark.parametrize("kind", ["openmpi", "mpich"])
def test_a_limit_of_a_network_shows_as_that_limit(desk: Desk, kind: str) -> None:
    """No launch gets more than the limit; other work on this machine makes some slower, so one has to reach it."""
    networks = ("--network", "gbe=gbe0,fe=fe0,fast=fast0")
    for _ in range(3):
        done = desk.typed(desk.words("run", "rates.toml", *networks, *RATES, "--mpi", mpi_of(kind)))
        assert done.returncode == 0, done.stdout + done.stderr
        wide = best(desk)["fast"] > 3 * best(desk)["gbe"]
        if wide and best(desk)["gbe"] >= LIMITS["gbe"][0] and best(desk)["fe"] >= LIMITS["fe"][0]:
            break
    for network, (least, most) in LIMITS.items():
        assert least <= best(desk)[network] <= most
    assert best(desk)["fast"] > 3 * best(desk)["gbe"]


@pytest.mark.long
def test_the_first_page_names_the_wire_rate_as_the_limit_of_the_slower_network(desk: Desk) -> None:
    """Other work on this machine holds up launches: one of three runs has to reach the wire."""
    words = desk.words("run", "wide.toml", "--network", "gbe=gbe0,fast=fast0", "--mpi", mpi_of("openmpi"))
    pages: list[str] = []
    while len(pages) < 3 and not any("Long messages reach the rate of" in page for page in pages):
        with desk.lab.large_buffers():
            done = desk.typed([*words, "--launches", "1", "--budget", "20s", "--runs", str(len(pages))])
        assert done.returncode == 0, done.stdout + done.stderr
        pages.append(first_page(desk.run(str(len(pages)))))
    slower = r"gbe is the slower network for long messages: it gets \S+ MB/s .*?, fast gets \S+ \S+ .*?\."
    wire = r" Long messages reach the rate of gbe0: 1\.00 Gbit/s, limited by a traffic shaper of the kernel\."
    assert re.search(slower + wire, pages[-1]), pages
    assert re.search(slower + wire, " ".join(done.stdout.split()))
    fast = pages[-1].partition(" fast two nodes, fast0 ")[2]
    assert fast.startswith("Limited by There is no network: the nodes are one machine.")
