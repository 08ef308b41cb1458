"""Printed or published figures as estimates. They have no samples, so they have no interval."""

from collections.abc import Iterable, Iterator

import msgspec

from assay.analyse.curves import is_headline
from assay.analyse.estimates import LaunchMedian, Measured
from assay.model import printed_measurands
from assay.model.declaration import Declaration, keep, undeclared
from assay.model.imported import Figure, Imported, Printed, Table, case_of
from assay.model.placed import Placed
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Limit, Outcome
from assay.model.run import Run
from assay.model.text import text


def measured(run: Run, imported: Imported) -> list[Measured]:
    """Return every figure; its value counts as one launch, which supports no claim."""
    return [
        Measured(each, () if each.median is None else (LaunchMedian(0, None, each.median),))
        for table in imported.tables
        for each in estimates_of(table, run.plan.declared(table.benchmark))
    ]


def printed(run: Run) -> list[tuple[Measured, Figure]]:
    """Return every figure of a publication or an import, each with its printed form; none of a measured run."""
    if run.imported is None:
        return []
    figures = (figure for table in run.imported.tables for figure in table.figures)
    return list(zip(measured(run, run.imported), figures, strict=True))


def apart(found: Iterable[Measured]) -> list[Measured]:
    """Return the same, but rename the benchmark of figures that no law or section can use: benchmark and metric.

    These are figures of unknown benchmarks, figures without a size for the axis of their curves, and cases without
    a headline metric, such as the phases of a non-blocking collective operation.
    """
    found = tuple(found)
    known = (each.estimate for each in found if each.estimate.declared.is_known)
    with_headline = {each.case for each in known if is_headline(each)}
    return [
        each if _is_placed(each.estimate) and each.estimate.case in with_headline else _renamed(each)
        for each in found
    ]


def _is_placed(estimate: Estimate) -> bool:
    """Whether it is of a declared kernel, and has a number on each swept axis."""
    declared = estimate.declared
    swept = (estimate.params.get(axis.name) for axis in declared.axes if axis.swept)
    operation = declared.axis("operation-name")  # a figure without it is not comparable
    decisive = {axis for metric in declared.metrics for axis in metric.when}
    decisive |= {operation.name} if operation else set()
    known = estimate.kernel in declared.kernels and decisive <= estimate.params.keys()
    return known and all(isinstance(value, int) and value >= 0 for value in swept)


def _renamed(measured: Measured) -> Measured:
    name = f"{measured.estimate.benchmark}: {measured.estimate.metric}"
    renamed = msgspec.structs.replace(measured.estimate, benchmark=name, declaration=keep(undeclared(name)))
    return msgspec.structs.replace(measured, estimate=renamed)


def outcomes(imported: Imported) -> dict[str, Outcome]:
    """Return the outcome of each case: it was read, not launched."""
    cases = [case_of(table, figure).id for table in imported.tables for figure in table.figures]
    return {case: Outcome(case, "complete", "", 0, 0) for case in cases}


def estimates_of(table: Table, declared: Declaration) -> Iterator[Estimate]:
    """Return the figures of a table."""
    placed = Placed(table.placement, table.hosts, ((),) * max(len(table.hosts), 1), table.memory, None)
    declaration = keep(declared)
    for figure in table.figures:
        case = case_of(table, figure)
        unusable = (
            text("printed as {number}: too small for the digits that were printed", number=str(figure.printed))
            if figure.value <= 0
            else ""
        )
        problem = table.failed or unusable
        yield Estimate(
            id=f"{case.id}/{figure.kernel}/{figure.metric}",
            case=case.id,
            benchmark=table.benchmark,
            declaration=declaration,
            kernel=figure.kernel,
            metric=figure.metric,
            unit=figure.unit,
            better="lower" if figure.better == "lower" else "higher",
            measurand=printed_measurands.of_figure(table, figure, declared),
            params=case.params,
            placement=placed,
            factors=table.factors,
            state=None,
            limit=Limit(table.limit, "derived", table.limit_of, "stated", reference=True) if table.limit else None,
            value=None if problem else Quantity(figure.value, figure.value, figure.value, figure.unit, "imported"),
            status="invalid" if table.failed else "skipped" if unusable else "complete",
            reason=problem or figure.remark or None,
            printed=Printed(table.tool, table.source, figure.where or table.where, figure.line),
            derivation=figure.derivation,
        )
