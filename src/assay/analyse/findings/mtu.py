"""Two ends of a link that take frames of different sizes."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, digits
from assay.analyse.messages import link, place
from assay.analyse.messages.curves import PROGRAMS
from assay.model.result import Estimate, Finding
from assay.model.run import Run
from assay.model.text import listed, text

_PERCENT = 100


def _assess(evidence: Evidence) -> Iterable[Finding]:
    plan = evidence.run.plan
    by_device: dict[str, list[Estimate]] = {}
    for each in (measured.estimate for measured in evidence.measured):
        name = link.carrier(each) or link.asked(each, plan)
        if name and place.between(each) and each.benchmark in PROGRAMS and each.median is not None:
            by_device.setdefault(name, []).append(each)
    for name, estimates in by_device.items():
        ends = _mtus(name, estimates, evidence.run)
        if len(set(ends.values())) > 1:
            yield _finding(name, estimates, ends)


def _mtus(name: str, estimates: Iterable[Estimate], run: Run) -> dict[str, int]:
    """Host -> MTU in bytes of its device of this name, where it is known."""
    hosts = dict.fromkeys(host for each in estimates for host in each.placement.hosts if host in run.machines)
    devices = {host: link.device(run.machines[host], name) for host in hosts}
    facts = {host: found.facts.get("mtu") for host, found in devices.items() if found}
    return {host: fact.value for host, fact in facts.items() if fact and isinstance(fact.value, int)}


def _finding(name: str, estimates: list[Estimate], ends: dict[str, int]) -> Finding:
    least, most = min(ends.values()), max(ends.values())
    small, large = (listed(host for host, mtu in ends.items() if mtu == wanted) for wanted in (least, most))
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


rule = Rule(
    "mtu",
    text("Do both ends of a link take frames of the same size?"),
    text("the MTU of the device that carried messages is not the same on all of their nodes"),
    _assess,
)
