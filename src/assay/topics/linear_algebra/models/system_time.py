"""The time of a system of equations: rate of the products, cost of panels and of messages."""

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
        rate: rate of one rank in products, 1 / g, flop/s.
        panel: time per number of a panel that a rank factors, f, s.
        number: time per number that is broadcast or exchanged, without the messages between nodes, b, s.
        several: whether the solutions are on several numbers of nodes; else of several orders on the same ranks.
    """

    rate: Quantity
    panel: Quantity
    number: Quantity
    several: bool = False


def fit(known: RunEstimates) -> Iterable[Model]:
    """Fit a model to each curve of two orders or more, and to solutions on several numbers of nodes."""
    yield from (_model(each) for each in solutions.by_order(known) if len(each.orders) >= orders.FEWEST)
    yield from (
        _model(each, several=True) for each in solutions.over_nodes(known) if len(each.orders) >= orders.FEWEST
    )


def _model(curve: Solutions, *, several: bool = False) -> Model:
    law, name = orders.fitted(curve), named(LAW, curve.declared, curve.marks)
    g, f, b = law.coefficients(curve.members[-1].steps)
    if not g.lo:
        why = text("the time of updates does not grow with n: it gives no rate")
        return Unfitted(id=name, of=curve.sources, state=curve.state, wanted=LAW, reason=why)
    points = tuple(
        point(
            each.rate.estimate,
            {"order": each.order, "ranks": each.steps.p * each.steps.q},
            each.steps.flops / figure(each.rate.estimate).value / law.seconds(each.steps),
        )
        for each in curve.members
    )
    return SystemTime(
        id=name,
        of=curve.sources,
        state=curve.state,
        residual=law.residual,
        points=points,
        rate=g.inverse("flop/s"),
        panel=f,
        number=b,
        several=several,
    )
