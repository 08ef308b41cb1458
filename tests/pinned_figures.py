"""Every number that runs on simulated machines give: of the plan, the analysis, the page and the exports.

A formula that changes shows itself here, whatever it is for. That a number is right is for other tests to say:
they hold it against published values and independent computations. `make pinned` writes the numbers anew; the
difference then stands in the review of the change that meant it.

Words do not count, so that a text can be changed alone.
"""

import json
import lzma
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import msgspec
from tests.simulation import EPYC_7601, TWO_CORES, simulated_run

from assay import store
from assay.analyse import analyse
from assay.catalogue import topics
from assay.model.result import Analysis
from assay.model.run import Run
from assay.model.text import encoded
from assay.plan import Options
from assay.report.sections import cards, sections
from assay.simulation import Burst, Law

FILE = Path(__file__).parent / "runs" / "pinned.json.xz"
HOSTS = tuple(f"n{number}" for number in range(1, 6))
EIGHT_CORES = "pack:2 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:2"
#: Fits may differ in their last digits from processor to processor.
CLOSE = 2e-4
_TEXT_EXPORTS = frozenset({"csv_", "junit"})
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+\d\d:\d\d)?")
#: Names that hold times, versions and paths of this test, or nothing but texts.
_PASSING = re.compile(
    r"(?:^|_)(?:started|ended|created|date|argv|environment|key|id|version|schema|command|path)$"
)


@dataclass(frozen=True)
class Pinned:
    """A run on a simulated machine.

    Attributes:
        study: name of the study.
        hosts: names of its nodes; empty for one node.
        machine: hwloc's short form.
        law: of the machine.
        launches: of each case.
    """

    study: str
    hosts: tuple[str, ...] = ()
    machine: str = EPYC_7601
    law: Law = field(default_factory=Law)
    launches: int = 3


_LOUD = Law(steal=0.06, noise=0.05, drift=0.002, bursts=(Burst(5, 3, 0.3),))
_ILL = Law(core_traffic=12e9, node_traffic=20e9, contention=0.3, remote=0.5, remote_load=1.6, tlb_bytes=2**20)
_LAME = Law(slow_hosts={"n3": 0.9}, launch_noise=0.002)
_OF_ONE = "caches compilers dgemm himeno hpcg hpl hpl-grid linpack multi-pair mxp nas one-sided one-two-two"
_OF_NODES = "collectives himeno hpl hpl-processors multi-pair nas node-pairs one-sided one-two-two weather"
RUNS: Mapping[str, Pinned] = MappingProxyType(
    {
        **{study: Pinned(study) for study in (*_OF_ONE.split(), "weather")},
        **{f"{study} on nodes": Pinned(study, HOSTS, TWO_CORES) for study in _OF_NODES.split()},
        "node": Pinned("node", machine=EIGHT_CORES),
        "flops": Pinned("flops", machine=EIGHT_CORES),
        "node, ill": Pinned("node", machine=EIGHT_CORES, law=_ILL, launches=6),
        "interleave, ill": Pinned("interleave", machine=EIGHT_CORES, law=_ILL, launches=6),
        "quick, loud": Pinned("quick", machine=EIGHT_CORES, law=_LOUD, launches=6),
        "quick on nodes, one lame": Pinned("quick", HOSTS, TWO_CORES, _LAME),
    }
)


def made(pinned: Pinned, folder: Path) -> Run:
    """Make the run."""
    options = Options(
        hosts=pinned.hosts, launches=pinned.launches, libraries={"blas": "/simulated/libblas.so"}, budget_s=40
    )
    path = simulated_run(folder, pinned.law, description=pinned.machine, study=pinned.study, options=options)
    return store.load(path)


def numbers(run: Run) -> dict[str, list[float]]:
    """Part -> its numbers, in the order in which they stand."""
    analysis = analyse(run)
    parts = dict(_fields("plan", json.loads(msgspec.json.encode(run.plan))))
    parts |= _fields("analysis", json.loads(encoded(analysis)))
    for section in sections(run, analysis):
        parts |= _fields(f"section/{section.id}", msgspec.to_builtins(section, enc_hook=str))
    parts["cards"] = msgspec.to_builtins(cards(analysis), enc_hook=str)
    parts |= {f"export/{name}": text for name, text in _exports(run, analysis)}
    return {name: found for name, part in parts.items() if (found := list(_numbers(part, run.info.id)))}


def _fields(name: str, part: object, deep: int = 2) -> Iterator[tuple[str, object]]:
    """Parts by name: of a record its fields, of a list its entries, if they have ids; so many records deep.

    A field that is added is no difference of the others.
    """
    if isinstance(part, list) and part and all(isinstance(entry, dict) and "id" in entry for entry in part):
        for entry in part:
            yield from _fields(f"{name}/{entry['id']}", entry, deep)
    elif isinstance(part, dict) and deep:
        for field, value in part.items():
            if not _PASSING.search(field):
                yield from _fields(f"{name}/{field}", value, deep - 1)
    else:
        yield name, part


def _exports(run: Run, analysis: Analysis) -> Iterator[tuple[str, str]]:
    for name, module in sorted(topics.modules("formats").items()):
        yield name, "\n".join(module.tables(analysis, run))
    for name, module in sorted(topics.modules("exports").items()):
        if name in _TEXT_EXPORTS:
            yield name, "\n".join(module.figures(run, analysis))


def _numbers(part: object, own: str) -> Iterator[float]:
    match part:
        case bool() | int() | float():
            yield float(part)
        case str():
            words = _TIME.sub("", part.replace(own, ""))
            yield from (float(found[0].replace(",", "")) for found in _NUMBER.finditer(words) if _plain(found[0]))
        case dict():
            for name, value in part.items():
                if not _PASSING.search(str(name)):
                    yield from _numbers(value, own)
        case list() | tuple():
            for value in part:
                yield from _numbers(value, own)


def _plain(number: str) -> bool:
    return number.replace(",", "").count(".") < 2  # 4.1.4 is a version


def rounded(found: Mapping[str, list[float]]) -> dict[str, str]:
    """Part -> its numbers with five digits, as they are kept."""
    return {name: " ".join(f"{value:.5g}" for value in values) for name, values in found.items()}


def kept() -> dict[str, dict[str, str]]:
    """Run -> part -> the numbers as they were."""
    read: dict[str, dict[str, str]] = json.loads(lzma.decompress(FILE.read_bytes()))
    return read


def differences(before: Mapping[str, str], after: Mapping[str, list[float]]) -> Iterator[str]:
    """Yield what differs, a line for each part; a part that is new is none."""
    for name, words in before.items():
        old, new = [float(word) for word in words.split()], after.get(name, [])
        if len(old) != len(new):
            yield f"{name}: {len(new)} numbers, they were {len(old)}"
        else:
            pairs = zip(old, new, strict=True)
            other = next(((was, now) for was, now in pairs if not math.isclose(was, now, rel_tol=CLOSE)), None)
            if other:
                yield f"{name}: {other[1]:.6g}, it was {other[0]:.6g}"


def main() -> int:
    """Write the numbers of every run."""
    os.fsync = lambda fd: None  # noqa: ARG005 (the name is that of the original)
    every = {}
    for name, pinned in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            every[name] = rounded(numbers(made(pinned, Path(folder))))
    FILE.write_bytes(lzma.compress(json.dumps(every).encode(), preset=9))
    return 0


if __name__ == "__main__":
    sys.exit(main())
