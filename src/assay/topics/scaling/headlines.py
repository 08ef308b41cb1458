"""What the first page shows of scaling: a rate on many cores beside what no loss would be."""

from collections.abc import Callable, Iterable

import msgspec

from assay.model.result import Limit
from assay.model.text import text
from assay.report import formatting
from assay.report.fitted import Fitted
from assay.report.section import Headline
from assay.topics.scaling.models.scaling import Scaling


def headlines(found: Iterable[Fitted[Scaling]], name: Callable[[Fitted[Scaling]], str]) -> Iterable[Headline]:
    """Of each benchmark the problem whose rate on the most cores loses most."""
    worst: dict[str, tuple[float, Headline]] = {}
    for each in found:
        by_id = {e.id: e for e in each.estimates}
        base, steps = by_id[each.model.base], each.model.steps
        together = [step for step in steps if not step.copies and len(step.estimates) == 1]
        if together and base.median and base.better == "higher":
            most = max(together, key=lambda step: step.cores)
            rate = base.median * most.cores / each.model.base_cores
            beside = Limit(rate, "measured", text("a linear speed-up"), "flop-rate")
            cores = formatting.count(most.cores, "core", "cores")
            label = text("{name} on {cores}, as a share of a linear speed-up", name=name(each), cores=cores)
            shown = Headline(
                label, msgspec.structs.replace(by_id[most.estimates[0]], limit=beside), otherwise=True
            )
            told = most.efficiency.value, shown
            worst[base.benchmark] = min(worst.get(base.benchmark, told), told, key=lambda known: known[0])
    return [headline for _, headline in worst.values()]
