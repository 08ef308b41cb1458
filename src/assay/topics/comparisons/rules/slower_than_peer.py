"""A program of others that does the same faster: Assay's figure is not the best that the machine gives."""

from collections.abc import Iterable, Sequence

import msgspec

from assay.analyse.comparisons import PROGRAM, conditions
from assay.analyse.comparisons.conditions import Conditions
from assay.analyse.evidence import Evidence, Rule, digits, numbers, stands_on
from assay.model.comparison import Comparison
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Finding
from assay.model.text import cli, joined, text
from assay.model.units import format_quantity

_BORDER = 1.0
#: Verdicts that a comparison has only if it cannot be chance among those of its family.
_CERTAIN = frozenset({"slower", "trivially different"})


class _Row(msgspec.Struct, frozen=True):
    """A pair: Assay's estimate, that of the other program, and the ratio of their speeds."""

    ours: Estimate
    theirs: Estimate
    comparison: Comparison
    speed: Quantity


def _rows(evidence: Evidence) -> list[_Row]:
    found = []
    for pair in evidence.pairs:
        if pair.comparison.differ == PROGRAM:
            ratio = pair.comparison.value
            speed = ratio if pair.a.better == "higher" else ratio.inverse(ratio.unit)
            found.append(_Row(pair.a, pair.b, pair.comparison, speed))
    return found


def _assess(evidence: Evidence) -> Iterable[Finding]:
    if evidence.noise.spoils:
        return
    slower: dict[str, list[_Row]] = {}
    for row in _rows(evidence):
        if row.comparison.confidence and row.comparison.verdict in _CERTAIN and row.speed.hi < _BORDER:
            slower.setdefault(row.theirs.benchmark, []).append(row)
    for rows in slower.values():
        yield _finding(evidence, rows)


def _finding(evidence: Evidence, rows: Sequence[_Row]) -> Finding:
    """Return one finding of a program, with its clearest row."""
    row = min(rows, key=lambda each: each.speed.hi)
    titles = {each.name: each.title for each in evidence.run.plan.applications}
    ours, theirs = row.comparison.figures or (0.0, 0.0)
    claim = text(
        "{program} is faster: {theirs} against {ours} of Assay at {label} (ratio of speeds {ratio}, {low} to "
        "{high}, {basis}).",
        program=titles.get(row.theirs.benchmark, row.theirs.benchmark),
        theirs=format_quantity(theirs, row.theirs.unit),
        ours=format_quantity(ours, row.ours.unit),
        label=row.ours.placement.label,
        ratio=digits(row.speed.value),
        low=digits(row.speed.lo),
        high=digits(row.speed.hi),
        basis=stands_on(row.speed, row.comparison.blocks),
    )
    more = len(rows) - 1
    also = text("{count} further figure is slower, too.|{count} further figures are slower, too.", count=more)
    others = (each.comparison.id for each in rows if each is not row)
    return rule.finding(
        row.theirs.benchmark,
        claim=joined(" ", (claim, also if more else "")),
        severity="advice",
        evidence=(row.comparison.id, row.ours.id, row.theirs.id, *others),
        numbers=numbers(row.speed, _BORDER),
        statistic=text("upper end of the ratio of speeds {high}", high=digits(row.speed.hi)),
        rivals=_rivals(*conditions.between(conditions.conditions(evidence.run), row.ours, row.theirs)),
        next=cli("run", evidence.study(), "--vary", "flags=-O3 -march=native|-O2 -march=native"),
    )


def _rivals(ours: Conditions, theirs: Conditions) -> tuple[str, ...]:
    """Return the causes that the records do not exclude."""
    others = ours.other_files(theirs)
    return tuple(
        filter(
            None,
            (
                text("another MPI") if "mpi" in others else "",
                text("another BLAS") if "blas" in others else "",
                text("other pages: the one has huge pages") if ours.has_other_pages(theirs) else "",
                text("its compiler and flags"),
                text("what differs by necessity: see its section"),
            ),
        )
    )


rule = Rule(
    "slower_than_peer",
    text("Is a program of others faster at the same work?"),
    text("whole interval of the ratio of speeds below {border}, certain among all rows", border=f"{_BORDER:.2f}"),
    _assess,
    applies=lambda evidence: any(pair.comparison.differ == PROGRAM for pair in evidence.pairs),
)
