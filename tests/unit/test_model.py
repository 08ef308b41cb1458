"""The words of the house refuse what says nothing or two things."""

import msgspec
import pytest

from assay.model.facts import Fact, unavailable
from assay.model.machine import MACHINE_SCHEMA, Core, Machine, NumaNode, Topology
from assay.model.placement import Memory
from assay.model.plan import Study


@pytest.mark.parametrize("arguments", [{}, {"value": 3, "unavailable": "no rights"}])
def test_a_fact_is_either_a_value_or_a_reason(arguments: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="either a value or a reason"):
        Fact(**arguments)  # type: ignore[arg-type]


def test_a_fact_that_is_false_or_zero_is_known() -> None:
    assert Fact(value=False).known
    assert Fact(value=0).known
    assert not unavailable("needs root").known


def test_a_fact_nobody_looked_for_says_so() -> None:
    topology = Topology(
        packages=((0, 1),),
        numa_nodes=(NumaNode(0, 2**30, (0, 1), 0),),
        cores=(Core(0, (0, 1), 0, 0, 0),),
        caches=(),
        distances=(),
        allowed_cpus=(0, 1),
        allowed_nodes=(0,),
    )
    machine = Machine(MACHINE_SCHEMA, "n1", "synthetic", topology, Fact(value=2**30, unit="B"), {}, ())
    assert machine.fact("processor", "model").unavailable == "not looked for"
    assert topology.smt == 2


@pytest.mark.parametrize(
    ("memory", "word"),
    [
        (Memory(), "first-touch"),
        (Memory("bind", (0,)), "bind:0"),
        (Memory("interleave", (0, 3)), "interleave:0,3"),
    ],
)
def test_a_memory_policy_is_written_as_programs_take_it(memory: Memory, word: str) -> None:
    assert str(memory) == word


def test_a_study_with_an_unknown_key_is_refused_by_name() -> None:
    with pytest.raises(msgspec.ValidationError, match="budgett"):
        msgspec.convert({"title": "t", "question": "q", "measure": [], "budgett": 3}, Study)
