"""The order `filling` of a system: the largest that leaves a fifth of a node's memory, with its true time."""

import pytest
from tests.simulation import plan_for
from tests.unit.test_hpl import WITH_BLAS

from assay.catalogue import benchmarks
from assay.model.errors import UsageError
from assay.model.plan import Measure, Study

MEMORY = "pack:1 numa:1(memory={}) core:2 pu:1"


def orders(memory: str, *values: int | str) -> list[tuple[int, int]]:
    measure = Measure("hpl", ("all",), axes={"n": values})
    plan = plan_for(MEMORY.format(memory), Study("HPL", "How fast?", (measure,)), WITH_BLAS)
    hpl = benchmarks.get("hpl")
    return [
        (int(case.params["n"]), hpl.host_memory_bytes(case.params, case.placement))
        for case in plan.studied
        if case.benchmark == "hpl"
    ]


@pytest.mark.parametrize(("memory", "gibibytes"), [("1GB", 1), ("4GB", 4)])
def test_it_fills_four_fifths_of_the_memory_and_no_block_more(memory: str, gibibytes: int) -> None:
    (small, _), (order, needed) = orders(memory, 1000, "filling")
    assert small == 1000
    assert order % 256 == 0
    assert needed <= 0.8 * gibibytes * 2**30
    ((_, more),) = orders("64GB", order + 256)
    assert more > 0.8 * gibibytes * 2**30


def test_only_an_order_can_fill_the_memory() -> None:
    measure = Measure("stream", ("all",), axes={"elements": "filling"})
    with pytest.raises(UsageError):
        plan_for(MEMORY.format("1GB"), Study("Triad", "How fast?", (measure,)))
