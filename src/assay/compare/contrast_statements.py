"""Sentences that compare figures on no curve, one for each word in which they differ."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from assay.analyse.comparisons.pairing import MEMORY
from assay.compare.phrases import figure
from assay.compare.records import PLACE, PROGRAM, RUN, Contrast
from assay.compare.sides import Side, Sides, where
from assay.model import places
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.placement import Word
from assay.model.quantity import exact
from assay.model.result import Estimate
from assay.model.role_words import usual_axes
from assay.model.text import joined, text
from assay.model.units import parse_cpu_list
from assay.report import formatting, messages, selection
from assay.report.statements import Difference, Named, times
from assay.report.vocabulary import known

#: Maximum number of sentences; the tables have all contrasts.
MOST = 12
#: Figures within this relative distance of the next larger one are written as one group.
_GROUP = 0.10
#: What passes messages.
_MPI, _SOCKETS = "MPI", "TCP"
_PATTERN, _OPERATION, _BYTES = usual_axes("message-pattern", "operation-name", "message-size")
#: Facts of a source: the NUMA node of the card, and the NUMA nodes of each package, `["0-3", "4-7"]`.
_CARD, _PACKAGES = ("network", "link's NUMA node"), ("memory", "NUMA nodes of the packages")


class _Figure(NamedTuple):
    """A figure of a contrast with its system."""

    estimate: Estimate
    side: Side

    @property
    def program(self) -> str:
        """The benchmark of its case; the estimate has another one if no section can place it."""
        return self.estimate.measurand.program

    @property
    def word(self) -> Word:
        return self.estimate.placement.word

    @property
    def by(self) -> str:
        """What passes the messages, `MPI` or `TCP`; empty if it passes none."""
        return messages.BY.get(self.program, "")


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of several figures of the same quantity, the largest first.

    Attributes:
        noun: the quantity, and what the figures share.
        groups: names of the figures that are near each other, and these figures, falling.
        ratio: the largest over the smallest.
        share: the figure of MPI as a share of that of TCP; None if they are not both among the figures.
    """

    noun: str
    groups: tuple[tuple[str, tuple[Estimate, ...]], ...]
    ratio: float
    share: float | None = None
    kind: str = "figure"

    @property
    def text(self) -> str:
        """The sentence."""
        items = [text("{value} ({basis})", value=_range(of), basis=name) for name, of in self.groups]
        figures = formatting.listed(items)
        if self.ratio == 1:
            sentence = text("{noun}: {figures}, equal means", noun=self.noun, figures=figures)
        else:
            sentence = text(
                "{noun}: {figures}; the largest is {times} the smallest",
                noun=self.noun,
                figures=figures,
                times=times(exact(self.ratio)),
            )
        return formatting.sentence(joined("; ", (sentence, "" if self.share is None else _of_tcp(self.share))))


def statements(sides: Sides) -> list[Difference | Spread]:
    """Return the widest contrasts in words."""
    return [_statement(sides, each) for each in sides.found.contrasts[:MOST]]


def _statement(sides: Sides, contrast: Contrast) -> Difference | Spread:
    estimates = [_Figure(sides.estimate(run, name), sides.by_run[run]) for run, name in contrast.of]
    values = [each.estimate.median or 0.0 for each in estimates]
    noun = joined(", ", (_noun(estimates[-1], contrast.differ), *_context(sides, contrast, estimates)))
    groups = _close(values) if contrast.differ == PLACE else [range(at, at + 1) for at in range(len(values))]
    members = [[estimates[at] for at in group] for group in groups]
    named = tuple((_levels(contrast, of), tuple(each.estimate for each in of)) for of in members)
    share = _share(contrast, estimates)
    if [len(of) for of in members] == [1, 1]:
        (more, (a,)), (less, (b,)) = named
        return Difference(
            kind="figure",
            more=Named(more, a),
            less=Named(less, b),
            ratio=exact(values[0] / values[-1]),
            relation="printed",
            noun=noun,
            plural=contrast.differ == PLACE,
        )
    return Spread(noun=noun, groups=named, ratio=values[0] / values[-1], share=share)


def _noun(each: _Figure, differ: str) -> str:
    """The name of the quantity."""
    estimate = each.estimate
    if each.by:
        counted = messages.COUNTED.get(str(estimate.params.get(_PATTERN, "")))
        if counted and differ != _PATTERN and estimate.measurand.role in {"message-bandwidth", "message-time"}:
            return counted
        return known(estimate.metric)
    if estimate.benchmark != each.program:
        return text("{kernel}: {metric}", kernel=each.program, metric=known(estimate.measurand.metric))
    if _OPERATION in estimate.params and differ != _OPERATION:
        return joined(", ", (str(estimate.params[_OPERATION]).capitalize(), known(estimate.metric)))
    return selection.measure(estimate)


def _context(sides: Sides, contrast: Contrast, estimates: Sequence[_Figure]) -> list[str]:
    """What all figures share: system, program, place, chosen levels, size."""
    differ = contrast.differ
    shared = next((each for each in estimates if each.by), estimates[-1])
    first = shared.estimate
    label = "" if differ == RUN else sides.label(contrast.of[0][0])
    place = "" if differ == PLACE or first.placement.label == UNSTATED else _place(shared)
    levels = [
        _level(name, value)
        for name, value in {**first.params, **(first.factors if contrast.exact else {})}.items()
        if name not in {differ, _PATTERN, _OPERATION, _BYTES} and value != UNSTATED and not _is_usual(first, name)
    ]
    pattern = str(first.params.get(_PATTERN, ""))
    if pattern and differ != _PATTERN and _noun(estimates[-1], differ) != messages.COUNTED.get(pattern):
        levels.append(messages.counted(pattern))
    size = text("{size} each", size=formatting.param(first.params[_BYTES], "B")) if _BYTES in first.params else ""
    sockets = shared.by if shared.by == _SOCKETS and differ != PROGRAM else ""
    return [label, sockets, place, *levels, size]


