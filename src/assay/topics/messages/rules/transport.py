"""The interface that carried the messages, by its counters, compared with the requested one."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.model import roles
from assay.model.grouping import grouped
from assay.model.machine import card_of, is_port
from assay.model.result import Estimate, Finding, Severity
from assay.model.run import Run
from assay.model.text import Text, cli, filled, joined, listed, text
from assay.topics.messages import configured, link

#: An interface carried the messages if it sent at least this share of their bytes.
_MOST = 0.5
#: MPI spread the messages if two interfaces each sent at least this share of the bytes.
_SPREAD = 0.15
#: Bytes outside the requested network are reported from this share on.
_ALSO = 0.1
#: Above this multiple of the bytes, stacked interfaces (a bond, a bridge, a VLAN) count them twice.
_ONCE = 1.5
#: Headers exceed the bytes of tiny messages: messages of at least this size prove a path.
_TELLING_BYTES = 4096
_LOOPBACK = "lo"
#: Figures that are listed as evidence of one machine.
_SHOWN = 3
#: Another cause of moving counters.
_OTHERS = text("another program used the interfaces at the same time")


class _Check(msgspec.Struct, frozen=True, kw_only=True):
    """A check of the path of figures, and its finding.

    Attributes:
        subject: end of the id of its finding, after the requested network.
        statistic: of a figure and the requested network.
        shows: whether this statistic of a figure proves the claim.
        border: of the statistic.
        claim: template; it may name the `_words` of a figure, and the `programs` of all.
        measure: template of the statistic.
        alone: whether a figure proves it alone. Of others it needs most of the same program and levels: another
            program may have used an interface for a moment, and some drivers count seconds later.
        rival: another possible cause.
        next: remedy, by the first figure that proves the claim.
        severity: of the finding.
    """

    subject: str = ""
    statistic: Callable[[Estimate, str], float]
    shows: Callable[[float], bool]
    border: float
    claim: Text
    measure: Text
    next: Callable[[Estimate, Evidence], str]
    alone: Callable[[Estimate], bool] = lambda _estimate: False
    rival: str = _OTHERS
    severity: Severity = "problem"

    def findings(self, figures: Sequence[Estimate], asked: str, evidence: Evidence) -> Iterable[Finding]:
        """Yield a finding if figures prove it; its evidence are all on the path, also those that prove none."""
        telling = [each for each in figures if _tells(each)]
        alike = grouped(telling, lambda each: (each.benchmark, *each.factors.items()))
        shown = [each for group in alike.values() for each in self._shown(group, asked)]
        if not shown:
            return
        statistic = self.statistic(shown[0], asked)
        programs = listed(dict.fromkeys(each.benchmark for each in shown))
        words = {**_words(shown[0], asked), "programs": programs, "statistic": f"{statistic:.2g}"}
        counted = text(
            "{some} of {count} similar figure|{some} of {count} similar figures",
            some=len(shown),
            count=len(telling),
        )
        yield rule.finding(
            ":".join(filter(None, (asked, self.subject))),
            claim=filled(self.claim, words),
            severity=self.severity,
            evidence=tuple(each.id for each in (*shown, *_along(shown, figures))),
            numbers=numbers(statistic, self.border),
            statistic=joined(", ", (filled(self.measure, words), counted)),
            rivals=(self.rival,),
            next=self.next(shown[0], evidence),
        )

    def _shown(self, alike: Sequence[Estimate], asked: str) -> list[Estimate]:
        shown = [each for each in alike if self.shows(self.statistic(each, asked))]
        return shown if len(shown) > _MOST * len(alike) else list(filter(self.alone, shown))


def _assess(evidence: Evidence) -> Iterable[Finding]:
    run = evidence.run
    passed = [each.estimate for each in evidence.measured if _passes_messages(each.estimate)]
    sized = [each for each in passed if _is_sized(each)]
    asked_of = {each.id: link.asked(each, run.plan) for each in passed if len(each.placement.hosts) > 1}
    yield from _one_machine([each for each in sized if each.id in asked_of], run)
    if not any(_tells(each) for each in passed if _is_sized(each) or asked_of[each.id]):
        yield rule.not_assessed(text("No messages of 4 KiB or more were passed"), cli("run", "network"))
    for asked in dict.fromkeys(filter(None, asked_of.values())):
        requested = [each for each in passed if asked_of.get(each.id) == asked]
        yield from _ASTRAY.findings(requested, asked, evidence)
        yield from _OTHERS_TOO.findings(list(filter(_is_sized, requested)), asked, evidence)
    # Addresses determine the path of sockets; MPIs choose theirs.
    chosen = [each for each in sized if not roles.by_sockets(each)]
    yield from _STRIPED.findings([each for each in chosen if asked_of.get(each.id) == ""], "", evidence)
    yield from _THROUGH.findings([each for each in chosen if each.id not in asked_of], "", evidence)


def _passes_messages(estimate: Estimate) -> bool:
    """Whether it is a figure of messages, or of a program that passes some between nodes."""
    proven = estimate.placement.proven
    return (
        estimate.median is not None
        and proven is not None
        and proven.machines > 0
        and (_is_sized(estimate) or (estimate.declared.launcher == "mpi" and len(estimate.placement.hosts) > 1))
    )


def _is_sized(estimate: Estimate) -> bool:
    """Whether its messages have one size; programs pass messages of all sizes, also inside nodes."""
    return estimate.declared.message_size is not None


def _tells(estimate: Estimate) -> bool:
    """Whether its bytes prove a path: those inside nodes need no interface, and few may be another program's."""
    if _is_sized(estimate):
        return int(estimate.params.get("bytes", 0)) >= _TELLING_BYTES
    return _MOST <= _most(estimate) <= _ONCE


