"""Curves over numbers of cores, and sizes that follow from memory."""

import math
from collections.abc import Callable

import msgspec
import pytest

from assay import studies
from assay.model.errors import UsageError
from assay.model.facts import Fact, unavailable
from assay.model.machine import Machine
from assay.model.plan import Measure, Plan, Study
from assay.plan import Options, make
from assay.plan.order import fewest_seconds

MakeMachine = Callable[..., Machine]


def own(machine: Machine, *measures: Measure) -> Plan:
    return make("own.toml", Study("Title", "Question?", measures, launches=3), machine, Options(seed=7))


def test_a_curve_over_cores_measures_no_set_of_cores_twice(make_machine: MakeMachine) -> None:
    plan = own(make_machine(1, 1, 2, 4), Measure("stream", ("one-core", "half", "all", "cores:*", "spread:*")))
    labels = {case.placement.label: len(case.placement.cpus) for case in plan.cases if case.role == "measure"}
    compact = {f"cores:{number}": number for number in range(2, 8)}
    spread = {f"spread:{number}": number for number in (2, 3, 5, 6)}
    assert labels == {"one-core": 1, "half": 4, "all": 8} | compact | spread
    assert {(fold.request, fold.into) for fold in plan.folded} == {
        ("cores:1", "one-core"),
        ("cores:8", "all"),
        ("spread:1", "one-core"),
        ("spread:4", "half"),
        ("spread:7", "cores:7"),
        ("spread:8", "all"),
    }


def test_in_one_l3_group_spread_is_compact(make_machine: MakeMachine) -> None:
    plan = own(make_machine(cores=4), Measure("stream", ("cores:*", "spread:*")))
    assert [case.placement.label for case in plan.cases[:-1]] == ["cores:1", "cores:2", "cores:3", "cores:4"]
    assert {(fold.request, fold.into, fold.reason) for fold in plan.folded} == {
        (f"spread:{number}", f"cores:{number}", "this machine has one L3 group") for number in range(1, 5)
    }


def test_a_size_chosen_by_memory_is_the_first_that_leaves_some(make_machine: MakeMachine) -> None:
    wish = Measure("memcpy", ("one-core",), axes={"bytes": "first:4G,64M,1M", "buffers": ("hot", "cold")})
    small = msgspec.structs.replace(make_machine(cores=2), memory=Fact(value=2**30, unit="B"))
    plan = own(small, wish)
    assert [case.params["bytes"] for case in plan.cases if case.role == "measure"] == [64 * 2**20] * 2
    assert (plan.left_out[0].request, plan.left_out[0].reason) == (
        "memcpy at one-core, bytes=4294967296",
        "it needs 8 GiB of memory, more than 30 % of the 1 GiB that may be used; 67108864 is measured instead",
    )
    large = own(make_machine(cores=2), wish)
    assert {case.params["bytes"] for case in large.cases if case.role == "measure"} == {4 * 2**30}
    assert not large.left_out


@pytest.mark.parametrize(("mode", "taken"), [("madvise", "huge"), ("always", "huge"), ("never", "small")])
def test_of_first_values_the_machine_takes_the_first_that_it_supports(
    make_machine: MakeMachine, mode: str, taken: str
) -> None:
    machine = make_machine(cores=2)
    facts = {**machine.facts, "memory": {"transparent huge pages": Fact(mode, "", "told")}}
    study = Measure("loaded_latency", ("all",), axes={"delay": (0, 300), "pages": "first:huge,small"})
    plan = own(msgspec.structs.replace(machine, facts=facts), study)
    assert [case.params["pages"] for case in plan.cases if case.role == "measure"] == [taken] * 2
    assert [(each.request, each.levels) for each in plan.left_out] == (
        [] if taken == "huge" else [("loaded_latency, pages=huge", ("pages=huge",))]
    )


def test_a_single_value_that_the_machine_does_not_support_is_no_case(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=2)
    facts = {**machine.facts, "memory": {"transparent huge pages": Fact("never", "", "told")}}
    plan = own(
        msgspec.structs.replace(machine, facts=facts),
        Measure("latency", ("one-core",), axes={"bytes": "1M", "pages": ("huge", "small")}),
        Measure("latency", ("one-core",), axes={"bytes": "2M", "pages": "first:huge"}),
    )
    assert [case.params["pages"] for case in plan.cases if case.role == "measure"] == ["small"]


def test_when_no_size_fits_the_smallest_is_left_out_with_its_figures(make_machine: MakeMachine) -> None:
    tiny = msgspec.structs.replace(make_machine(cores=2), memory=Fact(value=2**20, unit="B"))
    plan = own(tiny, Measure("memcpy", ("one-core",), axes={"bytes": ("first:64M,1M", 64)}))
    assert [case.params["bytes"] for case in plan.cases if case.role == "measure"] == [64]
    assert plan.left_out[-1].reason.startswith("it needs 2 MiB of memory; 1 MiB may be used")


def test_a_wrong_value_among_sizes_chosen_by_memory_is_refused(make_machine: MakeMachine) -> None:
    with pytest.raises(UsageError, match="stream has no stores 'big'"):
        own(make_machine(cores=2), Measure("stream", ("all",), axes={"stores": "first:big,ordinary"}))


