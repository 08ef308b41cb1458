"""Two ends of a link that have different MTUs."""

from collections.abc import Iterable, Sequence

from assay.analyse.evidence import Evidence, Rule, digits, numbers
from assay.analyse.messages import place
from assay.model.grouping import grouped
from assay.model.result import Estimate, Finding
from assay.model.text import listed, text
from assay.model.units import format_quantity
from assay.topics.messages import ends, link


def _assess(evidence: Evidence) -> Iterable[Finding]:
    sent = [each for each in evidence.estimates.values() if each.declared.between_two]
    sent = [each for each in sent if each.median is not None]
    for (name, mtus), estimates in grouped(sent, lambda each: ends.frames(each, evidence.run)).items():
        if name and ends.differ(mtus):
            yield _finding(name, estimates, dict(mtus))


def _finding(name: str, estimates: Sequence[Estimate], known: dict[str, int]) -> Finding:
    least, most = min(known.values()), max(known.values())
    small, large = (listed(host for host, mtu in known.items() if mtu == wanted) for wanted in (least, most))
    return rule.finding(
        name,
        claim=text(
            "The MTU of {device} is {least} on {small} and {most} on {large}. TCP uses the smaller one (its "
            "payload is {less} % of the Ethernet rate instead of {more} %); other longer packets are lost.",
            device=name,
            least=f"{least:,} B",
            small=small,
            most=f"{most:,} B",
            large=large,
            less=f"{100 * link.tcp_share(least):.0f}",
            more=f"{100 * link.tcp_share(most):.0f}",
        ),
        severity="problem",
        evidence=tuple(each.id for each in estimates[:3]),
        numbers=numbers(most / least, 1.0),
        statistic=text("largest MTU over smallest {ratio}", ratio=digits(most / least)),
        rivals=(
            text(
                "the path between the nodes carries {least}, and the value of the other nodes is too large",
                least=f"{least:,} B",
            ),
            *_shortfall(estimates),
        ),
        next=text(
            "set the same MTU, then measure again: on {small} `sudo ip link set {device} mtu {most}`, or "
            "{least} on the others",
            small=small,
            device=name,
            most=str(most),
            least=str(least),
        ),
    )


def _shortfall(estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """Return a further cause, where messages get less than such frames carry; empty where they do not."""
    best = max(filter(ends.tells, estimates), key=ends.most, default=None)
    if best is None or best.limit is None or ends.most(best) >= ends.SHARE:
        return ()
    figure, carried = (format_quantity(value, best.unit) for value in (best.median or 0.0, best.limit.value))
    return (
        text(
            "a further cause: long messages get at most {figure}, but such frames allow {carried}; after a "
            "measurement with equal MTU the rule `link_ceiling` shows the rest",
            figure=figure,
            carried=carried,
        ),
    )


rule = Rule(
    "mtu",
    text("Do both ends of a link take frames of the same size?"),
    text("the MTU of the device is not the same on all nodes of the messages"),
    _assess,
    applies=lambda evidence: place.passed(evidence) and len(evidence.run.machines) > 1,
    timed=False,
)