def _along(shown: Iterable[Estimate], figures: Sequence[Estimate]) -> Iterator[Estimate]:
    """Yield the figures that prove no path and share one of these: of the same program if it proves any.

    Else of MPI, or of sockets. Levels agree, and one has all nodes of the other.
    """
    astray = {each.case for each in shown}
    telling = {each.case: each for each in figures if _tells(each)}.values()
    silent = {each.case: each for each in figures if not _tells(each)}
    for case, figure in silent.items():
        near = [each for each in telling if _is_near(each, figure)]
        own = [each for each in near if each.benchmark == figure.benchmark] or near
        if any(each.case in astray for each in own):
            yield from (each for each in figures if each.case == case)


def _is_near(one: Estimate, other: Estimate) -> bool:
    nodes, others = set(one.placement.hosts), set(other.placement.hosts)
    return (
        roles.by_sockets(one) == roles.by_sockets(other)
        and all(other.factors.get(name, level) == level for name, level in one.factors.items())
        and (nodes <= others or others <= nodes)
    )


def _one_machine(between: list[Estimate], run: Run) -> Iterable[Finding]:
    """Yield a finding for each group of nodes that passed messages to each other and have one kernel."""
    for number, hosts in enumerate(_kernels(run, {each.case for each in between})):
        figures = [each for each in between if len(hosts & set(each.placement.hosts)) > 1]
        *first, last = sorted(hosts, key=run.plan.hosts.index)
        yield rule.finding(
            "one-machine" if not number else f"one-machine:{last}",
            claim=text(
                "The nodes {hosts} are one machine with one kernel. The figures between them describe its "
                "memory and processor, not a network.",
                hosts=listed((*first, last)),
            ),
            evidence=tuple(each.id for each in figures[:_SHOWN]),
            numbers=numbers(1, len(hosts)),
            statistic=text("1 boot id of {nodes} nodes", nodes=len(hosts)),
            next=text(
                "name different machines; list them with `{command}`",
                command=cli("doctor", "--hosts", ",".join(run.plan.hosts)),
            ),
        )


def _kernels(run: Run, cases: set[str]) -> list[frozenset[str]]:
    """Return the groups of several nodes with the same boot id."""
    hosts = {case.id: case.placement.rank_hosts for case in run.plan.cases if case.id in cases}
    by_kernel: dict[str, set[str]] = {}
    for launch in run.launches:
        for header in (case.header for case in launch.cases if case.header.case in hosts):
            for rank in header.ranks:
                by_kernel.setdefault(rank.boot_id, set()).add(hosts[header.case][rank.rank])
    groups = dict.fromkeys(frozenset(names) for kernel, names in by_kernel.items() if kernel)
    return [group for group in groups if len(group) > 1]


def _carried(estimate: Estimate) -> dict[str, float]:
    """Interface -> share of the bytes that it sent, largest first; empty where no counter moved.

    Of programs without the loopback, which carries their messages inside nodes.
    """
    carried = estimate.placement.proven.carried if estimate.placement.proven else {}
    carried = {name: part for name, part in carried.items() if _is_sized(estimate) or name != _LOOPBACK}
    return dict(sorted(carried.items(), key=lambda each: -each[1]))


def _most(estimate: Estimate, _asked: str = "") -> float:
    """Return the share of the interface that sent most."""
    return next(iter(_carried(estimate).values()), 0.0)


def _share(estimate: Estimate, asked: str) -> float:
    """Return the share of the bytes that the requested interface sent."""
    return sum(part for name, part in _carried(estimate).items() if is_port(name, asked))


def _sharing(estimate: Estimate, asked: str = "", least: float = 0.0) -> dict[str, float]:
    """Return the shares of all but the requested interface; none where bytes are counted twice."""
    carried = _carried(estimate)
    once = sum(carried.values()) <= _ONCE
    return {name: part for name, part in carried.items() if once and part >= least and not is_port(name, asked)}


