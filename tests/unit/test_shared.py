"""What leaves the site tells no name, address, path or number of it, and has the same figures."""

import base64
import gzip
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.simulation import simulated_run

from assay import store
from assay.cli import assay
from assay.model.plan import Measure, Study
from assay.store.chain import reseal
from assay.store.standins import StandIns

pytestmark = pytest.mark.usefixtures("undrawn")

HOST, USER, PROJECT, JOB, SERIAL = "leon0417", "annaverdi", "zeus-secret", "7148271", "SN-99X-4471"
ADDRESSES = ("10.31.7.9", "fd12:3456:789a::17", "3c:fd:fe:aa:10:07", "0c42:a103:0065:bf2a", "0x0c42a1030065bf2a")
SECRETS = (HOST, USER, PROJECT, JOB, SERIAL, *ADDRESSES, "leon0418", "cineco.example", "8f14e45f-ceea-467f-a9d5")
PLANTED = (
    f"on {HOST} and leon[0417-0418].cineco.example at {', '.join(ADDRESSES)} by {USER}@login7.cineco.example, "
    f"job {JOB}, -I/home/{USER}/{PROJECT}/include --out=/scratch/{PROJECT}/{USER}/x.log of {SERIAL} in "
    "8f14e45f-ceea-467f-a9d5-d3b1f0a1c2e4 (leon0418, leon0417.cineco.example)"
)
SMALL = Study("Small", "How?", (Measure("stream", ("all",), axes={"elements": 1000}),), launches=2)
#: Names by which records refer to each other, words of a fixed list, times, and what is private as a whole.
STRUCTURE = re.compile(
    "id|cases?|benchmark|kernel|program|toolchain|started|ended|study|label|wish|into|policy|requested_memory|role"
    "|chain|clock|origin|kind|type|proof|phase|stop|status|better|over|prefix|launcher|two_sided|figure|pairs|host|boot_id|SLURM_JOB_ID|SLURM_JOB_USER"
)
#: Names in declarations of benchmarks, which records and analysis refer to.
DECLARED = re.compile(r".*\.declarations\.(?:.*\.)?(?:name|work|unit|limit|precision)")


def planted(value: Any, where: str, seen: set[str]) -> Iterator[tuple[Any, Any, str]]:  # noqa: ANN401
    """Each free text of a JSON value, the first of each field: its holder, its key, and the field."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in pairs:
        path = where if isinstance(value, list) else f"{where}.{key}"
        if (
            isinstance(each, str)
            and not isinstance(value, list)
            and not STRUCTURE.fullmatch(str(key))
            and path not in seen
            and not DECLARED.fullmatch(path)
        ):
            seen.add(path)
            yield value, key, path
        yield from planted(each, path, seen)


def plant(run: Path) -> int:
    """Write the secrets into the first of each field that holds any text; how many fields there are."""
    count = 0
    for file in (run / "run.json", run / "plan.json", run / "records.jsonl", *(run / "machine").glob("*.json")):
        lines = file.read_text("utf-8").splitlines() if file.suffix == ".jsonl" else [file.read_text("utf-8")]
        values, seen = [json.loads(line) for line in lines], set[str]()
        for value in values:
            for holder, key, _ in planted(value, str(value.get("type", "")), seen):
                holder[key] += f" {PLANTED}"
        file.write_text("\n".join(json.dumps(each, separators=(",", ":")) for each in values) + "\n", "utf-8")
        count += len(seen)
    reseal(run, store.load(run))
    assert not store.load(run).damage
    return count


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on a host with a telling name, in a job, and secrets in whatever its files can hold."""
    made = simulated_run(tmp_path_factory.mktemp("runs"), study=SMALL)
    for file in (made / "plan.json", made / "records.jsonl", *(made / "machine").glob("*.json")):
        file.write_text(file.read_text("utf-8").replace('"simulated"', f'"{HOST}"'), "utf-8")
    (made / "machine" / "simulated.json").rename(made / "machine" / f"{HOST}.json")
    told = json.loads((made / "run.json").read_text("utf-8"))
    told["environment"] = {"SLURM_JOB_ID": JOB, "SLURM_JOB_USER": USER, "SLURM_JOB_NODELIST": "leon[0417-0418]"}
    (made / "run.json").write_text(json.dumps(told), "utf-8")
    machine = made / "machine" / f"{HOST}.json"
    facts = json.loads(machine.read_text("utf-8"))
    facts["facts"].setdefault("system", {})["kernel command line"] = {"value": f"quiet ip=10.31.7.9 {PROJECT}"}
    machine.write_text(json.dumps(facts), "utf-8")
    (made / "machine" / f"{HOST}.xml").write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n'
        '<topology version="2.0"><object type="Machine">'
        f'<info name="HostName" value="{HOST}"/><info name="DMIProductSerial" value="{SERIAL}"/>'
        f'<info name="Address" value="{ADDRESSES[2]}"/></object></topology>\n',
        "utf-8",
    )
    assert plant(made) > 60
    (made / "logs" / "000-00.err").write_text(f"{PLANTED}\nfrom file:///home/{USER}/a\n", "utf-8")
    (made / "logs" / "000-00.out.gz").write_bytes(gzip.compress(PLANTED.encode()))
    with (made / "records.jsonl").open("a", encoding="utf-8") as records:
        records.write(f'{{"type": "torn", "by": "{HOST} of {USER}')
    return made


