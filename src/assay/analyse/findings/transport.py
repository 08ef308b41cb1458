"""Which way messages took, by the counters of every interface, against the way that was asked for."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from assay import benchmarks
from assay.analyse.evidence import Evidence, Rule
from assay.model.plan import Plan
from assay.model.result import Estimate, Finding
from assay.model.run import Run
from assay.model.text import joined, listed, text

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
#: What else may move the counters of interfaces while messages pass.
_OTHERS = text("another program may have used the interfaces meanwhile")
_UNSEEN = text("traffic that the card moves by itself may stand in no counter that could be read")


class _Told(NamedTuple):
    """What one finding says of a way.

    Attributes:
        name: what tells it from others of this rule.
        claim: in words.
        statistic: what was held against the threshold.
        rival: what may explain it, too.
        step: what to do next, a command in it.
        severity: of it.
    """

    name: str
    claim: str
    statistic: str
    rival: str
    step: str
    severity: Literal["problem", "fact"] = "problem"


def _assess(evidence: Evidence) -> Iterable[Finding]:
    plan = evidence.run.plan
    if not any(case.placement.ranks for case in plan.cases):
        return  # a study that passes no messages has no way to prove
    proven = [each.estimate for each in evidence.measured if _passes_messages(each.estimate)]
    yield from _one_machine([each for each in proven if len(each.placement.hosts) > 1], evidence.run)
    telling = [each for each in proven if int(each.params.get("bytes", 0)) >= _TELLING_BYTES]
    if not telling:
        yield rule.not_assessed(text("No messages of 4 KiB or more were passed"), "assay run network")
    far = [each for each in telling if len(each.placement.hosts) > 1]
    for asked in dict.fromkeys(filter(None, (_asked(estimate, plan) for estimate in far))):
        alike = [each for each in far if _asked(each, plan) == asked]
        yield from _astray(asked, alike)
        yield from _shared(asked, alike)
    # Sockets take the way that their addresses have; MPIs choose.
    chosen = [each for each in telling if each.benchmark != "tcp"]
    yield from _spread([each for each in chosen if len(each.placement.hosts) > 1 and not _asked(each, plan)])
    yield from _through_interfaces([each for each in chosen if len(each.placement.hosts) == 1], evidence.run)


def _passes_messages(estimate: Estimate) -> bool:
    proven = estimate.placement.proven
    return (
        estimate.median is not None
        and proven is not None
        and proven.machines > 0
        and benchmarks.get(estimate.benchmark).joint
    )


def _one_machine(between: list[Estimate], run: Run) -> Iterable[Finding]:
    """One finding for each group of nodes, of those that passed messages to each other, that are one kernel."""
    for number, hosts in enumerate(_kernels(run, {each.case for each in between})):
        figures = [each for each in between if len(hosts & set(each.placement.hosts)) > 1]
        *first, last = sorted(hosts, key=run.plan.hosts.index)
        told = _Told(
            "one-machine" if not number else f"one-machine:{last}",
            text(
                "The nodes {hosts} are one machine: one kernel answers for all of them. What was measured between "
                "them is the work of one machine's memory and processor, not of a network.",
                hosts=listed((*first, last)),
            ),
            text("1 boot id of {nodes} nodes", nodes=len(hosts)),
            "",
            text(
                "name machines of their own; which are is told by `{command}`",
                command=f"assay doctor --hosts {','.join(run.plan.hosts)}",
            ),
            "fact",
        )
        yield _finding(told, figures)


def _kernels(run: Run, cases: set[str]) -> list[frozenset[str]]:
    """Nodes that answered with one boot id, where there are several; ranks are numbered node by node."""
    hosts = {case.id: case.placement.hosts for case in run.plan.cases if case.id in cases}
    by_kernel: dict[str, set[str]] = {}
    for launch in run.launches:
        for header in (case.header for case in launch.cases if case.header.case in hosts):
            nodes = hosts[header.case]
            for rank in header.ranks:
                by_kernel.setdefault(rank.boot_id, set()).add(nodes[rank.rank * len(nodes) // len(header.ranks)])
    groups = dict.fromkeys(frozenset(names) for kernel, names in by_kernel.items() if kernel)
    return [group for group in groups if len(group) > 1]


def _astray(asked: str, alike: list[Estimate]) -> Iterable[Finding]:
    """That messages, by most figures, did not use the network that was asked for."""
    strayed = [each for each in alike if _share(each, asked) < _MOST]
    if not _are_most(strayed, alike):  # another program may have used an interface for a moment
        return
    first = strayed[0]
    share, carried = _share(first, asked), _carried(first)
    took = max(carried, key=lambda name: carried[name], default="")
    counted = (
        text("{device} sent {share} % of their bytes", device=took, share=f"{_PERCENT * carried[took]:.0f}")
        if took
        else text("no interface counted them")
    )
    told = _Told(
        asked,
        text(
            "Messages were to go over {asked}, and did not: it sent {share} % of their bytes; {counted}.",
            asked=asked,
            share=f"{_PERCENT * share:.0f}",
            counted=counted,
        ),
        text("bytes sent by {device} over bytes of all messages {share}", device=asked, share=f"{share:.2g}"),
        _UNSEEN,
        _doctor(first),
    )
    yield _finding(told, strayed, alike)


def _shared(asked: str, alike: list[Estimate]) -> Iterable[Finding]:
    """That others carried a part beside the network that was asked for and used."""
    partly = [each for each in alike if _share(each, asked) >= _MOST and _beside(each, asked)]
    if not _are_most(partly, alike):
        return
    others = _beside(partly[0], asked)
    told = _Told(
        f"{asked}:beside",
        text(
            "Messages were to go over {asked}, and went there; but other interfaces sent beside it: {sent} of "
            "their bytes.",
            asked=asked,
            sent=_sent(others),
        ),
        text("bytes sent by others over bytes of all messages {share}", share=f"{sum(others.values()):.2g}"),
        _OTHERS,
        _doctor(partly[0]),
        "fact",
    )
    yield _finding(told, partly, alike)


def _spread(unasked: list[Estimate]) -> Iterable[Finding]:
    """Where no network was asked for: an MPI that stripes messages over all it finds is as fast as the slowest."""
    spread = [each for each in unasked if len(_sharing(each)) > 1]
    if not _are_most(spread, unasked):
        return
    sharing = _sharing(spread[0])
    most, *_ = sharing
    told = _Told(
        "spread",
        text(
            "No network was asked for, and messages between nodes were spread over several interfaces: {sent} of "
            "their bytes. The slowest of them holds the others up.",
            sent=_sent(sharing),
        ),
        text(
            "interfaces that sent {share} of the bytes or more {number}", share=f"{_SPREAD}", number=len(sharing)
        ),
        _OTHERS,
        f"assay run network --hosts {','.join(spread[0].placement.hosts)} --network {_name(most)}={most}",
    )
    yield _finding(told, spread, unasked)


def _through_interfaces(inside: list[Estimate], run: Run) -> Iterable[Finding]:
    """MPI inside a node that goes through an interface, the loopback one for example, instead of memory."""
    through = [each for each in inside if max(_carried(each).values(), default=0.0) >= _MOST]
    if not _are_most(through, inside):
        return
    carried = _carried(through[0])
    took = max(carried, key=lambda name: carried[name])
    told = _Told(
        "inside",
        text(
            "Inside a node, messages went through {device} instead of memory: it sent {share} % of their bytes.",
            device=took,
            share=f"{_PERCENT * carried[took]:.0f}",
        ),
        text(
            "bytes sent by {device} over bytes of all messages {share}", device=took, share=f"{carried[took]:.2g}"
        ),
        _OTHERS,
        text("see which ways the MPI was built with: `{command}`", command=_built_with(through[0], run)),
    )
    yield _finding(told, through, inside)


def _are_most(some: Sequence[Estimate], alike: Sequence[Estimate]) -> bool:
    return len(some) > _MOST * len(alike)


def _finding(told: _Told, figures: Sequence[Estimate], alike: Sequence[Estimate] = ()) -> Finding:
    """What these figures, of those like them, show."""
    counted = (
        text(
            "{some} of {count} figure like it|{some} of {count} figures like it",
            some=len(figures),
            count=len(alike),
        )
        if alike
        else ""
    )
    return Finding(
        id=f"{rule.name}:{told.name}",
        rule=rule.name,
        claim=told.claim,
        severity=told.severity,
        status="observed",
        evidence=tuple(each.id for each in figures[:_SHOWN]),
        statistic=joined(", ", (told.statistic, counted)),
        threshold=rule.threshold,
        rivals=(told.rival,) if told.rival else (),
        next=told.step,
    )


def _doctor(estimate: Estimate) -> str:
    return f"assay doctor --hosts {','.join(estimate.placement.hosts)}"


def _built_with(estimate: Estimate, run: Run) -> str:
    """The command by which the MPI that passed these messages tells what it was built with."""
    headers = (case.header for launch in run.launches for case in launch.cases)
    library = next((header.mpi.get("library", "") for header in headers if header.case == estimate.case), "")
    return "ompi_info" if "Open MPI" in library else "mpichversion"


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


def _sent(shares: dict[str, float]) -> str:
    return joined(
        ", ",
        [
            text("{device} sent {share} %", device=name, share=f"{_PERCENT * part:.0f}")
            for name, part in shares.items()
        ],
    )


def _name(device: str) -> str:
    """A name for the network of a device: that of a port of a card is the card's."""
    return device.partition(":")[0]


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
    text("Did messages take the way that was asked for?"),
    text(
        "in most figures the interface asked for sent {most} of the bytes or more, others less than {beside} "
        "together; where none was asked for, no two sent {spread} or more; each host has its own boot id",
        most=f"{_MOST}",
        beside=f"{_BESIDE}",
        spread=f"{_SPREAD}",
    ),
    _assess,
)
