"""A slow node is named once, whatever figure shows it, and healthy nodes are not named."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
import pytest
import scipy.stats
from tests.simulation import simulated_run

from assay import store
from assay.analyse import examine
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.evidence import Evidence
from assay.analyse.statistics import Samples, student
from assay.model.plan import Measure, Study
from assay.model.result import Finding
from assay.plan import Options
from assay.simulation import Law, SlowPart
from assay.topics.health.rules import slow_node
from assay.topics.health.slowness import Crowd, crowds, slow

HOSTS = tuple(f"n{number:02}" for number in range(5))
SLOW = HOSTS[3]
STUDIES = ("quick", "dgemm", "flops", "memory", "caches", "hpl")


def examined(study: str | Study, law: Law, seed: int = 1, launches: int | None = None) -> Evidence:
    blas = {"blas": "/simulated/libblas.so"}
    options = Options(seed=seed, hosts=HOSTS, libraries=blas, launches=launches)
    with TemporaryDirectory() as folder:
        return examine(store.load(simulated_run(Path(folder), law, study=study, options=options, seed=seed)))


def spread(seed: int, sigma: float = 0.007) -> Mapping[str, float]:
    """Host -> its speed, of nodes that differ as healthy ones do."""
    speeds = np.random.default_rng(seed).lognormal(0, sigma, len(HOSTS))
    return dict(zip(HOSTS, speeds.tolist(), strict=True))


@cache
def healthy(study: str) -> Evidence:
    return examined(study, Law(slow_hosts=spread(STUDIES.index(study))))


def named(evidence: Evidence) -> list[Finding]:
    return [each for each in slow_node.rule.assess(evidence) if each.status != "not assessed"]


def changed(measured: Measured, times: float) -> Measured:
    """The same measurement if it took so many times as long."""
    rate = 1 / times if measured.estimate.better == "higher" else times
    launches = tuple(msgspec.structs.replace(each, value=rate * each.value) for each in measured.launches)
    return msgspec.structs.replace(measured, launches=launches)


def with_slow(evidence: Evidence, case: str, kernel: str, times: float = 1 / 0.8) -> Evidence:
    """The run with one figure slower on one node."""
    where = (case, kernel, (SLOW,))
    measured = tuple(
        changed(each, times)
        if (each.estimate.case, each.estimate.kernel, each.estimate.placement.hosts) == where
        else each
        for each in evidence.measured
    )
    return msgspec.structs.replace(evidence, measured=measured)


def figures(evidence: Evidence) -> list[tuple[str, str]]:
    return sorted(
        {(found.case, found.kernel) for each in crowds(evidence.measured) for found in each.estimates.values()}
    )


@pytest.mark.parametrize("study", STUDIES)
def test_healthy_nodes_are_not_named_and_one_at_80_percent_in_one_figure_is_named_once(study: str) -> None:
    evidence = healthy(study)
    assert not named(evidence)
    every = figures(evidence)
    kernels = {kernel: (case, kernel) for case, kernel in every}
    for case, kernel in {*kernels.values(), *every[:: len(every) // 4 + 1]}:
        (finding,) = named(with_slow(evidence, case, kernel))
        assert finding.id == f"slow_node:{SLOW}"
        assert any(name.startswith(f"{case}/{kernel}/") for name in finding.evidence)
        assert finding.numbers["statistic"].lo > finding.numbers["threshold"].value >= 1.03


@pytest.mark.long
@pytest.mark.parametrize("study", STUDIES)
def test_a_node_at_80_percent_is_named_once_for_every_figure(study: str) -> None:
    evidence = healthy(study)
    for case, kernel in figures(evidence):
        assert [each.id for each in named(with_slow(evidence, case, kernel))] == [f"slow_node:{SLOW}"]


@pytest.mark.parametrize(
    ("study", "kernel"),
    [("quick", "triad"), ("quick", "handover"), ("dgemm", "arithmetic"), ("dgemm", "multiply"), ("hpl", "clock")],
)
def test_a_simulated_node_that_does_one_thing_slower_is_named_by_it(study: str, kernel: str) -> None:
    evidence = examined(study, Law(slow_parts=(SlowPart(SLOW, 0.8, kernel),)))
    (finding,) = named(evidence)
    assert finding.id == f"slow_node:{SLOW}"
    assert all(f"/{kernel}/" in name for name in finding.evidence)
    assert f"({kernel})" in finding.claim


def test_a_node_that_is_slow_in_everything_is_named_once_with_its_clearest_figures() -> None:
    (finding,) = named(examined("quick", Law(slow_hosts={SLOW: 0.9})))
    assert finding.id == f"slow_node:{SLOW}"
    assert finding.numbers["statistic"].value == pytest.approx(1 / 0.9, rel=0.01)
    assert 1 < len(finding.evidence) <= 12
    assert "in 55 of 55 figures" in finding.claim


def test_two_slow_nodes_of_five_are_both_named() -> None:
    found = named(examined("quick", Law(slow_hosts={HOSTS[0]: 0.8, SLOW: 0.8})))
    assert {each.id for each in found} == {f"slow_node:{HOSTS[0]}", f"slow_node:{SLOW}"}


def test_noise_that_hides_every_figure_does_not_hide_the_median_of_many() -> None:
    loud = Law(slow_hosts={SLOW: 0.9}, noise=0.02, launch_noise=0.06)
    (finding,) = named(examined("quick", loud))
    assert finding.id == f"slow_node:{SLOW}"
    assert "in the median of" in finding.claim


def test_one_launch_of_each_case_is_not_judged() -> None:
    (finding,) = slow_node.rule.assess(examined("quick", Law(slow_hosts={SLOW: 0.5}), launches=1))
    assert finding.status == "not assessed"


def test_nodes_that_only_pass_messages_are_not_judged() -> None:
    study = Study("Messages", "How fast?", (Measure("pt2pt", ("pair:other-node",), axes={"bytes": 8}),))
    (finding,) = slow_node.rule.assess(examined(study, Law()))
    assert finding.status == "not assessed"
    assert "No figure of a node alone" in finding.claim


def of_excess(excess: Sequence[float], launches: int = 6, nodes: Sequence[str] = HOSTS) -> set[str]:
    """The nodes that are called slow if they take exp(excess) times as long in every launch."""
    evidence = healthy("quick")
    first = next(each for each in evidence.measured if each.estimate.kernel == "triad")
    measured = []
    for host, own in zip(nodes, excess, strict=True):
        placed = msgspec.structs.replace(first.estimate.placement, hosts=(host,))
        value = 1e10 * math.exp(-own)
        medians = tuple(LaunchMedian(block, None, value) for block in range(launches))
        measured.append(Measured(msgspec.structs.replace(first.estimate, placement=placed), medians))
    return set(slow(crowds(measured)))


@pytest.mark.parametrize(("times", "is_slow"), [(1.029, False), (1.031, True)])
def test_the_border_is_three_percent_of_the_usual_time(times: float, *, is_slow: bool) -> None:
    assert of_excess([0, 0, 0, math.log(times), 0]) == ({SLOW} if is_slow else set())


@pytest.mark.parametrize(("excess", "is_slow"), [(0.0599, False), (0.0601, True)])
def test_and_six_median_absolute_deviations_of_the_nodes(excess: float, *, is_slow: bool) -> None:
    assert of_excess([0.01, -0.01, 0, excess, -0.01]) == ({SLOW} if is_slow else set())


def test_a_fast_node_is_not_slow() -> None:
    assert of_excess([0, 0, 0, -0.2, 0]) == set()


@pytest.mark.parametrize(("launches", "is_slow"), [(1, False), (2, True)])
def test_two_launches_are_needed(launches: int, *, is_slow: bool) -> None:
    assert of_excess([0, 0, 0, 0.2, 0], launches) == ({SLOW} if is_slow else set())


@pytest.mark.parametrize(("nodes", "is_slow"), [(3, False), (4, True)])
def test_four_nodes_are_needed(nodes: int, *, is_slow: bool) -> None:
    assert of_excess([0.2, *[0] * (nodes - 1)], nodes=HOSTS[:nodes]) == ({HOSTS[0]} if is_slow else set())


def crowd(excess: Samples) -> Crowd:
    hosts = tuple(f"n{number}" for number in range(len(excess)))
    return Crowd("clock", hosts, {}, excess - np.median(excess, axis=0))


def test_noise_alone_names_a_node_in_at_most_one_percent_of_many_runs() -> None:
    """Loud figures, so that the margin protects nobody: only the error bound does."""
    rng = np.random.default_rng(1)
    accused = sum(bool(slow([crowd(rng.normal(0, 1, (5, 6))) for _ in range(20)])) for _ in range(400))
    assert accused <= scipy.stats.binom.ppf(0.999, 400, 0.01)


def test_a_noisy_node_among_quiet_ones_is_not_slow() -> None:
    rng = np.random.default_rng(2)
    noise = np.array([0.3, *[0.003] * 4])[:, None]
    accused = sum(bool(slow([crowd(noise * rng.normal(0, 1, (5, 6))) for _ in range(20)])) for _ in range(200))
    assert accused <= scipy.stats.binom.ppf(0.999, 200, 0.01)


@pytest.mark.parametrize("free", [5, 9, 24])
@pytest.mark.parametrize("tail", [0.025, 1e-3, 4e-6])
def test_the_quantile_of_small_tails_is_scipys(free: int, tail: float) -> None:
    assert student(free, tail) == pytest.approx(scipy.stats.t.isf(tail, free), rel=1e-4)


def test_the_slow_part_of_a_simulated_node_is_one_kernel_of_one_case() -> None:
    part = SlowPart(SLOW, 0.5, "triad", "stores=non-temporal")
    evidence = examined("quick", Law(slow_parts=(part,), noise=0, launch_noise=0))
    factors = {}
    for each in crowds(evidence.measured):
        own, excess = each.estimates[SLOW], each.excess[each.hosts.index(SLOW)]
        factors[own.kernel, own.params.get("stores")] = float(np.exp(np.median(excess)))
    assert factors.pop(("triad", "non-temporal")) == pytest.approx(2)
    assert list(factors.values()) == pytest.approx([1] * len(factors))
