"""Rules on the path of messages at their borders: interfaces by their counters, timers of TCP, MPI against TCP."""

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import examine
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import LaunchMedian, Measured
from assay.analyse.evidence import Evidence
from assay.analyse.findings import findings
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.record import Series
from assay.model.result import Estimate, Finding
from assay.model.run import CaseRecords
from assay.plan import Options
from assay.simulation import Law
from assay.topics.messages.models import mpi_over_tcp
from assay.topics.messages.models.mpi_over_tcp import MpiOver

SIZES = (8, 2048, 4096, 65536, 131072)
AXES = {"pattern": "latency", "bytes": SIZES}


def known_of(folder: str, factory: pytest.TempPathFactory, *measures: Measure, network: str = "") -> Evidence:
    networks = {"fast": network} if network else {}
    options = Options(hosts=("n1", "n2"), networks=networks)
    study = Study("Paths", "?", measures, launches=6)
    return examine(
        store.load(simulated_run(factory.mktemp(folder), Law(sampled_s=0.0), study=study, options=options))
    )


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    measure = Measure("pt2pt", ("pair:other-node",), axes=AXES)  # type: ignore[arg-type]
    return known_of("asked", tmp_path_factory, measure, network="eth1")


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    measures = (Measure(name, ("pair:other-node", "pair"), axes=AXES) for name in ("pt2pt", "tcp"))  # type: ignore[arg-type]
    return known_of("chosen", tmp_path_factory, *measures)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    measures = (Measure(name, ("pair:other-node",), axes=AXES) for name in ("pt2pt", "tcp"))  # type: ignore[arg-type]
    return known_of("both", tmp_path_factory, *measures, network="eth1")


def carried(known: Evidence, of: Callable[[Estimate], Mapping[str, float] | None]) -> list[Finding]:
    """Findings where each estimate has these shares by interface; None leaves the estimate out."""
    measured = []
    for each in known.measured:
        proven, shares = each.estimate.placement.proven, of(each.estimate)
        assert proven
        if shares is not None:
            placement = msgspec.structs.replace(
                each.estimate.placement, proven=msgspec.structs.replace(proven, carried=dict(shares))
            )
            measured.append(
                msgspec.structs.replace(each, estimate=msgspec.structs.replace(each.estimate, placement=placement))
            )
    evidence = msgspec.structs.replace(known, measured=tuple(measured), models=())
    return [each for each in findings(evidence) if each.rule == "transport"]


@pytest.mark.parametrize("share", [0.49, 0.5])
def test_a_requested_network_sends_half_of_the_bytes(asked: Evidence, share: float) -> None:
    results = carried(asked, lambda _e: {"eth1": share})
    assert len(results) == (share < 0.5)
    for finding in results:
        assert (finding.id, finding.severity) == ("transport:eth1", "problem")
        assert finding.numbers["statistic"].value == share
        assert "it sent 49 % of their bytes" in finding.claim


@pytest.mark.parametrize(("others", "heard"), [((0.05, 0.049), False), ((0.05, 0.05), True), ((0.3, 0.3), True)])
def test_others_that_send_a_tenth_beside_it_are_told(
    asked: Evidence, others: tuple[float, float], *, heard: bool
) -> None:
    results = carried(asked, lambda _e: {"eth1": 0.9, "eth0": others[0], "lo": others[1]})
    assert len(results) == heard
    for finding in results:
        assert (finding.id, finding.severity) == ("transport:eth1:beside", "fact")
        assert finding.numbers["threshold"].value == 0.1
        assert finding.numbers["statistic"].value == pytest.approx(sum(others))


def test_a_way_is_proven_while_other_programs_disturb(asked: Evidence) -> None:
    busy = tuple(
        msgspec.structs.replace(
            each, estimate=msgspec.structs.replace(each.estimate, disturbed=each.estimate.launches)
        )
        for each in asked.measured
    )
    (finding,) = carried(msgspec.structs.replace(asked, measured=busy), lambda _e: {"eth0": 1.0})
    assert finding.assessed


def test_bytes_that_are_counted_twice_are_of_no_other_interface(asked: Evidence) -> None:
    """A bond over two cards counts each byte twice: more than one and a half times the bytes."""
    assert carried(asked, lambda _e: {"eth1": 1.0, "bond0": 0.51}) == []
    assert len(carried(asked, lambda _e: {"eth1": 1.0, "bond0": 0.5})) == 1


