"""The command lines that programs are started with, held against what the programs document."""

import shlex

import msgspec
import pytest
from tests.simulation import builds_for, plan_for

from assay.launch.arguments import cpu_list
from assay.launch.command import Sampling, Site
from assay.launch.starter import Starter
from assay.model.placement import Memory, Placement
from assay.model.plan import Case
from assay.model.toolchain import Build

PLAN = msgspec.structs.replace(plan_for(), hosts=("n1",), probe_cpus=(0, 64))
STARTER = Starter(Site("n1"))


def case(case_id: str, cpus: tuple[int, ...], memory: Memory, **params: int | str) -> Case:
    return Case(case_id, "stream", dict(params), Placement("test", "a test's", cpus, memory, ("n1",)))


def build() -> Build:
    programs = {name: f"/cache/{name}" for name in ("stream", "core_to_core")}
    return msgspec.structs.replace(next(iter(builds_for(PLAN).values())), programs=programs)


def test_a_launch_names_its_placement_once_and_each_case_with_its_axes() -> None:
    cases = (
        case("stream/a", (0, 1, 2, 3, 8), Memory("bind", (0, 2)), stores="ordinary", elements=1000),
        case("stream/b", (0, 1, 2, 3, 8), Memory("bind", (0, 2)), stores="non-temporal", elements=1000),
    )
    sampling = Sampling(0.01, 10, 200, {"stream/a": 1.5, "stream/b": 0.25})
    (command,) = STARTER.commands(PLAN, cases, build(), "stream", sampling)
    assert shlex.join(command.argv) == (
        "/cache/stream --cpus 0-3,8 --memory bind:0,2 --precision 0.01 --min-samples 10 --max-samples 200"
        " --elements 1000 --case stream/a --stores ordinary --seconds 1.500"
        " --case stream/b --stores non-temporal --seconds 0.250"
    )


def test_openmp_is_told_not_to_pin_against_the_programs_own_placement() -> None:
    one = case("c", (0,), Memory())
    (command,) = STARTER.commands(PLAN, (one,), build(), "stream", Sampling(0.01, 10, 200, {"c": 1.0}))
    assert command.environment == {
        "OMP_PROC_BIND": "false",
        "OMP_DYNAMIC": "false",
        "OMP_WAIT_POLICY": "active",
    }


def test_the_probe_runs_on_the_plans_two_cpus_for_as_long_as_asked() -> None:
    command = STARTER.probe(PLAN, build(), "core_to_core", 0.005)
    assert shlex.join(command.argv) == (
        "/cache/core_to_core --cpus 0,64 --min-samples 10 --max-samples 50 --seconds 0.005"
    )


@pytest.mark.parametrize(
    ("cpus", "text"),
    [((0,), "0"), ((0, 1, 2), "0-2"), ((0, 2, 4), "0,2,4"), ((4, 0, 1), "4,0,1"), ((0, 64, 1, 65), "0,64,1,65")],
)
def test_the_list_of_cpus_keeps_the_order_of_the_threads(cpus: tuple[int, ...], text: str) -> None:
    assert cpu_list(cpus) == text
