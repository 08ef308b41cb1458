"""Tables of messages in OSU's form, read back as programs read OSU's own."""

from typing import Any

import msgspec
import pytest

from assay.catalogue import benchmarks
from assay.model.declaration import keep
from assay.model.measurand import Measurand
from assay.model.noise import Noise
from assay.model.placed import Placed
from assay.model.quantity import Quantity
from assay.model.result import RESULT_SCHEMA, Analysis, Estimate
from assay.topics.messages.formats import osu

QUIET = Noise(None, None, None, None, None, {}, 0, 0)
#: The defaults of pt2pt's axes.
PLAIN = {axis.name: axis.default for axis in benchmarks.get("pt2pt").axes if axis.default is not None}


def estimate(metric: str, unit: str, median: float, **params: Any) -> Estimate:  # noqa: ANN401 (values of axes)
    return Estimate(
        id=f"{metric}/{params}",
        case="c",
        benchmark="pt2pt",
        declaration=keep(benchmarks.get("pt2pt").declaration),
        kernel="message",
        metric=metric,
        unit=unit,
        better="lower",
        measurand=Measurand(program="pt2pt", version="1", kernel="message", metric=metric),
        params=PLAIN | params,
        placement=Placed("one-core@2", ("hpc01", "hpc02"), ((0,), (0,)), "first-touch", None),
        factors={},
        state=None,
        value=Quantity(median, median, median, unit, "range"),
        min=median,
        max=median,
        p99=median,
        launches=3,
        samples=30,
        stop="precision",
        precision=None,
        steady=True,
        modes=(),
        limit=None,
        status="complete",
        reason=None,
    )


def tables(*estimates: Estimate) -> list[str]:
    analysis = Analysis(RESULT_SCHEMA, "r", "network", "complete", estimates, (), (), (), (), QUIET)
    return list(osu.tables(analysis))


def rows(lines: list[str]) -> list[list[str]]:
    return [line.split() for line in lines if line and not line.startswith("#")]


def test_a_published_latency_stands_as_osu_printed_it() -> None:
    published = {0: 1.61, 8: 1.63, 2048: 5.69, 4194304: 1246.21}  # the DIY club's InfiniBand QDR, in us
    made = [estimate("latency", "s", us * 1e-6, pattern="latency", bytes=size) for size, us in published.items()]
    lines = tables(*made)
    assert lines[0].startswith("# OSU MPI Latency Test")
    assert lines[2].split() == ["#", "Size", "Latency", "(us)"]
    assert rows(lines) == [["0", "1.61"], ["8", "1.63"], ["2048", "5.69"], ["4194304", "1246.21"]]


def test_short_times_keep_three_digits_where_osu_prints_two() -> None:
    lines = tables(estimate("latency", "s", 0.2634e-6, pattern="latency", bytes=8))
    assert rows(lines) == [["8", "0.263"]]


def test_one_pair_has_one_column_and_many_pairs_have_their_rate_beside() -> None:
    one = [
        estimate("bandwidth", "B/s", 3402.54e6, pattern="bandwidth", bytes=4194304),
        estimate("message-rate", "1/s", 811.2, pattern="bandwidth", bytes=4194304),
    ]
    many = [msgspec.structs.replace(each, params=each.params | {"pattern": "multi-bandwidth"}) for each in one]
    assert rows(tables(*one)) == [["4194304", "3402.54"]]
    lines = tables(*many)
    assert lines[2].split() == ["#", "Size", "MB/s", "Messages/s"]
    assert rows(lines) == [["4194304", "3402.54", "811.20"]]


def test_what_is_not_osus_default_stands_in_the_comment() -> None:
    lines = tables(estimate("latency", "s", 1e-6, pattern="latency", bytes=8, buffers="cold"))
    assert "buffers=cold" in lines[1]
    assert "one-core@2 on hpc01 hpc02" in lines[1]


def test_the_offset_is_part_of_the_size() -> None:
    lines = tables(*(estimate("latency", "s", 1e-6, pattern="latency", bytes=64, offset=by) for by in (-3, 0, 3)))
    assert [row[0] for row in rows(lines)] == ["61", "64", "67"]
    assert sum(line.startswith("# Size") for line in lines) == 1


def test_a_figure_that_is_missing_is_no_number() -> None:
    both = estimate("bandwidth", "B/s", 1e9, pattern="multi-bandwidth", bytes=8)
    rate = estimate("message-rate", "1/s", 1e6, pattern="multi-bandwidth", bytes=16)
    assert rows(tables(both, rate)) == [["8", "1000.00", "nan"], ["16", "nan", "1000000.00"]]


@pytest.mark.parametrize("name", ["stream", "latency"])
def test_what_passes_no_messages_has_no_table(name: str) -> None:
    declaration = keep(benchmarks.get(name).declaration)
    one = msgspec.structs.replace(estimate("latency", "s", 1e-6), benchmark=name, declaration=declaration)
    assert tables(one) == []