@pytest.mark.parametrize("took", ["eth0", ""])
def test_bytes_of_another_interface_prove_it_alone_uncounted_ones_of_most_figures(
    asked: Evidence, took: str
) -> None:
    """Three sizes are of 4 KiB or more; small messages prove nothing."""

    def astray(*sizes: int, among: tuple[int, ...] = SIZES) -> list[Finding]:
        def shares(e: Estimate) -> dict[str, float] | None:
            size = e.params["bytes"]
            if size not in among:
                return None
            return {"eth1": 1.0} if size not in sizes else {took: 1.0} if took else {}

        return carried(asked, shares)

    assert len(astray(4096)) == len(astray(65536, among=(65536, 131072))) == bool(took)  # one of two is not most
    (finding,) = astray(4096, 65536)
    assert "2 of 3 similar figures" in finding.statistic
    assert astray(8, 2048) == []
    (nothing,) = astray(8, 2048, among=(8, 2048))
    assert not nothing.assessed


@pytest.mark.parametrize("astray", ["pt2pt", "tcp"])
def test_uncounted_bytes_of_one_program_are_not_outvoted_by_another(both: Evidence, astray: str) -> None:
    (finding,) = carried(both, lambda e: {} if e.benchmark == astray else {"eth1": 1.0})
    assert finding.id == "transport:eth1"
    benchmarks = {each.estimate.id: each.estimate.benchmark for each in both.measured}
    assert {*finding.evidence} == {name for name, benchmark in benchmarks.items() if benchmark == astray}


def test_small_messages_of_sockets_do_not_go_with_an_mpi(both: Evidence) -> None:
    def shares(e: Estimate) -> dict[str, float] | None:
        if e.benchmark == "tcp":
            return {"eth1": 9.0} if int(e.params["bytes"]) < 4096 else None
        return {"eth0": 1.0}

    (finding,) = carried(both, shares)
    benchmarks = {each.estimate.id: each.estimate.benchmark for each in both.measured}
    assert {*finding.evidence} == {name for name, benchmark in benchmarks.items() if benchmark == "pt2pt"}


@pytest.mark.parametrize(("second", "heard"), [(0.149, False), (0.15, True)])
def test_without_a_request_two_interfaces_of_15_percent_share_the_messages(
    chosen: Evidence, second: float, *, heard: bool
) -> None:
    def shares(e: Estimate) -> dict[str, float]:
        return (
            {"eth0": 1 - second, "eth1": second} if e.benchmark == "pt2pt" and len(e.placement.hosts) > 1 else {}
        )

    results = carried(chosen, shares)
    assert len(results) == heard
    for finding in results:
        assert finding.id == "transport:spread"
        assert finding.numbers["statistic"].value == 2
        assert "eth0 sent 85 %, eth1 sent 15 % of their bytes" in finding.claim
    sockets = carried(chosen, lambda e: {"eth0": 0.5, "eth1": 0.5} if e.benchmark == "tcp" else {})
    assert sockets == []


@pytest.mark.parametrize("share", [0.49, 0.5])
def test_inside_a_node_an_interface_that_sends_half_replaces_memory(chosen: Evidence, share: float) -> None:
    results = carried(chosen, lambda e: {"lo": share} if len(e.placement.hosts) == 1 else {})
    assert len(results) == (share >= 0.5)
    for finding in results:
        assert finding.id == "transport:inside"
        assert "went through lo instead of memory: it sent 50 % of their bytes" in finding.claim


def waiting(known: Evidence, count: int, of: int, size: int = 8, benchmark: str = "tcp") -> list[Finding]:
    """Findings where so many samples of the messages of a size wait 41 ms, and the others take 1 ms."""
    seconds = tuple([0.001] * (of - count) + [0.041] * count)

    def changed(case: CaseRecords) -> CaseRecords:
        if (case.header.benchmark, case.header.params.get("bytes")) != (benchmark, size):
            return case
        series = tuple(
            msgspec.structs.replace(each, seconds=seconds, start_s=tuple(float(at) for at in range(of)))
            if isinstance(each, Series) and each.phase == "measured"
            else each
            for each in case.series
        )
        return msgspec.structs.replace(case, series=series)

    launches = tuple(
        msgspec.structs.replace(launch, cases=tuple(map(changed, launch.cases))) for launch in known.run.launches
    )
    run = msgspec.structs.replace(known.run, launches=launches)
    return [each for each in findings(msgspec.structs.replace(known, run=run)) if each.rule == "delayed_ack"]


