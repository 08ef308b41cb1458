"""How long a system of equations takes: rate of the products, cost of panels and of what is passed on."""

from collections.abc import Iterable

from assay.analyse.curves import RunEstimates, figure, point
from assay.analyse.messages.curves import named
from assay.model.law import Model, Unfitted
from assay.model.quantity import Quantity
from assay.model.text import text
from assay.topics.linear_algebra import orders, solutions
from assay.topics.linear_algebra.orders import Solutions

LAW = "system-time"
NEEDS = ("message_law",)


class SystemTime(Model, frozen=True, kw_only=True, tag=LAW):
    """The time of a solution by HPL's model.

    Attributes:
        rate: of one rank in products, flop/s: 1 / g.
        panel: what each number of a panel takes that a rank factors, in s: f.
        number: what each number that is passed on or exchanged takes beside the messages between nodes, in s: b.
        several: whether it is of several numbers of nodes; else of several orders on the same ranks.
    """

    rate: Quantity
    panel: Quantity
    number: Quantity
    several: bool = False


def fit(known: RunEstimates) -> Iterable[Model]:
    """One model for each curve of two orders or more, and one for ranks on several numbers of nodes."""
    yield from (_model(each) for each in solutions.found(known) if len(each.orders) >= orders.FEWEST)
    yield from (
        _model(each, several=True) for each in solutions.over_nodes(known) if len(each.orders) >= orders.FEWEST
    )


def _model(of: Solutions, *, several: bool = False) -> Model:
    law, name = orders.fitted(of), named(LAW, solutions.NAME, of.marks)
    g, f, b = law.coefficients(of.members[-1].steps)
    if not g.lo:
        why = text("the time of updates does not grow with n: it gives no rate")
        return Unfitted(id=name, of=of.sources, state=of.state, wanted=LAW, reason=why)
    points = tuple(
        point(
            each.rate.estimate,
            {"order": each.order, "ranks": each.steps.p * each.steps.q},
            each.steps.flops / figure(each.rate.estimate).value / law.seconds(each.steps),
        )
        for each in of.members
    )
    return SystemTime(
        id=name,
        of=of.sources,
        state=of.state,
        residual=law.residual,
        points=points,
        rate=g.inverse("flop/s"),
        panel=f,
        number=b,
        several=several,
    )
