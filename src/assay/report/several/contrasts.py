"""What figures on no curve show beside each other, a sentence for each word that tells them apart."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from assay.model.imported import UNSTATED
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.several import PLACE, PROGRAM, RUN, Contrast
from assay.model.text import Joined, joined, text
from assay.report import choose, messages, words
from assay.report.several.factors import times
from assay.report.several.together import Side, Together, where
from assay.report.vocabulary import known

#: A reader takes in no more of them; the tables have all.
MOST = 12
#: Figures nearer than this to the next larger one are told as one group.
_GROUP = 0.10
#: Nearer than this two published figures are nearly the same.
_SAME = 0.02
_PATTERN, _OPERATION, _END, _MEMORY = "pattern", "operation", "end", "memory"
_PART = re.compile(r"all:(numa|socket|l3):(\d+)(?:@\d+)?")
#: Facts of a source: which node the card is at, and which nodes each package has, `0-3; 4-7`.
_CARD, _PACKAGES = ("network", "link's NUMA node"), ("memory", "NUMA nodes of the packages")


def sentences(together: Together) -> list[str]:
    """The widest contrasts in words."""
    return [_sentence(together, each) for each in together.several.contrasts[:MOST]]


def _sentence(together: Together, contrast: Contrast) -> str:
    estimates = [together.estimate(run, name) for run, name in contrast.of]
    sides = [together.by_run[run] for run, _ in contrast.of]
    values = [each.median or 0.0 for each in estimates]
    first = estimates[-1]
    told = joined(", ", (_noun(first, contrast.differ), *_context(together, contrast, estimates)))
    ratio = values[0] / values[-1]
    groups = _close(values) if contrast.differ == PLACE else [range(at, at + 1) for at in range(len(values))]
    items = [
        text(
            "{value} ({basis})",
            value=_range([estimates[at] for at in group]),
            basis=_levels(contrast, [estimates[at] for at in group], sides[group[0]]),
        )
        for group in groups
    ]
    parts = {"noun": told, "figures": words.listed(items)}
    if ratio < 1 + _SAME:
        said = text("{noun}: {figures}, nearly the same", **parts)
    elif len(items) > 1 and len(groups) > 2:  # noqa: PLR2004 (more than a pair)
        said = text("{noun}: {figures}; the largest is {times} the smallest", **parts, times=times(ratio))
    else:
        against = text("{a} against {b}", a=items[0], b=items[-1]) if len(items) > 1 else items[0]
        said = (
            text("{noun}: {figures}, {times} as long", noun=told, figures=against, times=times(ratio))
            if first.unit == "s"
            else text("{noun}: {figures}, {times} as much", noun=told, figures=against, times=times(ratio))
        )
    return words.sentence(joined("; ", (said, _share(contrast, estimates))))


def _noun(estimate: Estimate, differ: str) -> str:
    """What is counted."""
    benchmark, _, metric = estimate.benchmark.partition(": ")
    if benchmark in messages.BY:
        counted = messages.COUNTED.get(str(estimate.params.get(_PATTERN, "")))
        plain = (metric or estimate.metric).partition(",")[0]
        if counted and differ != _PATTERN and plain in {"bandwidth", "latency"}:
            return counted
        return text("bandwidth") if plain == "bandwidth" else known(plain)
    if metric:
        return known(estimate.benchmark)
    if _OPERATION in estimate.params and differ != _OPERATION:
        return joined(", ", (str(estimate.params[_OPERATION]).capitalize(), known(estimate.metric)))
    return choose.measure(estimate)


def _context(together: Together, contrast: Contrast, estimates: Sequence[Estimate]) -> list[str]:
    """What all of them share: the place, chosen levels, the size."""
    differ = contrast.differ
    first = next((each for each in estimates if _benchmark(each) in messages.BY), estimates[-1])
    label = "" if differ == RUN else together.label_of(contrast.of[0][0])
    place = "" if differ == PLACE or first.placement.label == UNSTATED else _place(first)
    levels = [
        _level(name, value)
        for name, value in {**first.params, **(first.factors if contrast.exact else {})}.items()
        if name not in {differ, _PATTERN, _OPERATION, "bytes"} and not _is_usual(first, name)
    ]
    pattern = str(first.params.get(_PATTERN, ""))
    if pattern and differ != _PATTERN and _noun(estimates[-1], differ) != messages.COUNTED.get(pattern):
        levels.append(messages.counted(pattern))
    size = text("{size} each", size=words.param(first.params["bytes"], "B")) if "bytes" in first.params else ""
    by = "TCP" if _benchmark(first) == "tcp" and differ != PROGRAM else ""
    return [label, by, place, *levels, size]


def _is_usual(estimate: Estimate, name: str) -> bool:
    """Whether a param is as a benchmark of ours has it, which needs no word."""
    return (
        name in estimate.params
        and choose.declaration(estimate.benchmark) is not None
        and (choose.is_usual(estimate, name))
    )


def _benchmark(estimate: Estimate) -> str:
    """Ours, though the figure lies on none of its curves."""
    return estimate.benchmark.partition(": ")[0]


def _place(estimate: Estimate) -> str:
    label, hosts = estimate.placement.label, estimate.placement.hosts
    if _benchmark(estimate) in messages.BY:
        return where(estimate)
    return messages.cores(label, hosts) if "@" in label else words.cores(label)


def _cores(estimate: Estimate) -> str:
    """The same without the hosts, which all of them share."""
    pair = _benchmark(estimate) in messages.BY and not messages.pattern(estimate).startswith("multi-")
    if pair or "@" not in estimate.placement.label:
        return _place(estimate)
    told = messages.cores(estimate.placement.label, ())
    return told.parts[0] if isinstance(told, Joined) else told


def _level(name: str, value: object) -> str:
    """`network SCI`; the ends of a range by a word of their own."""
    if name == _END:
        ends = {"low": text("lower end"), "high": text("upper end")}
        return ends.get(str(value), "")
    return f"{name} {value}"


def _levels(contrast: Contrast, group: Sequence[Estimate], side: Side) -> str:
    """What tells these figures from the others of the contrast."""
    first = group[0]
    if contrast.differ == RUN:
        levels = () if contrast.exact else tuple(f"{name} {level}" for name, level in first.factors.items())
        return joined(", ", (side.label, *levels))
    if contrast.differ == PROGRAM:
        return messages.BY.get(_benchmark(first)) or text("copies in memory")
    if contrast.differ == PLACE:
        return _places(group, side.run)
    if contrast.differ == _PATTERN:
        return messages.counted(str(first.params[_PATTERN]))
    if contrast.differ == _MEMORY:
        return words.memory(first) or text("first touch")
    level = choose.level(first, contrast.differ)
    told_alone = contrast.differ not in first.factors and not level.replace(".", "").isdigit()
    return level if told_alone else f"{contrast.differ} {level}"


def _places(group: Sequence[Estimate], run: Run) -> str:
    """`NUMA nodes 4, 5, 6 and 7, on the card's socket`."""
    parts: dict[str, list[str]] = {}
    others = []
    for each in sorted(group, key=lambda e: e.placement.label):
        label = each.placement.label
        if part := _PART.fullmatch(label):
            parts.setdefault(part[1], []).append(part[2])
        else:
            others.append(_cores(each))
    named = [_part(kind, numbers) for kind, numbers in parts.items()]
    near = {_is_near(each.placement.label, run) for each in group}
    side = ""
    if near == {True}:
        side = text("on the socket of the card")
    elif near == {False}:
        side = text("on the other socket than the card")
    return joined(", ", (words.listed([*named, *dict.fromkeys(others)]), side))


def _part(kind: str, numbers: Sequence[str]) -> str:
    several, told = len(numbers) > 1, words.listed(numbers)
    if kind == "numa":
        return text("NUMA nodes {numbers}" if several else "NUMA node {numbers}", numbers=told)
    if kind == "socket":
        return text("sockets {numbers}" if several else "socket {numbers}", numbers=told)
    return text("L3 groups {numbers}" if several else "L3 group {numbers}", numbers=told)


def _is_near(label: str, run: Run) -> bool | None:
    """Whether a part of a node is of the package that the card is at; None where the source does not tell."""
    facts = run.imported.facts if run.imported else {}
    card, packages = (facts.get(section, {}).get(name) for section, name in (_CARD, _PACKAGES))
    part = _PART.fullmatch(label)
    if part is None or part[1] == "l3" or card is None or packages is None:
        return None
    nodes = [_nodes(each) for each in str(packages.value).split(";")]
    own = [at for at, of in enumerate(nodes) if int(str(card.value)) in of]
    number = int(part[2])
    mine = [at for at, of in enumerate(nodes) if number in of] if part[1] == "numa" else [number]
    return mine == own


def _nodes(told: str) -> range:
    """The nodes of `0-3`."""
    first, _, last = told.strip().partition("-")
    return range(int(first), int(last or first) + 1)


def _close(values: Sequence[float]) -> list[range]:
    """Indices of falling values in groups: a new one where a value is much below the one before it."""
    cuts = [at for at, (one, other) in enumerate(pairwise(values), 1) if other < one * (1 - _GROUP)]
    return [range(first, last) for first, last in pairwise([0, *cuts, len(values)])]


def _range(group: Sequence[Estimate]) -> str:
    """The figure, or the least and the largest of several."""
    low, high = _value(group[-1]), _value(group[0])
    if low == high:
        return low
    value, _, unit = low.partition(" ")
    return text("{low} to {high}", low=value if high.endswith(f" {unit}") else low, high=high)


def _value(estimate: Estimate) -> str:
    """The figure with its interval."""
    figure = words.shown(estimate)
    return figure.short if figure else ""


def _share(contrast: Contrast, estimates: Iterable[Estimate]) -> str:
    """How much of what sockets have MPI has."""
    by = {_benchmark(each): each.median or 0.0 for each in estimates}
    if contrast.differ != PROGRAM or not {"pt2pt", "tcp"} <= by.keys():
        return ""
    return text("MPI has {share} of what TCP has", share=words.percent(by["pt2pt"] / by["tcp"]))
