"""Laws fitted to runs on machines whose laws are known, and to curves whose published figures are."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import scipy
from tests.simulation import described, simulated_run
from tests.unit.limited_runs import slowed

from assay import store
from assay.analyse import analyse
from assay.analyse.curves import RunEstimates, curves, replicates
from assay.analyse.estimates import Measured, measure
from assay.analyse.launches import yields
from assay.analyse.memory_nodes import Nodes
from assay.analyse.models import laws
from assay.analyse.outcomes import outcomes
from assay.analyse.plateaus import partition
from assay.analyse.predictions import predictions
from assay.model.law import Unfitted
from assay.model.machine import Topology
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Analysis
from assay.model.run import Run
from assay.simulation import Law
from assay.topics.health.rules import prediction as prediction_rule
from assay.topics.memory.models.saturation import Saturation

FOUR_NODES = "pack:2 numa:2(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
#: Distances of a machine with two sockets of two nodes each, whose nodes are joined crosswise.
DISTANCES = ((10, 16, 22, 28), (16, 10, 28, 22), (22, 28, 10, 16), (28, 22, 16, 10))


def _study(*measures: Measure, launches: int = 6) -> Study:
    return Study("Laws", "Is every law found?", measures, launches=launches)


def _analysis(folder: Path, study: Study, law: Law | None = None, description: str = FOUR_NODES) -> Analysis:
    return analyse(store.load(simulated_run(folder, law, description=description, study=study)))


def _models(analysis: Analysis, law: str, *marks: str) -> list[Any]:
    return [each for each in analysis.models if each.law == law and all(mark in each.id for mark in marks)]


def test_laws_are_found_by_their_file() -> None:
    assert {"cache_plateaus", "latency_levels", "saturation", "roofline", "numa_matrix", "core_to_core"} <= set(
        laws()
    )


def test_the_fewest_cores_that_fill_memory_are_found_in_both_orders(tmp_path: Path) -> None:
    study = _study(Measure("stream", ("all", "one-core", "cores:*", "spread:*"), axes={"stores": "non-temporal"}))
    analysis = _analysis(tmp_path, study, Law(core_traffic=10e9, node_traffic=25e9))
    (compact,), (spread,) = (_models(analysis, "saturation", order) for order in ("compact", "spread"))
    # A node's 25 GB/s are 2.5 cores of 10: compact needs the last node's third core, spread three of each node.
    assert spread.cores.value == 12
    assert compact.cores.value in {15, 16}
    assert compact.maximum.value == pytest.approx(100e9, rel=0.02)
    assert compact.one_core.value == pytest.approx(10e9, rel=0.02)
    assert max(point.ratio or 0 for point in compact.points) == 1


def test_folded_numbers_of_cores_stand_on_the_curve(tmp_path: Path) -> None:
    two = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"
    study = _study(Measure("stream", ("all", "one-core"), axes={}), Measure("stream", ("cores:*", "spread:*")))
    analysis = _analysis(tmp_path, study, description=two)
    (model,) = _models(analysis, "saturation")  # compact and spread are the same two cores
    assert [point.at["cores"] for point in model.points] == [1, 2]
    assert model.one_core


def test_one_number_of_cores_is_no_curve_and_the_model_says_so(tmp_path: Path) -> None:
    one = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l1:1(size=32kB) core:1 pu:1"
    (model,) = _models(_analysis(tmp_path, _study(Measure("stream", ("cores:*",))), description=one), "saturation")
    assert isinstance(model, Unfitted)
    assert model.reason == "1 number of cores has a figure: a curve needs 2"


def test_parts_of_the_machine_are_no_curve_and_what_was_not_measured_may_suffice(tmp_path: Path) -> None:
    many = "pack:2 numa:4(memory=16GB) l3:1(size=8MB) l2:8(size=512kB) l1:1(size=32kB) core:1 pu:1"
    study = _study(
        Measure("stream", ("all", "one-core", "half", "all:numa:first"), axes={"stores": "non-temporal"}),
        Measure("stream", ("cores:*", "spread:*")),
    )
    models = _models(_analysis(tmp_path, study, Law(core_traffic=12e9, node_traffic=30e9), many), "saturation")
    refused = [each for each in models if isinstance(each, Unfitted)]
    compact, spread = (each for each in models if isinstance(each, Saturation))
    assert refused
    assert all("non-temporal" in each.id and "no curve" in each.reason for each in refused)
    numbers = [int(point.at["cores"]) for point in spread.points]
    fewest, low, high = spread.cores
    assert fewest == high
    assert low == numbers[numbers.index(int(fewest)) - 1] + 1
    assert low < fewest  # 64 cores are sampled: the one below is not measured
    assert compact.cores.value > fewest


def test_one_core_and_all_alone_are_no_curve_of_many_cores(tmp_path: Path) -> None:
    study = _study(Measure("stream", ("all", "one-core")), launches=2)
    assert not _models(_analysis(tmp_path, study), "saturation")


def _with_distances(run: Run, distances: tuple[tuple[int, ...], ...]) -> Run:
    machines = {
        host: msgspec.structs.replace(
            machine, topology=msgspec.structs.replace(machine.topology, distances=distances)
        )
        for host, machine in run.machines.items()
    }
    return msgspec.structs.replace(run, machines=machines)


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Run:
    study = _study(Measure("stream", ("all:numa:*",), memory=("bind:*",)))
    return store.load(simulated_run(tmp_path_factory.mktemp("numa"), description=FOUR_NODES, study=study))


def test_a_matrix_has_every_cell_with_its_class_and_its_ratio_to_local(matrix: Run) -> None:
    (model,) = _models(analyse(_with_distances(matrix, DISTANCES)), "numa-matrix", "bandwidth")
    cells = {(point.at["cpu node"], point.at["memory node"]): point for point in model.points}
    assert len(cells) == 16
    assert cells[0, 3].at["class"] == "two hops"
    assert cells[0, 0].ratio == 1
    ratios = {each.name: each.ratio for each in model.classes}
    for kind in ("same socket", "one hop", "two hops"):
        assert ratios[kind].value == pytest.approx(0.6, rel=0.02)
    assert ratios["same node"].parts == (1, 1, 1)


def test_rank_agreement_with_distances_is_kendalls_tau_b(matrix: Run) -> None:
    (model,) = _models(analyse(_with_distances(matrix, DISTANCES)), "numa-matrix", "bandwidth")
    away = [float(point.at["distance"]) for point in model.points]
    oracle = scipy.stats.kendalltau(away, [-point.value.value for point in model.points], method="asymptotic")
    assert model.agreement.tau == pytest.approx(oracle.statistic)
    assert model.agreement.p == pytest.approx(oracle.pvalue)
    assert model.agreement.tau > 0.3  # local is faster than everything else, whatever the distance


def test_without_distances_there_is_no_rank_to_agree_with(matrix: Run) -> None:
    (model,) = _models(analyse(_with_distances(matrix, ())), "numa-matrix", "bandwidth")
    assert model.agreement is None
    assert {point.at["class"] for point in model.points} == {"same node", "same socket", "other socket"}


def _topology(packages: tuple[int | None, ...], distances: tuple[tuple[int, ...], ...]) -> Topology:
    topology = described(FOUR_NODES).topology
    listed = tuple(
        msgspec.structs.replace(node, index=number, package=package)
        for number, (node, package) in enumerate(zip(topology.numa_nodes, packages, strict=False))
    )
    return msgspec.structs.replace(topology, numa_nodes=listed, distances=distances)


@pytest.mark.parametrize(
    ("packages", "distances", "expected"),
    [
        ((0, 0, 1, 1), DISTANCES, ["same node", "same socket", "one hop", "two hops"]),
        # EPYC's firmware: one distance for the other socket.
        ((0, 0, 1, 1), ((10, 16, 32, 32), (16, 10, 32, 32), (32, 32, 10, 16), (32, 32, 16, 10)),
         ["same node", "same socket", "other socket", "other socket"]),
        ((0, 1), ((10, 21), (21, 10)), ["same node", "other socket"]),
        ((0, 0), ((10, 11), (11, 10)), ["same node", "same socket"]),
        # Memory that belongs to no socket.
        ((0, None), ((10, 14), (14, 10)), ["same node", "other socket"]),
    ],
)  # fmt: skip
def test_classes_of_nodes_are_named_from_sockets_and_distances(
    packages: tuple[int | None, ...], distances: tuple[tuple[int, ...], ...], expected: list[str]
) -> None:
    nodes = Nodes(_topology(packages, distances))
    assert [nodes.kind(0, there) for there in range(len(packages))] == expected
    assert nodes.distance(0, 1) == distances[0][1]
    assert (nodes.kind(0, 99), nodes.distance(0, 99)) == ("", None)


def test_pairs_of_cores_are_classed_by_what_they_share(tmp_path: Path) -> None:
    cpus = ((0, 1), (0, 4), (0, 8), (2, 3))
    study = _study(Measure("core_to_core", tuple(f"pair:{a}-{b}" for a, b in cpus)))
    (model,) = _models(_analysis(tmp_path, study), "core-to-core")
    assert [each.name for each in model.classes] == ["same L3", "same socket", "other socket"]
    near, socket, far = (each.time.value for each in model.classes)
    assert (near, socket / near, far / near) == pytest.approx((28e-9, 3, 5), rel=0.02)
    assert [(point.at["a"], point.at["b"]) for point in model.points] == list(cpus)
    several, *single = model.classes  # 0-1 and 2-3; then one pair of each kind
    assert several.time.lo < several.time.value < several.time.hi
    for each in model.classes:
        assert each.median.value == each.time.value
        assert each.median.has_interval
        assert each.median.lo < each.time.value < each.median.hi
    own = {point.at["class"]: point.value for point in model.points}
    assert [each.median for each in single] == [own[each.name] for each in single]


def test_latency_rises_with_the_bandwidth_beside_it(tmp_path: Path) -> None:
    study = _study(Measure("loaded_latency", ("all",), axes={"delay": (0, 30, 1000), "pages": "small"}))
    (model,) = _models(_analysis(tmp_path, study, Law(load_queue=3.0)), "loaded-latency")
    assert model.loaded.value / model.base.value == pytest.approx(3, rel=0.03)
    assert [point.at["delay"] for point in model.points] == [1000, 30, 0]
    assert model.points[1].ratio == pytest.approx(1 + 2 / 4, rel=0.03)


def test_replicates_of_six_launches_are_drawn_and_of_three_are_the_launches(tmp_path: Path) -> None:
    def drawn(launches: int) -> tuple[int, bool]:
        study = _study(Measure("stream", ("one-core", "all")), launches=launches)
        run = store.load(simulated_run(tmp_path / str(launches), study=study))
        known = _known(run)
        (curve,) = curves(known.of("stream", "triad"), "label")
        draws, basis = replicates(curve.members)
        return len(draws), basis == "interval"

    assert drawn(3) == (3, False)
    assert drawn(6) == (400, True)


@pytest.mark.parametrize("launches", [6, 3])
def test_replicates_of_members_that_share_no_block_spread_as_their_own_launches_do(
    tmp_path: Path, launches: int
) -> None:
    """Sizes that are added later have blocks of their own; a median has no place in blocks of others."""
    study = _study(Measure("stream", ("one-core", "all")), launches=launches)
    known = _known(store.load(simulated_run(tmp_path, Law(launch_noise=0.1), study=study)))
    (curve,) = curves(known.of("stream", "triad"), "label")
    later = tuple(
        msgspec.structs.replace(
            each, launches=tuple(msgspec.structs.replace(one, block=one.block + 100 * at) for one in each.launches)
        )
        for at, each in enumerate(curve.members)
    )
    draws, basis = replicates(later)
    assert (basis == "interval") == (launches == 6)
    for column, each in enumerate(later):
        alone, _ = replicates([each])
        assert np.ptp(draws[:, column]) > 0.7 * np.ptp(alone) > 0


def _known(run: Run) -> RunEstimates:
    attempts = yields(run, None)
    return RunEstimates(run, tuple(measure(run, attempts, outcomes(run, attempts))))


@pytest.fixture(scope="module")
def himeno(tmp_path_factory: pytest.TempPathFactory) -> Run:
    study = _study(
        Measure("stream", ("all",), axes={"stores": ("ordinary", "non-temporal")}),
        Measure("himeno", ("all",), axes={"size": ("XS", "L")}),
    )
    return store.load(simulated_run(tmp_path_factory.mktemp("himeno"), description=FOUR_NODES, study=study))


def test_himeno_is_predicted_from_stream_and_only_where_it_does_not_fit_the_caches(himeno: Run) -> None:
    (prediction,) = analyse(himeno).predictions
    assert "size=L" in prediction.measured
    assert all(each.startswith("stream/") for each in prediction.of)
    # 34 flops and 74 B a point at four nodes of 30 GB/s: between 80 B and 72 B.
    assert prediction.predicted.lo == pytest.approx(34 / 80 * 120e9, rel=0.02)
    assert prediction.predicted.hi == pytest.approx(34 / 72 * 120e9, rel=0.02)
    assert prediction.value.value == pytest.approx(34 / 74 * 120e9, rel=0.02)
    assert prediction.error == 0
    assert prediction.predicted.value == (prediction.predicted.lo + prediction.predicted.hi) / 2
    assert prediction.half_width == pytest.approx((80 - 72) / (80 + 72), rel=0.2)
    assert prediction.deviation == pytest.approx(2 / 74 / (1 / 72 + 1 / 80) - 1, abs=0.01)
    assert prediction.states == (None, None)


def test_a_prediction_whose_interval_meets_the_measured_one_is_met(himeno: Run) -> None:
    analysis = analyse(himeno)
    (line,) = analysis.predictions
    _, lo, hi = line.predicted
    outside = Quantity(1.03 * hi, 0.99 * hi, 1.07 * hi, "flop/s", "interval")
    figures = [
        msgspec.structs.replace(each, value=outside) if each.id == line.measured else each
        for each in analysis.estimates
    ]
    (met,) = predictions(RunEstimates(himeno, tuple(Measured(each, ()) for each in figures)))
    assert met.error == 0
    assert met.off.value == pytest.approx(met.deviation) == pytest.approx(1.03 * hi / line.predicted.value - 1)
    assert (met.off.lo, met.off.hi) == pytest.approx((-0.01, 1.07 * hi / lo - 1))
    finding = prediction_rule._finding([met])
    assert f"{100 * met.deviation:+.1f} % from the middle (-1.0 % to " in finding.claim
    assert "intervals overlap" in finding.claim


def test_a_prediction_names_the_states_of_the_machine_that_it_rests_on(tmp_path: Path) -> None:
    study = _study(Measure("stream", ("all",)), Measure("himeno", ("all",), axes={"size": "L"}), launches=12)
    law = Law(flips=tuple((5.0 * at, ("near", "far")[at % 2]) for at in range(60)))
    found = _analysis(tmp_path, study, law, description=FOUR_NODES).predictions
    assert {each.states for each in found} == {("near", "near"), ("far", "far")}
    for each in found:
        assert f"state {each.states[0]} (" in each.derivation
        assert each.id.endswith(f"/state={each.states[1]}")


def test_the_roof_of_a_state_was_measured_in_that_state(tmp_path: Path) -> None:
    study = _study(
        Measure("flops", ("all",), axes={"format": "fp64", "width": "512", "mix": "fma"}),
        Measure("stream", ("all",)),
        Measure("himeno", ("all",), axes={"size": "L"}),
        launches=12,
    )
    law = Law(flips=tuple((5.0 * at, ("near", "far")[at % 2]) for at in range(90)))
    analysis = _analysis(tmp_path, study, law, description=FOUR_NODES)
    estimates = {each.id: each for each in analysis.estimates}
    roofs = {roof.id.rpartition("=")[2]: estimates[roof.of[1]] for roof in _models(analysis, "roofline")}
    assert {name: each.state for name, each in roofs.items()} == {"near": "near", "far": "far"}
    assert (roofs["far"].median or 0) < 0.7 * (roofs["near"].median or 0)


def test_a_figure_that_pools_the_states_is_predicted_from_all_of_them(tmp_path: Path) -> None:
    study = _study(Measure("stream", ("all",)), Measure("himeno", ("all",), axes={"size": "L"}), launches=12)
    law = Law(flips=tuple((5.0 * at, ("near", "far")[at % 2]) for at in range(60)))
    run = store.load(simulated_run(tmp_path, law, description=FOUR_NODES, study=study))
    every = analyse(run)
    pooled = msgspec.structs.replace(
        next(each for each in every.estimates if each.benchmark == "himeno" and each.unit == "flop/s"), state=None
    )
    triads = [Measured(each, ()) for each in every.estimates if (each.kernel, each.metric) == ("triad", "traffic")]
    (found,) = predictions(RunEstimates(run, (*triads, Measured(pooled, ()))))
    assert set(found.states[:-1]) == {"near", "far"}
    assert found.states[-1] is None
    each_alone = every.predictions
    assert found.predicted.lo == min(line.predicted.lo for line in each_alone)
    assert found.predicted.hi == max(line.predicted.hi for line in each_alone)


def test_the_prediction_does_not_look_at_himeno(himeno: Run) -> None:
    twice = slowed(himeno, 2, lambda _launch, case, _series: case.header.benchmark == "himeno")
    (plain,), (slow,) = analyse(himeno).predictions, analyse(twice).predictions
    assert (slow.predicted.lo, slow.predicted.hi) == (plain.predicted.lo, plain.predicted.hi)
    assert slow.error == pytest.approx(34 / 74 / 2 * 80 / 34 - 1, abs=0.02)  # half of 34/74, against 34/80


@pytest.mark.parametrize("launch_noise", [0.003, 0.03])
def test_the_resolution_is_what_two_launches_of_one_case_differ_by(tmp_path: Path, launch_noise: float) -> None:
    sizes = tuple(2**power for power in range(12, 27))
    study = _study(Measure("latency", ("one-core",), axes={"bytes": sizes, "pages": ("small", "huge")}))
    noise = _analysis(tmp_path, study, Law(noise=1e-4, launch_noise=launch_noise)).noise
    # The difference of two launches of sigma s has 95 % within 1.96 x sqrt(2) x s.
    assert noise.resolution == pytest.approx(1.96 * np.sqrt(2) * launch_noise, rel=0.25)


@pytest.mark.parametrize("fall", [(), (0.67,), (0.7, 0.45)])
def test_sizes_of_which_a_part_fits_belong_to_no_plateau_of_a_copy(fall: tuple[float, ...]) -> None:
    rates = [200e9] * 6 + [50e9] * 5 + [50e9 * share for share in fall] + [15e9] * 4 + [9.6e9, 7e9]
    begin = 11 + len(fall)
    assert partition(np.log(rates), 0.10, 2) == [(0, 6), (6, 11), (begin, begin + 4)]
