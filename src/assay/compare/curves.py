"""The curves of runs, with what tells one from another: messages by size, and figures over any numeric axis."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from assay.analyse.comparisons.pairing import headline
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.messages.curves import BYTES, OFFSET, PATTERN, by_size, named, size
from assay.analyse.messages.place import between
from assay.analyse.messages.steps import LAW, MessageLaw
from assay.compare.records import Curve, MessageCurve
from assay.model import benchmarks, roles
from assay.model.benchmark import ParamValue
from assay.model.grouping import grouped
from assay.model.imported import case_of
from assay.model.result import Estimate

#: Axes that are no params: hardware of the placement.
CORES, NODES, RANKS = "cores", "nodes", "ranks"
#: Of imported tables that nothing tells apart: the second has 2.
_REPEAT = "repeat"
#: Word of a placement -> what it means in any study: others have words of their own for the same partners.
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
#: Placements that are numbers of cores, and those that every way of adding cores begins or ends with.
_ADDED, _ENDS = ("cores", "spread"), frozenset({"one-core", "half", "all"})


class Found(NamedTuple):
    """A curve with its figures, by value."""

    curve: Curve
    members: tuple[Measured, ...]


def program(benchmark: str) -> str:
    """What passes messages between two, `MPI` or `TCP`; empty for another benchmark."""
    return roles.message_curves().get(benchmark, "")


def chosen(estimate: Estimate) -> dict[str, ParamValue]:
    """Its params that somebody chose, and not as they usually are."""
    declared = benchmarks.of(estimate.benchmark)
    params = ((name, value) for name, value in estimate.params.items() if name not in declared.derived)
    return {name: value for name, value in params if value != declared.defaults.get(name)}


def policy(estimate: Estimate) -> str:
    """Its memory policy; the node counts only where memory was bound to one."""
    asked = estimate.placement.policy
    return str(asked) if asked.policy == "bind" else asked.policy


def of_messages(evidence: Evidence) -> list[Found]:
    """Curves between two, of a single size too, in the order in which they were planned or printed."""
    known = RunEstimates(evidence.run, evidence.measured)
    laws = {model.id for model in evidence.fitted(MessageLaw)}
    tables = _tables(evidence)
    found = []
    for benchmark in filter(program, benchmarks.names()):
        for each in by_size(known, benchmark):
            # Sizes with an offset stand beside each size, not on its curve.
            ordered = sorted(each.members, key=lambda m: size(m.estimate))
            members = tuple(m for m in ordered if not m.estimate.params.get(OFFSET))
            if members and not _is_of_many(members):
                law = named(LAW, benchmark, each.marks)
                name = f"{evidence.run.info.id}:{'/'.join([benchmark, *each.marks])}"
                found.append(_of_messages(evidence, name, members, law if law in laws else "", tables))
    return found


def _tables(evidence: Evidence) -> dict[str, str]:
    """Case -> the table of an import that it stands in, by file, line and program; none where none is repeated."""
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
) -> Found:
    first = members[0].estimate
    factors = first.factors | ({"table": tables[first.case]} if first.case in tables else {})
    apart = {BYTES, OFFSET, PATTERN, _REPEAT}
    shared = _shared(evidence, members, apart) | {"id": name, "axis": BYTES, "factors": factors}
    shared |= {"place": _PLACES.get(first.placement.label, first.placement.label)}
    at = tuple(size(each.estimate) for each in members)
    return Found(
        MessageCurve(**shared, at=at, pattern=roles.pattern_name(first), between=between(first), law=law), members
    )


def _is_of_many(members: Sequence[Measured]) -> bool:
    """Whether all pairs pass messages at once, which is no curve between two."""
    pattern = roles.pattern(members[0].estimate)
    return pattern is not None and pattern.pairs == "all"


def _shared(evidence: Evidence, members: Sequence[Measured], apart: Iterable[str]) -> dict[str, Any]:
    """What any curve says of its figures; `apart`: params that are no words of it."""
    first = members[0].estimate
    return {
        "run": evidence.run.info.id,
        "benchmark": first.benchmark,
        "kernel": first.kernel,
        "metric": first.metric,
        "unit": first.unit,
        "better": first.better,
        "label": first.placement.label,
        "memory": policy(first),
        "params": {name: value for name, value in chosen(first).items() if name not in set(apart)},
        "state": next((each.estimate.state for each in members if each.estimate.state), None),
        "of": tuple(each.estimate.id for each in members),
    }


def over_axes(sides: Sequence[Evidence], taken: frozenset[tuple[str, str]]) -> list[list[Found]]:
    """For each side its curves over numeric axes, of the kernel that stands for its benchmark.

    A benchmark that sweeps an axis has its curves along that axis; another along every number that varies among
    figures which are otherwise alike, in one run or between runs.

    Args:
        sides: what is known of each run.
        taken: (run, id) of the estimates that lie on curves already.
    """
    figures = [
        [each for each in side.measured if _counts(each) and (side.run.info.id, each.estimate.id) not in taken]
        for side in sides
    ]
    found: list[list[Found]] = [[] for _ in sides]
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
    """Whether it is a figure above 0, of the kernel and metric that stand for its benchmark."""
    estimate = measured.estimate
    main = benchmarks.of(estimate.benchmark).main_kernel or estimate.kernel
    return (estimate.median or 0.0) > 0 and headline(estimate) and estimate.kernel == main


def _swept(estimate: Estimate) -> str:
    return benchmarks.of(estimate.benchmark).swept


def _axes(estimates: Iterable[Estimate]) -> list[str]:
    """Every numeric axis that they have: what is swept, cores, nodes, ranks, other params that are numbers."""
    names: dict[str, None] = {}
    for each in estimates:
        names |= dict.fromkeys([_swept(each)] if _swept(each) else [CORES, NODES, RANKS, *_numbers(each)])
    return list(names)


def _numbers(estimate: Estimate) -> Iterator[str]:
    """Params that are numbers and were chosen; a size that is computed from the memory was not."""
    derived = benchmarks.of(estimate.benchmark).derived
    return (
        name
        for name, value in estimate.params.items()
        if name not in derived and isinstance(value, int) and not isinstance(value, bool)
    )


def _along(figures: Iterable[Measured], axis: str) -> Iterator[tuple[Hashable, Measured]]:
    """Figures that have a value on the axis, each with what it must share with others of its curve.

    One core and all cores are the ends of each way to add cores, and so on several curves.
    """
    figures = list(figures)
    added = {(each.estimate.benchmark, word) for each in figures for word in _ADDED if _is_added(each, word)}
    for each in figures:
        estimate = each.estimate
        swept = _swept(estimate)
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
            yield (kind, place, policy(estimate), params, factors, estimate.state), each


def cpus_of_rank(estimate: Estimate) -> int:
    """Cpus that each rank has; 0 where ranks are not laid out."""
    placement = estimate.placement
    return sum(map(len, placement.cpus)) // placement.laid_out if placement.laid_out else 0


def _is_added(measured: Measured, share: str) -> bool:
    """Whether it is of a number of cores, added in one of the ways."""
    word = measured.estimate.placement.word
    return word.share == share and word.count is not None


def _value(estimate: Estimate, axis: str) -> int | None:
    """Its place on the axis; None where it has none, or a logarithm has none."""
    if axis == CORES:
        return len(estimate.placement.cpus[0]) or None if estimate.placement.cpus else None
    if axis == RANKS and estimate.placement.laid_out:
        return estimate.placement.laid_out
    value = estimate.placement.nodes if axis == NODES else estimate.params.get(axis)
    return value if isinstance(value, int) and value > 0 else None


def _over(evidence: Evidence, axis: str, key: Any, members: Iterable[Measured]) -> Found:  # noqa: ANN401 (a key)
    """The curve of a group; of several figures at one value, as of several hosts, the one in the middle."""
    at = grouped(members, lambda each: _value(each.estimate, axis) or 0)
    middle = {
        value: sorted(of, key=lambda each: each.estimate.median or 0.0)[len(of) // 2]
        for value, of in sorted(at.items())
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
    return Found(curve, tuple(middle.values()))


def stateless(measured: Measured) -> Measured:
    """The same without the state of its machine, which means nothing on another one."""
    launches = tuple(msgspec.structs.replace(each, state=None) for each in measured.launches)
    return msgspec.structs.replace(
        measured, estimate=msgspec.structs.replace(measured.estimate, state=None), launches=launches
    )
