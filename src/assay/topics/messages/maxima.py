"""NetPIPE's curves in figures: their maxima in Mbit/s, shares at large sizes, and the cost of odd sizes."""

from collections.abc import Iterable
from typing import NamedTuple

from assay.model import roles
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.report import fitted, formatting, messages, selection
from assay.report.declared import Scene
from assay.report.fitted import Fitted
from assay.topics.messages.models.copy_share import CopyShare
from assay.topics.messages.models.mpi_over_tcp import TCP, MpiOver
from assay.topics.messages.models.size_offset import SizeOffset

#: Bytes a second in a megabit a second, NetPIPE's unit.
_MEGABIT = 1e6 / 8
#: Odd sizes that cost less than this share cost nothing that counts.
_MARGIN = 0.01
#: A curve that ends before this size does not show the largest rate.
_REACHES = 2**16
#: Messages are long from the largest size over this number on.
_LONG = 4
_Ratio = Fitted[MpiOver] | Fitted[CopyShare]


class Share(NamedTuple):
    """A rate of long messages over another one: the judged one, its base, place, first size, and the ratio."""

    judged: str
    base: str
    where: str
    size: str
    ratio: formatting.Shown


class Cost(NamedTuple):
    """What odd sizes cost one curve: on average, and at the size where they cost most; shares of the time."""

    by: str
    where: str
    offset: str
    mean: Quantity
    mean_shown: formatting.Shown
    most: formatting.Shown
    at: str


def rows(rates: tuple[Estimate, ...], copies: tuple[Estimate, ...]) -> Iterable[tuple[str, ...]]:
    """Return a row for each curve: copies, then messages inside a node, then those between nodes.

    Copies alone are no messages: without any there is no row.
    """
    if not rates:
        return
    over = messages.over(rates)
    ordered = sorted(rates, key=messages.is_between)
    curves = {
        **selection.grouped(copies, lambda e: (_copies(_buffers(e)), _place(e))),
        **selection.grouped(ordered, lambda e: (over(e) or messages.BY[e.benchmark], _place(e))),
    }
    for (by, where), members in curves.items():
        best, largest = selection.best(members), messages.largest(members)
        reaches = largest is not None and messages.size(largest) >= _REACHES
        if best and largest and reaches and messages.is_curve(members):
            most, last = map(_megabits, (best, largest))
            yield by, where, most.value, most.ends, messages.at(best), last.value, messages.at(largest)


def _buffers(estimate: Estimate) -> str:
    return str(roles.level_of(estimate, "buffer-reuse") or "")


def _copies(buffers: str) -> str:
    return text("memcpy, {buffers}", buffers=buffers) if buffers else "memcpy"


def _place(estimate: Estimate) -> str:
    label = estimate.placement.label
    where = messages.where(estimate) if estimate.benchmark in messages.BY else messages.cores(label, ())
    return joined(", ", [where, selection.state(estimate)])


def _megabits(estimate: Estimate) -> formatting.Shown:
    rate = estimate.value or Quantity(0.0, 0.0, 0.0)
    return formatting.interval(rate.over(_MEGABIT, "Mbit/s"), formatting.basis(estimate))


def shares(scene: Scene) -> list[Share]:
    """Return MPI over sockets, and both over copies: at sizes from a quarter of the largest on."""
    every: tuple[_Ratio, ...] = (
        *fitted.fitted(scene.analysis, MpiOver),
        *fitted.fitted(scene.analysis, CopyShare),
    )
    curves = [each for each in every if _base(each.model) and messages.is_curve(_judged(each))]
    single = [each for each in curves if _judged(each)[0].unit == "s"]
    over = messages.over(e for each in single for e in _judged(each)[:1])
    return [_share(each, over(_judged(each)[0])) for each in single]


def _base(model: MpiOver | CopyShare) -> str:
    """The base of a share in words; empty for ratios that are none."""
    if isinstance(model, CopyShare):
        return _copies(model.buffers)
    return "TCP" if model.base == TCP else ""


def _judged(each: _Ratio) -> tuple[Estimate, ...]:
    """The figures of the messages that are judged, in the order of their sizes."""
    return tuple(each.estimate(point) for point in each.model.points)


def _share(each: _Ratio, by: str) -> Share:
    judged = _judged(each)
    sizes = [messages.size(estimate) for estimate in judged]
    size = min(size for size in sizes if _LONG * size >= max(sizes))
    by, ratio = by or messages.BY[judged[0].benchmark], each.shown(each.model.long_messages)
    return Share(by, _base(each.model), _place(judged[0]), format_size(size), ratio)


def costs(scene: Scene) -> list[Cost]:
    """Return what the odd sizes cost each curve, the most expensive one first."""
    found = [_cost(each) for each in fitted.fitted(scene.analysis, SizeOffset)]
    return sorted(found, key=lambda cost: -cost.mean.value)


def _cost(each: Fitted[SizeOffset]) -> Cost:
    first, model = each.estimates[0], each.model
    by = messages.BY.get(first.benchmark) or _copies(_buffers(first))
    mean, most = (
        Quantity(value.value - 1, value.lo - 1, value.hi - 1, "share", value.basis)
        for value in (model.mean, model.most)
    )
    shown = (each.shown(mean), each.shown(most))
    return Cost(by, _place(first), format_size(model.offset), mean, *shown, format_size(model.most_at))


def sentences(scene: Scene) -> str:
    """Say what MPI reaches of TCP, both of a copy, and what odd sizes cost."""
    found = [
        text(
            "{where}: from {size} on, {judged} has {ratio} times the rate of {base}.",
            where=each.where,
            size=each.size,
            judged=each.judged,
            ratio=each.ratio.short,
            base=each.base,
        )
        for each in shares(scene)
    ]
    return joined(" ", (*found, _of_odd_sizes(costs(scene))))


def _of_odd_sizes(having: list[Cost]) -> str:
    """The most expensive curve if it surely costs something; else that none does, or how many may."""
    if not having:
        return ""
    worst, margin = having[0], formatting.percent(_MARGIN)
    if certain := [each for each in having if each.mean.has_ends and each.mean.lo > _MARGIN]:
        worst = certain[0]
        return text(
            "Sizes {offset} below and above a power of two slow down {by} most ({where}): {mean} more time on "
            "average.",
            offset=worst.offset,
            by=worst.by,
            where=worst.where,
            mean=worst.mean_shown.short,
        )
    if all(each.mean.hi <= _MARGIN for each in having):
        return text(
            "Sizes {offset} below and above a power of two cost less than {margin} of time on average.",
            offset=worst.offset,
            margin=margin,
        )
    return text(
        "It cannot be told whether sizes {offset} below and above a power of two cost more than {margin} of time.",
        offset=worst.offset,
        margin=margin,
    )


def share_rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    """Return the shares as rows of a table."""
    above = ""
    for each in shares(scene):
        place = "" if each.where == above else each.where
        yield each.judged, each.base, place, each.size, each.ratio.value, each.ratio.ends
        above = each.where


def cost_rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    """Return the costs of odd sizes as rows of a table."""
    for each in costs(scene):
        mean, most = (joined(" ", (shown.plain, shown.ends)) for shown in (each.mean_shown, each.most))
        yield each.by, each.where, each.offset, mean, most, each.at
