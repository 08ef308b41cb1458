"""The cost of the same work by the prices that the user states: of a node, and of one with a single processor."""

from collections.abc import Callable, Iterator

from assay.analyse.evidence import stands_on
from assay.model.placed import Placed
from assay.model.prices import ONE_PROCESSOR, Price, price
from assay.model.quantity import Quantity
from assay.model.run import Run
from assay.model.text import text
from assay.report import formatting
from assay.report.declared import Listing, Scene
from assay.report.fitted import Fitted
from assay.report.section import headings
from assay.topics.scaling.models.scaling import Scaling


def cost_table(name: Callable[[Fitted[Scaling]], str]) -> Listing:
    """Return a table of the work per price of nodes, empty where no price is stated; `name` names a curve."""

    def rows(scene: Scene) -> Iterator[tuple[str, ...]]:
        for each in scene.found:
            by_id = {e.id: e for e in each.estimates}
            base = by_id[each.model.base]
            own = price_of(scene.run, base.placement)
            found = [
                (step, other, cost)
                for step in each.model.steps
                if not step.copies and own and each.model.advice
                for other in [price_of(scene.run, by_id[step.estimates[0]].placement)]
                if other and (cost := relative(own, other, step.node_time))
            ]
            if found and own:
                yield name(each), each.model.base_label, str(base.placement.nodes), _shown(own), text("base"), ""
            for step, other, cost in found:
                shown = formatting.interval(cost.inverse(""), stands_on(cost, step.blocks))
                yield name(each), step.label, str(step.nodes), _shown(other), shown.plain, shown.ends

    return Listing(
        text(
            "Work per price of the nodes that it needs, over the base: 1 / (nodes x time x price of a node). The "
            "prices are an assumption that the user states: of a node as it is, and of one with a single processor"
        ),
        headings("Problem", "Placement", "Nodes", "Price of a node", "Work per price", "Interval"),
        rows,
        {2, 3, 4, 5},
        short=text("Work per price of the nodes"),
    )


def relative(base: Price, price: Price, node_time: Quantity) -> Quantity | None:
    """Return the cost of the same work over that of the base; None if the prices are of two currencies."""
    return node_time.scaled(price.amount / base.amount, "") if price.currency == base.currency else None


def _shown(price: Price) -> str:
    return f"{price.amount:,g} {price.currency}".strip()


def price_of(run: Run, placement: Placed) -> Price | None:
    """Return the price of a node for a placement: with a single processor, where it uses one of several."""
    whole = price(run)
    used, there = _processors(run, placement)
    if there <= 1 or used != 1:
        return whole
    return price(run, ONE_PROCESSOR) or whole


def _processors(run: Run, placement: Placed) -> tuple[int, int]:
    """The processors of its first node that a placement uses, and all; 0 and 0 if the machine is unknown."""
    machine = run.machines.get(placement.hosts[0]) if placement.hosts else None
    machine = machine or next(iter(run.machines.values()), None)
    if machine is None or not placement.cpus:
        return 0, 0
    cpus, cores = set(placement.cpus[0]), machine.topology.cores
    return len({core.package for core in cores if cpus & set(core.cpus)}), len({core.package for core in cores})
