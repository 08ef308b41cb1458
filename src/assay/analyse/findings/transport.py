"""Which way messages took, by the counters of every interface, against the way that was asked for."""

from collections.abc import Iterable

from assay import benchmarks
from assay.analyse.evidence import Evidence, Rule
from assay.model.plan import Plan
from assay.model.result import Estimate, Finding

#: An interface carried the messages when it sent so much of their bytes; less than that of theirs went astray.
_MOST = 0.5
#: Two interfaces that each sent so much of the bytes, or more, shared the messages: MPI spread them.
_SPREAD = 0.15
#: So much of the bytes beside the network that was asked for is told.
_BESIDE = 0.1
#: More than this times the bytes: interfaces that lie upon each other (a bond, a bridge, a VLAN) count them twice.
_ONCE = 1.5
#: Messages of a byte are drowned by their headers: only those of so many bytes prove a way.
_TELLING_BYTES = 4096
_PERCENT = 100
#: Figures that are named as evidence.
_SHOWN = 3


def _assess(evidence: Evidence) -> Iterable[Finding]:
    if not any(case.placement.ranks for case in evidence.run.plan.cases):
        return  # a study that passes no messages has no way to prove
    proven = [each.estimate for each in evidence.measured if _passes_messages(each.estimate)]
    yield from _one_machine([each for each in proven if len(each.placement.hosts) > 1])
    telling = [each for each in proven if int(each.params.get("bytes", 0)) >= _TELLING_BYTES]
    if not telling:
        yield rule.not_assessed("no messages of 4 KiB or more were passed", "assay run network")
    far = [each for each in telling if len(each.placement.hosts) > 1]
    yield from _astray(far, evidence.run.plan)
    yield from _spread([each for each in far if not _asked(each, evidence.run.plan)])
    yield from _shared(far, evidence.run.plan)
    yield from _through_interfaces([each for each in telling if len(each.placement.hosts) == 1])


def _passes_messages(estimate: Estimate) -> bool:
    proven = estimate.placement.proven
    return (
        estimate.median is not None
        and proven is not None
        and proven.machines > 0
        and benchmarks.get(estimate.benchmark).joint
    )


def _one_machine(between: list[Estimate]) -> Iterable[Finding]:
    alike = [each for each in between if each.placement.proven and each.placement.proven.machines == 1]
    if not alike:
        return
    *first, last = dict.fromkeys(host for each in alike for host in each.placement.hosts)
    yield Finding(
        id=f"{rule.name}:one-machine",
        rule=rule.name,
        claim=f"The nodes {', '.join(first)} and {last} are one machine: one kernel answers for all of them. What "
        "was measured between them is the work of one machine's memory and processor, not of a network.",
        severity="fact",
        status="observed",
        evidence=tuple(each.id for each in alike[:3]),
        statistic="1 boot id",
        threshold=rule.threshold,
        next=f"assay run network --hosts {','.join(alike[0].placement.hosts)}   on machines of their own",
    )


def _astray(between: list[Estimate], plan: Plan) -> Iterable[Finding]:
    """One finding for each network that was asked for and, by most figures, not used."""
    for asked in dict.fromkeys(filter(None, (_asked(estimate, plan) for estimate in between))):
        alike = [each for each in between if _asked(each, plan) == asked]
        strayed = [each for each in alike if _share(each, asked) < _MOST]
        if _MOST * len(alike) >= len(strayed):  # another program may have used an interface for a moment
            continue
        first = strayed[0]
        share, carried = _share(first, asked), _carried(first)
        took = max(carried, key=lambda name: carried[name], default="")
        counted = f"{took} sent {_PERCENT * carried[took]:.0f} % of their bytes" if took else ""
        yield Finding(
            id=f"{rule.name}:{asked}",
            rule=rule.name,
            claim=f"Messages were to go over {asked}, and did not: it sent {_PERCENT * share:.0f} % of their "
            f"bytes; {counted or 'no interface counted them'}.",
            severity="problem",
            status="observed",
            evidence=tuple(each.id for each in strayed[:_SHOWN]),
            statistic=f"bytes sent by {asked} over bytes of all messages {share:.2g}, "
            f"{len(strayed)} of {len(alike)} figures like it",
            threshold=rule.threshold,
            rivals=("traffic that the card moves by itself may stand in no counter that could be read",),
            next=f"assay doctor --hosts {','.join(first.placement.hosts)}",
        )


def _spread(between: list[Estimate]) -> Iterable[Finding]:
    """Where no network was asked for: an MPI that stripes messages over all it finds is as fast as the slowest."""
    meant = [each for each in between if each.benchmark != "tcp"]
    spread = [each for each in meant if len(_sharing(each)) > 1]
    if _MOST * len(meant) >= len(spread):
        return
    first = spread[0]
    sharing = _sharing(first)
    most, *_ = sharing
    yield Finding(
        id=f"{rule.name}:spread",
        rule=rule.name,
        claim=f"No network was asked for, and messages between nodes were spread over several interfaces: "
        f"{_told(sharing)} of their bytes. The slowest of them holds the others up.",
        severity="problem",
        status="observed",
        evidence=tuple(each.id for each in spread[:_SHOWN]),
        statistic=f"interfaces that sent {_SPREAD} of the bytes or more {len(sharing)}, "
        f"{len(spread)} of {len(meant)} figures like it",
        threshold=rule.threshold,
        rivals=("another program may have used the interfaces meanwhile",),
        next=f"assay run network --hosts {','.join(first.placement.hosts)} --network {_name(most)}={most}",
    )


