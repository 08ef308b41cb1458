"""Sizes of arrays on machines that get less of a cache than they claim."""

import io
from pathlib import Path

import msgspec
from rich.console import Console
from tests.simulation import begin, builds_for, carry_on, described, plan_for, simulated_run, starter_for

from assay import store, studies
from assay.analyse import analyse
from assay.model.plan import Plan
from assay.plan import Options, make
from assay.report import terminal, vega
from assay.report.sections import sections
from assay.run.caches import Held, agreed, best, find_held, held_bytes
from assay.simulation import Burst, Law, SimulatedMachine

#: As on a virtual machine: it claims 512 MiB of its host's cache.
CLAIMS = "pack:1 numa:1(memory=64GB) l3:1(size=512MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"
MIB = 2**20


def looked(law: Law, description: str = CLAIMS) -> Held | None:
    plan, topology = plan_for(description), described(description).topology
    machine = SimulatedMachine(topology, law)
    return find_held(plan, topology, builds_for(plan), starter_for(plan), machine)


def found(law: Law, description: str = CLAIMS) -> int:
    held = looked(law, description)
    return held.bytes if held else 0


def arrays(plan: Plan) -> set[int]:
    return {case.memory_bytes for case in plan.studied if case.benchmark == "stream"}


def test_a_cache_that_is_not_there_is_found_out() -> None:
    assert found(Law(held={3: 20 * MIB})) == 24 * MIB


def test_a_cache_that_holds_a_part_of_what_it_claims_is_found_out() -> None:
    assert found(Law(held={3: 130 * MIB})) == 192 * MIB


def test_a_cache_that_is_there_is_believed() -> None:
    assert found(Law()) == 0


def test_small_claims_are_not_looked_into() -> None:
    assert found(Law(held={3: MIB}), CLAIMS.replace("512MB", "32MB")) == 0


def test_passes_go_on_until_one_changes_nothing() -> None:
    quiet, loud = (looked(Law(held={3: 20 * MIB}, bursts=each)) for each in ((), (Burst(0, 3, 0.4),)))
    assert quiet
    assert loud
    assert quiet.bytes == loud.bytes == 24 * MIB
    assert (quiet.passes, quiet.agreed) == (2, True)
    assert (loud.passes, loud.agreed) == (3, True)
    assert quiet.rates[0][0] <= 4 * quiet.claimed < 2 * quiet.rates[0][0]


def test_a_disturbed_pass_decides_nothing() -> None:
    quiet = {800: 10.0, 400: 10.1, 200: 9.9, 100: 14.0}
    disturbed = quiet | {800: 9.0, 200: 7.0}
    assert held_bytes(best([disturbed])) == 800
    assert held_bytes(best([disturbed, quiet])) == held_bytes(best([quiet])) == 200
    assert not agreed([200])
    assert not agreed([800, 200])
    assert agreed([800, 200, 200])


def test_the_search_for_sizes_is_a_part_of_the_budget(tmp_path: Path) -> None:
    plan = plan_for(CLAIMS, options=Options(launches=1, budget_s=100))
    took = [
        carry_on(begin(tmp_path / str(spent), each), each, SimulatedMachine(described(CLAIMS).topology, Law()))
        for spent in (0.0, 40.0)
        for each in [msgspec.structs.replace(plan, prepared_s=spent)]
    ]
    assert took[0].elapsed_s <= 100
    assert 40 < took[1].elapsed_s <= 100


def test_arrays_are_twice_what_the_caches_hold_and_pools_follow() -> None:
    machine = described(CLAIMS)
    topology = msgspec.structs.replace(machine.topology, held_bytes=24 * MIB)
    known = msgspec.structs.replace(machine, topology=topology)
    plan = make("quick", studies.get("quick"), known, Options(seed=7))
    assert arrays(plan) == {48 * MIB}
    assert arrays(plan_for(CLAIMS)) == {3 * 4 * 512 * MIB}
    assert topology.shape == machine.topology.shape
    assert topology.last_level_bytes((0,)) == 24 * MIB
    assert machine.topology.last_level_bytes((0,)) == 512 * MIB


def test_the_rates_that_chose_the_sizes_stand_on_the_page(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, description=CLAIMS, options=Options(launches=1)))
    rates = ((48 * MIB, 20e9), (24 * MIB, 20e9), (12 * MIB, 50e9))
    topology = msgspec.structs.replace(described(CLAIMS).topology, held_bytes=24 * MIB, held_rates=rates)
    machine = msgspec.structs.replace(described(CLAIMS), topology=topology)
    known = msgspec.structs.replace(run, machines={machine.host: machine})
    page = next(each for each in sections(known, analyse(known)) if each.id == "memory-bandwidth")
    (table,) = (each for each in page.tables if "Working set" in [str(column) for column in each.columns])
    assert [tuple(map(str, row[1:])) for row in table.rows] == [
        ("12 MiB", "50.0 GB/s", "partly caches"),
        ("24 MiB", "20.0 GB/s", "memory"),
        ("48 MiB", "20.0 GB/s", "memory"),
    ]
    (figure,) = (each for each in page.figures if each.id == "figure-bandwidth-sizes")
    assert figure.result == "memory from 24 MiB on"
    assert [(row["x"], row["value"]) for row in figure.spec["data"]["values"]] == [
        (12 * MIB, 50),
        (24 * MIB, 20),
        (48 * MIB, 20),
    ]
    assert "memory from 24 MiB on" in vega.plain(figure.spec)
    output = io.StringIO()
    terminal.render(known, analyse(known), Console(file=output, width=100))
    assert "triad, ordinary stores" in output.getvalue()
    assert "Working set" not in output.getvalue()


def test_the_smallest_size_counts_from_which_on_all_rates_are_alike() -> None:
    assert held_bytes([(800, 10.0), (400, 10.1), (200, 9.9), (100, 14.0), (50, 10.0)]) == 200
    assert held_bytes([(800, 10.0), (400, 10.1), (200, 8.0), (100, 14.0)]) == 200  # disturbed, and no cache
    assert held_bytes([(800, 10.0), (400, 10.3)]) == 800
    assert held_bytes([(800, 10.0), (400, 10.0), (200, 10.0), (100, 30.0)], claimed=50) == 200
    assert held_bytes([(800, 10.0), (400, 10.0), (200, 30.0), (100, 30.0)], claimed=200) == 0
