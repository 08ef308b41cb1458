"""Large launches kept as columns: to the bit what was written, and nothing believed that was torn or damaged."""

import io
import shutil
import tarfile
import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulation import carry_on, described, simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.errors import UsageError
from assay.model.plan import Measure, Study
from assay.model.record import End, FigureOfMerit, Output, RecordError, Series, decode_record, encode_record
from assay.model.run import CaseRecords, LaunchRecords
from assay.model.samples import SampleTable, table_of
from assay.plan import Options
from assay.simulation import Fault, Law, SimulatedMachine
from assay.store import columns, directory
from assay.store.compact import checked, compacted
from assay.topics.interchange.exports import csv_ as tables

PAIRS = Study(
    "Pairs",
    "A question?",
    (Measure("pairs", ("one-core@all",), axes={"pattern": "bandwidth", "bytes": 1024}),),
    launches=2,
)
NODES = Options(hosts=("n1", "n2", "n3"), launches=2)
FILE = "samples.columns"

durations = st.one_of(
    st.floats(0, 1e300, allow_subnormal=True), st.integers(0, 10**15).map(lambda n: n / 1e9), st.just(-0.0)
)
moments = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 10**15).map(lambda n: n / 1e9)
)
ticks = st.integers(0, 2**50).map(lambda n: n / 1e9)


@st.composite
def series(draw: st.DrawFn, starts: st.SearchStrategy[float], seconds: st.SearchStrategy[float]) -> Series:
    samples = draw(st.lists(st.tuples(starts, seconds), max_size=6))
    return Series(
        draw(st.sampled_from(("copy", "triad"))),
        draw(st.integers(0, 2**40)),
        draw(st.sampled_from(("warmup", "measured"))),
        draw(st.integers(1, 2**62)),
        draw(st.sampled_from(("precision", "samples", "time", "steady"))),
        [start for start, _ in samples],
        [lasted for _, lasted in samples],
    )


def bits(values: object) -> list[int]:
    found: list[int] = np.asarray(values, dtype=np.float64).view(np.int64).tolist()
    return found


def through(written: list[Series]) -> tuple[SampleTable, list[float]]:
    """A table and its starts, written and read."""
    table = table_of(written)
    began = np.concatenate([np.zeros(0), *(np.asarray(each.start_s, dtype=np.float64) for each in written)])
    parts = columns.packed_head(columns.Head(np.arange(3), None), table), *columns.packed_samples(table, began)
    assert columns.head(parts[0]).ranks.tolist() == [0, 1, 2]
    return columns.table(*parts[:2]), columns.starts(*parts).tolist()


@given(st.lists(st.one_of(series(moments, durations), series(ticks, ticks)), max_size=5))
def test_samples_come_back_to_the_bit(written: list[Series]) -> None:
    read, starts = through(written)
    assert bits(read.seconds) == bits([each for one in written for each in one.seconds])
    assert bits(starts) == bits([each for one in written for each in one.start_s])
    assert [read.kernels[at] for at in read.kernel] == [each.kernel for each in written]
    for name in ("rank", "iterations"):
        assert getattr(read, name).tolist() == [getattr(each, name) for each in written]
    assert read.counts.tolist() == [len(each.seconds) for each in written]


@given(st.lists(series(ticks, ticks), min_size=1, max_size=5))
def test_samples_of_a_clock_that_counts_nanoseconds_are_kept_as_whole_numbers(written: list[Series]) -> None:
    table = table_of(written)
    began = np.concatenate([np.asarray(each.start_s, dtype=np.float64) for each in written])
    for part in columns.packed_samples(table, began):
        assert all(array.dtype.kind in "iu" or not array.size for array in columns.unpacked(part))


def test_a_part_is_a_stream_of_arrays_that_numpy_itself_reads() -> None:
    part = columns.packed(np.array([1, 300], dtype=np.int64), np.array([0.5]))
    stream = io.BytesIO(zlib.decompress(part))
    first, second = np.load(stream), np.load(stream)
    assert (first.dtype, first.tolist(), second.tolist()) == (np.dtype("uint16"), [1, 300], [0.5])


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_integers_of_64_bits_come_back(values: list[int]) -> None:
    array = np.array(values, dtype=np.int64)
    (read,) = columns.unpacked(columns.packed(array))
    assert (read.dtype, read.tolist()) == (np.dtype(np.int64), values)


