"""Pairs of nodes: sums and medians from the records, and the borders of both rules; four simulated nodes."""

import statistics
from collections import defaultdict

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import examine
from assay.analyse.evidence import Evidence
from assay.analyse.findings import findings
from assay.model.law import Point
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.record import Series
from assay.model.result import Finding
from assay.model.run import CaseRecords
from assay.plan import Options
from assay.simulation import Law
from assay.topics.messages.models.fabric import Fabric
from assay.topics.messages.models.node_pairs import NodePairs

HOSTS = ("n1", "n2", "n3", "n4")
#: Two links at once get less than both alone.
NARROW = Law(sampled_s=0.0, fabric=15e9, slow_paths={("n1", "n2"): 1.5})


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    axes = {"pattern": ("latency", "bandwidth"), "bytes": 2**20, "schedule": ("one", "all")}
    study = Study("Pairs", "?", (Measure("pairs", ("one-core@4",), axes=axes),), launches=6)  # type: ignore[arg-type]
    folder = tmp_path_factory.mktemp("pairs")
    return examine(store.load(simulated_run(folder, NARROW, study=study, options=Options(hosts=HOSTS))))


def rates(case: CaseRecords) -> dict[tuple[int, ...], float]:
    """Bytes per second of each pair of a round: the work of an iteration over its median time."""
    work = case.header.work["message"]["bytes"]
    medians = {
        each.rank: statistics.median(each.seconds) / each.iterations
        for each in case.series
        if isinstance(each, Series) and each.phase == "measured" and each.seconds
    }
    return {pair: work / max(medians[rank] for rank in pair if rank in medians) for pair in case.header.mpi.pairs}


def rounds(known: Evidence, schedule: str) -> dict[int, list[dict[tuple[int, ...], float]]]:
    """Round of the bandwidths -> its launches."""
    found = defaultdict(list)
    for launch in known.run.launches:
        for case in launch.cases:
            params = case.header.params
            if (params.get("pattern"), params.get("schedule")) == ("bandwidth", schedule):
                found[int(params["round"])].append(rates(case))
    return found


def test_the_share_of_a_network_is_a_median_of_sums_over_sums(known: Evidence) -> None:
    (model,) = known.fitted(Fabric)
    loaded, alone = rounds(known, "all"), rounds(known, "one")
    assert len(loaded) == len(model.points) == 3
    together, apart = [], []
    for launch in range(6):
        together.append(statistics.mean(sum(loaded[number][launch].values()) for number in loaded))
        apart.append(statistics.mean(sum(alone[number][launch].values()) for number in loaded))
    shares = [one / other for one, other in zip(together, apart, strict=True)]
    assert model.together.value == pytest.approx(statistics.median(together))
    assert model.one_at_a_time.value == pytest.approx(statistics.median(apart))
    assert model.all_rounds.value == pytest.approx(statistics.median(shares))
    for point in model.points:
        number = int(point.at["round"])
        own = [
            sum(one.values()) / sum(other.values())
            for one, other in zip(loaded[number], alone[number], strict=True)
        ]
        assert point.value.value == pytest.approx(statistics.median(own))
        assert point.at["blocks"] == 6
    assert model.worst_round == min((each.value for each in model.points), key=lambda each: each.value)


def test_a_pair_has_the_median_of_its_launches_over_the_median_of_all_pairs(known: Evidence) -> None:
    models = {
        (each.id.split("schedule=")[1].split("/")[0], "latency" in each.id): each
        for each in known.fitted(NodePairs)
    }
    model = models["one", False]
    alone = rounds(known, "one")
    medians = {
        (HOSTS[a], HOSTS[b]): statistics.median(launch[a, b] for launch in launches)
        for launches in alone.values()
        for a, b in launches[0]
    }
    assert len(medians) == len(model.points) == 6
    usual = statistics.median(medians.values())
    for point in model.points:
        value = medians[str(point.at["a"]), str(point.at["b"])]
        assert point.value.value == pytest.approx(value)
        assert point.ratio == pytest.approx(value / usual)
    assert model.all_pairs.parts == pytest.approx((usual, min(medians.values()), max(medians.values())))
    assert model.residual == pytest.approx(max(abs(each / usual - 1) for each in medians.values()))


def found(known: Evidence, rule: str, *models: Fabric | NodePairs) -> list[Finding]:
    return [
        each
        for each in findings(msgspec.structs.replace(known, models=models))
        if each.rule == rule and each.assessed
    ]


def ends(value: float, lo: float, hi: float) -> Quantity:
    return Quantity(value, lo, hi, "", "interval")


