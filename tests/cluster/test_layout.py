"""On a machine of four memory nodes every thread of several ranks is proven where a layout puts it."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.cluster import guest as machine
from tests.cluster.guest import HOST, Guest, Parts
from tests.mpi_ranks import mpi
from tests.simulation import described

from assay import plan as planning
from assay import toolchain
from assay.analyse.launches import elsewhere
from assay.catalogue import benchmarks
from assay.launch.command import Sampling, Site
from assay.launch.starter import Starter
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.plan import Case, Measure, Plan, Study
from assay.model.record import End, Verdict
from assay.model.toolchain import Build

pytestmark = [pytest.mark.cluster, pytest.mark.long]

PROGRAMS = ("collective", "pt2pt")
#: The guest in hwloc's words.
DESCRIPTION = "pack:2 numa:2(memory=256MB) core:2 pu:1"
#: Word -> cpus of each rank: each inside one memory node, as far apart as can be.
PLACED = {
    "2x2@all": ((0, 1), (4, 5)),
    "rank-per:numa@all": ((0, 1), (2, 3), (4, 5), (6, 7)),
}
#: One OpenMP team in each rank, and threads of which each passes messages of its own.
TEAMS = Measure("collective", tuple(PLACED), axes={"operation": "allreduce", "bytes": 65536})
FLOWS = Measure("pt2pt", ("2x2@all",), axes={"pattern": "latency", "bytes": 65536, "threads": 2})


@pytest.fixture(scope="module")
def build() -> Build:
    """Two MPI programs for any x86-64 machine, with MPICH, whose mpiexec starts ranks without a daemon."""
    try:
        made = toolchain.get("gcc/mpich -O1")
    except (UsageError, UnfitEnvironmentError) as error:
        pytest.skip(f"no gcc, or no MPICH: {error.why}")
    return toolchain.build(made, programs={*PROGRAMS})


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Of a study with layouts, for the guest."""
    options = planning.Options(seed=1, launches=1, hosts=(HOST,))
    return planning.make("own.toml", Study("S", "Q?", (TEAMS, FLOWS)), described(DESCRIPTION), options)


@pytest.fixture(scope="module")
def guest(parts: Parts, build: Build, plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Guest:
    """The guest after one launch of each case, started as a run starts it."""
    proxy = Path(mpi(build).launcher).resolve().with_name("hydra_pmi_proxy")
    files = (Path(mpi(build).launcher), proxy, *map(Path, build.programs.values()))
    return machine.run(
        parts,
        {},
        {case.id: command(plan, case, build) for case in plan.studied},
        tmp_path_factory.mktemp("guest"),
        (*files, *machine.linked(*files)),
    )


def command(plan: Plan, case: Case, build: Build) -> tuple[str, ...]:
    sampling = Sampling(0.01, 5, 10, {case.id: 0.05})
    program = benchmarks.get(case.benchmark).program
    (made,) = Starter(Site(HOST)).commands(plan, (case,), build, program, sampling)
    return ("ranks", "env", *(f"{name}={value}" for name, value in made.environment.items()), *made.argv)


def cases(plan: Plan) -> Mapping[str, Case]:
    return {f"{case.benchmark} {case.placement.label}": case for case in plan.studied}


@pytest.mark.parametrize(
    ("name", "cpus"),
    [*((f"collective {word}", cpus) for word, cpus in PLACED.items()), ("pt2pt 2x2@all", PLACED["2x2@all"])],
    ids=str,
)
def test_every_thread_of_every_rank_is_proven_where_the_layout_puts_it(
    guest: Guest, plan: Plan, name: str, cpus: tuple[tuple[int, ...], ...]
) -> None:
    case = cases(plan)[name]
    result = guest.outputs[case.id]
    assert (result.exit_code, result.ends) == (0, [End("complete")]), result.words
    assert [record.passed for record in result.records if isinstance(record, Verdict)] == [True]
    ranks = result.header.ranks
    assert case.placement.rank_cpus == cpus
    assert tuple(rank.requested_cpus for rank in ranks) == cpus
    assert tuple(rank.cpus for rank in ranks) == cpus
    assert {rank.host for rank in ranks} == {HOST}
    assert not elsewhere(result.header, case)


def test_the_pages_of_each_rank_lie_on_the_memory_node_of_its_first_thread(guest: Guest, plan: Plan) -> None:
    result = guest.outputs[cases(plan)["collective 2x2@all"].id]
    assert [set(rank.page_nodes) for rank in result.header.ranks] == [{"0"}, {"2"}]
