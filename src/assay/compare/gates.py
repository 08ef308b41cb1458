"""The gate: whether any figure became slower by more than a border, and which figures cannot tell."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from assay.analyse.statistics import NORMAL
from assay.compare.runs import unjudged
from assay.model.answers import Decided
from assay.model.compared import Compared, ComparedPair
from assay.report import verdicts

#: `failed`: certainly slower by more than the border; `open`: it may be; `missing`: not compared; else `passed`.
Decision = Literal["failed", "open", "missing", "passed"]
_VERDICTS: Mapping[Decision, Literal["", "failure", "skipped"]] = {
    "failed": "failure", "open": "skipped", "missing": "skipped", "passed": "",
}  # fmt: skip
#: No more further launches are proposed.
_MOST = 60


class Judged(NamedTuple):
    """A figure at a gate.

    Attributes:
        run: the judged one.
        name: id of the estimate; of a missing one, in the base.
        decision: of the gate.
        pair: the figure and its base; None for a missing one.
        why: why it is missing.
    """

    run: str
    name: str
    decision: Decision
    pair: ComparedPair | None = None
    why: str = ""

    @property
    def speed_up(self) -> tuple[float, float, float]:
        """The ratio to the base as speed, with the ends of its interval; without one, three times itself."""
        if self.pair is None:
            return (math.nan,) * 3
        each = verdicts.speeds(self.pair.comparison, self.pair.a.better)
        return (each.ratio, each.lo, each.hi) if each.confidence else (each.ratio,) * 3

    @property
    def words(self) -> str:
        """The ratio with its interval, and what is missing for a decision; of a missing figure the reason."""
        if self.pair is None:
            return self.why
        ratio, lo, hi = self.speed_up
        ends = f" [{lo:.3g}, {hi:.3g}]" if self.pair.comparison.confidence else ""
        lacks = verdicts.missing(self.pair.comparison) if self.decision == "open" else ""
        return "; ".join(filter(None, (f"{ratio:.3g}{ends} times as fast as the base", lacks)))


class Gate(NamedTuple):
    """The decisions on all figures.

    Attributes:
        border: share by which a figure may be slower.
        figures: all, in the order of the comparisons.
    """

    border: float
    figures: tuple[Judged, ...]

    def of(self, *decisions: Decision) -> tuple[Judged, ...]:
        """Return the figures with these decisions, the slowest first."""
        found = (each for each in self.figures if each.decision in decisions)
        return tuple(sorted(found, key=lambda each: (each.pair is None, each.speed_up[0])))

    def decided(self) -> list[Decided]:
        """Return the decisions, for an export."""
        return [Decided(each.run, each.name, _VERDICTS[each.decision], each.words) for each in self.figures]

    @property
    def is_untested(self) -> bool:
        """Whether no figure has an interval: then the gate can decide nothing."""
        return not any(each.pair and each.pair.comparison.confidence for each in self.figures)


def gate(compared: Sequence[Compared], border: float) -> Gate:
    """Judge every comparison of runs with their base, or of the levels of one run.

    A figure fails if it is called slower and its whole interval lies beyond the border. It is open if the interval
    reaches beyond, or without an interval the effect that was seen.
    """
    return Gate(border, tuple(figure for each in compared for figure in _judged(each, border)))


def _judged(compared: Compared, border: float) -> Iterator[Judged]:
    for pair in compared.pairs:
        if pair.comparison.is_control:
            continue
        each = Judged(compared.run, pair.a.id, "passed", pair)
        _, worst, best = each.speed_up
        if pair.comparison.verdict == "slower" and best < 1 - border:
            yield each._replace(decision="failed")
        else:
            yield each._replace(decision="open" if worst < 1 - border else "passed")
    yield from (Judged(compared.run, name, "missing", why=why) for name, why in unjudged(compared).items())


def further_launches(figures: Sequence[Judged], border: float) -> int | None:
    """Return how many launches more decide the open figures if they stay as seen; None if no 60 do.

    The interval of the launches becomes narrower with the root of their number, that of the runs does not.
    """
    found = [_further(each, border) for each in figures if each.pair]
    return None if None in found else max((each for each in found if each), default=None)


def _further(each: Judged, border: float) -> int | None:
    comparison = each.pair.comparison if each.pair else None
    if comparison is None or 0 in comparison.launches:
        return None
    if comparison.lack:
        return comparison.lack.more
    seen, worst, best = map(math.log, each.speed_up)
    of_runs = NORMAL * math.sqrt(2) * (comparison.between_runs or 0.0)
    room = (seen - math.log1p(-border)) ** 2 - of_runs**2
    made = min(comparison.launches)
    wanted = made * max(0.0, ((best - worst) / 2) ** 2 - of_runs**2) / room if room > 0 else math.inf
    return math.ceil(wanted) - made if wanted < _MOST else None
