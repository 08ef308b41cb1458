"""Puts each figure of a published study beside the figure of a run that repeats it, and judges its conclusions."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from assay import references, store
from assay.analyse import derived, imported, matching, operands, source_levels, taken
from assay.analyse.agreements import Published, agreement, standing
from assay.analyse.conclusions import conclusions, of_system
from assay.analyse.curves import is_headline
from assay.analyse.derived import Value
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.flaws import flaws
from assay.analyse.history import BetweenRuns
from assay.analyse.limits import without_refused
from assay.analyse.refusals import needs
from assay.model.agreement import scale
from assay.model.conclusion import Judged
from assay.model.derivation import Derivation
from assay.model.flaw import Flaw
from assay.model.grouping import grouped
from assay.model.imported import LOWER, RANGE_END, UNSTATED, Figure
from assay.model.quantity import Quantity
from assay.model.repetition import RepeatedRow, Repetition
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import text

#: Values of the param of a published range.
_ENDS = frozenset((LOWER, "high"))


def of(evidence: Evidence) -> Repetition | None:
    """Return the repetition of the study that a run was made for; of a publication, its conclusions; else None."""
    run = evidence.run
    if run.imported:
        return _itself(run) if run.info.id in references.names() else None
    return repeated(evidence, run.plan.reference) if run.plan.reference in references.names() else None


def _itself(reference: Run) -> Repetition:
    return Repetition(reference.info.id, _label(reference), conclusions=conclusions(reference))


def repeated(
    evidence: Evidence,
    name: str,
    given: Mapping[str, str] = {},
    others: Mapping[str, Evidence] = {},
    between: Mapping[str, BetweenRuns] = {},
) -> Repetition:
    """Return what a run repeats of a publication.

    Args:
        evidence: of the run.
        name: of the reference.
        given: network of one system -> network of the other, in lower case, as the user says.
        others: name of another reference -> the evidence of a run that repeats it on another system.
        between: name of another reference -> how the figures of this run, and of that one as the base, vary from
            run to run.
    """
    reference = store.load(references.path(name))
    own, networks = _own(evidence, reference, given)
    sources = {other: store.load(references.path(other)) for other in others}
    systems = {
        other: of_system(_own(others[other], source, given)[0], between.get(other))
        for other, source in sources.items()
    }
    judged = conclusions(reference, own, systems)
    return Repetition(name, _label(reference), tuple(_rows(reference, own, judged)), judged, networks=networks)


def _label(reference: Run) -> str:
    return (reference.imported.label if reference.imported else "") or reference.info.id


def _own(evidence: Evidence, reference: Run, given: Mapping[str, str]) -> tuple[operands.Figures, dict[str, str]]:
    """The figures of the run in which those of the reference are looked for, and which networks meet."""
    run = evidence.run
    measured = [each for each in without_refused(run, evidence.measured) if is_headline(each.estimate)]
    printed = [each for each, _ in imported.printed(reference)]
    measured += matching.rates(measured, printed)
    networks = taken.networks(printed, measured, given)
    names = {pair.b: pair.a for pair in reversed(networks)}
    levels = source_levels.own(reference, run)
    flawed = flaws(evidence, (each.estimate for each in measured))
    return operands.Figures(run, measured, names, levels=levels, flaws=flawed), {
        theirs: own for theirs, own in names.items() if UNSTATED not in {theirs, own}
    }


def _rows(reference: Run, own: operands.Figures, judged: Sequence[Judged]) -> Iterator[RepeatedRow]:
    """A row for each published figure, and for each published range, in the order of the publication."""
    printed = imported.printed(reference)
    plain = [each for each, _ in printed if each.launches and not each.estimate.derivation]
    plain = source_levels.renamed(plain, reference, own.run, own.measured)
    renamed = taken.renamed(plain, own.measured, own.networks)
    found: dict[str, Value | Measured | str] = {
        each.estimate.id: peer for each, peer in zip(plain, _met(renamed, own), strict=True)
    }
    found |= {each.estimate.id: other for each, _, other in derived.values_of(reference, own)}
    for published in grouped(((each.estimate, figure) for each, figure in printed), _range_of).values():
        first = published[0][0]
        if first.id in found:
            refusal = needs(first, reference, own.run)
            yield _row(published, _own_figure(refusal or found[first.id], first, own, judged))


#: A printed figure, or both ends of a range, each with its estimate.
_Printed = Sequence[tuple[Estimate, Figure]]


def _range_of(printed: tuple[Estimate, Figure]) -> Hashable:
    """A key that both ends of a published range share, and no other figure."""
    estimate, figure = printed
    if figure.params.get(RANGE_END) not in _ENDS:
        return estimate.id
    where = estimate.printed.place if estimate.printed else ""
    params = frozenset(item for item in estimate.params.items() if item[0] != RANGE_END)
    return where, estimate.benchmark, estimate.kernel, estimate.metric, params


class _Own(NamedTuple):
    """A figure of the run, or the reason why there is none.

    Attributes:
        value: with its ends.
        is_sure: whether these are an interval, or the figure is exact.
        id: of its estimate, if it follows from no others.
        launches: the fewest of the estimates that it follows from.
        about: positions of the conclusions about it.
        reason: why there is none.
        flaw: why it is not to be used.
    """

    value: Quantity | None = None
    is_sure: bool = False
    id: str = ""
    launches: int = 0
    about: tuple[int, ...] = ()
    reason: str = ""
    flaw: Flaw = ""


def _own_figure(
    found: Value | Measured | str, printed: Estimate, own: operands.Figures, judged: Sequence[Judged]
) -> _Own:
    if isinstance(found, str):
        return _Own(reason=found)
    if isinstance(found, Measured):
        peer = found.estimate
        is_sure = bool(peer.value and peer.value.has_interval)
        about, flaw = _beginning(peer.id, judged), own.flaw((peer.id,))
        return _Own(peer.value, is_sure, peer.id, peer.launches, about, flaw=flaw)
    used = [each.estimate.launches for each in own.measured if each.estimate.id in found.of]
    about = _about(printed.derivation, found, judged) if printed.derivation else ()
    is_sure = derived.is_sure(found)
    return _Own(found.quantity, is_sure, "", min(used, default=0), about, flaw=own.flaw(found.of))


def _beginning(name: str, judged: Sequence[Judged]) -> tuple[int, ...]:
    """The conclusions whose first operand is the figure itself, not something else of it, such as its pages."""
    return tuple(
        at
        for at, each in enumerate(judged)
        if each.of[:1] == (name,)
        and each.conclusion.quantity.a.aspect == "value"
        and not each.conclusion.quantity.a.per
    )


def _about(derivation: Derivation, found: Value, judged: Sequence[Judged]) -> tuple[int, ...]:
    """The conclusions whose quantity follows from the same figures by the same operation, with the same value."""
    return tuple(
        at
        for at, each in enumerate(judged)
        if each.quantity
        and (each.conclusion.quantity.operation, each.of) == (derivation.operation, found.of)
        and math.isclose(each.quantity.value, found.quantity.value)
    )


def _met(printed: Sequence[Measured], own: operands.Figures) -> list[Measured | str]:
    """The peer of each published figure, or the reason why there is none."""
    having = [each for each in own.measured if each.launches]
    peers: dict[int, int] = {}
    for one, other in matching.pairs(printed, having):
        peers.setdefault(one, other)
    return [
        having[peers[at]] if at in peers else operands.why_without(each.estimate, own.run) or text("not measured")
        for at, each in enumerate(printed)
    ]


def _row(published: _Printed, own: _Own) -> RepeatedRow:
    (estimate, figure), *others = published
    derivation, unit = estimate.derivation, figure.printed_unit or ""
    is_end = figure.params.get(RANGE_END) in _ENDS and not others
    printed = Published(
        _range(published),
        scale(derivation, unit),
        derivation.printed if derivation else "ratio",
        is_least=is_end and figure.params[RANGE_END] == LOWER,
    )
    ours = own.value
    params = {name: value for name, value in estimate.params.items() if is_end or name != RANGE_END}
    return RepeatedRow(
        benchmark=estimate.benchmark,
        kernel=estimate.kernel,
        metric=estimate.metric,
        better=estimate.better,
        params=params,
        placement=estimate.placement.label,
        memory=estimate.placement.memory,
        factors=estimate.factors,
        where=estimate.printed.place if estimate.printed else "",
        figures=len(published),
        printed=_as_typed([each for _, each in published]),
        unit=unit,
        remark=figure.remark,
        form=printed.form,
        is_ratio=derivation is not None and derivation.is_ratio,
        theirs=printed.value,
        own=own.id,
        ours=ours,
        launches=own.launches,
        agreement=agreement(printed, ours) if ours else None,
        standing=standing(printed, ours, estimate.better, is_sure=own.is_sure) if ours else "",
        reason=own.reason,
        conclusions=own.about,
        flaw=own.flaw,
    )


def _range(published: _Printed) -> Quantity:
    """The published number; of a range its middle, with both ends."""
    ends = sorted(figure.value for _, figure in published)
    return Quantity(sum(ends) / len(ends), ends[0], ends[-1], published[0][0].unit, "imported")


def _as_typed(figures: Sequence[Figure]) -> str:
    """`3.4 GB/s`, of a range `750 to 800 Mbps`."""
    first, *others = figures
    if not others:
        return first.printed
    unit = f" {first.printed_unit}"
    return f"{first.printed.removesuffix(unit)} to {others[-1].printed}"