@pytest.mark.parametrize(
    ("count", "of", "heard"), [(1, 10, True), (1, 11, False), (2, 20, True), (1, 9, False), (3, 9, False)]
)
def test_a_tenth_of_ten_samples_or_more_has_to_wait(chosen: Evidence, count: int, of: int, *, heard: bool) -> None:
    results = waiting(chosen, count, of)
    assert bool(results) == heard
    for finding in results:
        assert "wait 40 ms" in finding.claim
        assert finding.numbers["threshold"].value == 0.1
        assert finding.numbers["statistic"].value == pytest.approx(count / of)
        assert finding.numbers["wait"].value == 0.04
        assert finding.severity == "problem"


def test_messages_of_more_than_64_kib_may_take_as_long_as_a_timer(chosen: Evidence) -> None:
    assert waiting(chosen, 5, 20, size=65536)
    assert waiting(chosen, 5, 20, size=131072) == []


def over_tcp(known: Evidence, *highs: float, blocks: int = 6) -> list[Finding]:
    """Findings where MPI has these upper ends of its speed over that of TCP, by size."""
    model = next(each for each in known.fitted(MpiOver) if each.base == "tcp" and "other-node" in each.id)
    points = tuple(
        msgspec.structs.replace(
            point,
            value=Quantity(high - 0.02, high - 0.04, high, "", "interval"),
            at={**point.at, "blocks": blocks},
        )
        for point, high in zip(model.points, highs, strict=True)
    )
    evidence = msgspec.structs.replace(known, models=(msgspec.structs.replace(model, points=points),))
    return [each for each in findings(evidence) if each.rule == "mpi_over_tcp" and each.assessed]


@pytest.mark.parametrize(
    ("highs", "heard"),
    [
        ((0.69, 0.69, 0.69, 0.9, 0.9), "8 B to 4 KiB"),
        ((0.7, 0.69, 0.69, 0.9, 0.9), ""),
        ((0.69, 0.69, 0.9, 0.69, 0.69), ""),
        ((0.9, 0.5, 0.6, 0.69, 0.9), "2 KiB to 64 KiB"),
    ],
)
def test_mpi_is_slow_below_seven_tenths_at_three_adjacent_sizes(
    chosen: Evidence, highs: tuple[float, ...], heard: str
) -> None:
    results = over_tcp(chosen, *highs)
    assert bool(results) == bool(heard)
    for finding in results:
        assert f"below 0.7 at 3 sizes from {heard}" in finding.claim
        worst = min(highs)
        assert f"down to {worst - 0.02:.2f} of its speed" in finding.claim
        assert finding.numbers["statistic"].hi == worst
        assert finding.statistic == "largest upper end at these sizes 0.69"
        assert (finding.severity, finding.status) == ("problem", "observed")


def test_with_fewer_than_six_blocks_mpi_is_a_candidate_that_is_measured_again(chosen: Evidence) -> None:
    (finding,) = over_tcp(chosen, 0.5, 0.5, 0.5, 0.9, 0.9, blocks=5)
    assert finding.status == "candidate"
    assert finding.experiment
    assert finding.experiment.effects[0].border == 0.7
    (sure,) = over_tcp(chosen, 0.5, 0.5, 0.5, 0.9, 0.9)
    assert sure.experiment is None


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_long_messages_are_those_from_a_quarter_of_the_largest_on(
    chosen: Evidence, better: Literal["lower", "higher"]
) -> None:
    """How many times as fast: of times the inverse ratio; a geometric mean over the long sizes."""
    speeds = dict(zip(SIZES, (0.9, 0.8, 0.5, 0.7, 1.4), strict=True))
    measured = []
    for each in chosen.measured:
        e = each.estimate
        if len(e.placement.hosts) < 2 or e.metric != "latency":
            continue
        size = int(e.params["bytes"])
        faster = speeds[size] if e.benchmark == "pt2pt" else 1.0
        value = faster if better == "higher" else 1 / faster
        launches = tuple(LaunchMedian(block, None, value) for block in range(3))
        one = msgspec.structs.replace(
            e, value=Quantity(value, value, value, "s", "range"), better=better, launches=3
        )
        measured.append(Measured(one, launches))
    (model,) = mpi_over_tcp.fit(RunEstimates(chosen.run, tuple(measured)))
    assert isinstance(model, MpiOver)
    assert [point.value.value for point in model.points] == pytest.approx(list(speeds.values()))
    assert [point.at["blocks"] for point in model.points] == [3] * 5
    assert model.smallest_size.value == pytest.approx(0.9)
    assert model.least.value == pytest.approx(0.5)
    assert model.long_messages.value == pytest.approx((0.7 * 1.4) ** 0.5)