def _sent(shares: dict[str, float]) -> str:
    shown = ((name, f"{100 * part:.0f}") for name, part in shares.items())
    return joined(", ", [text("{device} sent {share} %", device=name, share=share) for name, share in shown])


def _words(estimate: Estimate, asked: str) -> dict[str, str | int]:
    """Return the words of the templates of a check."""
    took, most = next(iter(_carried(estimate)), ""), f"{100 * _most(estimate):.0f}"
    return {
        "asked": asked,
        "share": f"{100 * _share(estimate, asked):.0f}",
        "device": took,
        "most": most,
        "counted": text("{device} sent {share} % of their bytes", device=took, share=most)
        if took
        else text("no interface counted them"),
        "others": _sent(_sharing(estimate, asked)),
        "sharing": _sent(_sharing(estimate, least=_SPREAD)),
        "least": f"{_SPREAD}",
    }


def _doctor(estimate: Estimate, _evidence: Evidence) -> str:
    return cli("doctor", "--hosts", ",".join(estimate.placement.hosts))


def _one_network(estimate: Estimate, evidence: Evidence) -> str:
    """Return the command that requests the fastest interface; the network of a port is named after its card.

    MPI distributes messages evenly over interfaces that differ. One of unknown rate may be the fastest; of several
    such the one that sent most is chosen.
    """
    machines = evidence.bounds.machines(estimate)

    def rate(name: str) -> float:
        ends = filter(None, (machine.network_device(name) for machine in machines))
        least = link.narrowest(limit for end in ends for limit in link.limits(end))
        return least.value if least else math.inf

    best = max(_sharing(estimate, least=_SPREAD), key=rate)
    network = f"{card_of(best)}={best}"
    return cli("run", "network", "--hosts", ",".join(estimate.placement.hosts), "--network", network)


def _built_with(estimate: Estimate, evidence: Evidence) -> str:
    """Return the command that lists what the MPI of these messages was built with."""
    library = configured.settings(evidence, estimate).library
    command = "ompi_info" if "Open MPI" in library else "mpichversion"
    return text("check which transports the MPI was built with: `{command}`", command=command)


_ASTRAY = _Check(
    statistic=_share,
    shows=lambda share: share < _MOST,
    border=_MOST,
    claim=text(
        "Messages should use {asked} but did not: it sent {share} % of their bytes; {counted}. These are messages "
        "of {programs}."
    ),
    measure=text("bytes sent by {asked} over bytes of all messages {statistic}"),
    # Another interface counted them: a program beside adds bytes to its own, and takes none away.
    alone=lambda estimate: _most(estimate) >= _MOST,
    rival=text("the readable counters do not include offloaded traffic of the card"),
    next=_doctor,
)
_OTHERS_TOO = _Check(
    subject="beside",
    # 0 where the requested one was not used: the check above reports that.
    statistic=lambda estimate, asked: (
        sum(_sharing(estimate, asked).values()) if _share(estimate, asked) >= _MOST else 0.0
    ),
    shows=lambda share: share >= _ALSO,
    border=_ALSO,
    claim=text("Messages used {asked}, as requested, but other interfaces also sent: {others} of their bytes."),
    measure=text("bytes sent by others over bytes of all messages {statistic}"),
    next=_doctor,
    severity="fact",
)
#: Without a requested network: an MPI that stripes messages over all interfaces is as fast as the slowest.
_STRIPED = _Check(
    subject="spread",
    statistic=lambda estimate, _asked: len(_sharing(estimate, least=_SPREAD)),
    shows=lambda interfaces: interfaces > 1,
    border=1,
    claim=text(
        "No network was requested, and messages between nodes used several interfaces: {sharing} of their "
        "bytes. The slowest interface delays the others."
    ),
    measure=text("interfaces that sent {least} of the bytes or more {statistic}"),
    next=_one_network,
)
#: Inside a node: MPI uses an interface, for example loopback, instead of memory.
_THROUGH = _Check(
    subject="inside",
    statistic=_most,
    shows=lambda share: share >= _MOST,
    border=_MOST,
    claim=text(
        "Inside a node, messages went through {device} instead of memory: it sent {most} % of their bytes."
    ),
    measure=text("bytes sent by {device} over bytes of all messages {statistic}"),
    next=_built_with,
)


rule = Rule(
    "transport",
    text("Did messages use the requested network?"),
    text(
        "no other interface sent {most} of the bytes in place of the requested one; in most figures of a program "
        "it sent at least {most} and the others together less than {others}; without a request, no two interfaces "
        "sent {spread} or more; each host has its own boot id",
        most=f"{_MOST}",
        others=f"{_ALSO}",
        spread=f"{_SPREAD}",
    ),
    _assess,
    # A study without messages has no path to prove.
    applies=lambda evidence: any(case.placement.ranks for case in evidence.run.plan.cases),
    timed=False,
    concerns="figures",
)
