"""Himeno's rate from planted rates of stream's triad: which triads count, and the ends by hand."""

from collections.abc import Callable

import msgspec
import pytest
from tests.simulation import TWO_CORES, simulated_run

from assay import store
from assay.analyse import examine
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import Measured
from assay.model.law import Prediction
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.simulation import Law
from assay.topics.stencil.predictions.himeno import predict


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> RunEstimates:
    measures = (
        Measure(
            "stream", ("one-core", "all"), axes={"stores": ("ordinary", "non-temporal"), "elements": 20_000_000}
        ),
        Measure("himeno", ("one-core", "all"), axes={"size": ("XS", "M")}),
        Measure("himeno_mpi", ("1x1",), axes={"size": "M"}),
    )
    study = Study("Stencil", "?", measures, launches=1)
    folder = tmp_path_factory.mktemp("stencil")
    return examine(store.load(simulated_run(folder, Law(sampled_s=0.0), description=TWO_CORES, study=study)))


Change = Callable[[Estimate], dict[str, object] | None]


def lines(known: RunEstimates, change: Change) -> dict[tuple[str, str], Prediction]:
    """Placement and size of each figure -> its prediction, with these fields of estimates; None leaves one out."""
    changed = [(each, change(each.estimate)) for each in known.measured]
    measured = tuple(
        Measured(msgspec.structs.replace(each.estimate, **fields), each.launches)
        for each, fields in changed
        if fields is not None
    )
    run = RunEstimates(known.run, measured)
    found = {each.measured: each for each in predict(run)}
    by_id = {each.estimate.id: each.estimate for each in measured}
    return {(by_id[id_].placement.label, str(by_id[id_].params["size"])): line for id_, line in found.items()}


def rate(value: float, wide: float = 0.0) -> dict[str, object]:
    return {"value": Quantity(value, value * (1 - wide), value * (1 + wide), "B/s", "interval")}


def triads(e: Estimate) -> dict[str, object] | None:
    """Traffic of 10 GB/s with ordinary stores and 9 GB/s with others on one core; twice on both."""
    if (e.benchmark, e.kernel, e.metric) != ("stream", "triad", "traffic"):
        return {} if e.benchmark.startswith("himeno") else None
    both = 2.0 if e.placement.label == "all" else 1.0
    return rate(both * (10e9 if e.params["stores"] == "ordinary" else 9e9), 0.1)


def test_a_point_takes_72_to_80_bytes_for_34_operations(known: RunEstimates) -> None:
    found = lines(known, triads)
    assert set(found) == {("one-core", "M"), ("all", "M")}  # the caches hold XS; messages limit himeno_mpi
    for label, both in (("one-core", 1), ("all", 2)):
        line = found[label, "M"]
        low, high = both * 9e9 * 34 / 80, both * 11e9 * 34 / 72
        assert line.predicted.parts == pytest.approx(((low + high) / 2, low, high))
        assert line.deviation == pytest.approx(line.value.value / ((low + high) / 2) - 1)
        below, above = line.value.hi / low - 1, line.value.lo / high - 1
        assert line.error == pytest.approx(above if above > 0 else min(below, 0.0))
        assert all("ordinary" in source for source in line.of)


def test_other_stores_count_where_there_are_no_ordinary_ones(known: RunEstimates) -> None:
    def without(e: Estimate) -> dict[str, object] | None:
        return None if e.params.get("stores") == "ordinary" else triads(e)

    line = lines(known, without)["one-core", "M"]
    assert line.predicted.lo == pytest.approx(0.9 * 9e9 * 34 / 80)
    assert all("non-temporal" in source for source in line.of)


def test_a_triad_counts_at_the_same_place_only(known: RunEstimates) -> None:
    def unlike(e: Estimate) -> dict[str, object] | None:
        fields = triads(e)
        if fields and e.benchmark == "stream" and e.placement.label == "one-core":
            return {**fields, "placement": msgspec.structs.replace(e.placement, memory="bind:0")}
        if fields and e.benchmark == "stream":
            return {**fields, "factors": {"flags": "-O2"}}
        return fields

    assert lines(known, unlike) == {}


def test_of_two_states_the_slowest_and_the_fastest_are_the_ends(known: RunEstimates) -> None:
    def stated(e: Estimate) -> dict[str, object] | None:
        fields = triads(e)
        if fields and e.benchmark == "stream" and e.placement.label == "one-core":
            near = e.params["stores"] == "ordinary"
            params = {**e.params, "stores": "ordinary"}
            return {**rate(10e9 if near else 6e9, 0.1), "params": params, "state": "near" if near else "far"}
        return fields

    line = lines(known, stated)["one-core", "M"]
    assert (line.predicted.lo, line.predicted.hi) == pytest.approx((0.9 * 6e9 * 34 / 80, 1.1 * 10e9 * 34 / 72))

    def one_state(e: Estimate) -> dict[str, object] | None:
        fields = stated(e)
        return {**fields, "state": "far"} if fields is not None and e.benchmark == "himeno" else fields

    line = lines(known, one_state)["one-core", "M"]
    assert (line.predicted.lo, line.predicted.hi) == pytest.approx((0.9 * 6e9 * 34 / 80, 1.1 * 6e9 * 34 / 72))
