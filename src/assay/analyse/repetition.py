"""Puts each figure of a published study beside the figure of a run that repeats it, and judges its conclusions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay import references, store
from assay.analyse import derived, imported, matching, operands, source_levels, taken
from assay.analyse.conclusions import conclusions
from assay.analyse.curves import is_headline
from assay.analyse.derived import Value
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.limits import without_refused
from assay.analyse.refusals import needs
from assay.model.conclusion import Judged
from assay.model.derivation import Derivation
from assay.model.imported import UNSTATED, Figure
from assay.model.quantity import Quantity
from assay.model.repetition import AS_PUBLISHED, RepeatedRow, Repetition, Standing
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import text


def of(evidence: Evidence) -> Repetition | None:
    """Return the repetition of the study that a run was made for; of a publication, its conclusions; else None."""
    run = evidence.run
    if run.imported:
        return _itself(run) if run.info.id in references.names() else None
    return repeated(evidence, run.plan.reference) if run.plan.reference in references.names() else None


def _itself(reference: Run) -> Repetition:
    return Repetition(reference.info.id, _label(reference), conclusions=conclusions(reference))


def repeated(evidence: Evidence, name: str, given: Mapping[str, str] = {}) -> Repetition:
    """Return what a run repeats of a publication.

    Args:
        evidence: of the run.
        name: of the reference.
        given: network of one system -> network of the other, in lower case, as the user says.
    """
    reference = store.load(references.path(name))
    own, networks = _own(evidence, reference, given)
    judged = conclusions(reference, own)
    return Repetition(name, _label(reference), tuple(_rows(reference, own, judged)), judged, networks=networks)


def _label(reference: Run) -> str:
    return (reference.imported.label if reference.imported else "") or reference.info.id


def _own(evidence: Evidence, reference: Run, given: Mapping[str, str]) -> tuple[operands.Figures, dict[str, str]]:
    """The figures of the run in which those of the reference are looked for, and which networks meet."""
    run = evidence.run
    measured = [each for each in without_refused(run, evidence.measured) if is_headline(each.estimate)]
    printed = _printed(reference)
    measured += matching.rates(measured, printed)
    networks = taken.networks(printed, measured, given)
    names = {pair.b: pair.a for pair in reversed(networks)}
    levels = source_levels.own(reference, run)
    return operands.Figures(run, measured, names, levels=levels), {
        theirs: own for theirs, own in names.items() if UNSTATED not in {theirs, own}
    }


def _printed(reference: Run) -> list[Measured]:
    return list(imported.measured(reference, reference.imported)) if reference.imported else []


def _rows(reference: Run, own: operands.Figures, judged: Sequence[Judged]) -> Iterator[RepeatedRow]:
    """A row for each published figure, in the order of the publication."""
    tables = reference.imported.tables if reference.imported else ()
    figures = [figure for table in tables for figure in table.figures]
    printed = list(zip(_printed(reference), figures, strict=True))
    plain = [each for each, _ in printed if each.launches and not each.estimate.derivation]
    plain = source_levels.renamed(plain, reference, own.run, own.measured)
    met = iter(_met(taken.renamed(plain, own.measured, own.networks), own))
    following = iter(other for _, other in derived.values_of(reference, own))
    for each, figure in printed:
        derivation = each.estimate.derivation
        if not each.launches:
            continue
        found = next(following) if derivation else next(met)
        if refusal := needs(each.estimate, reference, own.run):
            yield _row(each.estimate, figure, refusal)
        elif isinstance(found, Value):
            row = _row(each.estimate, figure, _Own(found.quantity, derived.is_sure(found, own)))
            about = _about(derivation, found, judged) if derivation else ()
            yield msgspec.structs.replace(row, conclusions=about)
        else:
            yield _row(each.estimate, figure, found)


class _Own(NamedTuple):
    """A figure of the run: whether its ends are an interval, and its id, if it follows from no others."""

    value: Quantity | None
    is_sure: bool
    id: str = ""


def _about(derivation: Derivation, found: Value, judged: Sequence[Judged]) -> tuple[int, ...]:
    """The conclusions whose quantity follows from the same figures by the same operation, with the same value."""
    return tuple(
        at
        for at, each in enumerate(judged)
        if each.quantity
        and (each.conclusion.quantity.operation, each.of) == (derivation.operation, found.of)
        and math.isclose(each.quantity.value, found.quantity.value)
    )


def _met(printed: Sequence[Measured], own: operands.Figures) -> list[_Own | str]:
    """The peer of each published figure, or the reason why there is none."""
    having = [each for each in own.measured if each.launches]
    peers: dict[int, int] = {}
    for one, other in matching.pairs(printed, having):
        peers.setdefault(one, other)
    return [
        _peer(having[peers[at]].estimate)
        if at in peers
        else operands.why_without(each.estimate, own.run) or text("not measured")
        for at, each in enumerate(printed)
    ]


def _peer(estimate: Estimate) -> _Own:
    return _Own(estimate.value, bool(estimate.value and estimate.value.has_interval), estimate.id)


def _row(estimate: Estimate, figure: Figure, found: _Own | str) -> RepeatedRow:
    own = None if isinstance(found, str) else found
    theirs = estimate.value or Quantity(0.0, 0.0, 0.0, estimate.unit, "imported")
    ours = own.value if own else None
    ratio = ours.over(theirs.value) if ours and theirs.value > 0 else None
    return RepeatedRow(
        benchmark=estimate.benchmark,
        kernel=estimate.kernel,
        metric=estimate.metric,
        better=estimate.better,
        params=estimate.params,
        placement=estimate.placement.label,
        memory=estimate.placement.memory,
        factors=estimate.factors,
        where=estimate.printed.place if estimate.printed else "",
        printed=figure.printed,
        unit=figure.printed_unit or "",
        form=estimate.derivation.printed if estimate.derivation else "ratio",
        theirs=theirs,
        own=own.id if own else "",
        ours=ours,
        ratio=ratio,
        standing=_standing(ratio, estimate.better, is_sure=bool(own and own.is_sure)),
        reason=found if isinstance(found, str) else "",
    )


def _standing(ratio: Quantity | None, better: str, *, is_sure: bool) -> Standing:
    """Where the interval is; only a fact of the machine, such as a distance, is exact and needs none."""
    if ratio is None:
        return ""
    if not is_sure:
        return "no interval"
    low, high = 1 - AS_PUBLISHED, 1 + AS_PUBLISHED
    if low <= ratio.lo and ratio.hi <= high:
        return "as published"
    if ratio.lo > high or ratio.hi < low:
        return "better" if (ratio.lo > high) == (better == "higher") else "worse"
    return "open"
