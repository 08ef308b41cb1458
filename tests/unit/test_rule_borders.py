"""The borders of rules that compare pairs: heard just above, silent just below, where no noise is in the way."""

from functools import partial

import pytest
from tests.simulation import simulated_run
from tests.unit.limited_runs import slowed
from tests.unit.test_finding_node import CORES, FAR, HIMENO, LATENCY, SMT, STORES, THREADS, TWO_NODES, _changed

from assay import store
from assay.analyse import analyse, examine, paired
from assay.analyse.findings import rules
from assay.model.plan import Measure, Study
from assay.model.record import Series
from assay.model.run import CaseRecords, LaunchRecords, Run

REMOTE = Study("Remote", "?", (Measure("stream", ("all:numa:*",), memory=("bind:*",)),), launches=6)
#: Nothing is chance, and any figure can be slower or faster without being impossible.
LAW = _changed(noise=0.0, launch_noise=0.0)
ALL_THREADS = _changed(noise=0.0, launch_noise=0.0, core_traffic=30e9)
#: Rule -> study, machine, and the border: docs/findings.md.
RULES = {
    "first_touch": (HIMENO, TWO_NODES, 1.2),
    "interleave": (HIMENO, TWO_NODES, 1.2),
    "numa_penalty": (REMOTE, TWO_NODES, 1 / 0.8),
    "numa_latency": (FAR, TWO_NODES, 1.3),
    "huge_pages": (LATENCY, TWO_NODES, 1.03),
    "half_cores": (CORES, TWO_NODES, 1.02),
    "write_allocate": (STORES, TWO_NODES, 1.02),
    "smt": (SMT, THREADS, 1.02),
}


def _rule(name: str) -> paired.PairedRatio:
    (rule,) = (each for each in rules() if each.name == name)
    assert isinstance(rule, paired.PairedRatio)
    return rule


def _is_of(wanted: str, kernel: str, _launch: LaunchRecords, case: CaseRecords, series: Series) -> bool:
    return (case.header.case, series.kernel) == (wanted, kernel)


def _at(run: Run, rule: paired.PairedRatio, ratio: float) -> Run:
    """The run in which each pair of the rule has this ratio, in the direction of the rule's first claim."""
    evidence = examine(run)
    for pair in rule.pairs(evidence):
        tested = paired.Tested(evidence, pair, rule.claims[0], 1.0)
        wanted = ratio / tested.ratio.value
        a_slower = (pair.a.better == "lower") != tested.inverse
        slow, factor = (pair.a, wanted) if a_slower else (pair.a, 1 / wanted)
        run = slowed(run, factor, partial(_is_of, slow.case, slow.kernel))
    return run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Runs by the title of their study; several rules read one."""
    folder = tmp_path_factory.mktemp("borders")
    made: dict[str, Run] = {}
    for number, (name, (study, machine, _)) in enumerate(RULES.items()):
        law = ALL_THREADS if name == "smt" else LAW
        made[name] = store.load(simulated_run(folder / str(number), law, description=machine, study=study))
    return made


@pytest.mark.parametrize("name", RULES)
def test_a_ratio_is_heard_from_its_border_on(runs: dict[str, Run], name: str) -> None:
    rule, border = _rule(name), RULES[name][2]
    assert rule.border == pytest.approx(border)
    heard = {}
    for ratio in (0.996 * border, 1.004 * border):
        run = _at(runs[name], rule, ratio)
        evidence = examine(run)
        pairs = [paired.Tested(evidence, pair, rule.claims[0], 1.0).ratio.value for pair in rule.pairs(evidence)]
        assert pairs
        assert pairs == pytest.approx([ratio] * len(pairs), rel=1e-3)
        found = [each for each in analyse(run).findings if each.rule == name and each.status != "not assessed"]
        heard[ratio > border] = bool(found)
        assert all(each.numbers["threshold"].value == pytest.approx(border) for each in found)
    assert heard == {False: False, True: True}


@pytest.mark.parametrize(("ratio", "severity"), [(1.095, "advice"), (1.105, "problem")])
def test_half_of_the_cores_is_a_problem_from_a_tenth_on(runs: dict[str, Run], ratio: float, severity: str) -> None:
    found = analyse(_at(runs["half_cores"], _rule("half_cores"), ratio)).findings
    assert {each.severity for each in found if each.rule == "half_cores"} == {severity}
