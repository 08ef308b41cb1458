"""The study like:REFERENCE: its rows, on machines of the shape of each published system."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.simulation import EPYC_7601, SANDY_BRIDGE, TWO_CORES, plan_for, simulated_run
from tests.unit.test_hpl import WITH_BLAS

from assay import plan as planning
from assay import references, store, studies
from assay.analyse import analyse, examine, repetition
from assay.catalogue import benchmarks
from assay.cli import assay
from assay.compare import figure_rows
from assay.compare.runs import between, unjudged
from assay.model.derivation import OF_MACHINE, Operand
from assay.model.errors import UsageError
from assay.model.imported import UNSTATED
from assay.model.plan import Factor, Plan
from assay.model.units import format_size

_PAIR = "pack:2 numa:1(memory=512MB) l2:1(size=512kB) core:1 pu:1"
#: Reference -> a node of its shape, and how many it has.
SHAPES = {
    "cs-pccluster2": ("pack:1 numa:1(memory=1GB) l2:1(size=512kB) core:1 pu:1", 8),
    "epyc-7601": (EPYC_7601.replace("memory=16GB", "memory=32GB"), 16),
    "hpcdiy-gbe": (SANDY_BRIDGE, 2),
    "hpcdiy-numa": (SANDY_BRIDGE, 1),
    "hpcdiy-qdr": (SANDY_BRIDGE, 2),
    "leo": (_PAIR, 12),
    "sci": (_PAIR, 18),
    "vtpcc": ("pack:1 numa:1(memory=1GB) l2:1(size=512kB) core:1 pu:1", 8),
}


def planned(name: str) -> Plan:
    shape, nodes = SHAPES[name]
    hosts = tuple(f"n{number}" for number in range(1, nodes + 1))
    return plan_for(shape, studies.get(f"like:{name}"), msgspec.structs.replace(WITH_BLAS, hosts=hosts))


@pytest.mark.parametrize("name", references.names())
def test_every_reference_plans_on_a_machine_of_its_shape(name: str) -> None:
    plan = planned(name)
    stated = {table.benchmark for table in references.get(name).tables}
    drawn = {measure.benchmark for measure in references.measures(name)}
    known = (stated | drawn) & set(benchmarks.names())
    assert plan.studied
    assert {case.benchmark for case in plan.studied} <= known
    assert all(left.reason for left in plan.left_out)


def compared_with_others() -> Iterator[tuple[str, Operand]]:
    """Each operand of a system that another publication compares with, and the name of this system."""
    for source in map(references.get, references.names()):
        figures = (figure.derivation for table in source.tables for figure in table.figures)
        quantities = (*filter(None, figures), *(each.quantity for each in source.conclusions))
        for operand in (one for each in quantities for one in each.operands):
            if operand.reference in references.names() and operand.aspect not in OF_MACHINE:
                yield operand.reference, operand


def test_a_study_measures_what_other_publications_compare_with_its_system() -> None:
    """LEO's authors compare its processor and PRIRODA with the cluster SCI, cs-pccluster2's theirs with VTPCC."""
    needed = {(name, operand.benchmark) for name, operand in compared_with_others()}
    assert needed >= {("sci", "flops_plain"), ("sci", "nwchem-c60h60"), ("vtpcc", "memcpy")}
    measured = {(name, each.benchmark) for name, _ in needed for each in studies.get(f"like:{name}").measure}
    assert needed <= measured


def test_every_row_is_planned_or_left_out_with_its_reason() -> None:
    """Of the cluster LEO: its orders, its speed-ups, and what does not fit its nodes."""
    plan = planned("leo")
    systems = {(case.placement.label, case.params.get("n")) for case in plan.studied if case.benchmark == "hpl"}
    assert {("one-core", 10000), ("1x1@2", 10000), ("2x1@1", 10000), ("1x1@12", 10000)} <= systems
    wishes = {left.request: left.reason for left in plan.left_out}
    assert wishes["nwchem-c60h60 at one-core"].startswith("it needs 4 GiB of memory; 1 GiB may be used")
    assert "network of the source: SCI, Fast Ethernet" in wishes


def test_sizes_of_a_row_are_those_of_the_source() -> None:
    plan = planned("hpcdiy-gbe")
    (table, *_) = references.get("hpcdiy-gbe").tables
    wanted = {figure.params["bytes"] for figure in table.figures}
    having = {case.params["bytes"] for case in plan.studied if case.params["pattern"] == "bandwidth"}
    assert table.placement != UNSTATED
    assert having == wanted


@pytest.mark.parametrize("name", ["epyc-7601"])
def test_a_bandwidth_without_a_size_gets_large_messages_and_the_plan_says_so(name: str) -> None:
    study = studies.get(f"like:{name}")
    sizes = [each.axes.get("bytes") for each in study.measure if benchmarks.get(each.benchmark).between_two]
    assert (2**18, 2**20, 2**22) in sizes
    curve = (0, *(2**power for power in range(23)))  # of a latency without a size
    assert set(sizes) <= {(2**18, 2**20, 2**22), (0,), curve, None}
    told = study.without["size of the messages of a bandwidth"]
    assert told == "the source does not state it; 256 KiB, 1 MiB, 4 MiB take its place"


def test_it_is_compared_with_the_best_of_them_whose_size_is_named(tmp_path: Path) -> None:
    study = studies.get("like:leo")
    study = msgspec.structs.replace(study, measure=tuple(m for m in study.measure if m.benchmark == "pt2pt"))
    options = planning.Options(hosts=("n1", "n2"), launches=2)
    run = store.load(simulated_run(tmp_path, study=study, options=options))
    base = store.load(store.find("leo"))
    estimates = [each for each in analyse(run).estimates if each.params.get("pattern") == "bandwidth"]
    every = {each.id: each.median for each in estimates if each.metric == "bandwidth"}
    for compared, a, b in ((between(run, base), "a", "b"), (between(base, run), "b", "a")):
        rows = [pair for pair in compared.pairs if pair.a.metric == "bandwidth"]
        assert {getattr(pair, a).median for pair in rows} == {max(filter(None, every.values()))}
        assert {getattr(pair, b).printed.place for pair in rows} == {
            "peak characteristics of the network: MPI over SCI",
        }
    console = Console(width=120, record=True)
    figure_rows.render(between(run, base), console)
    (best,) = (each for each in estimates if each.median == max(filter(None, every.values())))
    assert f"bandwidth pattern · {format_size(int(best.params['bytes']))}" in console.export_text()


#: Reference -> published figures that a run on a machine of its shape is compared with, of how many.
MET = {
    "cs-pccluster2": (3, 11),
    "epyc-7601": (42, 58),
    "hpcdiy-gbe": (47, 47),
    "hpcdiy-numa": (12, 12),
    "hpcdiy-qdr": (235, 235),
    "leo": (21, 26),
    "sci": (5, 5),
    "vtpcc": (9, 9),
}
#: Beginnings of the reasons why others are not: all of them name what is missing, and most need another machine.
LACKING = (
    "it needs the other system: ",
    "it needs two networks: ",
    "it needs system Windows",
    "it needs processor EPYC 7551",
    "it needs mpi Open MPI with ",
    "it needs c-states disabled: assay run like:epyc-7601 --vary 'c-states=enabled:cpupower idle-set -E|",
    "it needs c-states enabled and disabled: assay run like:epyc-7601 --vary 'c-states=enabled:cpupower ",
    "it needs two levels of mtu: assay run like:cs-pccluster2 --vary 'mtu=1500:ip link set ",
    "it needs interleave memory ",
    "it needs two operating systems: ",
    "it needs 4 GiB of memory; 1 GiB may be used",
    "the program wrf.exe is not here",
    "toolchain was not varied: --vary toolchain=LEVEL,LEVEL ",
)
#: Beginning of the reason why `assay compare` has no ratio of two values that a table shows beside each other.
WITHOUT_RATIO = "it has no ratio: "
#: A factor of the machine's configuration, as its assay.toml names it.
C_STATES = Factor("c-states", ("enabled", "disabled"), "prefix", prefixes={"enabled": "", "disabled": ""})
#: What the command line says of these machines: the place of the card, networks with names of their own, what is
#: varied.
GIVEN: dict[str, dict[str, object]] = {
    "epyc-7601": {
        "nic_nodes": {"": 6},
        "absent": {"wrf": "the program wrf.exe is not here"},
    },
    "hpcdiy-qdr": {"nic_nodes": {"": 0}},
    "leo": {"networks": {"a": "sci0", "b": "eth0"}},
}


def given(name: str) -> tuple[str, planning.Options]:
    """A node of the shape of a reference, and what the command line says of its system."""
    shape, nodes = SHAPES[name]
    shape = _PAIR.replace("512MB", "1GB") if name in {"cs-pccluster2", "vtpcc"} else shape
    hosts = tuple(f"n{number}" for number in range(1, nodes + 1))
    stated = {"hosts": hosts, "launches": 2, **GIVEN.get(name, {})}
    return shape, msgspec.structs.replace(WITH_BLAS, **stated)


@pytest.mark.parametrize("name", references.names())
def test_published_rows_meet_figures_of_a_run(name: str, tmp_path: Path) -> None:
    shape, options = given(name)
    path = simulated_run(tmp_path, description=shape, study=f"like:{name}", options=options)
    run, of = store.load(path), sum(len(table.figures) for table in references.get(name).tables)
    rows = repetition.repeated(examine(run), name).rows
    met = sum(row.figures for row in rows if row.ours)
    lacking = {f"{row.metric} {row.params}": row.reason for row in rows if not row.ours}
    print(f"{name}: {met} of {of}", *(f"  {each}: {why}" for each, why in lacking.items()), sep="\n")  # noqa: T201 (what `pytest -s` shows)
    assert (met, of) == MET[name]
    assert sum(row.figures for row in rows) == of
    assert all(why.startswith(LACKING) for why in lacking.values())

    compared = between(run, store.load(store.find(name)))
    ratios, missing = {pair.b.id for pair in compared.pairs}, unjudged(compared)
    assert ratios.isdisjoint(missing)
    assert len(ratios) + len(missing) == of
    assert len(ratios) + sum(why.startswith(WITHOUT_RATIO) for why in missing.values()) == met
    assert all(why.startswith((*LACKING, WITHOUT_RATIO)) for why in missing.values())


def test_of_403_published_figures_370_are_met() -> None:
    met, of = (sum(numbers) for numbers in zip(*MET.values(), strict=True))
    assert of == 403
    assert met >= 370


def test_what_c_states_give_is_compared_where_they_were_varied(tmp_path: Path) -> None:
    shape, options = given("epyc-7601")
    study = studies.get("like:epyc-7601")
    latency = tuple(m for m in study.measure if m.axes.get("pattern") == "latency")
    study = msgspec.structs.replace(study, measure=latency)
    options = msgspec.structs.replace(options, hosts=("n1", "n2"), factors=(C_STATES,))
    run = store.load(simulated_run(tmp_path, description=shape, study=study, options=options))
    compared = between(run, store.load(store.find("epyc-7601")))
    gains = {pair.b.metric: pair for pair in compared.pairs if "C-states" in pair.b.metric}
    assert gains.keys() == {"smallest gain by C-states", "largest gain by C-states"}
    smallest, largest = (gains[f"{word} gain by C-states"].a.median or 0.0 for word in ("smallest", "largest"))
    assert largest <= 1 <= smallest
    assert (smallest, largest) == pytest.approx((1, 1), rel=0.1)


def test_solutions_that_fill_the_memory_of_16_nodes_are_planned_once_with_their_time() -> None:
    """Its figure 11; by the assumed 60 % of 17.6 GFLOP/s of each core, 2 n^3 / 3 operations take hours."""
    plan = planned("epyc-7601")
    filling = {
        len(case.placement.hosts): case
        for case in plan.studied
        if case.benchmark == "hpl"
        and case.placement.label in {"all", *(f"all@{n}" for n in (2, 4, 8, 16))}
        and case.launches
    }
    assert filling.keys() == {1, 2, 4, 8, 16}
    for nodes, case in filling.items():
        memory = 8 * 32 * 2**30 * nodes
        assert 0.7 * memory < 8 * int(case.params["n"]) ** 2 <= 0.8 * memory
        assert sum(case.id in launch.cases for launch in plan.order) == 1
        operations_s = 2 / 3 * int(case.params["n"]) ** 3 / (64 * nodes * 0.6 * 17.6e9)
        assert 1 <= case.setup_s / operations_s < 1.1
    assert plan.budget_s is not None
    assert plan.budget_s >= sum(case.setup_s for case in filling.values())


def test_on_one_node_of_two_cores_what_needs_more_is_left_out() -> None:
    plan = plan_for(TWO_CORES, studies.get("like:leo"), WITH_BLAS)
    assert {case.benchmark for case in plan.studied} >= {"hpl", "linpack_fortran"}
    assert any(left.nodes for left in plan.left_out)


def test_unknown_references_are_refused() -> None:
    with pytest.raises(UsageError, match="no reference"):
        studies.get("like:nothing")
    with pytest.raises(UsageError, match="not swept"):
        studies.get("like:leo", ("ranks=1",))


def test_the_plan_command_says_what_cannot_be_done() -> None:
    machine = "numa:1(memory=8GB) core:2"
    answer = CliRunner().invoke(assay, ["plan", "like:leo", "--synthetic", machine, "--json"])
    assert answer.exit_code == 0, answer.output
    assert "there are no two cores of two sockets that may be used" in answer.output
    plan = json.loads(answer.output)
    known = {case["benchmark"] for case in plan["cases"]}
    assert "hpl" in known, "nobody knows that the described machine has no BLAS"


@pytest.mark.parametrize(
    ("options", "proposed"),
    [
        ((), {"mpi", "c-states", "interleave"}),
        (("--level", "interleave=die"), {"mpi", "c-states"}),
        (("--vary", "OMPI_MCA_pml=ucx,yalla"), {"c-states", "interleave"}),
        (("--level", "Cstates=on"), {"mpi", "interleave"}),
    ],
)
def test_the_plan_proposes_no_factor_that_is_given(options: tuple[str, ...], proposed: set[str]) -> None:
    nodes = ("--hosts", "n[1-2]", "--network", "edr=mlx5_0:1", "--nic-node", "6")
    words = ["plan", "like:epyc-7601", "--synthetic", SHAPES["epyc-7601"][0], *nodes, *options, "--json"]
    answer = CliRunner().invoke(assay, words)
    assert answer.exit_code == 0, answer.output
    left = {each["wish"]: each["reason"] for each in json.loads(answer.stdout)["left_out"]}
    found = {request.partition(" of the source")[0] for request, why in left.items() if "to compare them" in why}
    assert found == proposed


def test_the_plan_says_of_a_placement_once_that_it_is_another_one_and_whose_memory_is_assumed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "120")

    def planned(machine: str) -> str:
        hosts = ("--hosts", "n[01-12]", "--network", "sci=sci0,fe=eth0")
        answer = CliRunner().invoke(assay, ["plan", "like:leo", "--synthetic", machine, *hosts])
        assert answer.exit_code == 0, answer.output
        return " ".join(answer.output.split())

    named = planned("numa:1(memory=1GB) pack:2 l2:1(size=512kB) l1:1(size=8kB) core:1 pu:1")
    assert named.count("all@12 is 2x1@12") == 1
    assert "2x1@12 2 ranks, one core each, on each of 12 nodes" in named
    assert "all@12 all 2 cores, on each of 12 nodes" not in named
    assert "1 GiB may be used" in named
    assert "hwloc" not in named
    assert "hwloc gives each node 1 GiB where none is named" in planned("numa:1 pack:2 core:1 pu:1")
