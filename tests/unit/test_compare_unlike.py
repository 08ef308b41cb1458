"""Imports without equal figures: the figures that are compared, and the axes in which they differ."""

import pytest
from tests.unit.test_import_found import LATENCY, STREAM

from assay import importing, store
from assay.analyse import examine
from assay.compare.curves import of_messages
from assay.compare.runs import NothingInCommonError, between
from assay.importing import Text
from assay.model.run import Run


@pytest.fixture(autouse=True)
def _runs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path_factory.mktemp("runs")))


def imported(text: str) -> Run:
    return store.load(store.save_import(importing.read("", [Text.of("out.txt", text.encode())]), ["assay"]))


def axes(run: Run, base: Run) -> dict[str, tuple[str, str]]:
    return {each.name: (each.a, each.b) for each in between(run, base).differences if each.kind == "part"}


def test_two_streams_of_other_threads_are_compared_and_the_axis_is_named() -> None:
    few, many = (
        imported(f"Number of Threads counted = {threads}\n{STREAM.replace('26500.0', rate)}")
        for threads, rate in ((32, "13250.0"), (64, "26500.0"))
    )
    assert axes(many, few) == {"threads per rank": ("64", "32")}
    ratios = {pair.a.kernel: pair.comparison.value.value for pair in between(many, few).pairs}
    assert ratios["triad"] == pytest.approx(2.0)
    assert {pair.comparison.verdict for pair in between(many, few).pairs} == {"inconclusive"}
    assert axes(many, many) == {}


def test_two_systems_of_other_orders_are_compared_and_the_axes_are_named() -> None:
    small, large = (imported(f"WR11C2R4 {n} {nb} 4 6 16.40 4.0e+02\n") for n, nb in ((10000, 192), (20000, 256)))
    assert axes(large, small) == {"n": ("20000", "10000"), "nb": ("256", "192")}


def test_of_a_publication_the_figure_counts_that_is_most_like_an_import() -> None:
    published = store.load(store.find("epyc-7601"))
    compared = between(imported(f"Number of Threads counted = 64\n{STREAM}"), published)
    assert [pair.a.kernel for pair in compared.pairs] == ["triad"]
    assert not [each for each in compared.differences if each.kind == "part"]
    silent = {name for each in compared.differences if each.kind == "unstated" for name in each.name.split(", ")}
    assert {"threads per rank", "share of cores", "stores"} <= silent


def test_what_one_source_alone_says_is_named() -> None:
    """Buffers are on the host if a source states nothing."""
    device, host = (imported(f"$ mpirun -np 2 ./osu_latency {ends}\n{LATENCY}8 2.5\n") for ends in ("D D", "H H"))
    assert axes(device, host) == {
        "sent-from": ("device", "not stated"),
        "received-on": ("device", "not stated"),
    }


def test_every_repeat_has_its_ratio() -> None:
    slow, fast = (imported(f"{LATENCY}8 {first}\n{LATENCY}8 {second}\n") for first, second in ((4, 6), (2, 2)))
    ratios = {pair.a.params["repeat"]: pair.comparison.value.value for pair in between(slow, fast).pairs}
    assert ratios == {1: pytest.approx(2.0), 2: pytest.approx(3.0)}


def test_tables_are_named_by_file_line_and_program() -> None:
    run = imported(f"{LATENCY}8 1.5\n16 2\n{LATENCY}8 1.5\n16 2\n")
    found = of_messages(examine(run))
    assert [each.curve.factors["table"] for each in found] == [
        "out.txt:3 OSU Micro-Benchmarks",
        "out.txt:7 OSU Micro-Benchmarks",
    ]


def test_messages_of_other_sizes_are_not_laid_beside_each_other() -> None:
    with pytest.raises(NothingInCommonError):
        between(imported(f"{LATENCY}8 1.5\n"), imported(f"{LATENCY}16 1.5\n"))


@pytest.mark.parametrize("names", [("leo", "sci"), ("vtpcc", "cs-pccluster2"), ("hpcdiy-qdr", "hpcdiy-gbe")])
def test_the_order_of_two_publications_does_not_decide_what_is_compared(names: tuple[str, str]) -> None:
    one, other = (store.load(store.find(name)) for name in names)
    forth, back = between(one, other), between(other, one)
    assert forth.pairs
    assert {(pair.a.id, pair.b.id) for pair in forth.pairs} == {(pair.b.id, pair.a.id) for pair in back.pairs}
