"""The curves of messages of a run, with what tells one from another."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from assay import benchmarks
from assay.analyse.curves import Known
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.messages.curves import BYTES, OFFSET, PATTERN, by_size, named, size
from assay.analyse.messages.place import between
from assay.analyse.models.message_law import LAW
from assay.model.several import Way

#: Programs that pass messages between two.
_BETWEEN_TWO = ("pt2pt", "tcp")
#: Of imported tables that nothing tells apart: the second has 2.
_REPEAT = "repeat"
#: Patterns of many pairs at once are no curves between two.
_MANY = "multi-"
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


class Found(NamedTuple):
    """A way with its figures, by size."""

    way: Way
    members: tuple[Measured, ...]


def ways(evidence: Evidence) -> list[Found]:
    """Curves between two, of a single size too, in the order in which they were planned or printed."""
    known = Known(evidence.run, evidence.measured)
    laws = {model.id for model in evidence.models if model.law == LAW and model.parameters}
    repeated = any(_REPEAT in each.estimate.params for each in evidence.measured)
    return [
        _found(evidence.run.info.id, benchmark, curve.marks, members, laws, repeated=repeated)
        for benchmark in _BETWEEN_TWO
        for curve in by_size(known, benchmark)
        if (members := tuple(_plain(curve.members))) and not _pattern(members[0]).startswith(_MANY)
    ]


def _plain(members: Sequence[Measured]) -> Iterator[Measured]:
    """Those of sizes without an offset, which stand beside each size and not on its curve."""
    ordered = sorted(members, key=lambda each: size(each.estimate))
    return (each for each in ordered if not each.estimate.params.get(OFFSET))


def _found(  # noqa: PLR0913 (what a curve is made of)
    run: str,
    benchmark: str,
    marks: Sequence[str],
    members: tuple[Measured, ...],
    laws: set[str],
    *,
    repeated: bool,
) -> Found:
    first = members[0].estimate
    name = named(LAW, benchmark, marks)
    axes = benchmarks.get(benchmark).axes
    usual = {axis.name: axis.default for axis in axes}
    chosen = {
        axis: value
        for axis, value in first.params.items()
        if axis not in {BYTES, OFFSET, PATTERN, _REPEAT}
        and usual.get(axis, "") is not None
        and value != usual.get(axis)
    }
    state = next((each.estimate.state for each in members if each.estimate.state), None)
    way = Way(
        id=f"{run}:{'/'.join([benchmark, *marks])}",
        run=run,
        benchmark=benchmark,
        pattern=_pattern(members[0]),
        unit=first.unit,
        better=first.better,
        label=first.placement.label,
        place=_PLACES.get(first.placement.label, first.placement.label),
        between=between(first),
        factors=first.factors | ({"table": str(first.params.get(_REPEAT, 1))} if repeated else {}),
        axes=chosen,
        state=state,
        sizes=tuple(size(each.estimate) for each in members),
        of=tuple(each.estimate.id for each in members),
        law=name if name in laws else "",
    )
    return Found(way, members)


def _pattern(measured: Measured) -> str:
    return str(measured.estimate.params.get(PATTERN, ""))


def stateless(measured: Measured) -> Measured:
    """The same without the state of its machine, which means nothing on another one."""
    launches = tuple(msgspec.structs.replace(each, state=None) for each in measured.launches)
    return msgspec.structs.replace(
        measured, estimate=msgspec.structs.replace(measured.estimate, state=None), launches=launches
    )
