"""Cores far from the network card: the cost of the path through the other processor for messages."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from assay.analyse.comparisons import CARD, FAR, own_node
from assay.analyse.comparisons.effects import difference
from assay.analyse.evidence import Evidence, Rule, numbers, paired, standing
from assay.analyse.experiments import retest_range
from assay.analyse.messages import place
from assay.analyse.messages.curves import BYTES, size
from assay.analyse.possible import without_memory_nodes
from assay.model.compared import ComparedPair
from assay.model.grouping import grouped
from assay.model.quantity import Quantity
from assay.model.result import Finding
from assay.model.text import cli, text
from assay.model.units import format_quantity, format_size

#: More latency than this, in s, and less bandwidth than this share (docs/findings.md).
_LATER_S, _SHARE = 0.2e-6, 0.95
#: A single size may exceed the border by chance.
_ADJACENT = 3


class _Cost(NamedTuple):
    """Loss of far cores at one size.

    Attributes:
        pair: far and near.
        tested: far - near in s for latency, far / near for bandwidth.
        border: in the same unit.
    """

    pair: ComparedPair
    tested: Quantity
    border: float

    @property
    def beyond(self) -> bool:
        """Whether its whole interval is beyond the border."""
        return self.tested.lo >= self.border if self.tested.unit == "s" else self.tested.hi <= self.border

    @property
    def loss(self) -> float:
        """Return the time lost, in s, or the share of the bandwidth."""
        return self.tested.value if self.tested.unit == "s" else 1 - self.tested.value


def _assess(evidence: Evidence) -> Iterable[Finding]:
    pairs = [pair for pair in evidence.differing(CARD, a=FAR) if pair.a.declared.between_two]
    if not pairs:
        yield rule.not_assessed(
            text("Messages between nodes were not measured from cores both near the network card and far from it"),
            cli("run", "network", "--hosts", "node[01-02]"),
            without_memory_nodes(evidence.run),
        )
    known = {each.estimate.id: each for each in evidence.measured}
    for curve in grouped(
        sorted(pairs, key=lambda each: size(each.a)), lambda pair: pair.a.signature(BYTES)
    ).values():
        costs = [
            _Cost(pair, difference(known[pair.a.id], known[pair.b.id], paired=True), _LATER_S)
            if pair.a.unit == "s"
            else _Cost(pair, pair.comparison.value, _SHARE)
            for pair in curve
        ]
        parts = (list(part) for beyond, part in groupby(costs, key=lambda each: each.beyond) if beyond)
        longest = max(parts, key=len, default=[])
        if longest and len(longest) >= min(_ADJACENT, len(costs)):
            yield _finding(evidence, longest)


def _finding(evidence: Evidence, costs: list[_Cost]) -> Finding:
    worst = max(costs, key=lambda each: each.loss)
    pair, tested = worst.pair, worst.tested
    comparison, of_time = pair.comparison, tested.unit == "s"
    first, last = (format_size(size(each.pair.a)) for each in (costs[0], costs[-1]))
    loss = format_quantity(worst.loss, "s") if of_time else f"{100 * worst.loss:.0f} %"
    claim = text(
        "Messages take up to {loss} longer from cores far from the network card than from cores near it ({case}; "
        "{count} sizes from {first} to {last})."
        if of_time
        else "Cores far from the network card get up to {loss} less bandwidth than cores near it ({case}; {count} "
        "sizes from {first} to {last}).",
        loss=loss,
        case=place.path_name(pair.a),
        count=len(costs),
        first=first,
        last=last,
    )
    factor = 1 + _LATER_S / pair.b.median if of_time and pair.b.median else 1 / _SHARE
    return rule.finding(
        pair.a.id,
        claim=claim,
        severity="advice",
        status=standing(comparison),
        evidence=(comparison.id, pair.a.id, pair.b.id, *(each.pair.comparison.id for each in costs)),
        numbers=numbers(tested, worst.border, tested.unit),
        statistic=text(
            "at {size} {ratio}; least difference {difference}" if of_time else "at {size} {ratio}",
            size=format_size(size(pair.a)),
            ratio=paired(comparison),
            difference=format_quantity(tested.lo, "s"),
        ),
        rivals=(
            text("the near and the far cores run at different clocks"),
            text("other programs on the far cores"),
        ),
        experiment=retest_range(comparison, (pair.a, pair.b), factor),
        next=text(
            "place the processes that pass messages on NUMA node {node}, near the card",
            node="?" if (node := own_node(pair.b, evidence.run.machines)) is None else node,
        ),
    )


rule = Rule(
    "far_card",
    text("What do cores far from the network card lose?"),
    text(
        "far - near in latency >= {later} or far / near in bandwidth <= {share}, paired by block (the end of the "
        "interval nearer to no loss), at {sizes} adjacent sizes or more",
        later="0.2 µs",
        share=f"{_SHARE}",
        sizes=_ADJACENT,
    ),
    _assess,
    applies=place.passed,
)
