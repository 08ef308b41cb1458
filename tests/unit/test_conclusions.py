"""Published conclusions as rules: judged on their publications and on runs of simulated machines."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from tests import contradictions_of_runs
from tests.simulation import SANDY_BRIDGE, plan_for, simulated_run
from tests.unit.test_hpl import WITH_BLAS
from tests.unit.test_like import GIVEN, SHAPES

from assay import plan as planning
from assay import references, store, studies
from assay.analyse import analyse
from assay.analyse.evidence import CONFIDENT
from assay.cli import assay
from assay.model.conclusion import Conclusion, Judged, Region
from assay.model.plan import Case, Measure, Study
from assay.model.quantity import Quantity
from assay.model.repetition import Repetition
from assay.model.text import Command
from assay.plan.chosen import choices, with_choices
from assay.report import repetition
from assay.simulation import Law
from assay.simulation.law import Link

#: Where a source contradicts itself: reference, beginning of the sentence, the source's own numbers.
INCONSISTENT = {
    # 900 Mbps of TCP less the 800 Mbps that 3.3 prints for MPI are 100.
    ("vtpcc", "the largest rate of TCP is about 150 Mbps above"): 100e6 / 8,
    # MPI has 400 Mbps under Windows, and 250 to 300 under Linux.
    ("cs-pccluster2", "Windows gives 200 Mbps or more over Vine Linux: MPI"): 100e6 / 8,
}
#: Sentences for which the source prints no number: their curves are pictures.
UNPRINTED = {
    ("cs-pccluster2", "under Vine Linux jumbo frames improve TCP"),
    ("hpcdiy-numa", "where all memory lies on one node, some threads are slower"),
}
#: Reference -> conclusions that a run on a simulated machine of its shape decides, at least.
JUDGED = {
    "cs-pccluster2": 1,
    "epyc-7601": 25,
    "hpcdiy-gbe": 1,
    "hpcdiy-numa": 1,
    "hpcdiy-qdr": 6,
    "leo": 20,
    "sci": 2,
    "vtpcc": 11,
}
#: InfiniBand and Gigabit Ethernet as the source measured them, with its .6 us for each far end of two.
PLANTED = {"ib0": Link(1.02e-6, 3.4e9, 3.4e9), "eth0": Link(25.3e-6, 118e6, 118e6)}
AS_PUBLISHED = Law(links={**Law().links, **PLANTED}, cards={"ib0": 1, "eth0": 1}, far_card=(0.3e-6, 1.0))
SIZES = (0, 2**22)
#: Both networks of the source; the card of each is at the second socket.
TWO: dict[str, object] = {"networks": {"ib": "ib0", "gbe": "eth0"}, "nic_nodes": {"ib": 1, "gbe": 1}}


@cache
def of_reference(name: str) -> Repetition:
    found = analyse(store.load(references.path(name))).repetition
    assert found
    return found


def key(name: str, conclusion: Conclusion) -> str:
    """The beginning of a sentence, by which the lists above name it."""
    listed = (begin for of, begin in (*INCONSISTENT, *UNPRINTED) if of == name)
    return next((begin for begin in listed if conclusion.says.startswith(begin)), conclusion.says)


@pytest.mark.parametrize("name", references.names())
def test_each_conclusion_holds_on_its_publication_or_the_source_contradicts_itself(name: str) -> None:
    for each in of_reference(name).conclusions:
        known = (name, key(name, each.conclusion))
        if known in INCONSISTENT:
            assert each.truth == "does not hold"
            assert each.printed
            assert each.printed.value == pytest.approx(INCONSISTENT[known])
        elif known in UNPRINTED:
            assert (each.truth, each.doubt) == ("cannot be told", "unprinted")
        else:
            assert each.truth == "holds", each
        assert each.quantity is None


@pytest.mark.parametrize("name", references.names())
def test_a_sentence_says_what_it_is_about_where_it_stands_alone(name: str) -> None:
    for each in references.get(name).conclusions:
        begun = set(re.split("[:,]", each.says)[0].split())
        assert not begun & {"it", "they", "this", "these", "them", "two:"}, each.says
        assert len(each.says.split()) >= 4, each.says


def test_there_are_at_least_45_conclusions_each_with_its_place_and_its_assumption() -> None:
    every = [each for name in references.names() for each in references.get(name).conclusions]
    assert len(every) >= 100
    assert all(each.says and each.where for each in every)
    assert all(each.region != Region() for each in every)
    known = {"figure", "about", "fraction", "same", "rounded", "bound", "order", "greatly"}
    assert {each.assumes for each in every} == known


def of_run(path: Path) -> dict[str, Judged]:
    run = store.load(path)
    analysis = analyse(run)
    assert analysis.repetition
    assert contradictions_of_runs.of_run(run, analysis) == []
    return {each.conclusion.says: each for each in analysis.repetition.conclusions}


@pytest.mark.parametrize("name", references.names())
def test_conclusions_are_judged_on_a_machine_of_the_shape_of_the_source(name: str, tmp_path: Path) -> None:
    shape, nodes = SHAPES[name]
    if name in {"cs-pccluster2", "vtpcc"}:
        shape = shape.replace("pack:1", "pack:2")
    hosts = tuple(f"n{number}" for number in range(1, nodes + 1))
    given = {"hosts": hosts, "launches": 6, **GIVEN.get(name, {}), **(TWO if name == "hpcdiy-qdr" else {})}
    options = replace(WITH_BLAS, **given)
    study = studies.get(f"like:{name}")
    if name == "hpcdiy-qdr":  # conclusions are about two sizes of 24
        study = two_sizes()
    judged = of_run(simulated_run(tmp_path, description=shape, study=study, options=options))
    truths = Counter(each.truth for each in judged.values())
    assert truths["holds"] + truths["does not hold"] >= JUDGED[name]
    for each in judged.values():
        assert (each.truth == "cannot be told") == bool(each.doubt)
        assert each.detail or each.doubt in {"", "straddles"}


def test_at_least_45_of_them_are_judged() -> None:
    assert sum(JUDGED.values()) >= 45


def two_sizes() -> Study:
    """The study of InfiniBand and Gigabit Ethernet with the two sizes that its conclusions are about."""
    study = studies.get("like:hpcdiy-qdr")
    sizes = {"latency": SIZES[:1], "bandwidth": SIZES[1:]}
    measure = (
        replace(each, axes={**each.axes, "bytes": sizes[str(each.axes["pattern"])]}) for each in study.measure
    )
    return replace(study, measure=tuple(measure))


def two_networks(folder: Path, law: Law, launches: int = 6) -> Path:
    """A run with both networks."""
    options = replace(planning.Options(hosts=("n1", "n2"), launches=launches), **TWO)
    return simulated_run(folder, law, description=SANDY_BRIDGE, study=two_sizes(), options=options)


GALLERY = Path(__file__).parents[2] / "docs/gallery"
#: Networks as the runs of the gallery name them.
TWO_OF: dict[str, dict[str, object]] = {
    "epyc-7601": {"networks": {"edr": "mlx5_0:1"}, "nic_nodes": {"edr": 6}},
    "leo": {"networks": {"sci": "sci0", "fe": "eth0"}},
}
FASTER = "InfiniBand QDR is more than 28 times as fast as Gigabit Ethernet"
NEARER = "between the processors next to the card the latency is shorter by about 0.6 µs"
HARDLY = "but between the processors near the card and far from the card InfiniBand hardly differs"


def test_planted_conclusions_hold_with_their_intervals_paired_within_blocks(tmp_path: Path) -> None:
    judged = of_run(two_networks(tmp_path, AS_PUBLISHED))
    assert {name: judged[name].truth for name in (FASTER, NEARER, HARDLY)} == dict.fromkeys(
        (FASTER, NEARER, HARDLY), "holds"
    )
    ratio, difference = judged[FASTER].quantity, judged[NEARER].quantity
    assert ratio
    assert difference
    assert ratio.value == pytest.approx(3.4e9 / 118e6, rel=0.01)
    assert 28 < ratio.lo < ratio.hi
    assert difference.value == pytest.approx(0.6e-6, rel=0.05)
    assert difference.unit == "s"
    assert judged[FASTER].blocks == 6
    assert len(judged[FASTER].of) == 2


def test_a_planted_ratio_of_1_does_not_hold(tmp_path: Path) -> None:
    equal = dict.fromkeys(PLANTED, PLANTED["ib0"])
    judged = of_run(two_networks(tmp_path, Law(links={**Law().links, **equal})))
    assert judged[FASTER].truth == "does not hold"
    assert judged[NEARER].truth == "does not hold"
    ratio = judged[FASTER].quantity
    assert ratio
    assert ratio.hi < 1.1


def test_under_noise_it_cannot_be_told_and_more_launches_are_named(tmp_path: Path) -> None:
    law = Law(links={**Law().links, **PLANTED}, launch_noise=0.2)
    each = of_run(two_networks(tmp_path, law))[FASTER]
    assert (each.truth, each.doubt) == ("cannot be told", "straddles")
    assert each.quantity
    assert each.quantity.lo < 28 < each.quantity.hi
    assert each.command == "assay run like:hpcdiy-qdr --launches 12 --budget 60m"


def test_few_launches_have_no_interval_and_decide_nothing(tmp_path: Path) -> None:
    each = of_run(two_networks(tmp_path, Law(links={**Law().links, **PLANTED}), launches=3))[FASTER]
    assert (each.truth, each.doubt, each.command) == (
        "cannot be told",
        "launches",
        "assay run like:hpcdiy-qdr --launches 6 --budget 30m",
    )


def test_what_a_run_lacks_is_named_with_the_command_that_measures_it(tmp_path: Path) -> None:
    options = planning.Options(hosts=("n1",), launches=2)
    path = simulated_run(tmp_path, description=SANDY_BRIDGE, study=two_sizes(), options=options)
    judged = of_run(path)
    assert (judged[FASTER].doubt, judged[FASTER].command) == (
        "nodes",
        "assay run like:hpcdiy-qdr --hosts NODE1,NODE2,...",
    )
    one = planning.Options(hosts=("n1", "n2"), launches=2)
    judged = of_run(simulated_run(tmp_path / "one", description=SANDY_BRIDGE, study=two_sizes(), options=one))
    assert (judged[FASTER].doubt, judged[FASTER].command) == (
        "network",
        "assay run like:hpcdiy-qdr --network NAME=DEVICE,NAME=DEVICE",
    )


def test_a_region_is_met_by_the_whole_interval_only() -> None:
    region = Region(0.9, 1.1)
    assert region.holds(Quantity(1.0, 0.91, 1.09)) is True
    assert region.holds(Quantity(1.0, 0.89, 1.09)) is None
    assert region.holds(Quantity(0.8, 0.7, 0.89)) is False
    assert region.holds(Quantity(1.2, 1.11, 1.3)) is False
    assert Region(least=28).holds(Quantity(30, 28.1, 32)) is True
    assert Region(most=3).holds(Quantity(3.2, 3.1, 3.3)) is False


def test_each_published_figure_stands_beside_the_figure_of_the_run(tmp_path: Path) -> None:
    law = Law(links={**Law().links, "host": Link(25.3e-6, 118e6, 118e6)})
    options = planning.Options(hosts=("n1", "n2"), launches=6)
    path = simulated_run(tmp_path, law, description=SANDY_BRIDGE, study="like:hpcdiy-gbe", options=options)
    found = analyse(store.load(path)).repetition
    assert found
    assert len(found.rows) == 47
    largest = found.rows[22]
    assert (largest.printed, largest.unit, largest.standing) == ("118.62 MB/s", "MB/s", "as published")
    assert largest.ours
    assert largest.agreement
    assert largest.agreement.apart
    assert largest.agreement.apart.value == pytest.approx(largest.ours.value / 118.62e6)
    assert largest.ours.has_interval
    slow = next(row for row in found.rows if row.params.get("bytes") == 4194304 and row.metric == "latency")
    assert slow.standing in {"better", "as published"}


def test_terminal_json_and_comparison_have_the_same_conclusions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = analyse(store.load(two_networks(tmp_path, AS_PUBLISHED))).repetition
    assert found
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path))
    documents = [
        json.loads(CliRunner().invoke(assay, [*command, "--json"]).stdout)
        for command in (("show", "last"), ("compare", "hpcdiy-qdr", "last"))
    ]
    shown, compared = documents[0]["repetition"], documents[1]["repetitions"][0]
    assert shown["conclusions"] == compared["conclusions"]
    assert {each["truth"] for each in shown["conclusions"]} >= {"holds"}
    terminal = CliRunner().invoke(assay, ["show", "last"]).output
    assert str(repetition.counted(found)) in terminal
    page = Path(CliRunner().invoke(assay, ["report", "last"]).stdout.strip()).read_text("utf-8")
    assert 'class="concluded"' in page
    assert 'id="repetition"' in page


def same_problem(case: Case) -> tuple[object, ...]:
    return case.benchmark, case.placement.label, case.factors, str(case.params.get("n"))


@pytest.mark.parametrize("name", ["epyc-7601", "leo"])
def test_the_command_for_a_solution_of_one_launch_measures_it_in_enough(name: str) -> None:
    """On the same placement and of the same order, also where the order alone makes it long."""
    run = store.load(GALLERY / f"like-{name}{'-simulated' * (name == 'leo')}.tar.xz")
    analysed = analyse(run)
    assert analysed.repetition
    cases = {case.id: case for case in run.plan.cases}
    used = {each.id: cases[each.case] for each in analysed.estimates if each.case in cases}
    found = 0
    for each in analysed.repetition.conclusions:
        long = [used[of] for of in each.of if of in used and used[of].launches]
        if each.doubt != "launches" or not long:
            continue
        found += 1
        assert isinstance(each.command, Command)
        given = dict(zip(each.command.options[::2], each.command.options[1::2], strict=True))
        assert given.keys() == {"--set", "--launches"}
        asked = {"values": (given["--set"],), "launches": int(given["--launches"]), **TWO_OF[name]}
        options = replace(WITH_BLAS, hosts=run.plan.hosts, **asked)
        plan = plan_for(SHAPES[name][0], studies.get(each.command.subject), options)
        for case in long:
            again = [one for one in plan.studied if same_problem(one) == same_problem(case)]
            assert again
            assert max(sum(one.id in launch.cases for launch in plan.order) for one in again) >= CONFIDENT
    assert found


@pytest.mark.parametrize(("chosen", "launches"), [("hpl.n=33024", 0), ("n=33024", 0), ("hpl.nb=128", 1)])
def test_a_size_that_is_chosen_has_no_fewer_launches(chosen: str, launches: int) -> None:
    measure = Measure("hpl", ("all",), axes={"n": "largest"}, launches=1)
    (found,) = with_choices([measure], choices([chosen], [measure]))
    assert found.launches == launches
