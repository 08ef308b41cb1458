"""What a reader of several systems must see first: the widest difference of each thing that they share."""

from collections.abc import Iterator

from msgspec import structs

from assay.compare import statements, tables
from assay.compare.phrases import figure, value
from assay.compare.records import RUN
from assay.compare.sides import Sides
from assay.model.result import Comparison
from assay.model.text import joined, text
from assay.report import formatting, verdicts
from assay.report.section import Table, headings, trimmed

_ROWS = 4


def widest(sides: Sides) -> Table | None:
    """A row each, four at most: of curves where two are farthest apart, then of other figures."""
    rows: dict[str, tuple[str, ...]] = {}
    for what, row in (*_of_curves(sides), *_of_figures(sides)):
        rows.setdefault(what, row)
    base, *others = (side.label for side in sides.sides)
    other = others[0] if len(others) == 1 else text("The other")
    columns = (*headings("What"), base, *headings("System"), other, text("Beside {base}", base=base))
    caption = text("The widest differences in speed from {base}", base=base)
    table = Table(caption, columns, tuple(rows.values())[:_ROWS], frozenset({1, 3, 4}))
    return trimmed(table, {2}) if rows else None


def _of_curves(sides: Sides) -> Iterator[tuple[str, tuple[str, ...]]]:
    for pair in statements.widest(sides):
        of, base, found = sides.curves[pair.a], sides.curves[pair.b], statements.decisive(sides, pair)
        if pair.differ == RUN and base.run == sides.found.runs[0]:
            what = tables.heading(sides, base)
            figures = figure(sides.at(base, found.at)), _system(sides, of.run), figure(sides.at(of, found.at))
            yield (
                what,
                (
                    joined(", ", (what, value(base, found.at))),
                    *figures,
                    _compared(found.comparison, base.better),
                ),
            )


def _of_figures(sides: Sides) -> Iterator[tuple[str, tuple[str, ...]]]:
    for shared in sides.found.shared:
        (run, name), *others = shared.of
        base = sides.estimate(run, name)
        for other, its in others:
            of = sides.estimate(other, its)
            if run == sides.found.runs[0] and base.median and of.median:
                ratio = of.median / base.median if base.better == "higher" else base.median / of.median
                what = tables.named(base)
                yield what, (what, figure(base), _system(sides, other), figure(of), _speed(ratio))


def _system(sides: Sides, run: str) -> str:
    """Its name, where there are several beside the base."""
    return sides.label(run) if len(sides.sides) > 2 else ""  # noqa: PLR2004 (the base and one)


def _compared(found: Comparison | None, better: str) -> str:
    """How fast it is beside the base; where samples allow a claim, whether they make one."""
    if found is None:
        return ""
    each = verdicts.speeds(found, better)
    if each.confidence and each.verdict not in verdicts.CLAIMS:
        return text("{ratio} {verdict}", ratio=verdicts.plain_ends(each), verdict=verdicts.word(each))
    upright = each if each.ratio >= 1 else structs.replace(each, value=each.value.inverse(each.value.unit))
    speed = _speed(each.ratio)
    return joined(" ", (speed, verdicts.plain_ends(upright))) if each.lo < each.hi else speed


def _speed(ratio: float) -> str:
    """A ratio of speeds in words: `28.7 times slower`, `1.52 times as fast`."""
    if ratio < 1:
        return text("{factor} times slower", factor=formatting.factor(1 / ratio))
    return text("{factor} times as fast", factor=formatting.factor(ratio))
