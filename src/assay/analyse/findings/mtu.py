"""Two ends of a link that take frames of different sizes."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, digits
from assay.analyse.messages import ends, link
from assay.analyse.messages.curves import PROGRAMS
from assay.model.result import Estimate, Finding
from assay.model.text import listed, text
from assay.model.units import format_quantity

_PERCENT = 100


def _assess(evidence: Evidence) -> Iterable[Finding]:
    by_device: dict[str, list[Estimate]] = {}
    for each in (measured.estimate for measured in evidence.measured):
        name = ends.device_of(each, evidence.run)
        if name and each.benchmark in PROGRAMS and each.median is not None:
            by_device.setdefault(name, []).append(each)
    for name, estimates in by_device.items():
        known = ends.mtus(name, estimates, evidence.run)
        if ends.differ(known):
            yield _finding(name, estimates, known)


def _finding(name: str, estimates: list[Estimate], known: dict[str, int]) -> Finding:
    least, most = min(known.values()), max(known.values())
    small, large = (listed(host for host, mtu in known.items() if mtu == wanted) for wanted in (least, most))
    return Finding(
        id=f"{rule.name}:{name}",
        rule=rule.name,
        claim=text(
            "The MTU of {device} is {least} on {small} and {most} on {large}. TCP keeps to the smaller one (its "
            "payload is {less} % of an Ethernet wire instead of {more} %); what else is longer is lost.",
            device=name,
            least=f"{least:,} B",
            small=small,
            most=f"{most:,} B",
            large=large,
            less=f"{_PERCENT * link.tcp_share(least):.0f}",
            more=f"{_PERCENT * link.tcp_share(most):.0f}",
        ),
        severity="problem",
        status="observed",
        evidence=tuple(each.id for each in estimates[:3]),
        statistic=text("largest MTU over smallest {ratio}", ratio=digits(most / least)),
        threshold=rule.threshold,
        rivals=(
            text("{least} is what the way between takes, and the others are set too high", least=f"{least:,} B"),
            *_shortfall(estimates),
        ),
        next=text(
            "make them alike, then measure again: on {small} `sudo ip link set {device} mtu {most}`, or {least} "
            "on the others",
            small=small,
            device=name,
            most=str(most),
            least=str(least),
        ),
    )


def _shortfall(estimates: list[Estimate]) -> tuple[str, ...]:
    """What is missing even of what such frames carry, which may be of another cause; empty where nothing is."""
    best = max(filter(ends.tells, estimates), key=ends.most, default=None)
    if best is None or best.limit is None or ends.most(best) >= ends.SHARE:
        return ()
    figure, carried = (format_quantity(value, best.unit) for value in (best.median or 0.0, best.limit.value))
    return (
        text(
            "something else too: long messages get {figure} at best, and such frames carry {carried}; measured "
            "again with like frames, what is left of that is told by the rule `link_ceiling`",
            figure=figure,
            carried=carried,
        ),
    )


rule = Rule(
    "mtu",
    text("Do both ends of a link take frames of the same size?"),
    text("the MTU of the device that carried messages is not the same on all of their nodes"),
    _assess,
)