def contents(archive: Path) -> dict[str, str]:
    with tarfile.open(archive) as opened:
        files = {member.name: opened.extractfile(member) for member in opened}
        found = {name: file.read() for name, file in files.items() if file}
    return {
        name: (gzip.decompress(content) if name.endswith(".gz") else content).decode()
        for name, content in found.items()
    }


def invoked(*words: str) -> Any:  # noqa: ANN401 (click's result)
    done = CliRunner().invoke(assay, list(words))
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def numbers(value: Any) -> list[Any]:  # noqa: ANN401 (of JSON)
    """All that is no text, in order."""
    if isinstance(value, dict):
        return [number for each in value.values() for number in numbers(each)]
    if isinstance(value, list):
        return [number for each in value for number in numbers(each)]
    return [] if isinstance(value, str) else [value]


@pytest.fixture(scope="module")
def packed(run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    file = tmp_path_factory.mktemp("shared") / "run.tar.xz"
    return file, invoked("pack", str(run), "--share", "--list-replaced", "-o", str(file)).stderr


def test_no_file_of_a_shared_run_tells_a_secret(packed: tuple[Path, str]) -> None:
    found = contents(packed[0])
    assert {Path(name).suffix for name in found} == {".json", ".jsonl", ".xml", ".err", ".gz"}
    for name, content in found.items():
        for secret in SECRETS:
            assert secret not in content, f"{name}: {content[max(0, content.find(secret) - 80) :][:200]}"
            assert secret not in name
    assert "hwloc2.dtd" in next(content for name, content in found.items() if name.endswith(".xml"))


def test_a_shared_page_tells_no_secret(run: Path, packed: tuple[Path, str], tmp_path: Path) -> None:
    del packed
    page = tmp_path / "page.html"
    invoked("report", str(run), "--share", "-o", str(page))
    shown = page.read_text("utf-8")
    raw = [gzip.decompress(each) for each in _embedded(shown)]
    for secret in (*SECRETS, str(run.parent)):
        assert secret not in shown, shown[max(0, shown.find(secret) - 200) :][:300]
        assert not any(secret.encode() in each for each in raw)
    assert "node01" in shown


def _embedded(page: str) -> Iterator[bytes]:
    for text in re.findall(r"H4sI[A-Za-z0-9+/=]{20,}", page):
        yield base64.b64decode(text)


def test_the_figures_are_the_same_to_the_digit(run: Path, packed: tuple[Path, str]) -> None:
    ours, theirs = (json.loads(invoked("show", "--json", str(path)).stdout) for path in (run, packed[0]))
    assert len(numbers(ours["estimates"])) > 40
    assert numbers(ours) == numbers(theirs)
    assert len(store.load(packed[0]).damage) == len(store.load(run).damage) == 1


def test_what_was_replaced_is_listed_with_its_stand_in(packed: tuple[Path, str]) -> None:
    said = packed[1]
    assert re.search(r"replaced host names: \d+, .*users: 1, .*hardware addresses: 3, .*jobs: 1", said), said
    assert f"  host names: {HOST} -> node01\n" in said
    assert f"  users: {USER} -> user\n" in said
    assert f"  IP addresses: {ADDRESSES[0]} -> 198.18.0." in said


def test_what_was_shared_is_shared_again_as_it_is(packed: tuple[Path, str], tmp_path: Path) -> None:
    again = tmp_path / "again.tar.xz"
    assert "replaced nothing" in invoked("pack", str(packed[0]), "--share", "-o", str(again)).stderr
    assert contents(again) == contents(packed[0])


def test_words_that_tell_nothing_stay() -> None:
    standing = StandIns()
    standing.own.add("stream")
    for host in ("stream", "n10", "n9", "n100.cineco.example"):
        standing.text(host, "host")
    standing.settle()
    kept = (
        "stream/all/first-touch/stores=ordinary, 16 B/s and 1/s at 127.0.0.1, ::1, version 4.1.4, std::vector, "
        "12:34:56, rank-per:core@all and @2 in /proc/self/cgroup, /usr/bin/g++, 0000:3b:00.0, "
        "https://www.netlib.org/hpl/hpl.html"
    )
    assert standing.text(kept) == kept
    assert standing.text("stream", "host") == "node04", "as a host it is one"
    ordered = sorted(("n10", "n9", "n100.cineco.example"))
    assert [standing.text(each, "host") for each in ordered] == ["node01", "node02", "node03"]
    assert standing.text("n100, n10") == "node02, node01"


def test_paths_keep_what_every_machine_has() -> None:
    standing = StandIns()
    seen = (
        "/home/annaverdi/zeus/build/cache/0123456789abcdef/stream and /opt/zeus/lib/libopenblas.so.0, -L/root/zeus"
    )
    standing.own.add("stream")
    standing.text(seen)
    standing.settle()
    home = "/home/user/entry1"
    shared = f"{home}/build/cache/0123456789abcdef/stream and /opt/entry1/lib/libopenblas.so.0, -L{home}"
    assert standing.text(seen) == shared
    assert standing.text(shared) == shared