@pytest.mark.parametrize(
    ("whole", "highs", "heard"),
    [
        (0.899, (0.95, 0.95, 0.95), "heard"),
        (0.9, (0.95, 0.95, 0.95), ""),
        (0.95, (0.899, 0.95, 0.95), ""),
        (0.95, (0.899, 0.899, 0.95), "heard"),
        (0.95, (0.9, 0.9, 0.9), ""),
    ],
)
def test_a_network_is_narrow_below_nine_tenths_of_all_rounds_or_of_two(
    known: Evidence, whole: float, highs: tuple[float, ...], heard: str
) -> None:
    (model,) = known.fitted(Fabric)
    points = tuple(
        msgspec.structs.replace(point, value=ends(0.5 + number / 10, 0.4, high))
        for number, (point, high) in enumerate(zip(model.points, highs, strict=True))
    )
    one = msgspec.structs.replace(model, points=points, all_rounds=ends(0.85, 0.8, whole))
    results = found(known, "oversubscribed_fabric", one)
    # Where the threshold lies within the interval of all rounds, only rounds are low: nothing is claimed.
    assert bool(results) == (bool(heard) and whole < 0.9)
    for finding in results:
        assert "The share is 0.85" in finding.claim
        assert "in the worst round 0.50" in finding.claim
        low = sum(high < 0.9 for high in highs)
        assert f"{low} of 3 rounds are low" in finding.claim
        assert (finding.severity, finding.status) == ("problem", "observed")
        assert finding.numbers["threshold"].value == 0.9
        assert (
            finding.statistic
            == f"upper bound (95 %) of the share of all rounds {whole:.3g}, of the worst one 0.95"
        )


@pytest.mark.parametrize("low", [1, 2])
def test_two_narrow_rounds_are_heard_where_all_rounds_together_are_wide(known: Evidence, low: int) -> None:
    (model,) = known.fitted(Fabric)
    values = [ends(0.5, 0.4, 0.6)] * low + [ends(0.99, 0.98, 1.0)] * (3 - low)
    points = tuple(
        msgspec.structs.replace(point, value=value) for point, value in zip(model.points, values, strict=True)
    )
    one = msgspec.structs.replace(model, points=points, all_rounds=ends(0.95, 0.92, 0.97))
    assert bool(found(known, "oversubscribed_fabric", one)) == (low == 2)


def test_with_fewer_than_six_blocks_a_narrow_network_is_a_candidate(known: Evidence) -> None:
    (model,) = known.fitted(Fabric)
    for blocks, status in ((6, "observed"), (5, "candidate")):
        first = msgspec.structs.replace(model.points[0], at={**model.points[0].at, "blocks": blocks})
        one = msgspec.structs.replace(model, points=(first, *model.points[1:]), all_rounds=ends(0.5, 0.4, 0.6))
        (finding,) = found(known, "oversubscribed_fabric", one)
        assert finding.status == status


def slowed(known: Evidence, *slow: int, count: int = 6) -> NodePairs:
    """The pairs one at a time by latency: 1 s each, the slow ones 1.3 to 1.5 s."""
    model = next(each for each in known.fitted(NodePairs) if "latency" in each.id and "schedule=one" in each.id)
    points = [
        Point(
            each.estimate,
            each.at,
            Quantity(1.4, 1.3, 1.5, "s", "interval")
            if number in slow
            else Quantity(1.0, 0.99, 1.01, "s", "interval"),
            1.4 if number in slow else 1.0,
        )
        for number, each in enumerate(model.points[:count])
    ]
    return msgspec.structs.replace(model, points=tuple(points), all_pairs=Quantity(1.0, 1.0, 1.4, "s", "range"))


def test_a_slow_pair_is_named_with_its_factor(known: Evidence) -> None:
    model = slowed(known, 2)
    (finding,) = found(known, "node_pairs", model)
    at = model.points[2].at
    assert f"1 of 6 pairs of nodes than between the others ({at['a']} with {at['b']} x1.40;" in finding.claim
    assert "All of them are pairs of" not in finding.claim
    assert finding.status == "observed"
    assert finding.numbers["threshold"].value == pytest.approx(1.1)
    assert finding.numbers["statistic"].parts == (1.4, 1.3, 1.5)
    assert finding.statistic.endswith("median of all pairs 1.3")
    assert f"--hosts {at['a']},{at['b']}" in str(finding.next)


def test_fewer_than_six_pairs_are_not_assessed_and_pairs_at_once_are_not_blamed(known: Evidence) -> None:
    assert found(known, "node_pairs", slowed(known, 2, count=5)) == []
    together = next(each for each in known.fitted(NodePairs) if "latency" in each.id and "schedule=all" in each.id)
    model = slowed(known, 2)
    assert found(known, "node_pairs", msgspec.structs.replace(model, of=together.of)) == []


def test_a_node_that_all_slow_pairs_share_is_named(known: Evidence) -> None:
    model = slowed(known)
    of_one = [number for number, each in enumerate(model.points) if "n1" in (each.at["a"], each.at["b"])][:2]
    (finding,) = found(known, "node_pairs", slowed(known, *of_one))
    assert "All of them are pairs of n1." in finding.claim
    assert "between 2 of 6 pairs" in finding.claim
