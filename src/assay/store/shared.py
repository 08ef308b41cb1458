"""Redact runs that leave a site: replace what the types of their records declare as private, and similar text.

Figures do not change. See `assay.model.private` and `assay.store.standins`.
"""

import gzip
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
from msgspec import inspect

from assay.model.facts import Fact
from assay.model.imported import Imported
from assay.model.machine import Machine
from assay.model.plan import Plan
from assay.model.private import NAMED, PRIVATE, Kind, without_private_words
from assay.model.record import Columns, Launch, RecordError, Shared, decode_record, encode_record
from assay.model.run import LaunchRecords, Run, RunInfo
from assay.store import earlier, imported, packed
from assay.store.chain import reseal
from assay.store.files import COLUMNS, pretty
from assay.store.reading import load
from assay.store.standins import StandIns

_RECORDS = "records.jsonl"
#: Files that are not copied as they are: records are copied launch by launch, torn lines not at all.
_APART = re.compile(rf"{_RECORDS}|{COLUMNS}|logs/torn-.*")


@contextmanager
def shared(runs: Sequence[Path], standing: StandIns) -> Generator[tuple[Path, ...]]:
    """Temporary directories of the redacted runs; `standing` has the replacements.

    Raises:
        UsageError: one of them is not a run.
    """
    with packed.emptied_folder() as folder:
        made = []
        for learning in (True, False):
            for number, path in enumerate(runs):
                with packed.unpacked(path) if path.is_file() else nullcontext(path) as whole:
                    run = load(whole)
                    into = folder / str(number) / run.info.id
                    into.mkdir(parents=True, exist_ok=True)
                    _copy(run, whole, into, standing)
                    made += [] if learning else [into]
            if learning:
                standing.settle()
        yield tuple(made)


def _copy(run: Run, whole: Path, into: Path, standing: StandIns) -> None:
    """Write the redacted files of a run to a directory."""
    standing.own |= {run.info.study, *run.info.builds}
    for build in run.info.builds.values():
        standing.own.update(build.programs)
    for case in run.plan.cases:
        standing.own |= {case.benchmark, *case.params, *case.factors}
    for records in run.made:
        standing.own.add(records.launch.program)
        for each in records.cases:
            standing.own.update(each.header.work)
    for path in sorted(whole.rglob("*")):
        name = path.relative_to(whole).as_posix()
        if path.is_file() and packed.belongs(name) and not _APART.fullmatch(name):
            target = into / _file(name, standing)
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(_content(path, name, standing))
    if (whole / _RECORDS).is_file():
        _copy_records(run, whole, into, standing)


def _file(name: str, standing: StandIns) -> str:
    """The name of a file in the shared run: files of machines have the names of their hosts."""
    folder, _, own = name.rpartition("/")
    stem, dot, suffix = own.rpartition(".")
    return f"{folder}/{standing.text(stem, 'host')}{dot}{suffix}" if folder == "machine" else standing.text(name)


_TYPES: dict[str, type[msgspec.Struct]] = {
    "run.json": RunInfo,
    "plan.json": Plan,
    "ending.json": earlier.StoredEnding,
    imported.FILE: Imported,
}


def _content(path: Path, name: str, standing: StandIns) -> bytes:
    content = path.read_bytes()
    kind = _TYPES.get(name) or (Machine if name.endswith(".json") else None)
    if kind is not None:
        value = msgspec.json.decode(content, type=kind)
        if isinstance(value, Machine):
            value = msgspec.structs.replace(value, facts=without_private_words(value.facts))
        return pretty(_cleaned(value, standing))
    if name.endswith(".xml"):
        return _topology(content.decode(), standing)
    if name.endswith(".gz"):
        return gzip.compress(_text(gzip.decompress(content), standing), mtime=0)
    return _text(content, standing)


def _text(content: bytes, standing: StandIns) -> bytes:
    """Redact free text line by line; invalid bytes are replaced."""
    return "".join(map(standing.text, content.decode(errors="replace").splitlines(keepends=True))).encode()


def _topology(content: str, standing: StandIns) -> bytes:
    """Redact hwloc's description, in which each info is a name with its value."""
    head = content[: content.index("<topology")]
    tree = ET.fromstring(content)  # noqa: S314 (written by hwloc when the run was made)
    for element in tree.iter():
        kind: Kind = NAMED.get(element.get("name", ""), "")
        for name, value in element.attrib.items():
            element.set(name, standing.text(value, kind if name == "value" else ""))
    return (head + ET.tostring(tree, encoding="unicode") + "\n").encode()


