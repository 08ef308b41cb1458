"""NetPIPE whole: curves without their odd sizes, what odd sizes cost, maxima, and shares at large sizes."""

from collections.abc import Iterator, Mapping

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.law_evidence import known, measured, placed
from tests.unit.test_import_tools import tables
from tests.unit.test_like import _PAIR

from assay import store
from assay.analyse import analyse
from assay.analyse.estimates import Measured
from assay.analyse.messages import curves
from assay.catalogue import benchmarks
from assay.model import roles
from assay.model.law import Model
from assay.model.result import Analysis
from assay.model.run import Run
from assay.plan import Options
from assay.report import section
from assay.simulation import Law, Link
from assay.topics.messages import maxima
from assay.topics.messages.models import copy_share, message_law, size_offset
from assay.topics.messages.sections import one_message

SIZES = tuple(2**power for power in range(2, 24))
START_S, RATE = 2e-6, 1e9
#: Odd sizes cost 10 %, and at 4 KiB half as much again.
COST, WORST, WORST_AT = 1.1, 1.5, 4096
PAIR = placed("pair", 0, 1)


class Planned:
    """A plan that has declarations only."""

    declarations = tuple(benchmarks.get(name).declaration for name in ("pt2pt", "tcp", "memcpy"))


def message(size: int, offset: int, factor: float) -> Measured:
    seconds = factor * (START_S + (size + offset) / RATE)
    values = [seconds * (1 + 1e-4 * at) for at in range(6)]
    return measured("pt2pt", "message", "latency", values, PAIR, pattern="latency", bytes=size, offset=offset)


def times(offsets: Mapping[int, float]) -> Iterator[Measured]:
    for offset, factor in offsets.items():
        for size in SIZES:
            worst = offset and size == WORST_AT
            yield message(size, offset, WORST if worst else factor)


def fitted(model: object, figures: list[Measured]) -> list[Model]:
    return list(model.fit(known(figures, plan=Planned)))  # type: ignore[attr-defined]


def test_a_law_has_no_odd_sizes_and_is_the_same_with_them_and_without() -> None:
    plain = list(times({0: 1.0}))
    (alone,) = fitted(message_law, plain)
    (law,) = fitted(message_law, [*plain, *times({-3: 1.4, 3: 0.7})])
    assert law == alone
    assert len(law.of) == len(SIZES)
    # d ln T / d ln s = s / (s + 2000) is .95 at 38,000 B.
    assert law.saturation.value == 2**16  # type: ignore[attr-defined]


def test_odd_sizes_cost_what_was_planted_and_their_own_bytes_cost_nothing() -> None:
    (nothing,) = fitted(size_offset, list(times({0: 1.0, -3: 1.0, 3: 1.0}))[: len(SIZES) * 3])
    free = [point.value.value for point in nothing.points if point.at["bytes"] != WORST_AT]
    assert free == pytest.approx([1.0] * len(free), abs=1e-5)
    (law,) = fitted(size_offset, list(times({0: 1.0, -3: COST, 3: COST})))
    assert isinstance(law, size_offset.SizeOffset)
    sizes = [point.at["bytes"] for point in law.points]
    assert sizes == [size for size in SIZES if size >= 24], "4 B and 7 B are other messages"
    assert law.most_at == WORST_AT
    assert law.most.value == pytest.approx(WORST, rel=1e-5)
    assert law.mean.value == pytest.approx(COST * (WORST / COST) ** (1 / len(sizes)), rel=1e-5)
    assert law.mean.lo <= law.mean.value <= law.mean.hi
    assert law.mean.has_interval


def test_sizes_with_one_neighbour_only_have_no_cost() -> None:
    assert not fitted(size_offset, list(times({0: 1.0, 3: COST})))


def test_messages_inside_a_node_are_a_share_of_cold_copies_not_of_hot_ones() -> None:
    copies = [
        measured("memcpy", "memcpy", "bandwidth", [rate] * 6, placed("one-core", 0), bytes=size, buffers=name)
        for name, rate in (("hot", 9e10), ("cold", 4e9))
        for size in SIZES
    ]
    (law,) = fitted(copy_share, [*times({0: 1.0}), *copies])
    assert isinstance(law, copy_share.CopyShare)
    assert law.buffers == "cold"
    assert law.long_messages.value == pytest.approx(RATE / 4e9, rel=0.01)


