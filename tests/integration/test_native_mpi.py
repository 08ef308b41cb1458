"""Ranks that measure together: they are counted, placed, end together, and prove what they carried."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.mpi_ranks import KINDS, OF_MPICH, build_with, command, cpus, environment, launcher, mpi, path, run
from tests.native_programs import LIMIT_S, start, valid_records

from assay.catalogue import benchmarks
from assay.model.record import End, Header
from assay.model.toolchain import Build
from assay.model.traffic import Traffic

pytestmark = [pytest.mark.native, pytest.mark.parametrize("built", KINDS, indirect=True)]

QUICK = ("--seconds", "0.05", "--max-samples", "12")


@pytest.fixture
def built(request: pytest.FixtureRequest) -> Build:
    return build_with(request.param)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each.name, marks=() if each.name in OF_MPICH else pytest.mark.long)
        for each in map(benchmarks.get, benchmarks.names())
        if each.launcher == "mpi" and not each.foreign
    ],
)
def test_a_program_is_the_same_with_every_mpi(built: Build, name: str) -> None:
    one, other = (
        subprocess.run([path(build, name), "--describe"], capture_output=True, check=True).stdout
        for build in (built, build_with(KINDS[0]))
    )
    assert one == other


def test_each_rank_is_found_where_it_was_asked_to_be(built: Build) -> None:
    result = run(built, "pt2pt", 2, *QUICK)
    assert result.exit_code == 0, result.words
    ranks = result.header.ranks
    assert [rank.rank for rank in ranks] == [0, 1]
    assert [list(rank.cpus) for rank in ranks] == [[cpu] for cpu in cpus(2)]
    assert all(rank.cpus == rank.requested_cpus and rank.page_nodes for rank in ranks)
    assert {rank.host for rank in ranks} == {os.uname().nodename}


def test_a_program_moves_away_from_where_its_launcher_had_bound_it(built: Build) -> None:
    asked = cpus(2)[::-1]
    words = [launcher(built), "-n", "2", built.programs["pt2pt"], "--cpus", "/".join(map(str, asked))]
    result = start(*words, *QUICK, environment=environment())
    assert [list(rank.cpus) for rank in result.header.ranks] == [[cpu] for cpu in asked]
    assert result.ends == [End("complete")]


def test_the_header_names_the_library_and_what_of_the_environment_changes_its_ways(built: Build) -> None:
    words = command(built, "pt2pt", 2, *QUICK)
    secret = {"UCX_TLS": "posix,self", "UCX_SOME_TOKEN": "hidden"}
    result = start(*words, environment={**environment(), **secret})
    assert mpi(built).version.split(".")[0] in result.header.mpi.library
    assert result.header.mpi.threads in {"single", "funneled"}
    assert result.header.mpi.standard >= "3.1"
    assert result.header.mpi.variables["UCX_TLS"] == "posix,self"
    assert "hidden" not in str(result.records)


def test_what_was_carried_stands_between_the_samples_and_the_verdict(built: Build) -> None:
    result = run(built, "pt2pt", 2, *QUICK, "--bytes", "1000", "--calls", "blocking")
    assert [type(record).__name__ for record in result.records] == [
        *("Header", "Series", "Series", "Traffic", "Verdict", "End")
    ]
    traffic = next(record for record in result.records if isinstance(record, Traffic))
    sampled = sum(2 * 1000 * series.iterations * len(series.seconds) for series in result.series)
    assert traffic.payload >= sampled
    assert traffic.seconds > 0
    (host,) = traffic.hosts
    assert host.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert "lo" in host.interfaces


@pytest.mark.parametrize("expected", [1, 3])
def test_another_number_of_ranks_than_expected_ends_before_anything_is_measured(
    built: Build, expected: int
) -> None:
    words = [launcher(built), "-n", "2", built.programs["pt2pt"], "--expect-ranks", str(expected)]
    result = start(*words, "--case", "a", "--case", "b", environment=environment())
    assert result.exit_code == 4
    assert [end.status for end in result.ends] == ["failed", "failed"]
    assert not any(isinstance(record, Header) for record in result.records)
    assert result.words.count("expected, 2 are here") == 1


def test_a_launcher_of_another_mpi_is_found_out(built: Build) -> None:
    other = build_with(next(kind for kind in KINDS if kind != mpi(built).kind))
    words = [launcher(other), "-n", "2", built.programs["pt2pt"], "--expect-ranks", "2"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S, env=environment())
    assert done.returncode == 4, done.stderr
    assert "2 ranks were expected, 1 is here" in done.stderr
    assert "the launcher does not belong to this program's MPI" in done.stderr
    assert all(isinstance(record, End) for record in valid_records(done.stdout))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--colour", "red"), "'--colour' is not known"),
        (("--pattern", "circle"), "known: latency"),
        (("--cpus", "0/0/0"), "--cpus names those of 3 ranks, 2 are here"),
        (("--expect-ranks", "none"), "is no value of --expect-ranks"),
    ],
)
def test_what_is_not_understood_is_said_once(built: Build, arguments: tuple[str, ...], words: str) -> None:
    result = start(launcher(built), "-n", "2", built.programs["pt2pt"], *arguments, environment=environment())
    assert result.exit_code == 2
    assert result.words.count(words) == 1
    assert result.words.count("\n  next: ") == 1


def test_what_fails_on_one_rank_ends_the_case_on_all_and_the_next_one_runs(built: Build) -> None:
    cases = ("--case", "vast", "--bytes", "100T", "--case", "small", "--bytes", "1")
    result = run(built, "pt2pt", 2, *QUICK, *cases)
    assert result.exit_code == 4
    assert [end.status for end in result.ends] == ["failed", "complete"]
    assert "more memory than may be used" in result.ends[0].reason
    assert "(rank 0 on " in result.ends[0].reason


def test_a_cpu_that_one_rank_may_not_use_is_refused_by_all(built: Build) -> None:
    absent = max(int(entry.name[3:]) for entry in Path("/sys/devices/system/cpu").glob("cpu[0-9]*")) + 1
    words = [launcher(built), "-n", "2", built.programs["pt2pt"], "--cpus", f"{cpus(1)[0]}/{absent}"]
    result = start(*words, environment=environment())
    assert result.exit_code == 2
    assert f"cpu {absent} cannot be used" in result.words
    assert "(rank 1 on " in result.words


def test_a_killed_rank_ends_the_launch(built: Build) -> None:
    endless = ("--seconds", "50", "--precision", "1e-9", "--max-samples", "1M", "--bytes", "1M")
    words = command(built, "pt2pt", 2, *endless)
    launch = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(), start_new_session=True
    )
    try:
        ranks = measuring(built.programs["pt2pt"], launch.pid, 2)
        os.kill(ranks[-1], signal.SIGKILL)
        assert launch.wait(LIMIT_S) != 0
        assert not any(Path(f"/proc/{rank}").exists() and alive(rank) for rank in ranks)
    finally:
        if launch.poll() is None:
            os.killpg(launch.pid, signal.SIGKILL)
            launch.wait(LIMIT_S)


def measuring(program: str, ancestor: int, ranks: int) -> list[int]:
    """Processes of a program below another one, once there are so many and each has been busy for a second.

    That is longer than MPI takes to start, and ranks wait for each other busily: so they are in the middle of it.
    Before MPI has started, a killed rank may leave Open MPI's launcher waiting for it for ever.
    """
    deadline = time.monotonic() + LIMIT_S
    found: list[int] = []
    while time.monotonic() < deadline:
        found = [pid for pid in descendants(ancestor) if executable(pid) == os.path.realpath(program)]
        if len(found) == ranks and all(busy_s(pid) >= 1 for pid in found):
            return found
        time.sleep(0.2)
    raise AssertionError(found)


def busy_s(pid: int) -> float:
    """Processor time that a process has used, seconds; none once it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descendants(ancestor: int) -> list[int]:
    """Ids of all processes below one."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(folder.name))
    below = list(children.get(ancestor, []))
    for pid in below:
        below.extend(children.get(pid, []))
    return below


def executable(pid: int) -> str:
    """Path of what a process runs; empty once it is gone."""
    try:
        return str(Path(f"/proc/{pid}/exe").readlink())
    except OSError:
        return ""


def alive(pid: int) -> bool:
    """Whether a process still runs, and is not just waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False
