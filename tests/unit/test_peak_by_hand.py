"""The peak of a core in flops per cycle, and the best figures of a run, by hand."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.unit.law_evidence import machine, measured, placed
from tests.unit.test_roofline_by_hand import CORE, bounds, copied, flops, on, sampled, stream

from assay.analyse import peak
from assay.analyse.bounds import (
    Bounds,
    best_clock,
    fastest,
    fits_caches,
    memory_rates,
    rank_memory_bytes,
    run_clock,
)
from assay.analyse.estimates import Measured
from assay.model.facts import Fact
from assay.model.machine import Machine

MIB = 2**20


def host(name: str = "zen2", /, **facts: Fact) -> Machine:
    """A machine of this microarchitecture: a Zen 2 has two units of 256 bits (AMD's optimisation guide)."""
    return msgspec.structs.replace(
        machine(), facts={"processor": {"microarchitecture": Fact(name, source="test"), **facts}}
    )


def rate(figure: Measured, *others: Measured, name: str = "zen2") -> peak.Rate | None:
    return peak.rate(figure.estimate, host(name), bounds([figure, *others]))


@pytest.mark.parametrize(
    ("form", "width", "mix", "each"),
    [
        ("fp64", "256", "fma", 2 * 4 * 2),
        ("fp64", "128", "fma", 2 * 2 * 2),
        ("fp64", "512", "fma", 2 * 8 / 2 * 2),  # two turns
        ("fp32", "256", "fma", 2 * 8 * 2),
        ("fp64", "256", "add", 2 * 4 * 1),
        ("fp64", "256", "multiply", 2 * 4 * 1),
        ("fp64", "scalar", "fma", 2 * 1 * 2),
    ],
)
def test_a_cycle_does_units_times_lanes_times_flops(form: str, width: str, mix: str, each: float) -> None:
    for place, cores in ((CORE, 1), (placed("x", 0, 2, 3), 3)):
        found = rate(flops(1.0, place, form=form, width=width, mix=mix))
        assert found
        assert found.per_cycle == cores * each
        assert "2 units (assumed for zen2)" in str(found.derivation)
        assert ("/ 2 (units of 256 bits)" in str(found.derivation)) == (width == "512")


def test_divisions_roots_and_unknown_formats_have_no_peak() -> None:
    for form, mix in (("fp64", "divide"), ("fp64", "sqrt"), ("bf16", "fma")):
        assert rate(flops(1.0, form=form, mix=mix)) is None
    nowhere = flops(1.0)
    place = msgspec.structs.replace(nowhere.estimate.placement, cpus=())
    assert peak.rate(msgspec.structs.replace(nowhere.estimate, placement=place), host(), bounds([])) is None


def of_operations(a_cycle: float, width: str = "256", clock: float = 2e9) -> Sequence[Measured]:
    """A core that completes so many operations in a cycle, and its clock."""
    lanes = int(width) // 64
    made = measured("flops", "loaded-clock", "frequency", [clock] * 6, CORE, format="fp64", width=width, mix="fma")
    hertz = Measured(msgspec.structs.replace(made.estimate, max=clock), made.launches)
    return flops(a_cycle * clock * lanes * 2, width=width), hertz


@pytest.mark.parametrize(
    ("a_cycle", "units", "proven"),
    [
        (1.05, 2, False),  # fewer than those of the microarchitecture are not believed
        (1.08, 2, False),
        (1.11, 2, True),  # one unit could not give it
        (1.5, 2, True),
        (1.91, 2, True),
        (2.09, 2, True),
        (2.11, 2, False),  # neither a whole number nor what is known
        (2.5, 2, False),
        (2.84, 2, False),
        (2.86, 3, True),
        (4.0, 4, True),
    ],
)
def test_the_units_of_a_known_core_are_those_that_its_rate_proves(
    a_cycle: float, units: int, *, proven: bool
) -> None:
    found = rate(*of_operations(a_cycle))
    assert found
    assert found.per_cycle == units * 4 * 2
    assert (f"proven by {a_cycle:.2f} operations per cycle and core" in str(found.derivation)) == proven


def test_units_that_take_two_turns_are_proven_by_one_operation_a_cycle() -> None:
    found = rate(*of_operations(0.99, "512"))
    assert found
    assert found.per_cycle == 1 * 8 * 2
    assert "proven" in str(found.derivation)


@pytest.mark.parametrize(
    ("a_cycle", "units"), [(0.4, 1), (1.0, 1), (1.09, 1), (1.11, 2), (2.0, 2), (2.19, 2), (2.21, 3), (0.0, 2)]
)
def test_an_unknown_core_has_as_many_units_as_its_rate_needs(a_cycle: float, units: int) -> None:
    found = rate(*of_operations(a_cycle), name="unheard of")
    assert found
    assert found.per_cycle == units * 4 * 2
    words = "assumed: unheard of is not in the table" if not a_cycle else f"as many as {a_cycle:.2f} operations"
    assert words in str(found.derivation)


def test_the_best_rate_of_any_core_of_the_kind_tells_the_units() -> None:
    mine = flops(1e9, width="256")
    other = placed("other", 3)
    params: dict[str, Any] = {"format": "fp64", "width": "256", "mix": "fma"}
    clock = measured("flops", "loaded-clock", "frequency", [2e9] * 6, other, **params)
    found = rate(
        mine, flops(3 * 2e9 * 4 * 2, other, width="256"), flops(1e9, other, width="256", mix="add"), clock
    )
    assert found
    assert found.per_cycle == 3 * 4 * 2


def test_the_nominal_clock_is_a_fact() -> None:
    assert peak.nominal(host()) is None
    for value in (0, 0.0, "fast"):
        assert peak.nominal(host(**{"nominal frequency": Fact(value, "Hz", "test")})) is None
    found = peak.nominal(host(**{"nominal frequency": Fact(2.25e9, "Hz", "cpuid")}))
    assert found
    assert found[0] == 2.25e9
    assert str(found[1]) == "2.25 GHz nominal (cpuid)"


def test_the_clock_of_a_run_is_the_median_of_the_best_samples() -> None:
    clocks = [sampled(value) for value in (1e9, 3e9, 2.8e9)]
    estimates = [each.estimate for each in clocks]
    assert run_clock([*estimates, flops(9e9).estimate]) == 2.8e9
    assert run_clock([flops(9e9).estimate]) == 0.0
    best = msgspec.structs.replace(estimates[0], max=1.1e9)
    assert best_clock(best) == 1.1e9
    assert best_clock(msgspec.structs.replace(best, max=None)) == 1e9


@pytest.mark.parametrize(("share", "refused"), [(0.49, True), (0.51, False)])
def test_a_clock_below_half_of_the_others_is_none(share: float, *, refused: bool) -> None:
    places = [placed(f"p{cpu}", cpu) for cpu in range(4)]
    figures = [*(sampled(3e9, place) for place in places[:3]), sampled(share * 3e9, places[3])]
    known = bounds(figures)
    assert known.clock == 3e9
    assert known.is_refused(figures[3].estimate) == refused
    assert not known.is_refused(figures[0].estimate)
    assert not known.is_refused(flops(1.0).estimate)
    clock = known.loaded_clock(flops(1.0, places[3]).estimate)
    assert (clock is None) == refused


def test_the_highest_clock_of_the_same_instructions_counts_else_of_any() -> None:
    params: dict[str, Any] = {"format": "fp64", "width": "512"}
    slow, fast = (
        measured("flops", "loaded-clock", "frequency", [value] * 6, CORE, mix=mix, **params)
        for mix, value in (("fma", 2e9), ("add", 3e9))
    )
    single = measured(
        "flops", "loaded-clock", "frequency", [2.2e9] * 6, CORE, mix="fma", format="fp32", width="512"
    )
    known = bounds([slow, fast, single])
    of_fma, of_sqrt = (known.loaded_clock(flops(1.0, mix=mix).estimate) for mix in ("fma", "sqrt"))
    assert of_fma
    assert of_sqrt
    assert (of_fma[0], of_sqrt[0]) == (2.2e9, 3e9)
    assert "measured together with 512 fma" in str(of_fma[1])


def test_the_best_figures_are_the_highest_of_their_kind() -> None:
    figures = [
        flops(5e9),
        flops(6e9, mix="add"),
        flops(7e9, width="256"),
        flops(9e9, form="fp32"),
        copied(3e9),
        copied(4e9),
        copied(8e9, buffers="cold"),
    ]
    known = bounds(figures)
    ours = flops(1.0).estimate
    assert [each and each.median for each in (known.best_flops(ours), known.best_of_mix(ours))] == [6e9, 7e9]
    assert [each.median for each in known.best_flops_each(ours)] == [6e9]
    hot, cold = known.best("copy-rate", "hot"), known.best_like(copied(1.0).estimate, "cold")
    assert hot
    assert cold
    assert (hot.median, cold.median) == (4e9, 8e9)
    assert known.best_on(ours, "memory-rate", "copy") is None
    by_stream = bounds(stream("copy", 2e9, 3e9)).best_on(ours, "memory-rate", "copy")
    assert by_stream
    assert by_stream.median == 2e9
    assert fastest([]) is None


def test_the_rate_of_memory_is_of_one_host_without_pauses_beyond_the_caches() -> None:
    whole = on(range(4), 5e10).estimate
    pausing, drawing = (
        measured("loaded_latency", "load", "bandwidth", [9e9] * 6, placed("all", 0, 1), delay=delay).estimate
        for delay in (5, 0)
    )
    two = msgspec.structs.replace(whole, placement=msgspec.structs.replace(whole.placement, hosts=("n1", "n2")))
    inside = msgspec.structs.replace(whole, memory_bytes=16 * MIB)
    beyond = msgspec.structs.replace(whole, memory_bytes=16 * MIB + 1)
    solver = measured("himeno", "jacobi", "traffic", [1e9] * 6, placed("all", 0, 1, 2, 3), size="L").estimate
    within, outside = (msgspec.structs.replace(solver, memory_bytes=16 * MIB * 4 + more) for more in (0, 1))
    every = [whole, pausing, drawing, two, inside, beyond, within, outside, stream("copy", 1.0, 1.0)[0].estimate]
    found = memory_rates(every, {"n1": machine()})
    assert [any(each is one for one in found) for each in every] == [
        True,
        False,
        True,
        False,
        False,
        True,
        solver.declared.sizes_itself,  # a problem of a given size is memory's from four times the caches on
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("size", "times", "fits"),
    [(0, 1, False), (1, 1, True), (16 * MIB, 1, True), (16 * MIB + 1, 1, False), (32 * MIB, 2, True)],
)
def test_a_working_set_fits_the_last_caches_of_its_cores(size: int, times: int, *, fits: bool) -> None:
    figure = msgspec.structs.replace(on(range(4), 1.0).estimate, memory_bytes=size)
    assert fits_caches(figure, machine().topology, times) == fits


def test_the_memory_of_a_rank_is_its_part_of_that_of_the_host() -> None:
    alone = msgspec.structs.replace(on(range(4), 1.0).estimate, memory_bytes=1000)
    assert rank_memory_bytes(alone) == 1000
    laid = msgspec.structs.replace(alone, placement=msgspec.structs.replace(alone.placement, laid_out=5))
    assert rank_memory_bytes(laid) == 200
    hosts = msgspec.structs.replace(laid.placement, cpus=((0, 1), (0, 1)), laid_out=8)
    assert rank_memory_bytes(msgspec.structs.replace(laid, placement=hosts)) == 250


def test_machines_are_those_of_the_hosts_else_the_only_one() -> None:
    one, two = machine(), msgspec.structs.replace(machine(), host="n2")
    run: Any = SimpleNamespace(machines={"n1": one, "n2": two}, plan=None)
    known = Bounds(run, ())
    figure = on((0,), 1.0).estimate
    both = msgspec.structs.replace(figure, placement=msgspec.structs.replace(figure.placement, hosts=("n2", "n1")))
    other = msgspec.structs.replace(figure, placement=msgspec.structs.replace(figure.placement, hosts=("x",)))
    assert known.machines(figure) == [one]
    assert known.machines(both) == [two, one]
    assert known.machines(other) == [one]