def run_of(folder: Path, large: int, law: Law | None = None) -> Path:
    """A run of which every launch of `large` bytes or more is kept as columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(directory, "_LARGE", large)
        return simulated_run(folder, law, study=PAIRS, options=NODES)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("text"), 1 << 40)


@pytest.fixture(scope="module")
def compact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("compact"), 0)


@pytest.fixture
def run(compact: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(compact, tmp_path / "runs" / compact.name))


def cases(path: Path) -> Iterator[CaseRecords]:
    return (case for launch in store.load(path).launches for case in launch.cases)


def test_a_run_kept_as_columns_says_what_one_in_text_says(text: Path, compact: Path) -> None:
    assert not (text / FILE).exists()
    assert (compact / FILE).is_file()
    written, read = store.load(text), store.load(compact)
    assert [one.cases for one in read.launches] == [one.cases for one in written.launches]
    assert [one.unstarted for one in read.launches] == [one.unstarted for one in written.launches]
    assert list(tables.samples(read)) == list(tables.samples(written))
    first, second = (msgspec.structs.replace(analyse(each), run="") for each in (read, written))
    assert first == second


def test_counters_come_back(text: Path, compact: Path) -> None:
    for one, other in zip(cases(text), cases(compact), strict=True):
        assert (one.traffic is None) == (other.traffic is None)
        if one.traffic and other.traffic:
            assert list(other.traffic.hosts) == list(one.traffic.hosts)
            assert other.traffic.sent() == one.traffic.sent()
            assert len(other.traffic.hosts) == 3


def test_columns_hold_ranks_once_and_are_a_fraction_of_the_text(text: Path, compact: Path) -> None:
    headers = [case.header for case in cases(compact) if case.header.benchmark == "pairs"]
    assert all(header.ranks is headers[0].ranks for header in headers)
    sizes = [
        sum(file.stat().st_size for file in (each / "records.jsonl", each / FILE) if file.exists())
        for each in (text, compact)
    ]
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize("fault", ["crash", "wrong-result", "cannot-start", "uneven", "misplaced", "garbage"])
def test_a_launch_that_fails_reads_the_same_as_columns(tmp_path: Path, fault: str) -> None:
    law = Law(faults=(Fault(fault, "round=1", starts=(0,)),))  # type: ignore[arg-type]
    one, other = (store.load(run_of(tmp_path / str(large), large, law)) for large in (0, 1 << 40))
    assert [(each.cases, each.unstarted) for each in one.launches] == [
        (each.cases, each.unstarted) for each in other.launches
    ]


def test_a_run_of_columns_goes_on_where_it_stopped(run: Path) -> None:
    whole, plan = [one.cases for one in store.load(run).launches], store.load(run).plan
    lines = (run / "records.jsonl").read_bytes().splitlines(keepends=True)
    (run / "records.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    content = (run / FILE).read_bytes()
    with store.reopen(run) as opened:
        kept = opened.run.launches
        assert 0 < len(kept) < len(plan.order)
        size = (run / FILE).stat().st_size
        assert content == (run / FILE).read_bytes() + (run / "logs" / "torn-1.columns").read_bytes()
        assert 0 < size < len(content)
    carry_on(store.reopen(run), plan, SimulatedMachine(described().topology, None, plan.hosts))
    after = store.load(run)
    assert [one.cases for one in after.launches[: len(kept)]] == whole[: len(kept)]
    assert after.damage == ()
    assert sorted(one.launch.id for one in after.launches) == sorted(launch.id for launch in plan.order)


def test_the_file_torn_at_any_byte_costs_only_the_launches_behind_it(run: Path) -> None:
    content, before = (run / FILE).read_bytes(), store.load(run).launches
    ends = [0]
    for size in sorted({0, 1, len(content) - 1, *range(0, len(content), max(1, len(content) // 40))}):
        (run / FILE).write_bytes(content[:size])
        loaded = store.load(run)
        assert len(loaded.launches) < len(before)
        assert loaded.launches == before[: len(loaded.launches)]
        *lost, broken = loaded.damage
        assert "chain of records" in broken
        assert len(lost) == len(before) - len(loaded.launches)
        assert all(FILE in sentence for sentence in lost)
        ends.append(len(loaded.launches))
    assert ends == sorted(ends)
    (run / FILE).unlink()
    assert store.load(run).launches == ()


def test_a_byte_that_changed_costs_its_launch_and_no_other(run: Path) -> None:
    content, before = bytearray((run / FILE).read_bytes()), store.load(run).launches
    for at in range(0, len(content), max(1, len(content) // 40)):
        content[at] ^= 0x20
        (run / FILE).write_bytes(content)
        loaded = store.load(run)
        content[at] ^= 0x20
        assert len(loaded.launches) == len(before) - 1
        assert [one for one in before if one in loaded.launches] == list(loaded.launches)
        assert "not as they were written" in loaded.damage[0]


def test_damaged_columns_are_listed_and_made_whole_by_resuming(run: Path) -> None:
    content, plan = bytearray((run / FILE).read_bytes()), store.load(run).plan
    content[len(content) // 2] ^= 1
    (run / FILE).write_bytes(content)
    assert [one.status for one in store.listing(run.parent)] == ["damaged"]
    carry_on(store.reopen(run), plan, SimulatedMachine(described().topology, None, plan.hosts))
    assert store.load(run).chain.broken
    assert [one.status for one in store.listing(run.parent)] == ["complete"]


def test_columns_are_packed_with_the_run(run: Path, tmp_path: Path) -> None:
    store.pack(run, tmp_path / "sent.tar.xz")
    with tarfile.open(tmp_path / "sent.tar.xz") as opened:
        assert f"{run.name}/{FILE}" in opened.getnames()
    assert msgspec.structs.replace(store.load(tmp_path / "sent.tar.xz"), path=str(run)) == store.load(run)


def test_columns_of_a_newer_form_are_refused_not_taken_for_damage(run: Path) -> None:
    records = (run / "records.jsonl").read_bytes()
    (run / "records.jsonl").write_bytes(records.replace(b'"form":2', b'"form":99', 1))
    with pytest.raises(UsageError, match="newer Assay"):
        store.load(run)


def test_columns_of_an_earlier_form_are_refused_with_the_version_that_reads_them(run: Path) -> None:
    records = (run / "records.jsonl").read_bytes()
    (run / "records.jsonl").write_bytes(records.replace(b'"form":2', b'"form":1', 1))
    with pytest.raises(UsageError, match="does not read") as refused:
        store.load(run)
    info = msgspec.json.decode((run / "run.json").read_bytes())
    assert f"install Assay {info['assay']} " in refused.value.remedy
    assert refused.value.remedy.endswith(f"assay run {info['study']}")


def test_a_number_beyond_64_bits_leaves_the_launch_in_text(compact: Path) -> None:
    launch = store.load(compact).launches[-1]
    own = launch.cases[0]
    (first, *_) = own.series
    vast = msgspec.structs.replace(first, iterations=2**70)
    beyond: LaunchRecords = msgspec.structs.replace(
        launch, cases=(msgspec.structs.replace(own, series=(vast,)), *launch.cases[1:])
    )
    assert compacted(beyond, 0) is None


def test_figures_of_whole_solutions_stay_with_their_case(compact: Path) -> None:
    launch = store.load(compact).launches[-1]
    figure = FigureOfMerit("rate", "flop/s", 1e9, 2.0, {"factor": 1.5})
    own = msgspec.structs.replace(launch.cases[0], figures=(figure,))
    made = compacted(msgspec.structs.replace(launch, cases=(own, *launch.cases[1:])), 0)
    assert made
    assert made.records.cases[0] == own
    assert figure in [decode_record(line) for line in made.lines]


def test_what_a_foreign_program_wrote_is_kept_as_it_is(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "_LARGE", 0)
    launch, size = store.load(run).launches[-1], (run / FILE).stat().st_size
    case = launch.cases[0]
    lines = [encode_record(record) for record in (case.header, Output("Tflops: 1"), End("complete"))]
    with store.reopen(run) as opened:
        opened.keep(lines, msgspec.structs.replace(launch, cases=(case,)))
    assert (run / FILE).stat().st_size == size
    assert b"".join(line + b"\n" for line in lines) in (run / "records.jsonl").read_bytes()


def test_what_is_not_in_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"few")
    with (tmp_path / FILE).open("rb") as file, pytest.raises(RecordError, match="ends at byte 3"):
        checked(file.fileno(), 0, 4, 0)


def test_series_of_a_large_launch_are_a_sequence_like_any_other(compact: Path) -> None:
    case = next(each for each in cases(compact) if each.header.benchmark == "pairs")
    series = list(case.series)
    assert (case.series[0], case.series[-1], case.series[1:3]) == (series[0], series[-1], series[1:3])
    assert isinstance(series[0].seconds, array)
    assert case.series == tuple(series)
    assert case.series != tuple(series[1:])
