"""What a page says of one thing is one quantity: memory, its bandwidth, and shares of limits that hold."""

from pathlib import Path

import msgspec
import pytest

from assay import store
from assay.analyse import analyse
from assay.analyse.bounds import MOST_SHARE, memory_rates
from assay.analyse.limits import share
from assay.model import roles
from assay.model.facts import Fact
from assay.model.quantity import Quantity, distance
from assay.report import provenance
from assay.topics.cores.models.roofline import Roofline

ROOT = Path(__file__).parents[2]
PACKED = sorted([*(ROOT / "tests" / "runs").glob("*.tar.xz"), *(ROOT / "docs" / "gallery").glob("*.tar.xz")])
NODE = ROOT / "tests" / "runs" / "node.tar.xz"


@pytest.mark.parametrize("path", PACKED, ids=lambda path: path.name.partition(".")[0])
def test_no_figure_of_a_packed_run_reaches_more_than_102_percent_of_a_ceiling(path: Path) -> None:
    run = store.load(path)
    analysis = analyse(run)
    bound = [each for each in analysis.estimates if each.limit and each.median and not each.limit.reference]
    assert bound or run.simulated  # no cable and no card of a simulated network says what it could carry
    for each in bound:
        assert each.limit
        assert share(each.median or 0.0, each.limit, each.better) <= MOST_SHARE, each.id
    for model in analysis.models:
        for point in model.points if isinstance(model, Roofline) else ():
            assert point.ratio is not None
            assert point.ratio <= MOST_SHARE, point.estimate


def test_the_roof_of_memory_is_what_limits_stand_on() -> None:
    run = store.load(NODE)
    analysis = analyse(run)
    best = max(each.median or 0.0 for each in memory_rates(analysis.estimates, run.machines))
    roofs = {
        roof.bandwidth.value for each in analysis.models if isinstance(each, Roofline) for roof in each.roofs[:1]
    }
    assert roofs == {best}
    streams = (each for each in analysis.estimates if roles.role(each) == "memory-traffic" and each.limit)
    assert {each.limit.value for each in streams if each.limit and each.limit.scope == "machine"} == {best}


def test_the_machine_in_words_has_all_of_its_memory_not_what_was_free() -> None:
    run = store.load(NODE)
    ((host, machine),) = run.machines.items()
    facts = {**machine.facts, "memory": machine.facts["memory"] | {"total": Fact(2**35, "B", "told")}}
    other = msgspec.structs.replace(machine, facts=facts, memory=Fact(2**33, "B", "free"))
    assert "32 GiB" in provenance.kind(msgspec.structs.replace(run, machines={host: other}))


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ((105, 99, 110), (100, 98, 102), 0.0),  # the middle lies outside, the ends overlap
        ((95, 90, 98), (100, 98, 102), 0.0),
        ((110, 107.1, 111), (100, 98, 102), 0.05),
        ((90, 88, 93.1), (100, 98, 102), -0.05),
    ],
)
def test_two_quantities_are_apart_where_their_ends_do_not_overlap(
    one: tuple[float, float, float], other: tuple[float, float, float], apart: float
) -> None:
    assert distance(Quantity(*one), Quantity(*other)) == pytest.approx(apart)