def test_one_nodes_own_figure_does_not_cap_what_the_machine_has(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=2)
    late = msgspec.structs.replace(machine.topology.numa_nodes[0], memory_bytes=100 * 2**20)
    topology = msgspec.structs.replace(machine.topology, numa_nodes=(late,))
    plan = own(
        msgspec.structs.replace(machine, topology=topology), Measure("memcpy", ("one-core",), axes={"bytes": "1G"})
    )
    assert [case.params["bytes"] for case in plan.cases if case.role == "measure"] == [2**30]


def with_pages(machine: Machine, fact: Fact) -> Machine:
    return msgspec.structs.replace(machine, origin="live", facts={"memory": {"transparent huge pages": fact}})


def test_values_whose_needs_the_machine_does_not_meet_are_left_out_with_what_it_has(
    make_machine: MakeMachine,
) -> None:
    wish = Measure("latency", ("one-core",), axes={"bytes": 4096, "pages": ("small", "huge")})
    machine = make_machine(cores=2)
    plan = own(with_pages(machine, Fact("never")), wish)
    assert [case.params["pages"] for case in plan.cases if case.role == "measure"] == ["small"]
    assert [(left.request, left.reason) for left in plan.left_out] == [
        ("latency, pages=huge", "it needs always or madvise (transparent huge pages: never)")
    ]
    plan = own(with_pages(machine, unavailable("no such file")), wish)
    assert plan.left_out[0].reason == "it needs always or madvise (transparent huge pages: no such file)"


@pytest.mark.parametrize("word", ["always", "madvise"])
def test_values_whose_needs_are_met_or_cannot_be_known_are_planned(word: str, make_machine: MakeMachine) -> None:
    wish = Measure("latency", ("one-core",), axes={"bytes": 4096, "pages": ("small", "huge")})
    for machine in (make_machine(), with_pages(make_machine(), Fact(word))):
        assert [case.params["pages"] for case in own(machine, wish).cases if case.role == "measure"] == [
            "small",
            "huge",
        ]


def test_policies_of_a_table_are_measured_apart_even_with_one_memory_node(make_machine: MakeMachine) -> None:
    wish = Measure("stream", ("all",), ("first-touch", "interleave"), apart=True)
    plan = own(make_machine(cores=2), wish)
    assert [str(case.placement.memory) for case in plan.cases if case.role == "measure"] == [
        "first-touch",
        "interleave:0",
    ]
    assert not plan.folded


def test_the_published_table_of_interleaving_has_its_two_rows_on_every_machine(make_machine: MakeMachine) -> None:
    one, two = make_machine(cores=16), make_machine(2, 1, 1, 8)
    for machine, nodes, size in ((one, "0", "L"), (two, "0,1", "XL")):
        plan = make("interleave", studies.get("interleave"), machine, Options(seed=7))
        rows = {
            str(case.placement.memory): (len(case.placement.cpus), case.params["size"])
            for case in plan.cases
            if case.params.get("touch") == "serial"
        }
        assert rows == {"first-touch": (16, size), f"interleave:{nodes}": (16, size)}


def test_the_published_table_takes_a_smaller_grid_where_memory_is_short(make_machine: MakeMachine) -> None:
    short = msgspec.structs.replace(make_machine(cores=2), memory=Fact(value=8 * 2**30, unit="B"))
    plan = make("interleave", studies.get("interleave"), short, Options(seed=7))
    assert {case.params["size"] for case in plan.cases if case.role == "measure"} == {"L"}
    assert "size=XL" in plan.left_out[0].request
    assert "it needs 14 GiB of memory" in plan.left_out[0].reason


def test_a_budget_that_grows_is_what_the_plan_takes_at_the_least_and_the_users_is_kept(
    make_machine: MakeMachine,
) -> None:
    wish = Study("T", "Q?", (Measure("stream", ("cores:*",)),), launches=3, budget_s=10, grows=True)
    large = make_machine(cores=64)
    plan = make("own.toml", wish, large, Options(seed=7))
    assert plan.budget_s == math.ceil(fewest_seconds(plan.cases, plan.order)) > 10
    assert plan.estimate_s == plan.budget_s
    assert make("own.toml", wish, make_machine(), Options(seed=7)).budget_s == 10
    assert make("own.toml", wish, large, Options(seed=7, budget_s=20)).budget_s == 20
    assert make("own.toml", msgspec.structs.replace(wish, grows=False), large, Options(seed=7)).budget_s == 10


@pytest.mark.parametrize("benchmark", ["pt2pt", "tcp"])
def test_values_that_exclude_each_other_are_left_out_with_the_reason(
    make_machine: MakeMachine, benchmark: str
) -> None:
    patterns = ("latency", "bidirectional")
    measure = Measure(benchmark, ("pair",), axes={"pattern": patterns, "bytes": 8, "gap": (0, 100)})
    plan = own(make_machine(1, 1, 2, 4), measure)
    found = [(case.params["pattern"], case.params["gap"]) for case in plan.studied]
    assert sorted(found) == [("bidirectional", 0), ("latency", 0), ("latency", 100)]
    (left,) = plan.left_out
    assert left.request == f"{benchmark}, gap=100"
    assert left.reason.startswith("not with pattern=bidirectional: both sides start")
