"""Records are chained by hashes: nobody edits, moves, adds or removes one unseen."""

import json
import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from tests.simulation import begin, carry_on, described, plan_for
from tests.unit.test_predictions import expected

from assay import store
from assay.cli import assay
from assay.model.errors import PartialRunError
from assay.model.plan import Measure, Plan, Study
from assay.model.record import FigureOfMerit, Launch, Prediction, Series, decode_record, encode_record
from assay.model.run import Run
from assay.simulation import SimulatedMachine
from assay.store.chain import reseal

SMALL = Study(
    "Small", "A question?", (Measure("stream", ("one-core", "all"), axes={"elements": (1000, 2000)}),), launches=3
)


def _without(plan: Plan, late: set[str]) -> Plan:
    """The launches of the first block without the late cases."""
    order = tuple(
        msgspec.structs.replace(each, cases=tuple(case for case in each.cases if case not in late))
        for each in plan.order
        if not each.block
    )
    return msgspec.structs.replace(plan, order=tuple(each for each in order if each.cases))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which two cases are predicted after the first launches, resumed in between."""
    plan = plan_for(study=SMALL)
    late = [case.id for case in plan.studied][-2:]
    late_launches = tuple(each for each in plan.order if each.block or not set(late) & set(each.cases))
    whole = msgspec.structs.replace(plan, order=late_launches)
    directory = begin(tmp_path_factory.mktemp("runs"), whole)
    carry_on(directory, _without(whole, set(late)), SimulatedMachine(described().topology))
    with store.reopen(directory.path) as again:
        for case in late:
            again.predict(expected(case))
    carry_on(store.reopen(directory.path), whole, SimulatedMachine(described().topology))
    return directory.path


@pytest.fixture
def run(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(measured, tmp_path / "runs" / measured.name))


def lines(run: Path) -> list[bytes]:
    return (run / "records.jsonl").read_bytes().splitlines()


def write(run: Path, content: list[bytes]) -> Run:
    (run / "records.jsonl").write_bytes(b"".join(line + b"\n" for line in content))
    return store.load(run)


def test_a_resumed_run_is_chained_from_its_first_record_to_its_ending(run: Path) -> None:
    loaded = store.load(run)
    records = [decode_record(line) for line in lines(run)]
    stated = [each.chain for each in records if isinstance(each, Launch | Prediction)]
    first = next(at for at, each in enumerate(records, 1) if isinstance(each, Launch))
    assert loaded.damage == ()
    assert len(loaded.predictions) == 2
    assert len(set(stated)) == len(stated) == len(loaded.launches) + 2
    assert loaded.chain.last == stated[-1]
    assert loaded.ending is not None
    assert loaded.ending.chain == stated[-1]
    assert (loaded.chain.broken, loaded.chain.since) == (0, first)


def _predictions(content: list[bytes]) -> list[tuple[int, bytes]]:
    return [(at, line) for at, line in enumerate(content) if isinstance(decode_record(line), Prediction)]


def _edited(content: list[bytes], random: np.random.Generator) -> list[bytes]:
    """Records with one random edit, as somebody makes it who knows the format but forgets the chain."""
    predicted = [at for at, line in enumerate(content) if isinstance(decode_record(line), Prediction)]
    commits = [at for at, line in enumerate(content) if isinstance(decode_record(line), Launch | Prediction)]
    made, at = list(content), int(random.choice(predicted))
    record = decode_record(content[at])
    assert isinstance(record, Prediction)
    match int(random.integers(7)):
        case 0:  # a missed prediction becomes one that held
            factor = float(random.uniform(0.2, 0.999))
            ends = {"value": record.value * factor, "lo": record.lo * factor, "hi": record.hi * factor}
            made[at] = encode_record(msgspec.structs.replace(record, **ends))
        case 1:  # an interval becomes wide enough
            made[at] = encode_record(msgspec.structs.replace(record, hi=record.hi * random.uniform(1.001, 9)))
        case 2:  # it was about another case
            other = decode_record(content[next(each for each in predicted if each != at)])
            assert isinstance(other, Prediction)
            made[at] = encode_record(msgspec.structs.replace(record, of=other.of + "x"))
        case 3:  # it was never made
            del made[at]
        case 4:  # it was made earlier, or later
            made.pop(at)
            made.insert(int(random.choice([each for each in commits if each != at])), content[at])
            if made == content:
                made.pop()
        case 5:  # there was one more
            made.insert(at, encode_record(msgspec.structs.replace(record, metric="traffic")))
        case _:  # the figure was another one
            series = [n for n, line in enumerate(content) if isinstance(decode_record(line), Series)]
            place = int(random.choice(series))
            one = decode_record(content[place])
            assert isinstance(one, Series)
            changed = [each * float(random.uniform(1.01, 1.5)) for each in one.seconds]
            made[place] = encode_record(msgspec.structs.replace(one, seconds=changed))
    return made


def test_an_edited_prediction_is_found_in_100_of_100(run: Path) -> None:
    content, found = lines(run), 0
    for seed in range(100):
        edited = _edited(content, np.random.default_rng(seed))
        assert edited != content
        loaded = write(run, edited)
        edits_figure = _predictions(edited) == _predictions(content)
        same = (one == other for one, other in zip(content, edited, strict=False))
        first = next((at for at, equal in enumerate(same, 1) if not equal), len(edited) + 1)
        named = any(f"broken at line {loaded.chain.broken}" in each for each in loaded.damage)
        # Predictions whose figures all stand before an edited figure count; of edited predictions none does.
        found += loaded.chain.broken >= first and named and (edits_figure or loaded.predictions == ())
    assert found == 100


def test_the_last_records_cannot_be_cut_off_an_ended_run(run: Path) -> None:
    content = lines(run)
    commits = [at for at, line in enumerate(content) if isinstance(decode_record(line), Launch)]
    loaded = write(run, content[: commits[-2] + 1])
    assert loaded.chain.broken == commits[-2] + 2
    assert loaded.predictions == ()


def test_hashes_taken_out_of_all_records_are_missed(run: Path) -> None:
    bare = []
    for line in lines(run):
        record = decode_record(line)
        chained = isinstance(record, Launch | Prediction)
        bare.append(encode_record(msgspec.structs.replace(record, chain="")) if chained else line)
    assert write(run, bare).chain.broken


def _of_an_earlier_version(run: Path) -> None:
    content = []
    for line in lines(run):
        record = decode_record(line)
        head, _, _ = line.rpartition(b',"chain":')
        content.append(head + b"}" if isinstance(record, Launch | Prediction) else line)
    (run / "records.jsonl").write_bytes(b"".join(line + b"\n" for line in content))
    for name, key in (("run.json", "chained"), ("ending.json", "chain")):
        document = json.loads((run / name).read_text())
        document.pop(key)
        (run / name).write_text(json.dumps(document))


def test_a_run_of_an_earlier_version_is_read_and_not_chained(run: Path) -> None:
    before = store.load(run)
    _of_an_earlier_version(run)
    loaded = store.load(run)
    assert loaded.damage == ()
    assert loaded.predictions == before.predictions
    assert (loaded.chain.last, loaded.chain.since, loaded.chain.broken) == ("", 0, 0)
    error = CliRunner().invoke(assay, ["check", str(run)], standalone_mode=False).exception
    assert isinstance(error, PartialRunError), "nobody can tell whether its records were edited"
    assert error.exit_code == 5


def test_what_is_resumed_of_an_earlier_version_is_chained_from_there_and_covers_what_was_before(run: Path) -> None:
    plan = store.load(run).plan
    content = lines(run)
    commits = [at for at, line in enumerate(content) if isinstance(decode_record(line), Launch)]
    (run / "ending.json").write_text(json.dumps({"chain": ""} | json.loads((run / "ending.json").read_text())))
    write(run, content)
    _of_an_earlier_version(run)
    write(run, lines(run)[: commits[-2] + 1])
    carry_on(store.reopen(run), plan, SimulatedMachine(described().topology))
    loaded = store.load(run)
    assert loaded.damage == ()
    assert loaded.chain.since > commits[-2] + 1
    edited = lines(run)
    at = next(n for n, line in enumerate(edited) if isinstance(decode_record(line), Prediction))
    edited[at] = edited[at].replace(b'"lo":10', b'"lo":11')
    assert write(run, edited).chain.broken == loaded.chain.since


def test_a_chain_made_anew_cannot_be_found_without_the_last_hash(run: Path) -> None:
    before = store.load(run)
    content = lines(run)
    at = next(n for n, line in enumerate(content) if isinstance(decode_record(line), Prediction))
    content[at] = content[at].replace(b'"lo":10', b'"lo":11')
    write(run, content)
    reseal(run, before)
    forged = store.load(run)
    assert forged.chain.broken == 0
    assert forged.chain.last != before.chain.last


def test_no_figure_of_merit_is_edited_unseen(run: Path) -> None:
    content = lines(run)
    at = next(n for n, line in enumerate(content) if isinstance(decode_record(line), Launch))
    content.insert(at, encode_record(FigureOfMerit("rate", "flop/s", 1e9)))
    assert write(run, content).chain.broken == at + 2
