"""The parts of the gallery's pages that are output: between markers, made anew from the packed runs."""

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from click.testing import CliRunner
from tools.gallery.table import GALLERY, Entry, entries

from assay import store
from assay.analyse import analyse
from assay.cli import assay
from assay.compare.meeting import Declared
from assay.compare.repetitions import repetitions
from assay.compare.sides import sides
from assay.model.conclusion import Truth
from assay.model.repetition import Repetition
from assay.model.result import Analysis
from assay.model.run import Run
from assay.report import repetition

INDEX = GALLERY / "index.md"
#: `<!-- made: plan -->` ... `<!-- end -->`; the second word may be followed by the arguments of a command.
_MADE = re.compile(r"^<!-- made: (\w+)(?: ([^\n]+?))? -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
_WIDTH = "100"
#: How each run was made, on a date by a version.
_MADE_IN = {
    "lab": "Measured {when} in the [lab](../lab.md): two nodes that are one machine.",
    "here": "Measured {when} on one machine.",
    "simulated": "**Simulated** {when}: no hardware has these figures.",
}
_STATUS = {
    "complete": "all that were planned.",
    "cut": "the budget cut others.",
    "interrupted": "the rest was interrupted.",
    "not ended": "it did not end.",
}
_SHORT = {"lab": "lab", "here": "one machine", "simulated": "**simulated**"}
#: Two simulated systems are two machines, whose topologies differ.
_TWO_SYSTEMS = ("--across", "machine", "--allow", "topology")
_VERDICTS: tuple[Truth, ...] = ("holds", "does not hold", "cannot be told")


def printed(command: str) -> str:
    """The output of a command line of Assay, 100 columns wide; ValueError with all of it if it fails."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDTH
    try:
        done = CliRunner().invoke(assay, shlex.split(command)[1:])
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)
    if done.exit_code:
        raise ValueError(f"{command}: exit {done.exit_code}\n{done.output}")
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def remade(text: str, entry: Entry | None) -> str:
    """The text of a page with all of its marked parts made anew; None for the index."""

    def part(found: re.Match[str]) -> str:
        kind, argument = found[1], found[2] or ""
        made = "\n".join(_PARTS[kind](entry, argument)) if entry else "\n".join(_table())
        marker = " ".join(filter(None, ("made:", kind, argument)))
        return f"<!-- {marker} -->\n{made}\n<!-- end -->"

    return _MADE.sub(part, text)


def write() -> list[str]:
    """Bring all pages up to date; return the names of those that changed."""
    changed = []
    for page, entry in [(INDEX, None), *((each.page, each) for each in entries())]:
        text = page.read_text("utf-8")
        if (made := remade(text, entry)) != text:
            page.write_text(made, "utf-8")
            changed.append(page.name)
    return changed


@cache
def _read(packed: Path) -> tuple[Run, Analysis]:
    run = store.load(packed)
    return run, analyse(run)


def read(entry: Entry) -> tuple[Run, Analysis]:
    """The packed run, and its analysis."""
    return _read(entry.packed)


def repeated(entry: Entry) -> Repetition:
    """What the run repeats of its reference: each figure beside its own, and the conclusions, judged.

    Raises:
        ValueError: it repeats none.
    """
    if (found := read(entry)[1].repetition) is None:
        raise ValueError(f"{entry.packed.name} repeats no reference")
    return found


def compared(entry: Entry) -> tuple[int, int]:
    """How many figures of the reference the run has, and how many there are."""
    rows = repeated(entry).rows
    return sum(each.figures for each in rows if each.ours), sum(each.figures for each in rows)


def _command(entry: Entry, _: str) -> Iterator[str]:
    yield f"    {entry.theirs or entry.command}"


def _plan(entry: Entry, argument: str) -> Iterator[str]:
    command = f"assay plan {argument}" if argument else entry.plan
    yield from (f"    {command}", "", "```text", printed(command), "```")


def _run(entry: Entry, argument: str) -> Iterator[str]:
    del argument
    run, _ = read(entry)
    when = f"on {run.info.started[:10]} by Assay {run.info.assay}"
    status = run.ending.status if run.ending else "not ended"
    yield f"[{entry.packed.name}]({entry.packed.name}). {_MADE_IN[entry.where].format(when=when)}"
    yield f"{len(run.launches)} launches; {_STATUS[status]}"
    yield from ("", f"    {entry.command}", "")
    if entry.reference:
        yield from _rows(entry)
    yield from ("Read it:", "", f"    assay show docs/gallery/{entry.packed.name}")
    yield f"    assay report docs/gallery/{entry.packed.name} -o {entry.name}.html"


def _rows(entry: Entry) -> Iterator[str]:
    """How many figures are compared, and why others are not."""
    met, of = compared(entry)
    yield f"It has {met} of the {of} figures of `{entry.reference}`{'.' if met == of else '; of the others:'}"
    yield ""
    reasons = Counter[str]()
    for each in repeated(entry).rows:
        reasons.update({repetition.reason(each, read(entry)[0]): each.figures} if each.ours is None else {})
    yield from (f"- {count}: {reason}." for reason, count in reasons.most_common())
    if reasons:
        yield ""


def _conclusions(entry: Entry, _: str) -> Iterator[str]:
    yield from _judged(repeated(entry), (read(entry)[0],))


def _beside(entry: Entry, argument: str) -> Iterator[str]:
    """What is said of two systems, judged by a run of each: the name of the other run follows the marker."""
    files = (f"docs/gallery/{name}.tar.xz" for name in (argument, entry.name))
    yield from (f"    {shlex.join(('assay', 'compare', *files, *_TWO_SYSTEMS))}", "")
    other = next(each for each in entries() if each.name == argument)
    runs = [read(each)[0] for each in (other, entry)]
    for found in repetitions(sides(runs, {}, Declared(allowed=("topology",), across="machine"))):
        yield from _judged(found, runs)


def _judged(found: Repetition, runs: Sequence[Run]) -> Iterator[str]:
    table = repetition.conclusions(found, runs)
    yield from (str(repetition.counted(found)), "")
    for row in (tuple(table.columns), *table.rows):
        yield "| " + " | ".join(str(cell).replace("|", r"\|") for cell in row) + " |"
        if row == tuple(table.columns):
            yield "|---" * len(row) + "|"
    yield from ("", str(table.note))


def _table() -> Iterator[str]:
    yield "| study | command | the packed run | figures compared | conclusions: hold, do not, cannot be told |"
    yield "|---|---|---|---|---|"
    for each in entries():
        met = "{} of {}".format(*compared(each)) if each.reference else ""
        told = [judged.truth for judged in repeated(each).conclusions] if each.reference else []
        counts = ", ".join(str(told.count(verdict)) for verdict in _VERDICTS) if told else ""
        study = f"{each.source}: [{each.study}]({each.page.name})"
        run = f"[{each.packed.name}]({each.packed.name}): {_SHORT[each.where]}"
        yield f"| {study} | `assay run {each.words[0]}` | {run} | {met} | {counts} |"


_PARTS: dict[str, Callable[[Entry, str], Iterator[str]]] = {
    "command": _command,
    "plan": _plan,
    "run": _run,
    "conclusions": _conclusions,
    "beside": _beside,
}
