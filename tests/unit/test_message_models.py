"""Models of messages: the laws of simulated links are what is found, with their intervals."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.simulation import simulated_run
from tests.unit.published_messages import GBE

from assay import store
from assay.analyse import analyse
from assay.model.law import Unfitted
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Analysis
from assay.plan import Options
from assay.simulation import Law, Link
from assay.topics.messages import pairs

HOSTS = Options(hosts=("n1", "n2"))
EIGHT = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:8(size=1MB) l1:1(size=32kB) core:1 pu:1"
SIZES = tuple(2**power for power in range(23))
LINK = Link(2e-6, 1e9, 3e9, duplex=1.6, gap_s=3e-7, eager_bytes=8192, rendezvous_s=3e-6)
WINDOWS = ("bandwidth", "bidirectional")


def analysis(
    folder: Path, *measures: Measure, link: Link = LINK, tcp: tuple[float, float] = (8.0, 2.0)
) -> Analysis:
    law = Law(links={"host": link, "core": link, "l3": link}, tcp=tcp)
    study = Study("Messages", "How fast?", measures, launches=6)
    return analyse(store.load(simulated_run(folder, law, description=EIGHT, study=study, options=HOSTS)))


def models(found: Analysis, law: str, *marks: str) -> list[Any]:
    return [each for each in found.models if each.law == law and all(mark in each.id for mark in marks)]


def about(figure: Quantity, value: float, rel: float = 0.01) -> bool:
    """Whether the figure is near, and its interval holds it."""
    middle, low, high = figure
    return low <= middle <= high and middle == pytest.approx(value, rel=rel)


@pytest.fixture(scope="module")
def between(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    patterns = ("latency", *WINDOWS)
    return analysis(
        tmp_path_factory.mktemp("between"),
        Measure("pt2pt", ("pair:other-node",), axes={"pattern": patterns, "bytes": SIZES}),
        Measure("tcp", ("pair:other-node",), axes={"pattern": ("latency", "bandwidth"), "bytes": SIZES}),
    )


def test_latency_rate_and_the_eager_limit_are_those_of_the_link(between: Analysis) -> None:
    (model,) = models(between, "message-law", "/pt2pt/", "pattern=latency")
    assert about(model.start, 2e-6)
    assert about(model.start_measured, 2e-6)
    assert about(model.rate, 1e9)
    assert about(model.half_rate_size, 2e3, 0.02)
    assert about(model.half_rate_size_measured, 2e3, 0.03)
    size = model.pieces[0].end.size
    assert (size.lo, size.hi) == (8192, 16384)
    assert about(model.pieces[0].end.factor, (5e-6 + 16384e-9) / (2e-6 + 16384e-9), 0.02)
    assert about(model.pieces[1].start, 5e-6, 0.03)
    assert [piece.end for piece in model.pieces[1:]] == [None]
    assert model.residual is not None
    assert model.residual < 0.02
    assert [point.at["piece"] for point in model.points] == [1] * 14 + [2] * 9


def test_windows_have_a_gap_and_the_saturation_of_their_curve(between: Analysis) -> None:
    (model,) = models(between, "message-law", "/pt2pt/", "pattern=bandwidth")
    assert about(model.start, 3e-7 + 2e-6 / 64, 0.02)
    assert about(model.rate, 1e9)
    assert model.saturation.value == 8192  # 19 x 331 ns x 1 GB/s = 6.3 kB


def test_both_directions_are_held_against_one(between: Analysis) -> None:
    (model,) = models(between, "duplex")
    assert about(model.long_messages, 1.6)
    assert len(model.points) == len(SIZES)


def test_mpi_is_held_against_sockets_size_by_size(between: Analysis) -> None:
    (latency,) = models(between, "mpi-over", "/tcp/", "pattern=latency")
    assert about(latency.smallest_size, 8)
    assert about(latency.long_messages, 2, 0.02)
    (windows,) = models(between, "mpi-over", "/tcp/", "pattern=bandwidth")
    assert about(windows.long_messages, 2)
    assert windows.least.value == min(point.value.value for point in windows.points)
    assert {point.at["blocks"] for point in windows.points} == {6}


def test_mpi_is_held_against_sockets_that_poll_as_it_does_and_blocking_ones_only_without_them(
    tmp_path: Path,
) -> None:
    sizes = (64, 1024, 65536)
    mpi = Measure("pt2pt", ("pair:other-node",), axes={"pattern": "latency", "bytes": sizes})

    def waiting(*ways: str) -> Measure:
        return Measure("tcp", ("pair:other-node",), axes={"pattern": "latency", "waiting": ways, "bytes": sizes})

    for ways, expected in ((("blocking", "polling"), "polling"), (("polling",), "polling"), (("blocking",), "")):
        found = analysis(tmp_path / "-".join(ways), mpi, waiting(*ways))
        (model,) = models(found, "mpi-over", "/tcp/")
        known = {each.id: each for each in found.estimates}
        bases = [known[name].params["waiting"] for name in model.of if known[name].benchmark == "tcp"]
        assert bases == [expected or "blocking"] * len(sizes)


def test_mpi_inside_a_node_is_held_against_copies(tmp_path: Path) -> None:
    found = analysis(
        tmp_path,
        Measure("pt2pt", ("pair",), axes={"pattern": "bandwidth", "bytes": (2**16, 2**20)}),
        Measure("memcpy", ("one-core",), axes={"buffers": "hot", "bytes": (2**16, 2**20)}),
    )
    (model,) = models(found, "mpi-over", "/memcpy/")
    assert not isinstance(model, Unfitted)
    every = [each for each in found.estimates if each.benchmark == "memcpy" and each.unit == "B/s"]
    copied = next(each.median for each in every if each.params["bytes"] == 2**20)
    assert copied
    assert about(model.long_messages, 1e9 / copied, 0.02)


def test_a_curve_with_too_few_sizes_says_so(tmp_path: Path) -> None:
    found = analysis(tmp_path, Measure("pt2pt", ("pair:other-node",), axes={"bytes": (8, 64, 4096)}))
    (model,) = models(found, "message-law")
    assert model.reason == "3 sizes: the model needs 4"
    assert isinstance(model, Unfitted)


@pytest.mark.parametrize("pattern", ["multi-bandwidth", "multi-latency"])
def test_many_pairs_fill_the_node(tmp_path: Path, pattern: str) -> None:
    axes = {"pattern": pattern, "bytes": (8, 65536, 2**20)}
    link = dataclasses.replace(LINK, eager_bytes=2**62)
    found = analysis(tmp_path, Measure("pt2pt", ("spread:*@2",), axes=axes), link=link)  # type: ignore[arg-type]
    (model,) = models(found, "max-rate")
    assert about(model.one_pair, 1e9, 0.02)
    assert about(model.each_further_pair, 1e9, 0.03)
    assert about(model.node, 3e9, 0.02)
    assert about(model.pairs_that_fill, 3, 0.05)
    assert {point.at["pairs"] for point in model.points} == set(range(1, 9))


def test_pairs_that_never_fill_the_node_have_no_rate_of_it() -> None:
    k, sizes = np.array([1.0, 2, 4, 1, 2, 4]), np.repeat([1e3, 1e6], 3)
    times = (1e-6 + k * sizes / (1e9 + (k - 1) * 5e8))[None, :]
    numbers, start, found = pairs.by_number(k, sizes, times)
    law = pairs.law_of(numbers, start, found, pairs.below(numbers, found[0]))
    assert (start[0], law.one[0], law.further[0]) == pytest.approx((1e-6, 1e9, 5e8))
    assert np.isinf(law.node[0])
    assert pairs.rates(k, law)[0] == pytest.approx(1e9 + (k - 1) * 5e8)


def test_one_pair_that_fills_the_node_leaves_nothing_to_further_ones() -> None:
    k, sizes = np.array([1.0, 2, 4, 1, 2, 4]), np.repeat([1e3, 1e6], 3)
    times = (1e-6 + k * sizes / 1e9)[None, :]
    numbers, start, found = pairs.by_number(k, sizes, times)
    law = pairs.law_of(numbers, start, found, pairs.below(numbers, found[0]))
    assert law.node[0] == pytest.approx(1e9)
    assert pairs.rates(k, law)[0] == pytest.approx(np.full(6, 1e9))


def test_the_pieces_of_the_published_curve_are_no_accident_of_one_size() -> None:
    """Its last size left out, the switch stays where it was."""
    from assay.topics.messages import pieces, scatter  # noqa: PLC0415

    sizes, times = GBE[0][:-1], GBE[1][:-1]
    cut = pieces.edges(sizes, times, scatter.weighed(sizes, times))
    assert any(sizes[at - 1] <= 2048 <= sizes[at] for at in cut[1:-1])
