"""What the first page shows of scaling: a speed-up beside what no loss would be."""

from collections.abc import Iterable

from msgspec.structs import replace

from assay.model.result import Limit
from assay.model.text import text
from assay.report import formatting, selection
from assay.report.fitted import Fitted
from assay.report.section import Headline
from assay.topics.scaling.models.scaling import Scaling


def headlines(found: Iterable[Fitted[Scaling]]) -> Iterable[Headline]:
    """Of each program that passes messages the problem that loses most on the most cores."""
    worst: dict[str, tuple[float, Headline]] = {}
    for each in found:
        by_id = {e.id: e for e in each.estimates}
        base, steps = by_id[each.model.base], each.model.steps
        together = [step for step in steps if step.ranks and not step.copies and len(step.estimates) == 1]
        if together:
            most = min(together, key=lambda step: (-step.cores, step.efficiency.value))
            rate = by_id[most.estimates[0]]
            speed_up = replace(
                rate,
                id=f"{rate.id}/speed-up",
                value=most.speed_up,
                unit="",
                better="higher",
                limit=Limit(most.cores / each.model.base_cores, "derived", text("no loss"), "flop-rate"),
            )
            label = text(
                "Speed-up on {cores}: {name}",
                cores=formatting.count(most.cores, "core", "cores"),
                name=selection.title(base.benchmark),
            )
            told = most.efficiency.value, Headline(label, speed_up, formatting.placed(rate))
            worst[base.benchmark] = min(worst.get(base.benchmark, told), told, key=lambda known: known[0])
    return [headline for _, headline in worst.values()]