@pytest.fixture(scope="module")
def two_nodes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Analysis]:
    """Two nodes of two sockets like those of the source, whose link has 1 Gbit/s."""
    links = {"host": Link(50e-6, 112e6, 112e6), "package": Link(2e-6, 3e9, 6e9)}
    path = simulated_run(
        tmp_path_factory.mktemp("runs"),
        Law(links=links),
        description=_PAIR.replace("512MB", "1GB"),
        study="netpipe",
        options=Options(hosts=("n1", "n2"), launches=6),
    )
    run = store.load(path)
    return run, analyse(run)


def test_the_sheet_has_maxima_shares_and_costs(two_nodes: tuple[Run, Analysis]) -> None:
    sheet = one_message.declared
    tables = {table.short or table.caption: table for table in sheet.tables(*two_nodes)}
    largest, odd, shares = tables.values()
    programs = [row[0] for row in largest.rows]
    assert programs == ["memcpy, hot", "memcpy, cold", "MPI", "TCP", "MPI", "TCP"], "inside a node, then between"
    by_mpi = float(largest.rows[4][2])
    assert by_mpi == pytest.approx(8 * 112, rel=0.05)
    assert {row[0] for row in odd.rows} == {"memcpy, hot", "memcpy, cold", "MPI", "TCP"}
    assert [row[:2] for row in shares.rows] == [
        ("MPI", "TCP"),
        ("MPI", "TCP"),
        ("MPI", "memcpy, cold"),
        ("TCP", "memcpy, cold"),
    ]
    assert all(row[5].startswith("[") for row in shares.rows), "each has an interval"


def test_the_page_says_the_shares_in_words(two_nodes: tuple[Run, Analysis]) -> None:
    found = one_message.declared.section(*two_nodes)
    assert isinstance(found, section.Section)
    assert "times the rate of TCP" in found.meaning[0]
    assert "times the rate of memcpy, cold" in found.meaning[0]


def test_curves_have_no_odd_sizes(two_nodes: tuple[Run, Analysis]) -> None:
    _, analysis = two_nodes
    laws = [model for model in analysis.models if model.law == "message-law"]
    assert laws
    odd = {each.id for each in analysis.estimates if each.params.get(curves.OFFSET)}
    assert odd
    assert not any(odd & set(law.of) for law in laws)


def test_odd_messages_of_a_simulated_network_cost_nothing(two_nodes: tuple[Run, Analysis]) -> None:
    _, analysis = two_nodes
    found = [each for each in analysis.models if isinstance(each, size_offset.SizeOffset)]
    of_messages = [each for each in found if not each.id.startswith("size-offset/memcpy")]
    assert len(of_messages) == 4
    assert all(0.99 < each.mean.lo <= each.mean.hi < 1.01 for each in of_messages)


def test_odd_sizes_of_an_imported_output_are_no_points_of_its_curve_and_have_a_cost() -> None:
    rows = ["$ mpirun -np 2 -H a,b ./NPmpi"]
    sizes = [1, 2, 3, 4, 6, 8, 12] + [
        odd for size in (16, 24, 32, 48, 64, 96, 128) for odd in (size - 3, size, size + 3)
    ]
    for number, size in enumerate(sizes):
        micros = (30 + size / 100) * (1 if size in {16, 24, 32, 48, 64, 96, 128} else 1.2)
        rows.append(
            f"{number:3d}: {size:7d} bytes    100 times --> {8 * size / micros:9.4f} Mbps in {micros:10.4f} usec"
        )
    (table,) = tables("netpipe", "\n".join(rows))
    plain = {int(each.params["bytes"]) for each in table.figures if not each.params.get("offset")}
    assert plain == {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128}
    odd = [(each.params["bytes"], each.params["offset"]) for each in table.figures if each.params.get("offset")]
    assert sorted(set(odd)) == sorted((size, offset) for size in plain if size >= 16 for offset in (-3, 3))


def test_a_curve_of_small_messages_has_no_largest_rate() -> None:
    small, whole = (
        tuple(
            msgspec.structs.replace(each.estimate, metric="rate", unit="B/s", better="higher")
            for each in times({0: 1.0})
            if roles.size(each.estimate) <= most
        )
        for most in (2**8, 2**20)
    )
    assert not list(maxima.rows(small, ()))
    assert len(list(maxima.rows(whole, ()))) == 1


def test_copies_without_messages_have_no_largest_rate_of_a_message(two_nodes: tuple[Run, Analysis]) -> None:
    _, analysis = two_nodes
    copies = tuple(each for each in analysis.estimates if each.benchmark == "memcpy" and each.value)
    messages = tuple(each for each in analysis.estimates if each.benchmark == "pt2pt" and each.value)
    assert list(maxima.rows(messages, copies))
    assert copies
    assert not list(maxima.rows((), copies))