def _shared(between: list[Estimate], plan: Plan) -> Iterable[Finding]:
    """One finding for each network that was asked for and used, while others carried a part."""
    for asked in dict.fromkeys(filter(None, (_asked(estimate, plan) for estimate in between))):
        alike = [each for each in between if _asked(each, plan) == asked]
        partly = [each for each in alike if _share(each, asked) >= _MOST and _beside(each, asked)]
        if _MOST * len(alike) >= len(partly):
            continue
        first = partly[0]
        others = _beside(first, asked)
        yield Finding(
            id=f"{rule.name}:{asked}:beside",
            rule=rule.name,
            claim=f"Messages were to go over {asked}, and went there; but other interfaces sent beside it: "
            f"{_told(others)} of their bytes.",
            severity="fact",
            status="observed",
            evidence=tuple(each.id for each in partly[:_SHOWN]),
            statistic=f"bytes sent by others over bytes of all messages {sum(others.values()):.2g}, "
            f"{len(partly)} of {len(alike)} figures like it",
            threshold=rule.threshold,
            rivals=("another program may have used the interfaces meanwhile",),
            next=f"assay doctor --hosts {','.join(first.placement.hosts)}",
        )


def _sharing(estimate: Estimate) -> dict[str, float]:
    """The interfaces that carried a good part of the bytes, most first; none where bytes count twice."""
    carried = _carried_once(estimate)
    most_first = sorted(carried, key=lambda name: carried[name], reverse=True)
    return {name: carried[name] for name in most_first if carried[name] >= _SPREAD}


def _beside(estimate: Estimate, asked: str) -> dict[str, float]:
    """What other interfaces than the one asked for sent; empty where that is next to nothing."""
    others = {name: part for name, part in _carried_once(estimate).items() if not _same(name, asked)}
    return others if sum(others.values()) >= _BESIDE else {}


def _carried_once(estimate: Estimate) -> dict[str, float]:
    carried = _carried(estimate)
    return carried if sum(carried.values()) <= _ONCE else {}


def _told(shares: dict[str, float]) -> str:
    return ", ".join(f"{name} sent {_PERCENT * part:.0f} %" for name, part in shares.items())


def _name(device: str) -> str:
    """A name for the network of a device: that of a port of a card is the card's."""
    return device.partition(":")[0]


def _through_interfaces(inside: list[Estimate]) -> Iterable[Finding]:
    """MPI inside a node that goes through an interface, the loopback one for example, instead of memory."""
    meant = [each for each in inside if each.benchmark != "tcp"]
    through = [each for each in meant if max(_carried(each).values(), default=0.0) >= _MOST]
    if _MOST * len(meant) >= len(through):
        return
    first = through[0]
    carried = _carried(first)
    took = max(carried, key=lambda name: carried[name])
    yield Finding(
        id=f"{rule.name}:inside",
        rule=rule.name,
        claim=f"Inside a node, messages went through {took} instead of memory: it sent "
        f"{_PERCENT * carried[took]:.0f} % of their bytes.",
        severity="problem",
        status="observed",
        evidence=tuple(each.id for each in through[:_SHOWN]),
        statistic=f"bytes sent by {took} over bytes of all messages {carried[took]:.2g}, "
        f"{len(through)} of {len(meant)} figures like it",
        threshold=rule.threshold,
        rivals=("another program may have used the interface meanwhile",),
        next="see which transports the MPI was built with: ompi_info, mpichversion",
    )


def _share(estimate: Estimate, asked: str) -> float:
    """Of the bytes of all messages, what the interface asked for sent."""
    return sum(part for name, part in _carried(estimate).items() if _same(name, asked))


def _asked(estimate: Estimate, plan: Plan) -> str:
    for factor in plan.factors:
        if factor.kind == "network" and factor.name in estimate.factors:
            return factor.devices.get(estimate.factors[factor.name], "")
    return plan.network


def _carried(estimate: Estimate) -> dict[str, float]:
    return estimate.placement.proven.carried if estimate.placement.proven else {}


def _same(name: str, asked: str) -> bool:
    """`mlx5_0` is asked for and its port `mlx5_0:1` counts."""
    return name == asked or name.startswith(f"{asked}:")


rule = Rule(
    "transport",
    "Did messages take the way that was asked for?",
    f"in most figures the interface asked for sent {_MOST} of the bytes or more, others less than {_BESIDE} "
    f"together; where none was asked for, no two sent {_SPREAD} or more; each host has its own boot id",
    _assess,
)