def _copy_records(run: Run, whole: Path, into: Path, standing: StandIns) -> None:
    """Copy records line by line; a large launch, which has columns, is written again as a launch."""
    made = {(each.launch.id, each.launch.attempt): each for each in run.made}
    with (into / _RECORDS).open("wb") as lines, (into / COLUMNS).open("wb") as columns:
        for launch, records in _launches(whole / _RECORDS):
            known = made.get((launch.id, launch.attempt)) if launch else None
            large = any(isinstance(each, Shared | Columns) for each in records)
            if large and known is not None:
                content, kept = _columns(known, columns.tell(), standing)
                columns.write(content)
            else:
                kept = [_line(each, standing) for each in records if not isinstance(each, Shared | Columns)]
            lines.writelines(line + b"\n" for line in kept)
    if not run.chain.broken:  # a broken chain stays broken
        reseal(into, run)
    if not (into / COLUMNS).stat().st_size:
        (into / COLUMNS).unlink()


def _launches(path: Path) -> Iterator[tuple[Launch | None, list[Any]]]:
    """Each launch with its records, the launch record last; lines that cannot be read stay bytes."""
    pending: list[Any] = []
    with path.open("rb") as file:
        for line in file:
            try:
                record = decode_record(line)
            except RecordError:
                pending.append(line.rstrip(b"\n"))
                continue
            pending.append(record)
            if isinstance(record, Launch):
                yield record, pending
                pending = []
    yield None, pending


def _line(record: Any, standing: StandIns) -> bytes:  # noqa: ANN401 (a record, or a line that is none)
    return _text(record, standing) if isinstance(record, bytes) else encode_record(_cleaned(record, standing))


def _columns(launch: LaunchRecords, at: int, standing: StandIns) -> tuple[bytes, list[bytes]]:
    """A large launch as bytes for offset `at` of the file of columns, and its lines."""
    from assay.store.compact import compacted  # noqa: PLC0415 (numpy, which small runs do not need)

    clean = _cleaned(launch, standing)
    made = compacted(clean, at)
    assert made is not None  # noqa: S101 (they are columns already)
    return made.content, [*made.lines, encode_record(clean.launch)]


def _cleaned(record: Any, standing: StandIns, kind: Kind = "") -> Any:  # noqa: ANN401 (any record)
    """The record with all of its texts redacted."""
    changed = {}
    kind_of: type[msgspec.Struct] = type(record)
    for name, node in _fields(kind_of).items():
        before = getattr(record, name)
        inherited: Kind = kind if not isinstance(record, Fact) or name == "value" else ""
        after = _value(before, node, standing, inherited)
        if after is not before:
            changed[name] = after
    return msgspec.structs.replace(record, **changed) if changed else record


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, inspect.Type]:
    found = inspect.type_info(kind)
    assert isinstance(found, inspect.StructType)  # noqa: S101 (only records come here)
    return {each.name: each.type for each in found.fields}


def _value(value: Any, node: Any, standing: StandIns, kind: Kind) -> Any:  # noqa: ANN401 (of any record)
    """Redact a value of the type `node`; `kind` is the kind of private data, if its container gives one."""
    if isinstance(node, inspect.UnionType):
        node = next((each for each in node.types if _fits(each, value)), None)
    if isinstance(node, inspect.Metadata):
        kind = (node.extra or {}).get(PRIVATE, kind)
        node = node.type
    match value:
        case str():
            return value if isinstance(node, inspect.LiteralType) else standing.text(value, kind)
        case msgspec.Struct():
            return _cleaned(value, standing, kind)
        case Mapping() if value:
            key, item = (getattr(node, each, None) for each in ("key_type", "value_type"))
            return {
                _value(name, key, standing, ""): _value(each, item, standing, NAMED.get(name, kind))
                for name, each in value.items()
            }
        case Sequence() if len(value) and isinstance(value[0], str | msgspec.Struct | Sequence | Mapping):
            items = getattr(node, "item_types", None) or (getattr(node, "item_type", None),) * len(value)
            return tuple(_value(each, item, standing, kind) for each, item in zip(value, items, strict=True))
    return value


def _fits(node: inspect.Type, value: Any) -> bool:  # noqa: ANN401 (of any record)
    """Whether a member of a union fits a value: text, or a container; structs know their own type."""
    inner = node.type if isinstance(node, inspect.Metadata) else node
    if isinstance(value, str):
        return isinstance(inner, inspect.StrType | inspect.LiteralType)
    return isinstance(inner, inspect.CollectionType | inspect.DictType)
