"""What plans assume of the floating-point rate of a core, and what it makes of their costs."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from assay.cli.support.plan_page import order_and_cost
from assay.model.core_rate import core_rate
from assay.model.facts import Fact
from assay.model.machine import Machine
from assay.model.plan import Measure, Plan, Study
from assay.plan import Options, make

MakeMachine = Callable[..., Machine]


def with_facts(machine: Machine, facts: Mapping[str, Any]) -> Machine:
    known = {name: Fact(value=value, source="a test") for name, value in facts.items()}
    return msgspec.structs.replace(machine, facts={"processor": known})


@pytest.mark.parametrize(
    ("facts", "flops", "clock"),
    [
        ({}, 40e9, "assumed"),
        ({"nominal frequency": 2e9, "frequency now": 3e9}, 32e9, "nominal"),
        ({"highest frequency": 4e9, "frequency now": 8e8}, 64e9, "highest"),
        ({"frequency now": 2e9, "vector instructions": ["sse2", "avx", "avx2"]}, 32e9, "now"),
        ({"nominal frequency": 2e9, "vector instructions": ["sse2", "avx", "avx512f"]}, 64e9, "nominal"),
        ({"nominal frequency": 2e9, "microarchitecture": "zen"}, 16e9, "nominal"),
        ({"nominal frequency": 2e9, "microarchitecture": "icelake"}, 64e9, "nominal"),
        # A virtual machine hides what the processor could do.
        (
            {"nominal frequency": 2e9, "microarchitecture": "icelake", "vector instructions": ["avx", "avx2"]},
            32e9,
            "nominal",
        ),
    ],
)
def test_a_core_is_rated_by_units_instructions_and_the_best_clock_known(
    make_machine: MakeMachine, facts: dict[str, Any], flops: float, clock: str
) -> None:
    rate = core_rate(with_facts(make_machine(cores=2), facts))
    assert rate.flops == pytest.approx(flops)
    assert rate.clock == clock


WITH_BLAS = Options(seed=7, libraries={"blas": "/simulated/libblas.so"})


def plan_of(machine: Machine, name: str, n: int, hertz: float) -> Plan:
    wish = Study("T", "Q?", (Measure(name, ("all",), axes={"n": n}),), launches=3)
    return make("own.toml", wish, with_facts(machine, {"nominal frequency": hertz}), WITH_BLAS)


@pytest.mark.parametrize(("name", "n"), [("dgemm", 8192), ("hpl", 16384), ("mxp", 16384)])
def test_operations_cost_by_the_clock_of_the_machine_and_by_its_cores(
    make_machine: MakeMachine, name: str, n: int
) -> None:
    def operations_s(cores: int, hertz: float) -> float:
        at_once, timed = (plan_of(make_machine(cores=cores), name, n, each).studied[0] for each in (1e30, hertz))
        return timed.setup_s - at_once.setup_s

    assert operations_s(4, 1e9) == pytest.approx(2 * operations_s(4, 2e9))
    assert operations_s(4, 1e9) == pytest.approx(2 * operations_s(8, 1e9))
    # Such a product, or a system of twice that order, takes seconds on four cores of 2 GHz.
    assert 1 < operations_s(4, 2e9) < 60


def test_the_plan_says_what_its_times_of_operations_stand_on(make_machine: MakeMachine) -> None:
    told = " ".join(order_and_cost(plan_of(make_machine(cores=2), "dgemm", 8192, 2.5e9)))
    assert "dgemm 70 %" in told
    assert "40.0 GFLOP/s" in told
    assert "2.50 GHz (the nominal clock)" in told
    memory = make("own.toml", Study("T", "Q?", (Measure("stream", ("all",)),), launches=3), make_machine(cores=2))
    assert "operations" not in " ".join(order_and_cost(memory))
