"""The curves of runs: messages by size, and figures over any numeric axis."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from assay.analyse.curves import RunEstimates, is_headline
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.messages.curves import BYTES, OFFSET, PATTERN, by_size, named
from assay.analyse.messages.place import between
from assay.analyse.messages.steps import LAW, MessageLaw
from assay.compare.records import Curve, MessageCurve
from assay.model import roles
from assay.model.declaration import ParamValue
from assay.model.grouping import grouped
from assay.model.imported import case_of
from assay.model.result import Estimate
from assay.report import messages

#: Axes that are not params but hardware of the placement.
CORES, NODES, RANKS = "cores", "nodes", "ranks"
#: Param that numbers imported tables with the same words: the second one has 2.
_REPEAT = "repeat"
#: Word of a placement -> its meaning in every study. Studies use different words for the same partners.
_PLACES = {
    "pair:other-node": "nodes",
    "one-core@2": "nodes",
    "one-core:near-nic@2": "nodes:near-nic",
    "one-core:far-nic@2": "nodes:far-nic",
    "pair": "near",
    "pair:same-l3": "near",
    "pair:same-socket": "near",
    "pair:other-socket": "sockets",
}
#: Placements that are a number of cores, and those at the ends of every curve over cores.
_ADDED, _ENDS = ("cores", "spread"), frozenset({"one-core", "half", "all"})


class MeasuredCurve(NamedTuple):
    """A curve with its figures in the order of its axis."""

    curve: Curve
    members: tuple[Measured, ...]


def chosen(estimate: Estimate) -> dict[str, ParamValue]:
    """Return the params that were chosen and differ from their defaults."""
    declared = estimate.declared
    params = ((name, value) for name, value in estimate.params.items() if name not in declared.derived)
    return {name: value for name, value in params if value != declared.defaults.get(name)}


def of_messages(evidence: Evidence) -> list[MeasuredCurve]:
    """Return the curves of messages between two partners, in the order in which they were planned or printed.

    A curve may have a single size.
    """
    known = RunEstimates(evidence.run, evidence.measured)
    laws = {model.id for model in evidence.fitted(MessageLaw)}
    tables = _tables(evidence)
    found = []
    for benchmark in messages.BY:
        for each in by_size(known, benchmark):
            members = tuple(sorted(each.members, key=lambda m: roles.size(m.estimate)))
            if not messages.of_all_pairs(members[0].estimate):
                law = named(LAW, members[0].estimate.declared, each.marks)
                name = f"{evidence.run.info.id}:{'/'.join([benchmark, *each.marks])}"
                found.append(_of_messages(evidence, name, members, law if law in laws else "", tables))
    return found


def _tables(evidence: Evidence) -> dict[str, str]:
    """Case -> its table in an import, by file, line and program. Empty if no table is repeated."""
    imported = evidence.run.imported
    if imported is None or not any(_REPEAT in table.params for table in imported.tables):
        return {}
    return {
        case_of(table, each).id: f"{PurePath(table.source).name}:{table.figures[0].line} {table.tool}"
        for table in imported.tables
        for each in table.figures
    }


def _of_messages(
    evidence: Evidence, name: str, members: tuple[Measured, ...], law: str, tables: dict[str, str]
) -> MeasuredCurve:
    first = members[0].estimate
    factors = first.factors | ({"table": tables[first.case]} if first.case in tables else {})
    shared = _shared(evidence, members, {BYTES, OFFSET, PATTERN, _REPEAT})
    shared |= {"id": name, "axis": BYTES, "factors": factors}
    shared |= {"place": _PLACES.get(first.placement.label, first.placement.label)}
    at = tuple(roles.size(each.estimate) for each in members)
    return MeasuredCurve(
        MessageCurve(**shared, at=at, pattern=roles.pattern_name(first), between=between(first), law=law), members
    )


def _shared(evidence: Evidence, members: Sequence[Measured], coordinates: Collection[str]) -> dict[str, Any]:
    """Return the fields that all kinds of curves have; `coordinates`: params that its figures do not share."""
    first = members[0].estimate
    return {
        "run": evidence.run.info.id,
        "benchmark": first.benchmark,
        "declaration": first.declaration,
        "kernel": first.kernel,
        "metric": first.metric,
        "unit": first.unit,
        "better": first.better,
        "label": first.placement.label,
        "memory": first.measurand.places.memory,
        "params": {name: value for name, value in chosen(first).items() if name not in coordinates},
        "state": next((each.estimate.state for each in members if each.estimate.state), None),
        "of": tuple(each.estimate.id for each in members),
    }


def over_axes(sides: Sequence[Evidence], taken: frozenset[tuple[str, str]]) -> list[list[MeasuredCurve]]:
    """Return the curves of each side over numeric axes, of the main kernel of each benchmark.

    A benchmark that sweeps an axis has curves along that axis. Another one has curves along every number that
    varies, in one run or between runs, while all else is equal.

    Args:
        sides: the evidence of each run.
        taken: (run, id) of the estimates that are on other curves.
    """
    figures = [
        [each for each in side.measured if _counts(each) and (side.run.info.id, each.estimate.id) not in taken]
        for side in sides
    ]
    found: list[list[MeasuredCurve]] = [[] for _ in sides]
    for axis in _axes(each.estimate for of in figures for each in of):
        groups = [grouped(_along(of, axis), lambda pair: pair[0]) for of in figures]
        varies = {
            key
            for key in {key for of in groups for key in of}
            if len({_value(each.estimate, axis) for of in groups for _, each in of.get(key, ())}) > 1
        }
        for number, (side, of) in enumerate(zip(sides, groups, strict=True)):
            found[number] += [_over(side, axis, key, [m for _, m in of[key]]) for key in of if key in varies]
    return found


def _counts(measured: Measured) -> bool:
    """Whether it is a figure above 0 of the main kernel and the headline metric."""
    estimate = measured.estimate
    main = estimate.declared.main_kernel or estimate.kernel
    return (estimate.median or 0.0) > 0 and is_headline(estimate) and estimate.kernel == main


def _axes(estimates: Iterable[Estimate]) -> list[str]:
    """Return their numeric axes: swept params, cores, nodes, ranks, other params that are numbers."""
    names: dict[str, None] = {}
    for each in estimates:
        swept = each.declared.swept
        names |= dict.fromkeys([swept] if swept else [CORES, NODES, RANKS, *_numbers(each)])
    return list(names)


def _numbers(estimate: Estimate) -> Iterator[str]:
    """Params that are numbers and were chosen, not computed from the memory."""
    derived = estimate.declared.derived
    return (
        name
        for name, value in estimate.params.items()
        if name not in derived and isinstance(value, int) and not isinstance(value, bool)
    )


def _along(figures: Iterable[Measured], axis: str) -> Iterator[tuple[Hashable, Measured]]:
    """Figures that have a value on the axis, each with what it must share with others of its curve.

    Cores are added compactly or spread. One core and all cores are the ends of both curves.
    """
    figures = list(figures)
    added = {(each.estimate.benchmark, word) for each in figures for word in _ADDED if _is_added(each, word)}
    for each in figures:
        estimate = each.estimate
        swept = estimate.declared.swept
        if (swept and swept != axis) or _value(estimate, axis) is None:
            continue
        word = estimate.placement.word
        places = [estimate.placement.label]
        if axis == NODES:
            places = [word.plain]
        elif axis == RANKS and estimate.placement.laid_out:
            places = [str(cpus_of_rank(estimate))]
        elif axis == CORES:
            shares = [share for share in _ADDED if (estimate.benchmark, share) in added] or [""]
            joining = [share for share in shares if word.plain in _ENDS or _is_added(each, share)]
            places = [f"{share}@{word.over}" if word.over else share for share in joining]
        params = frozenset(item for item in chosen(estimate).items() if item[0] != axis)
        factors = frozenset(item for item in estimate.factors.items() if item[0] != axis)
        kind = (estimate.benchmark, estimate.kernel, estimate.metric)
        for place in places:
            yield (kind, place, estimate.measurand.places.memory, params, factors, estimate.state), each


def cpus_of_rank(estimate: Estimate) -> int:
    """Return the cpus of each rank; 0 if ranks are not laid out."""
    placement = estimate.placement
    return sum(map(len, placement.cpus)) // placement.laid_out if placement.laid_out else 0


def _is_added(measured: Measured, share: str) -> bool:
    """Whether its placement is a number of cores, added compactly or spread as `share` says."""
    word = measured.estimate.placement.word
    return word.share == share and word.count is not None


def _value(estimate: Estimate, axis: str) -> int | None:
    """Return its value on the axis; None if it has none above 0."""
    if axis == CORES:
        return len(estimate.placement.cpus[0]) or None if estimate.placement.cpus else None
    if axis == RANKS and estimate.placement.laid_out:
        return estimate.placement.laid_out
    value = estimate.placement.nodes if axis == NODES else estimate.params.get(axis)
    return value if isinstance(value, int) and value > 0 else None


def _over(evidence: Evidence, axis: str, key: Any, members: Iterable[Measured]) -> MeasuredCurve:  # noqa: ANN401 (a key)
    """Return the curve of a group. Of several figures at one value, as of several hosts, it has the median one."""
    at = grouped(members, lambda each: _value(each.estimate, axis) or 0)
    middle = {
        value: sorted(of, key=lambda each: each.estimate.merit)[len(of) // 2] for value, of in sorted(at.items())
    }
    first = next(iter(middle.values())).estimate
    (_, place, *_) = key
    shared = _shared(evidence, tuple(middle.values()), {axis})
    marks = [f"{name}={value}" for name, value in (shared["params"] | first.factors).items()]
    state = [f"state={first.state}"] if first.state else []
    name = "/".join([axis, first.benchmark, first.kernel, place, shared["memory"], *marks, *state])
    curve = Curve(
        **shared,
        id=f"{shared['run']}:{name}",
        axis=axis,
        place=place,
        factors={name: level for name, level in first.factors.items() if name != axis},
        at=tuple(middle),
    )
    return MeasuredCurve(curve, tuple(middle.values()))


def stateless(measured: Measured) -> Measured:
    """Return the same without the state of its machine, which means nothing on another machine."""
    launches = tuple(msgspec.structs.replace(each, state=None) for each in measured.launches)
    return msgspec.structs.replace(
        measured, estimate=msgspec.structs.replace(measured.estimate, state=None), launches=launches
    )
