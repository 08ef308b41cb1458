"""Rules on messages between nodes at their borders, from planted figures and models of one simulated run."""

from collections.abc import Mapping
from typing import Literal

import msgspec
import pytest
from tests.simulation import confirm
from tests.unit.test_limits_wire import ethernet, held, run_of, with_device
from tests.unit.test_lost_frames import BLACK_HOLE, MACHINE
from tests.unit.test_lost_frames import findings as lost
from tests.unit.test_lost_frames import run_of as broken

from assay import store
from assay.analyse import conclude, examine
from assay.analyse.bounds import Bounds
from assay.analyse.evidence import Evidence
from assay.analyse.findings import findings
from assay.analyse.messages.steps import MessageLaw
from assay.model.law import Unfitted
from assay.model.machine import Device
from assay.model.plan import Measure
from assay.model.profile import Ceiling
from assay.model.quantity import Basis, Quantity
from assay.model.result import Estimate, Finding, Limit
from assay.model.run import CaseRecords
from assay.report.section import Headline
from assay.simulation import Law, Link
from assay.topics.messages.limiting import ceiling
from assay.topics.messages.models import max_rate
from assay.topics.messages.models.duplex import Duplex
from assay.topics.messages.sections import many_pairs

#: TCP in frames of 1,500 B on Gigabit Ethernet, B/s.
WIRE = 1e9 / 8 * 1448 / 1538


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    axes = {"pattern": ("bandwidth", "bidirectional"), "bytes": (1024, 32768, 65536, 2**20)}
    gbe = Link(25e-6, 117e6, 117e6)
    law = Law(links={"host": gbe, "core": gbe}, sampled_s=0.0)
    folder = tmp_path_factory.mktemp("rules")
    run = run_of(folder, law, Measure("pt2pt", ("pair:other-node",), axes=axes))  # type: ignore[arg-type]
    return examine(with_device(run, ethernet()))


def rates(known: Evidence, pattern: str = "bandwidth") -> dict[int, Estimate]:
    every = (each.estimate for each in known.measured)
    return {
        int(e.params["bytes"]): e for e in every if e.params.get("pattern") == pattern and e.metric == "bandwidth"
    }


def planted(known: Evidence, values: Mapping[int, Quantity], pattern: str = "bandwidth") -> Evidence:
    """The evidence with these bandwidths of one pattern, and with no other one."""
    own = {rates(known, pattern)[size].id: value for size, value in values.items()}
    measured = tuple(
        msgspec.structs.replace(each, estimate=msgspec.structs.replace(each.estimate, value=own[each.estimate.id]))
        for each in known.measured
        if each.estimate.id in own
    )
    return msgspec.structs.replace(known, measured=measured, models=())


def shares(value: float, lo: float, hi: float, basis: Basis = "interval") -> Quantity:
    return Quantity(value * WIRE, lo * WIRE, hi * WIRE, "B/s", basis)


def found(evidence: Evidence, rule: str) -> list[Finding]:
    return [each for each in findings(evidence) if each.rule == rule and each.assessed]


@pytest.mark.parametrize("high", [0.899, 0.9, 0.95])
def test_a_link_is_reached_from_an_upper_end_of_nine_tenths_on(known: Evidence, high: float) -> None:
    (finding,) = found(planted(known, {2**20: shares(0.8, 0.7, high)}), "link_ceiling")
    below = high < 0.9
    assert ("something else limits them" in finding.claim) == below
    assert ("the link limits them" in finding.claim) == (not below)
    assert finding.severity == ("problem" if below else "fact")
    assert finding.status == "observed"
    assert "0.80 of 118 MB/s" in finding.claim
    assert finding.statistic == f"upper bound (95 %) of the share {high:.3g}"
    assert finding.numbers["threshold"].value == pytest.approx(0.9 * WIRE)
    assert bool(finding.rivals) == bool(finding.next) == below


def test_on_a_range_a_shortfall_is_a_candidate_that_is_tested_again(known: Evidence) -> None:
    (finding,) = found(planted(known, {2**20: shares(0.8, 0.7, 0.85, "range")}), "link_ceiling")
    assert (finding.severity, finding.status) == ("advice", "candidate")
    assert finding.statistic == "largest of the share 0.85"
    (reached,) = found(planted(known, {2**20: shares(0.8, 0.7, 0.95, "range")}), "link_ceiling")
    assert (reached.severity, reached.status) == ("fact", "observed")


def test_a_shortfall_of_one_pair_is_tested_with_more_pairs(known: Evidence) -> None:
    (finding,) = found(planted(known, {2**20: shares(0.8, 0.7, 0.85)}), "link_ceiling")
    assert finding.experiment
    (effect,) = finding.experiment.effects
    assert effect.border == pytest.approx(0.9 * WIRE)
    assert effect.side == "below"
    (arm,) = effect.arms
    assert arm.placement
    assert (arm.placement.label, arm.placement.ranks, arm.placement.hosts) == (
        "cores:2",
        ((0,), (1,)),
        ("n1", "n2"),
    )
    assert arm.params == {"pattern": "multi-bandwidth"}
    (ranged,) = found(planted(known, {2**20: shares(0.8, 0.7, 0.85, "range")}), "link_ceiling")
    assert ranged.experiment
    again, _ = ranged.experiment.effects
    assert again.border == pytest.approx(0.9 * WIRE)
    (both,) = found(planted(known, {2**20: shares(1.0, 0.9, 1.1)}, "bidirectional"), "link_ceiling")
    assert both.experiment is None
    assert "one pair of cores does not saturate the link" in finding.rivals
    assert "interrupts and copies of the kernel, fewer with jumbo frames" in finding.rivals
    assert any("PCI Express" in each for each in finding.rivals)


