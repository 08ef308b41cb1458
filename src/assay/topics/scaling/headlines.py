"""The speed-ups of the first page, with the speed-up without loss as their limit."""

from collections.abc import Iterable

from msgspec.structs import replace

from assay.model import roles
from assay.model.result import Limit
from assay.model.text import joined, text
from assay.report import formatting, selection
from assay.report.fitted import Fitted
from assay.report.section import Headline
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.steps import Step


def headlines(found: Iterable[Fitted[Scaling]]) -> Iterable[Headline]:
    """Show for each MPI program the largest problem on the most cores, and a faster placement.

    Of problems that differ in nothing that grows, it is the one of lowest efficiency.
    """
    chosen: dict[str, tuple[tuple[float, float, float], list[Headline]]] = {}
    for each in found:
        together = [
            step for step in each.model.steps if step.ranks and not step.copies and len(step.estimates) == 1
        ]
        if together:
            most = min(together, key=lambda step: (-step.cores, step.efficiency.value))
            shown = [_headline(each, step) for step in (most, each.model.faster(most)) if step in together]
            size = roles.problem_size(each.estimates[0].declared, each.model.problem)
            order = -most.cores, 1.0 if size is None else -size, most.efficiency.value
            name = each.estimates[0].benchmark
            chosen[name] = min(chosen.get(name, (order, shown)), (order, shown), key=lambda known: known[0])
    return [headline for _, shown in chosen.values() for headline in shown]


def problem_name(each: Fitted[Scaling]) -> str:
    """Return `Himeno over MPI (stencil), size L`: benchmark and problem, as far as problems differ."""
    declared = each.estimates[0].declared
    problem = (
        f"{name} {formatting.param(value, declared.units.get(name, ''))}"
        for name, value in each.model.problem.items()
    )
    growing = text("weak scaling") if each.model.weak else ""
    return joined(", ", (selection.title(declared), *problem, growing))


def _headline(each: Fitted[Scaling], step: Step) -> Headline:
    rate = next(e for e in each.estimates if e.id == step.estimates[0])
    speed_up = replace(
        rate,
        id=f"{rate.id}/speed-up",
        value=step.speed_up,
        unit="",
        better="higher",
        limit=Limit(step.cores / each.model.base_cores, "derived", text("no loss"), "flop-rate"),
    )
    label = text("Speed-up, {where}: {name}", where=step.where, name=problem_name(each))
    return Headline(label, speed_up, counts_nodes=True)