def _is_usual(estimate: Estimate, name: str) -> bool:
    """Whether a param has the default value of a benchmark of ours."""
    return name in estimate.params and estimate.declared.is_known and selection.is_usual(estimate, name)


def _place(each: _Figure) -> str:
    if each.by:
        return where(each.estimate)
    label, hosts = each.estimate.placement.label, each.estimate.placement.hosts
    return messages.cores(label, hosts) if each.word.over else places.cores(label)


def _cores(each: _Figure) -> str:
    """The same without the hosts, which all figures share."""
    pair = each.by and not messages.of_all_pairs(each.estimate)
    if pair or not each.word.over:
        return _place(each)
    return messages.cores_of(each.estimate.placement.label, ())[0]


def _level(name: str, value: object) -> str:
    """`network SCI`; the end of a range has words of its own."""
    if name == RANGE_END:
        ends = {"low": text("lower end"), "high": text("upper end")}
        return ends.get(str(value), "")
    return f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}"


def _levels(contrast: Contrast, group: Sequence[_Figure]) -> str:
    """The words in which these figures differ from the others of the contrast."""
    first = group[0].estimate
    if contrast.differ == RUN:
        levels = () if contrast.exact else tuple(f"{name} {level}" for name, level in first.factors.items())
        label = group[0].side.label
        return text("{value} ({basis})", value=label, basis=joined(", ", levels)) if levels else label
    if contrast.differ == PROGRAM:
        return group[0].by or text("copies in memory")
    if contrast.differ == PLACE:
        return _places(group)
    if contrast.differ == _PATTERN:
        return messages.counted(str(first.params[_PATTERN]))
    if contrast.differ == MEMORY:
        return formatting.memory(first) or text("first touch")
    return _chosen(first, contrast.differ)


def _chosen(first: Estimate, differ: str) -> str:
    """`huge`, `network SCI`, `nodes = 12`."""
    level = selection.level(first, differ) or first.measurand.parts.get(differ, "")
    if level.isdigit():
        return f"{differ} = {int(level):,}"
    return f"{differ} {level}" if differ in first.factors else level


def _places(group: Sequence[_Figure]) -> str:
    """`NUMA nodes 4, 5, 6 and 7, on the card's socket`."""
    ordered = sorted(group, key=lambda each: each.word.text)
    parts = grouped(filter(_is_part, ordered), lambda each: each.word.group)
    named = [_part(kind, [str(each.word.index) for each in of]) for kind, of in parts.items()]
    others = [_cores(each) for each in ordered if not _is_part(each)]
    near = set(map(_is_near, group))
    side = ""
    if near == {True}:
        side = text("on the socket of the card")
    elif near == {False}:
        side = text("on the other socket than the card")
    return joined(", ", (formatting.listed([*named, *dict.fromkeys(others)]), side))


def _is_part(each: _Figure) -> bool:
    """Whether its placement is all cores of one part of each node."""
    return each.word.share == "all" and each.word.group in {"numa", "socket", "l3"} and each.word.index is not None


def _part(kind: str, numbers: Sequence[str]) -> str:
    several, listed = len(numbers) > 1, formatting.listed(numbers)
    if kind == "numa":
        return text("NUMA nodes {numbers}" if several else "NUMA node {numbers}", numbers=listed)
    if kind == "socket":
        return text("sockets {numbers}" if several else "socket {numbers}", numbers=listed)
    return text("L3 groups {numbers}" if several else "L3 group {numbers}", numbers=listed)


def _is_near(each: _Figure) -> bool | None:
    """Whether a part of a node is in the package of the card; None if the source does not state it."""
    facts = each.side.run.imported.facts if each.side.run.imported else {}
    card, packages = (facts.get(section, {}).get(name) for section, name in (_CARD, _PACKAGES))
    number = each.word.index
    if not _is_part(each) or each.word.group == "l3" or number is None or card is None or packages is None:
        return None
    nodes = [parse_cpu_list(str(of)) for of in packages.listed]
    own = [at for at, of in enumerate(nodes) if int(str(card.value)) in of]
    mine = [at for at, of in enumerate(nodes) if number in of] if each.word.group == "numa" else [number]
    return mine == own


def _close(values: Sequence[float]) -> list[range]:
    """Indices of falling values in groups; a new group begins at a value much below the one before it."""
    cuts = [at for at, (one, other) in enumerate(pairwise(values), 1) if other < one * (1 - _GROUP)]
    return [range(first, last) for first, last in pairwise([0, *cuts, len(values)])]


def _range(group: Sequence[Estimate]) -> str:
    """The figure, or the smallest and the largest of several."""
    low, high = formatting.shown(group[-1]), formatting.shown(group[0])
    if low is None or high is None or low.short == high.short:
        return figure(group[0])
    bare = low.unit == high.unit and not low.lo
    return text("{low} to {high}", low=low.value if bare else low.short, high=high.short)


def _share(contrast: Contrast, estimates: Iterable[_Figure]) -> float | None:
    """The figure of MPI as a share of the figure of sockets."""
    by = {each.by: each.estimate.median or 0.0 for each in estimates if each.by}
    if contrast.differ != PROGRAM or len(by) < 2:  # noqa: PLR2004 (MPI and sockets)
        return None
    return by[_MPI] / by[_SOCKETS]


def _of_tcp(share: float) -> str:
    return text("MPI has {share} of what TCP has", share=formatting.percent(share))