def with_segment(known: Evidence, size: int) -> Evidence:
    """The evidence whose connections agreed on segments of this size."""

    def stated(case: CaseRecords) -> CaseRecords:
        passed_by = {**case.header.passed_by, "segment": f"{size}"}
        return msgspec.structs.replace(case, header=msgspec.structs.replace(case.header, passed_by=passed_by))

    launches = tuple(
        msgspec.structs.replace(launch, cases=tuple(map(stated, launch.cases))) for launch in known.run.launches
    )
    return msgspec.structs.replace(known, run=msgspec.structs.replace(known.run, launches=launches))


def test_where_segments_are_known_twice_as_many_frames_are_tried(known: Evidence) -> None:
    """Frames that take two thirds of the time make it 5/3 as long where there are twice as many."""
    evidence = with_segment(planted(known, {2**20: shares(0.8, 0.7, 0.85)}), 1448)
    (finding,) = found(evidence, "link_ceiling")
    assert finding.experiment
    (effect,) = finding.experiment.effects
    assert (effect.border, effect.side, effect.excludes) == (5 / 3, "above", True)
    whole, bounded = effect.arms
    assert (whole.power, bounded.power, bounded.params) == (1, -1, {"segment": 724})


def test_without_a_limit_the_link_is_not_assessed(known: Evidence) -> None:
    one = planted(known, {2**20: shares(0.8, 0.7, 0.85)})
    (each,) = one.measured
    bare = msgspec.structs.replace(each, estimate=msgspec.structs.replace(each.estimate, limit=None))
    results = findings(msgspec.structs.replace(one, measured=(bare,)))
    (nothing,) = (finding for finding in results if finding.rule == "link_ceiling")
    assert not nothing.assessed
    assert "No fact gives the link rate" in nothing.claim


def test_the_best_of_messages_of_64_kib_and_more_counts(known: Evidence) -> None:
    fast, slow = shares(0.95, 0.94, 0.96), shares(0.5, 0.49, 0.51)
    (finding,) = found(planted(known, {32768: fast, 65536: slow}), "link_ceiling")
    assert "64 KiB" in finding.claim
    assert finding.severity == "problem"
    (finding,) = found(planted(known, {65536: fast, 2**20: slow}), "link_ceiling")
    assert "64 KiB" in finding.claim
    assert finding.severity == "fact"
    assert found(planted(known, {1024: fast, 32768: slow}), "link_ceiling") == []


def test_both_directions_have_a_rival_of_their_own(known: Evidence) -> None:
    half = shares(1.0, 0.9, 1.1)  # of twice the wire
    (finding,) = found(planted(known, {2**20: half}, "bidirectional"), "link_ceiling")
    assert "0.50 of 235 MB/s" in finding.claim
    assert "directions that share a part of the path" in finding.rivals
    (one,) = found(planted(known, {2**20: shares(0.5, 0.4, 0.6)}), "link_ceiling")
    assert "directions that share a part of the path" not in one.rivals


@pytest.mark.parametrize(
    ("factor", "verdict", "severity", "border"),
    [
        ((1.1, 1.0, 1.2), "the directions share the path", "advice", 1.2),
        ((1.1, 1.0, 1.21), "the directions slow each other down", "fact", 1.8),
        ((1.9, 1.79, 2.0), "the directions slow each other down", "fact", 1.8),
        ((1.9, 1.8, 2.0), "the directions are independent", "fact", 1.8),
    ],
)
def test_directions_are_shared_up_to_1_2_and_independent_from_1_8_on(
    known: Evidence, factor: tuple[float, float, float], verdict: str, severity: str, border: float
) -> None:
    (model,) = known.fitted(Duplex)
    one = msgspec.structs.replace(model, long_messages=Quantity(*factor, "", "interval"))
    (finding,) = found(msgspec.structs.replace(known, models=(one,)), "duplex")
    assert finding.claim.endswith(f": {verdict}.")
    assert (finding.severity, finding.status) == (severity, "observed")
    assert finding.numbers["threshold"].value == border
    end = factor[2] if severity == "advice" else factor[1]
    assert finding.statistic == f"{'upper' if severity == 'advice' else 'lower'} end {end:.3g}"
    assert bool(finding.rivals) == bool(finding.next) == (severity == "advice")


