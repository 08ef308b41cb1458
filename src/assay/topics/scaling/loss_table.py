"""The table of losses: shares of the time of all cores, by number of cores."""

from collections.abc import Callable, Iterator

from assay.model.text import text
from assay.report import formatting
from assay.report.declared import Listing, Scene
from assay.report.fitted import Fitted
from assay.report.section import headings
from assay.topics.scaling.models.losses import Losses
from assay.topics.scaling.models.scaling import Scaling


def loss_table(name: Callable[[Fitted[Scaling]], str]) -> Listing:
    """Return a table with a row for each point whose calls of MPI were counted; `name` names a curve.

    The loss by messages is one figure, or with a message law two: latency and bandwidth.
    """

    def rows(scene: Scene) -> Iterator[tuple[str, ...]]:
        curves = {each.model.id: each for each in scene.found}
        for model in scene.analysis.models:
            if isinstance(model, Losses) and model.scaling in curves:
                each = curves[model.scaling]
                for loss in model.losses:
                    label = next(one.placement.label for one in each.estimates if one.id == loss.estimate)
                    parts = loss.lost, loss.in_turn, loss.imbalance, loss.clock, loss.memory, loss.other
                    lost, in_turn, imbalance, clock, memory, other = map(_part, parts)
                    messages = _part(loss.messages), "", ""
                    if loss.latency is not None:
                        messages = "", _part(loss.latency), _part(loss.bandwidth)
                    counting = formatting.percent(model.overhead)
                    yield name(each), label, lost, in_turn, imbalance, *messages, clock, memory, other, counting

    return Listing(
        text(
            "Lost shares of the time of all cores, from the time of ranks in MPI calls, minus the losses of the "
            "base. In turn: ranks work one after another while others wait, or messages take longer than their "
            "law. Latency and bandwidth follow from that law, lower clock from the clock of cores under load; "
            "memory, or slower nodes, from ranks without messages. Other: slower computing of unknown cause. "
            "Empty: not assessed"
        ),
        headings(
            "Problem",
            "Placement",
            "Lost",
            "In turn",
            "Imbalance",
            "Messages",
            "Latency",
            "Bandwidth",
            "Lower clock",
            "Memory",
            "Other",
            "Counting",
        ),
        rows,
        {2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
        optional={5, 6, 7, 8, 9},
        short=text("Where the time of the cores is lost"),
    )


def _part(share: float | None) -> str:
    return "" if share is None else formatting.percent(share)
