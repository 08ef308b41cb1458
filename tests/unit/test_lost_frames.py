"""Frames that the way loses: found by the lengths that break and hold, confirmed by shorter segments."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import confirm, simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.record import End
from assay.model.result import Finding
from assay.model.run import Run
from assay.plan import Options
from assay.simulation import Fault, Law

MACHINE = "pack:1 numa:1(memory=8GB) l3:1(size=8MB) l2:2(size=512kB) l1:1(size=32kB) core:1 pu:1"
HOSTS = Options(hosts=("n1", "n2"))
#: Both ends take 9000 B, a port between them 1500 B.
BLACK_HOLE = Law(frames=(9000, 0.0), longest_frame=1500)
SIZES = tuple(2**power for power in range(0, 23, 2))


def run_of(folder: Path, law: Law, pattern: str, **axes: tuple[int, ...]) -> Path:
    measure = Measure("tcp", ("pair:other-node",), axes={"pattern": pattern, "bytes": SIZES, **axes})
    study = Study("Messages", "Do they pass?", (measure,), launches=3)
    return simulated_run(folder, law, description=MACHINE, study=study, options=HOSTS)


def findings(run: Run) -> list[Finding]:
    return [each for each in analyse(run).findings if each.rule == "lost_frames"]


def findings_of(path: Path) -> list[Finding]:
    return findings(store.load(path))


@pytest.mark.parametrize(
    ("pattern", "broke", "held"), [("latency", "4 KiB", "1 KiB"), ("bandwidth", "64 B", "16 B")]
)
def test_long_messages_that_break_where_short_ones_pass_are_confirmed_in_shorter_segments(
    tmp_path: Path, pattern: str, broke: str, held: str
) -> None:
    path = run_of(tmp_path, BLACK_HOLE, pattern)
    (asked,) = findings_of(path)
    assert (asked.severity, asked.status) == ("advice", "candidate")
    assert f"from {broke}, in segments of 8,948 B); up to {held} they held." in asked.claim
    assert asked.rivals[0] == "a process that ended, or did not run for 20 s"
    assert asked.next.endswith(" --confirm  # shows whether the same messages pass in shorter frames")
    confirm(path, BLACK_HOLE, MACHINE)
    (found,) = findings_of(path)
    assert (found.severity, found.status, found.rivals) == ("problem", "confirmed", ())
    assert "with segments of 1,220 B the same messages pass: the path loses longer frames" in found.claim
    assert "`ip link set DEVICE mtu 1500`" in found.next


def test_what_breaks_in_shorter_frames_too_is_left_open(tmp_path: Path) -> None:
    path = run_of(tmp_path, BLACK_HOLE, "latency")
    confirm(path, Law(frames=(9000, 0.0), longest_frame=1000), MACHINE)
    (found,) = findings_of(path)
    assert found.status == "candidate"
    assert "no block has all the figures that it needs" in found.claim


def test_shorter_segments_of_the_same_run_are_what_held(tmp_path: Path) -> None:
    path = run_of(tmp_path, BLACK_HOLE, "latency", segment=(1460, 0))
    (found,) = findings_of(path)
    assert "with segments of 1,460 B they held" in found.claim


def ended_otherwise(run: Run, **changes: str) -> Run:
    """The run with other words or another cause of every failure."""

    def changed(end: End | None) -> End | None:
        return msgspec.structs.replace(end, **changes) if end and end.status == "failed" else end

    launches = tuple(
        msgspec.structs.replace(
            launch, cases=tuple(msgspec.structs.replace(each, end=changed(each.end)) for each in launch.cases)
        )
        for launch in run.launches
    )
    return msgspec.structs.replace(run, launches=launches)


def test_the_cause_is_a_name_of_the_record_and_not_read_from_its_words(tmp_path: Path) -> None:
    run = store.load(run_of(tmp_path, BLACK_HOLE, "latency"))
    (expected,) = findings(run)
    (found,) = findings(ended_otherwise(run, reason="das Netz fehlt"))
    assert found == expected
    assert findings(ended_otherwise(run, cause="")) == []


@pytest.mark.parametrize(
    "law",
    [
        Law(frames=(9000, 0.0)),
        Law(frames=(9000, 0.0), longest_frame=9000),
        Law(frames=(1500, 0.0), longest_frame=1500),
        Law(frames=(9000, 0.0), longest_frame=40),  # nothing passes: no length tells
        Law(faults=(Fault("wrong-result", "bytes=4096"),)),
    ],
)
def test_ways_that_lose_nothing_by_its_length_are_not_accused(tmp_path: Path, law: Law) -> None:
    assert findings_of(run_of(tmp_path, law, "latency")) == []