@pytest.mark.parametrize(("pattern", "size"), [("latency", 4096), ("bandwidth", 64)])
def test_a_repeated_message_has_to_pass_within_the_patience_of_the_program(
    tmp_path_factory: pytest.TempPathFactory, pattern: str, size: int
) -> None:
    """`tcp` gives up after 20 s without a byte."""
    path = broken(tmp_path_factory.mktemp("lost"), BLACK_HOLE, pattern)
    (finding,) = lost(store.load(path))
    assert finding.experiment
    (effect,) = finding.experiment.effects
    assert effect.border == (20.0 if pattern == "latency" else size / 20)
    assert (effect.side, effect.unit) == (("below", "s") if pattern == "latency" else ("above", "B/s"))
    (arm,) = effect.arms
    assert (arm.metric, arm.kernel, arm.params) == (pattern, "message", {"segment": 1280 - 60})
    assert confirm(path, BLACK_HOLE, MACHINE)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    axes = {"pattern": "multi-bandwidth", "bytes": (64, 2**20)}
    law = Law(links={"host": Link(25e-6, 117e6, 117e6), "core": Link(3e-7, 4e9, 9e9)}, sampled_s=0.0)
    run = run_of(
        tmp_path_factory.mktemp("pairs"),
        law,
        Measure("pt2pt", ("all", "one-core@2", "all@2"), axes=axes),  # type: ignore[arg-type]
    )
    return examine(run)


def headline(known: Evidence) -> Headline:
    section = many_pairs.declared.section(known.run, conclude(known))
    assert section
    (found,) = section.headlines
    return found


def without(known: Evidence, *labels: str) -> Evidence:
    kept = tuple(each for each in known.measured if each.estimate.placement.label not in labels)
    return msgspec.structs.replace(known, measured=kept)


def test_the_first_page_has_the_best_of_most_ranks_between_nodes_else_inside_one(pairs: Evidence) -> None:
    """Two pairs between nodes are no faster than one; inside a node pairs are far faster."""
    assert headline(pairs).estimate.placement.label == "all@2"
    assert headline(pairs).estimate.params["bytes"] == 2**20
    assert headline(without(pairs, "all@2")).estimate.placement.label == "one-core@2"
    assert headline(without(pairs, "all@2", "one-core@2")).estimate.placement.label == "all"
    slow = tuple(
        msgspec.structs.replace(
            each, estimate=msgspec.structs.replace(each.estimate, value=Quantity(1.0, 1.0, 1.0, "B/s", "range"))
        )
        if each.estimate.placement.label == "all@2"
        else each
        for each in pairs.measured
    )
    assert headline(msgspec.structs.replace(pairs, measured=slow)).estimate.placement.label == "all@2"


def test_a_limit_is_named_by_its_kind_and_device(known: Evidence) -> None:
    estimate = rates(known)[2**20]
    proven = estimate.placement.proven
    assert proven
    by_eth0 = msgspec.structs.replace(proven, carried={"eth0": 1.0})

    def kind(of: Literal["wire", "shaper", "pcie", "user"] | None, device: Device, hosts: int = 2) -> object:
        placed = msgspec.structs.replace(
            estimate.placement, proven=by_eth0, hosts=estimate.placement.hosts[:hosts]
        )
        limit = Limit(5.0, "derived", "a limit", of) if of else None
        run = with_device(known.run, device)
        return ceiling(msgspec.structs.replace(estimate, placement=placed, limit=limit), Bounds(run, ()))

    wire, other = ethernet(), ethernet(name="eth9")
    assert kind(None, wire) is None
    assert kind("wire", wire) == ("wire", Ceiling(5.0, "a limit", "eth0", 1e9))
    assert kind("pcie", wire) == ("slot", Ceiling(5.0, "a limit", "eth0", None))
    assert kind("shaper", held(3e8)) == ("shaper", Ceiling(5.0, "a limit", "eth0", 3e8))
    assert kind("user", wire) == ("given", Ceiling(5.0, "a limit", "", None))
    assert kind("wire", other) == ("given", Ceiling(5.0, "a limit", "", None))  # no such device
    assert kind("wire", wire, hosts=1) == ("memory", Ceiling(5.0, "a limit", "", None))
    assert ceiling(None, Bounds(known.run, ())) is None


def test_one_number_of_pairs_is_no_curve_and_two_are_too_few(pairs: Evidence) -> None:
    assert list(max_rate.fit(without(pairs, "all@2", "all"))) == []
    (unfitted,) = max_rate.fit(pairs)
    assert isinstance(unfitted, Unfitted)
    assert unfitted.reason == "2 numbers of pairs, 2 sizes: the model needs 3 and 2"


def test_the_residual_of_a_law_is_its_farthest_point(known: Evidence) -> None:
    laws = [each for each in known.models if isinstance(each, MessageLaw)]
    assert laws
    for each in laws:
        ratios = [point.ratio for point in each.points if point.ratio]
        assert len(ratios) == 4
        assert each.residual == pytest.approx(max(abs(ratio - 1) for ratio in ratios), abs=1e-15)
        for point in each.points:
            size = float(point.at["bytes"])
            (piece,) = each.pieces
            fitted = piece.start.value + size * piece.per_byte.value
            assert point.ratio == pytest.approx(point.value.value / fitted)
