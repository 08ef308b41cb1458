"""Run directories keep what was measured, whatever happens to them."""

import json
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from tests.simulation import begin, carry_on, described, plan_for, simulated_run

from assay import machine, store
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.plan import Measure, Study
from assay.model.record import Header, Launch, decode_record
from assay.model.run import Ending, Shortfall
from assay.simulation import SimulatedMachine

SMALL = Study(
    "Small", "A question?", (Measure("stream", ("one-core", "all"), axes={"elements": 1000}),), launches=2
)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_run(tmp_path_factory.mktemp("runs"), study=SMALL)


@pytest.fixture
def run(measured: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(measured, tmp_path / "runs" / measured.name))


def lines(run: Path) -> list[bytes]:
    return (run / "records.jsonl").read_bytes().splitlines()


def spoil(run: Path, number: int, line: bytes) -> None:
    """Replace a line, counted from 0."""
    content = lines(run)
    content[number] = line
    (run / "records.jsonl").write_bytes(b"\n".join([*content, b""]))


def launch_lines(run: Path) -> list[int]:
    return [number for number, line in enumerate(lines(run)) if isinstance(decode_record(line), Launch)]


def ids(run: Path) -> list[str]:
    return [records.launch.id for records in store.load(run).launches]


def lost(run: Path) -> tuple[str, ...]:
    """Damage besides the broken chain of the records, which tests/unit/test_chain.py holds."""
    return tuple(each for each in store.load(run).damage if "chain of records" not in each)


def test_what_headers_share_is_held_once_and_nothing_is_mixed_up(run: Path) -> None:
    written = [record for line in lines(run) if isinstance(record := decode_record(line), Header)]
    read = [case.header for launch in store.load(run).launches for case in launch.cases]
    assert read == written
    first, again = (header for header in read if header.case == read[1].case)
    assert first.params is again.params
    assert first.ranks is again.ranks


def test_a_run_is_read_as_it_was_written(run: Path) -> None:
    loaded = store.load(run)
    assert loaded.plan == plan_for(study=SMALL)
    assert loaded.info.command == ("assay", "run", "test")
    assert ids(run) == [launch.id for launch in loaded.plan.order]
    assert loaded.damage == ()
    assert loaded.ending is not None
    assert loaded.ending.status == "complete"


@pytest.mark.parametrize("keep", [1, 20], ids=["in its first byte", "in its middle"])
def test_a_torn_last_line_is_told_and_the_launches_before_it_stand(run: Path, keep: int) -> None:
    whole = (run / "records.jsonl").read_bytes()
    begin_of_last = whole.rfind(b"\n", 0, -1) + 1
    (run / "records.jsonl").write_bytes(whole[: begin_of_last + keep])
    loaded = store.load(run)
    assert len(loaded.launches) == len(loaded.plan.order) - 1
    assert len(lost(run)) == 1
    assert "torn off" in loaded.damage[0]


@pytest.mark.parametrize("harm", ["twice", "of another run"])
def test_a_launch_that_stands_twice_or_is_of_another_run_is_named_and_does_not_count(run: Path, harm: str) -> None:
    content, before = lines(run), store.load(run)
    first, second = launch_lines(run)[:2]
    added = content[first + 1 : second + 1]
    if harm == "of another run":
        added[-1] = added[-1].replace(b'"id":"', b'"id":"9', 1)
    (run / "records.jsonl").write_bytes(b"\n".join([*content, *added, b""]))
    after = store.load(run)
    assert ids(run) == [records.launch.id for records in before.launches]
    assert after.chain.broken
    (damage,) = lost(run)
    assert "counts as not made" in damage
    assert ("stands in the records already" if harm == "twice" else "another run") in damage
    with store.reopen(run):
        assert store.load(run).damage == ()
    assert len(list((run / "logs").glob("torn-*.jsonl"))) == 1


def test_reopening_moves_a_torn_tail_aside_and_keeps_every_byte(run: Path) -> None:
    whole = (run / "records.jsonl").read_bytes()
    torn = whole[:-25]
    (run / "records.jsonl").write_bytes(torn)
    store.reopen(run).close()
    kept = (run / "records.jsonl").read_bytes()
    assert kept + (run / "logs" / "torn-1.jsonl").read_bytes() == torn
    assert isinstance(decode_record(kept.splitlines()[-1]), Launch)
    assert store.load(run).damage == ()


def test_a_second_torn_tail_does_not_replace_the_first(run: Path) -> None:
    for _ in range(2):
        with (run / "records.jsonl").open("ab") as file:
            file.write(b'{"type":"ver')
        store.reopen(run).close()
    assert sorted(path.name for path in (run / "logs").glob("torn-*")) == ["torn-1.jsonl", "torn-2.jsonl"]


def test_a_corrupt_line_of_samples_costs_its_launch_and_no_other(run: Path) -> None:
    before = ids(run)
    second = launch_lines(run)[0] + 3
    spoil(run, second, b'{"type":"series","kernel":"tri\x00\xff')
    loaded = store.load(run)
    assert ids(run) == [before[0], *before[2:]]
    assert len(lost(run)) == 1
    assert before[1] in loaded.damage[0]
    assert f"line {second + 1}" in loaded.damage[0]


