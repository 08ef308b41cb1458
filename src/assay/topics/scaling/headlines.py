"""The speed-ups of the first page, with the speed-up without loss as their limit."""

from collections.abc import Iterable

from msgspec.structs import replace

from assay.model.result import Limit
from assay.model.text import text
from assay.report import selection
from assay.report.fitted import Fitted
from assay.report.section import Headline
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.steps import Step


def headlines(found: Iterable[Fitted[Scaling]]) -> Iterable[Headline]:
    """Show for each MPI program the problem of lowest efficiency on the most cores, and a faster placement."""
    worst: dict[str, tuple[float, list[Headline]]] = {}
    for each in found:
        together = [
            step for step in each.model.steps if step.ranks and not step.copies and len(step.estimates) == 1
        ]
        if together:
            most = min(together, key=lambda step: (-step.cores, step.efficiency.value))
            shown = [_headline(each, step) for step in (most, each.model.faster(most)) if step in together]
            candidate, name = (most.efficiency.value, shown), each.estimates[0].benchmark
            worst[name] = min(worst.get(name, candidate), candidate, key=lambda known: known[0])
    return [headline for _, shown in worst.values() for headline in shown]


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
    label = text("Speed-up, {where}: {name}", where=step.where, name=selection.title(rate.declared))
    return Headline(label, speed_up, counts_nodes=True)
