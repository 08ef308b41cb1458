"""Quantities: what people type and what they read, against values known without this code."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model import units
from assay.model.declaration import Declaration, Metric, keep
from assay.model.errors import UsageError

#: Prefixes of the International System of Units (BIPM, SI brochure, table 7) that a typed quantity may have.
SI = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9, "p": 1e-12}


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4096", 4096),
        ("64K", 65536),
        ("64k", 65536),
        ("1MiB", 1048576),
        ("1.5G", 1610612736),
        ("2 TiB", 2199023255552),
    ],
)
def test_a_size_is_read_in_powers_of_1024(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1e6", "1 KX", "0x10", "12 34"])
def test_what_is_no_size_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="size"):
        units.parse_size(text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("60s", 60), ("5m", 300), ("5 min", 300), ("1.5h", 5400), ("200ms", 0.2)]
)
def test_a_duration_is_read_in_seconds(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.parse_duration, "soon"),
        (units.parse_duration, "9" * 400 + "h"),
        (units.parse_duration, "9000h"),
        (units.parse_size, "big"),
        (units.parse_size, "9" * 400),
        (units.parse_size, "257T"),
        (units.parse_share, "half"),
        (units.parse_share, "5"),
        (units.parse_share, "1"),
        (units.parse_share, "100%"),
        (units.parse_share, "-5%"),
        (units.parse_share, "nan"),
        (units.parse_share, "9" * 400),
        (units.parse_quantity, "fast"),
        (units.parse_range, "8:1"),
    ],
)
def test_what_is_refused_comes_with_a_form_that_is_not(parse: Callable[[str], object], text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text)
    form = refused.value.remedy.removeprefix("write it as ").partition("   #")[0].strip("'")
    assert parse(form)
    assert len(refused.value.what) < 80


@pytest.mark.parametrize(
    ("text", "share"), [("5%", 0.05), ("5 %", 0.05), (".05", 0.05), ("0.05", 0.05), ("1e-3", 0.001), ("0%", 0.0)]
)
def test_a_share_is_percent_or_a_part_of_1(text: str, share: float) -> None:
    assert units.parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize(("text", "form"), [("5", "5%"), ("1", "1%"), ("2.5", "2.5%"), ("150%", "5%")])
def test_a_share_that_may_be_percent_is_refused_with_both_forms(text: str, form: str) -> None:
    with pytest.raises(UsageError) as refused:
        units.parse_share(text)
    typed, part = refused.value.remedy.removeprefix("write it as ").split("   # or ")
    assert typed == form
    assert units.parse_share(typed) == units.parse_share(part) < 1


@pytest.mark.parametrize("text", ["", "s", "1 day", "-5s", "1:30"])
def test_what_is_no_duration_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="duration"):
        units.parse_duration(text)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("1:8", (1, 2, 4, 8)),
        ("4K", (4096,)),
        ("3:20", (3, 6, 12, 20)),
        ("1K:1K", (1024,)),
    ],
)
def test_a_range_doubles_from_first_to_last_both_included(text: str, sizes: tuple[int, ...]) -> None:
    assert units.parse_range(text) == sizes


def test_osus_range_of_messages_has_23_sizes() -> None:
    assert len(units.parse_range("1:4M")) == 23


def test_a_range_may_have_several_sizes_an_octave_in_whole_cache_lines() -> None:
    assert units.parse_range("4K:8K/4") == (4096, 4864, 5824, 6912, 8192)
    sizes = units.parse_range("4K:256M/8")
    assert len(sizes) == 16 * 8 + 1
    assert all(size % 64 == 0 for size in sizes)


def test_small_sizes_of_an_octave_stay_apart_and_meet_once() -> None:
    assert units.parse_range("1:4/2") == (1, 2, 3, 4)
    assert units.parse_range("100:300/1") == (100, 200, 300)
    assert units.parse_range("1025:1060/99") == (1025, 1060)


@given(st.integers(1, 2**40), st.integers(0, 2**20), st.integers(1, 99))
def test_a_range_ascends_from_first_to_last_in_steps_of_its_fineness(low: int, more: int, count: int) -> None:
    sizes = units.parse_range(f"{low}:{low + more}/{count}")
    assert (sizes[0], sizes[-1]) == (low, low + more)
    assert list(sizes) == sorted(set(sizes))
    for smaller, larger in pairwise(sizes):
        assert larger - smaller <= smaller * (2 ** (1 / count) - 1) + 64


def test_a_range_from_nothing_goes_on_with_one_byte() -> None:
    assert units.parse_range("0:8") == (0, 1, 2, 4, 8)


@pytest.mark.parametrize("text", ["8:1", "0:0", ":8", "1:", "1:8/", "1:8/0", "1:8/x", "1:8/100", "4/2"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_range(text)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0-3,8,10-14:2", (0, 1, 2, 3, 8, 10, 12, 14)), ("", ()), ("5\n", (5,)), ("0-1", (0, 1))],
)
def test_a_list_of_cpus_is_read_as_the_kernel_writes_it(text: str, cpus: tuple[int, ...]) -> None:
    assert units.parse_cpu_list(text) == cpus


@given(st.sets(st.integers(0, 500)))
def test_a_list_of_cpus_comes_back(cpus: set[int]) -> None:
    assert units.parse_cpu_list(units.format_cpu_list(tuple(cpus))) == tuple(sorted(cpus))


def test_a_list_of_cpus_is_written_in_shortest_runs() -> None:
    assert units.format_cpu_list((8, 0, 1, 2, 3)) == "0-3,8"


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (4096, "4 KiB"),
        (1.5 * 2**20, "1.5 MiB"),
        (999.7 * 1024, "1000 KiB"),
        (2**40, "1 TiB"),
        (5000 * 2**40, "5000 TiB"),
    ],
)
def test_a_size_is_written_in_powers_of_1024(size: float, text: str) -> None:
    assert units.format_size(size) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (42.13e9, "B/s", "42.1 GB/s"),
        (1.1e-7, "s", "110 ns"),
        (2.5e-9, "s", "2.50 ns"),
        (60, "s", "60.0 s"),
        (1234.4, "s", "1234 s"),
        (999.9e6, "B/s", "1.00 GB/s"),
        (1.84e11, "flop/s", "184 GFLOP/s"),
        (12.5, "flop/s", "12.5 FLOP/s"),
        (3.35e6, "1/s", "3.35 M/s"),
        (12.5, "1/s", "12.5 /s"),
        (2.6e9, "Hz", "2.60 GHz"),
        (0, "s", "0 s"),
        (float("nan"), "s", "nan s"),
        (1.234, "", "1.23"),
        (3e-6, "s", "3.00 µs"),
    ],
)
def test_a_quantity_is_written_with_three_digits_and_a_prefix(value: float, unit: str, text: str) -> None:
    assert units.format_quantity(value, unit) == text


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("204.8 GB/s", 204.8e9, "B/s"),
        ("85ns", 85e-9, "s"),
        ("1.2 TFLOP/s", 1.2e12, "flop/s"),
        ("3 Hz", 3, "Hz"),
        ("100 Gbit/s", 1e11, "bit/s"),
        ("5 ms", 0.005, "s"),
        ("3.35 M/s", 3.35e6, "1/s"),
        *((f"5 {prefix}s", 5 * factor, "s") for prefix, factor in SI.items()),
    ],
)
def test_a_quantity_is_read_in_si_base_units(text: str, value: float, unit: str) -> None:
    read, read_unit = units.parse_quantity(text)
    assert read == pytest.approx(value)
    assert read_unit == unit


PRINTED = {prefix: factor for prefix, factor in SI.items() if prefix != "p"} | {"P": 1e15}


@pytest.mark.parametrize(("prefix", "factor"), PRINTED.items())
def test_a_printed_unit_has_the_factor_of_its_prefix(prefix: str, factor: float) -> None:
    assert units.printed_unit(f"{prefix}FLOPS") == ("flop/s", factor)
    assert units.printed_unit(f"{prefix}B/s") == ("B/s", factor)


@pytest.mark.parametrize("text", ["204.8", "GB/s", "1 GiB/s", "1 parsec", "12 Mb"])
def test_what_is_no_quantity_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="quantity"):
        units.parse_quantity(text)


@pytest.mark.parametrize(
    ("number", "noun", "shown"),
    [
        (1, "core", "1 core"),
        (2, "core", "2 cores"),
        (0, "memory node", "0 memory nodes"),
        (1, "launch", "1 launch"),
        (3, "launch", "3 launches"),
        (2, "process", "2 processes"),
    ],
)
def test_one_is_singular_and_all_other_numbers_are_plural(number: int, noun: str, shown: str) -> None:
    assert units.count_of(number, noun) == shown


def test_a_unit_of_a_declaration_is_shown_with_the_prefixes_that_it_asks_for() -> None:
    metrics = (
        Metric("power", "joule/s", "lower", "", "energy over time"),
        Metric("rows", "row", "higher", "", "rows", prefix="none"),
        Metric("held", "octet", "higher", "", "memory", prefix="binary"),
    )
    assert units.format_quantity(3.2e9, "joule/s") == "3200000000 joule/s"
    keep(Declaration(name="shown", title="Shown", metrics=metrics))
    assert units.format_quantity(3.2e9, "joule/s") == "3.20 Gjoule/s"
    assert units.format_quantity(999.4, "joule/s") == "999 joule/s"
    assert units.format_quantity(3.2e9, "row") == "3200000000 row"
    assert units.format_quantity(3 * 2**30, "octet") == "3.00 Gioctet"


def test_what_is_printed_in_an_unknown_unit_gets_no_prefix() -> None:
    assert units.format_quantity(12345.0, "ns/day") == "12345 ns/day"


@pytest.mark.parametrize(
    ("seconds", "typed"),
    [
        (81.0, "90s"),
        (121.0, "3m"),
        (3600.0, "1h"),
        (5400.0, "90m"),
        (36000.0, "10h"),
        (36001.0, "11h"),
        (4320 * 60.0, "72h"),
    ],
)
def test_a_budget_is_typed_in_its_largest_whole_unit_and_is_no_shorter(seconds: float, typed: str) -> None:
    assert units.typed_duration(seconds) == typed
    assert units.parse_duration(typed) >= seconds