def test_a_corrupt_launch_record_costs_its_launch_and_no_other(run: Path) -> None:
    before = ids(run)
    spoil(run, launch_lines(run)[1], b"nothing of the kind")
    assert ids(run) == [before[0], *before[2:]]
    assert len(lost(run)) == 1


@pytest.mark.parametrize("harm", ["a line of samples", "a launch record", "every record"])
def test_a_run_that_lost_launches_is_listed_as_damaged_and_made_whole_by_resuming(run: Path, harm: str) -> None:
    plan = store.load(run).plan
    if harm == "every record":
        (run / "records.jsonl").write_bytes(b"")
    else:
        spoil(run, launch_lines(run)[2] - (harm == "a line of samples"), b"\x00\rnothing of the kind")
    (listed,) = store.listing(run.parent)
    assert listed.status == "damaged"
    assert listed.launches < listed.planned
    assert carry_on(store.reopen(run), plan, SimulatedMachine(described().topology)).status == "complete"
    whole = store.load(run)
    assert sorted(ids(run)) == sorted(launch.id for launch in plan.order)
    assert lost(run) == ()
    assert bool(whole.chain.broken) == (harm != "every record")
    assert [one.status for one in store.listing(run.parent)] == ["complete"]


def test_reopening_moves_a_line_that_cannot_be_read_aside_with_its_launch_and_keeps_every_byte(run: Path) -> None:
    first, second = launch_lines(run)[:2]
    spoil(run, second - 1, b"nothing of the kind")
    spoilt = (run / "records.jsonl").read_bytes().splitlines(keepends=True)
    store.reopen(run).close()
    assert (run / "logs" / "torn-1.jsonl").read_bytes() == b"".join(spoilt[first + 1 : second + 1])
    assert (run / "records.jsonl").read_bytes() == b"".join(spoilt[: first + 1] + spoilt[second + 1 :])


@pytest.mark.parametrize("name", ["run.json", "plan.json"])
def test_a_file_of_a_newer_schema_is_refused(run: Path, name: str) -> None:
    document = json.loads((run / name).read_text())
    (run / name).write_text(json.dumps(document | {"schema": 99, "news": True}))
    with pytest.raises(UsageError, match="newer Assay") as refused:
        store.load(run)
    assert "git pull && make run" in refused.value.remedy


def test_records_of_a_newer_schema_are_refused_not_taken_for_damage(run: Path) -> None:
    header = json.loads(lines(run)[0])
    spoil(run, 0, json.dumps(header | {"schema": 99, "clock": "sundial"}).encode())
    with pytest.raises(UsageError, match="newer Assay"):
        store.load(run)


def test_a_broken_json_file_is_named(run: Path) -> None:
    (run / "plan.json").write_text('{"schema": 1, ')
    with pytest.raises(UsageError, match=r"plan\.json"):
        store.load(run)


def test_a_run_is_found_by_id_by_unique_prefix_by_path_and_as_the_last(run: Path) -> None:
    folder = run.parent
    assert store.find(run.name, folder) == run
    assert store.find(run.name[:12], folder) == run
    assert store.find(str(run), folder) == run
    assert store.find("last", folder) == run


def test_the_last_run_is_the_one_that_began_last_even_within_a_second(run: Path) -> None:
    folder = run.parent
    info = json.loads((run / "run.json").read_text())
    stamp = info["id"][:15]
    for tail, started in (("aa", "2026-01-01T00:00:00.300"), ("zz", "2026-01-01T00:00:00.200")):
        (folder / f"{stamp}-{tail}").mkdir()
        (folder / f"{stamp}-{tail}" / "run.json").write_text(json.dumps(info | {"started": started}))
    (run / "run.json").write_text(json.dumps(info | {"started": "2026-01-01T00:00:00.100"}))
    assert store.find("last", folder).name.endswith("aa")


def test_an_ambiguous_prefix_lists_what_it_fits(run: Path) -> None:
    other = run.with_name(run.name + "x")
    shutil.copytree(run, other)
    with pytest.raises(UsageError, match="fits 2 runs") as refused:
        store.find(run.name[:10], run.parent)
    assert run.name in refused.value.why
    assert other.name in refused.value.why
    assert store.find(run.name, run.parent) == run


