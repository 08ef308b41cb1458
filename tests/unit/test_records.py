"""Records: what no clock can have said is refused, and nothing changes on the way through a file."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.bracket import Bracket, Handover
from assay.model.record import (
    End,
    Header,
    RecordError,
    Series,
    decode_program_record,
    decode_record,
    encode_record,
)
from assay.model.transport import Transport

durations = st.lists(st.floats(min_value=0, max_value=1e6, allow_nan=False), max_size=20)


@given(durations)
def test_samples_come_back_bit_for_bit(seconds: list[float]) -> None:
    series = Series("triad", 0, "measured", 3, "time", seconds, seconds)
    assert decode_record(encode_record(series)) == series


@pytest.mark.parametrize(
    ("seconds", "start", "iterations"),
    [
        ([-1e-9], [0.0], 1),
        ([math.inf], [0.0], 1),
        ([math.nan], [0.0], 1),
        ([1.0], [0.0, 1.0], 1),
        ([1.0], [0.0], 0),
    ],
)
def test_what_no_clock_can_have_said_is_refused(seconds: list[float], start: list[float], iterations: int) -> None:
    with pytest.raises(ValueError, match=r"duration|differ|iteration"):
        Series("triad", 0, "measured", iterations, "time", start, seconds)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_duration_that_is_not_finite_is_refused_in_a_file(word: str) -> None:
    line = (
        '{"type":"series","kernel":"copy","rank":0,"phase":"measured","iterations":1,"stop":"time",'
        f'"start_s":[0],"seconds":[{word}]}}'
    )
    with pytest.raises(RecordError):
        decode_record(line)


def test_the_cause_of_a_failure_is_a_name_that_is_known() -> None:
    line = '{"type":"end","status":"failed","reason":"no answer","cause":"connection-lost"}'
    assert decode_program_record(line) == End("failed", "no answer", "connection-lost")
    with pytest.raises(RecordError):
        decode_program_record(line.replace("connection", "patience"))


@pytest.mark.parametrize(
    "line", ["", "{", "null", '{"type":"end"}', b"\xff\xfe", '{"type":"end","status":"complete"']
)
def test_a_torn_line_is_no_record(line: str | bytes) -> None:
    with pytest.raises(RecordError) as caught:
        decode_record(line)
    assert caught.value.why


def test_a_program_may_not_write_the_record_of_the_engine() -> None:
    with pytest.raises(RecordError):
        decode_program_record('{"type":"launch","id":"000-00"}')
    assert decode_program_record('{"type":"end","status":"complete"}') == End("complete")


def test_a_field_of_a_later_version_does_not_make_a_record_unreadable() -> None:
    assert decode_record('{"type":"end","status":"complete","energy_j":3.5}') == End("complete")


def bracket(before: float, after: float, foreign: float = 0.0) -> Bracket:
    first, second = (Handover((0, 1), 1000, [1000 * seconds]) for seconds in (before, after))
    return Bracket(first, second, elapsed_s=1, steal=0, foreign=foreign, involuntary_switches=0, load=0)


def test_a_launch_during_which_the_cores_moved_apart_is_disturbed() -> None:
    """Two states of a virtual machine: hand-over 23-33 ns near, 120-130 ns far."""
    assert bracket(23e-9, 33e-9).disturbance == ""
    assert bracket(120e-9, 130e-9).disturbance == ""
    assert "x4.80" in bracket(25e-9, 120e-9).disturbance
    assert "x0.21" in bracket(120e-9, 25e-9).disturbance


def test_a_launch_beside_which_others_worked_is_disturbed() -> None:
    assert bracket(25e-9, 25e-9, foreign=0.04).disturbance == ""
    assert "6 %" in bracket(25e-9, 25e-9, foreign=0.06).disturbance


def test_without_a_probe_only_others_can_disturb() -> None:
    assert Bracket(None, None, 1, 0, 0.01, 0, 0).disturbance == ""
    assert Bracket(None, None, 1, 0, 0.5, 0, 0).disturbance


@pytest.mark.parametrize(
    ("seconds", "median"), [([3.0], 3.0), ([4.0, 1.0, 2.0], 2.0), ([4.0, 1.0, 2.0, 3.0], 2.5)]
)
def test_the_probe_is_its_median_per_hand_over(seconds: list[float], median: float) -> None:
    assert Handover((0, 1), 10, seconds).median_s == pytest.approx(median / 10)


def test_a_header_keeps_whole_numbers_whole() -> None:
    header = (
        '{"type":"header","schema":1,"benchmark":"b","case":"c","params":{"elements":10000000,"stores":"ordinary"},'
        '"work":{"triad":{"bytes":240000000}},"build":{},"clock":{"name":"c","resolution_s":1e-9,"overhead_s":2e-8},'
        '"ranks":[]}'
    )
    record = decode_record(header)
    assert isinstance(record, Header)
    assert repr(record.params["elements"]) == "10000000"


def test_what_passes_messages_has_typed_parts_however_old_the_record() -> None:
    header = (
        '{"type":"header","schema":1,"benchmark":"b","case":"c","params":{},"work":{},"build":{},'
        '"clock":{"name":"c","resolution_s":1e-9,"overhead_s":2e-8},"ranks":[],"mpi":%s}'
    )

    def transport(words: str) -> Transport:
        record = decode_record(header % words)
        assert isinstance(record, Header)
        assert words in encode_record(record).decode()  # as it stood
        return record.mpi

    variables = {"OMPI_MCA_btl": "tcp,self"}
    assert transport('{"library":"Open MPI v4.1.4","threads":"single","OMPI_MCA_btl":"tcp,self"}') == Transport(
        "Open MPI v4.1.4", threads="single", variables=variables
    )
    assert transport('{"way":"0-3 1-2","segment":"1448"}') == Transport(pairs=((0, 3), (1, 2)), segment_bytes=1448)
    assert transport('{"way":"127.0.0.1 -> 127.0.0.1"}') == Transport(addresses="127.0.0.1 -> 127.0.0.1")
    assert transport("{}") == Transport()