def test_an_unknown_run_is_answered_with_those_that_exist(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run 'nope'") as refused:
        store.find("nope", run.parent)
    assert run.name in refused.value.why
    with pytest.raises(UsageError, match="no run in"):
        store.find("last", tmp_path / "nowhere")


def test_a_directory_that_never_became_a_run_is_no_run(run: Path) -> None:
    (run.parent / "99991231-000000-quick-0000").mkdir()
    assert store.find("last", run.parent) == run
    assert [one.id for one in store.listing(run.parent)] == [run.name]


_HOLD = "import sys; from assay import store; d = store.reopen(__import__('pathlib').Path(sys.argv[1]));"


def test_two_processes_cannot_measure_into_one_directory(run: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD + "print('held', flush=True); sys.stdin.read()", str(run)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(UnfitEnvironmentError, match="being measured already") as refused:
            store.reopen(run)
        assert f"process {holder.pid} on" in refused.value.why
    finally:
        holder.communicate()
    store.reopen(run).close()


_FILL = """
import resource, signal, sys
from pathlib import Path
from assay import machine, store
from assay.model.errors import AssayError
path = Path(sys.argv[1])
run = store.load(path)
size = (path / "records.jsonl").stat().st_size
directory = store.reopen(path)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1000, size + 1000))
try:
    directory.append([b"x" * 500] * 100, run.launches[0].launch)
except AssayError as error:
    print(error.exit_code, error.what)
"""


def test_a_full_disk_is_told_and_what_was_measured_is_kept(run: Path) -> None:
    before = (run / "records.jsonl").read_bytes()
    filled = subprocess.run([sys.executable, "-c", _FILL, str(run)], capture_output=True, text=True, check=True)
    assert filled.stdout.startswith("4 no space left to write")
    assert (run / "records.jsonl").read_bytes() == before


def test_a_folder_that_cannot_be_written_is_told_with_the_way_out(tmp_path: Path) -> None:
    # A file in the way: unlike a read-only folder it also stops a root user.
    (tmp_path / "runs").write_text("")
    with pytest.raises(UnfitEnvironmentError, match="cannot write") as refused:
        begin(tmp_path / "runs", plan_for(study=SMALL))
    assert "--runs" in refused.value.remedy


def test_a_read_only_folder_is_told() -> None:
    # The kernel's own tree takes no directories, not even from root.
    with pytest.raises(UnfitEnvironmentError, match="cannot write"):
        begin(Path("/sys/kernel"), plan_for(study=SMALL))


def test_a_run_that_cannot_begin_leaves_no_directory_behind(tmp_path: Path) -> None:
    plan = plan_for(study=SMALL)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(UnfitEnvironmentError, match="no space left"):
            begin(tmp_path / "runs", plan)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)
    assert list((tmp_path / "runs").iterdir()) == []


def test_the_listing_is_what_the_directories_say(run: Path) -> None:
    (one,) = store.listing(run.parent)
    plan = store.load(run).plan
    assert (one.id, one.study, one.status) == (run.name, "test", "complete")
    assert (one.launches, one.planned) == (len(plan.order), len(plan.order))


@pytest.mark.parametrize("harm", ["deleted", "corrupt", "another table"])
def test_the_index_is_rebuilt_from_the_directories(run: Path, harm: str) -> None:
    expected = store.listing(run.parent)
    index = run.parent / "index.sqlite"
    index.unlink()
    if harm == "corrupt":
        index.write_bytes(b"no database at all" * 100)
    if harm == "another table":
        with sqlite3.connect(index) as database:
            database.execute("CREATE TABLE runs (id TEXT, of_another TEXT)")
        database.close()
    assert store.listing(run.parent) == expected
    assert store.listing(run.parent) == expected


def test_the_index_sees_changes_and_vanished_runs(run: Path) -> None:
    assert [one.status for one in store.listing(run.parent)] == ["complete"]
    (run / "ending.json").unlink()
    assert [one.status for one in store.listing(run.parent)] == ["unfinished"]
    shutil.rmtree(run)
    assert store.listing(run.parent) == ()


def test_a_run_that_cannot_be_read_is_listed_with_the_reason(run: Path) -> None:
    (run / "plan.json").unlink()
    (one,) = store.listing(run.parent)
    assert "plan.json" in one.status


def test_an_ending_is_replaced_whole(run: Path) -> None:
    cut = Shortfall("budget", "the budget of 12 s was used up", 1, 6)
    ending = Ending("cut", "2026-11-20T00:00:00+00:00", 12.5, {"stream": cut})
    with store.reopen(run) as directory:
        assert not (run / "ending.json").exists()
        directory.end(ending)
    assert store.load(run).ending == msgspec.structs.replace(ending, chain=store.load(run).chain.last)
    (run / "ending.json").write_text(
        '{"status":"cut","ended":"","elapsed_s":1.0,"cut":{"a":"1 of 6 launches: the budget of 12 s was used up",'
        '"b":"not measured: interrupted"}}'
    )
    assert store.load(run).ending == Ending(
        "cut",
        "",
        1.0,
        {
            "a": cut,
            "b": Shortfall("interrupted", "interrupted"),
        },
    )
    assert [path.name for path in run.iterdir() if path.name.startswith(".")] == []


def test_a_synthetic_machines_name_makes_a_file_name(tmp_path: Path) -> None:
    described = machine.synthetic("pack:1 core:2 pu:1")
    directory = store.create(plan_for(study=SMALL), {described.host: (described, "")}, {}, ("assay",), tmp_path)
    directory.close()
    assert list(store.load(directory.path).machines) == ["pack:1 core:2 pu:1"]


def test_only_variables_that_can_change_results_are_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_SCHEDULE", "static")
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    directory = begin(tmp_path, plan_for(study=SMALL))
    directory.close()
    assert directory.info.environment.get("OMP_SCHEDULE") == "static"
    assert b"hidden" not in msgspec.json.encode(directory.info)
