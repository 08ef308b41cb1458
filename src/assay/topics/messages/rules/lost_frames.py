"""Connections that break with long segments: the path loses frames that both of its ends send."""

import math
from collections.abc import Hashable, Iterable

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.messages.curves import BYTES, PATTERN
from assay.model import roles
from assay.model.declaration import Declaration
from assay.model.grouping import grouped
from assay.model.plan import Arm, Case, Effect, Experiment
from assay.model.result import Finding
from assay.model.text import joined, text
from assay.model.units import format_size
from assay.topics.messages import axes, configured

#: `tcp` gives up a connection after this number of seconds without a byte.
_PATIENCE_S = 20.0
#: A segment that every path carries: the least MTU of IPv6 is 1280 B (RFC 8200), less 60 B of headers.
_SURE = 1220


def _assess(evidence: Evidence) -> Iterable[Finding]:
    ended = {each.case: each for each in evidence.outcomes}
    for cases in grouped(_between(evidence), _path).values():
        broken = [case for case in cases if ended[case.id].cause == "connection-lost"]
        held = [case for case in cases if ended[case.id].status == "complete"]
        if broken and held and _by_length(broken, held):
            yield _finding(evidence, min(broken, key=_size), len(broken), held)


def _between(evidence: Evidence) -> list[Case]:
    """Return the cases of TCP between nodes."""
    several = (case for case in evidence.run.plan.studied if len(case.placement.hosts) > 1)
    return [case for case in several if roles.is_curve_by(evidence.run.plan.declared(case.benchmark), "TCP")]


def _path(case: Case) -> Hashable:
    """Return what cases share whose messages took the same path."""
    return case.placement.hosts, *((name, level) for name, level in case.factors.items() if name != axes.SEGMENT)


def _by_length(broken: list[Case], held: list[Case]) -> bool:
    """Whether no broken case had short segments, and without them only smaller messages held."""
    least = {case.params[PATTERN]: _size(case) for case in sorted(broken, key=_size, reverse=True)}
    long = (case for case in held if not _is_bounded(case))
    return not any(map(_is_bounded, broken)) and all(
        _size(case) < least.get(case.params[PATTERN], math.inf) for case in long
    )


def _is_bounded(case: Case) -> bool:
    """Whether it requests shorter segments than those of the system."""
    return bool(case.params.get(axes.SEGMENT))


def _size(case: Case) -> int:
    return int(case.params[BYTES])


def _finding(evidence: Evidence, case: Case, count: int, held: list[Case]) -> Finding:
    path = joined(", ", (f"{case.benchmark} {case.params[PATTERN]}", case.placement.label))
    segment = configured.segment(evidence, case.id)
    shorter = [each for each in held if _is_bounded(each)]
    longest = max(shorter or held, key=_size)
    passed = (
        text("with segments of {size} they held", size=f"{longest.params[axes.SEGMENT]:,} B")
        if shorter
        else text("up to {size} they held", size=format_size(_size(longest)))
    )
    return rule.finding(
        case.id,
        claim=text(
            "TCP connections broke with long messages ({case}; from {size}, in segments of {segment}); {passed}. "
            "The path probably loses frames that both of its ends send.",
            case=path,
            size=format_size(_size(case)),
            segment=f"{segment:,} B" if segment else "?",
            passed=passed,
        ),
        severity="problem",
        status="candidate",
        numbers=numbers(count),
        statistic=text("{count} case broke|{count} cases broke", count=count),
        rivals=(
            text("a process that ended, or did not run for {seconds} s", seconds=f"{_PATIENCE_S:.0f}"),
            text("a device on the path that cuts connections"),
        ),
        next=text(
            "set the same MTU on every interface and every switch port between them, or the default MTU on the "
            "nodes: as root, `{command}`",
            command="ip link set DEVICE mtu 1500",
        ),
        experiment=_experiment(evidence.run.plan.declared(case.benchmark), case),
    )


def _experiment(declared: Declaration, case: Case) -> Experiment:
    """Repeat the messages that broke their connection, in segments that every path carries."""
    setting = text("segments of {size}", size=f"{_SURE:,} B")
    is_time = roles.patterns(declared)[str(case.params[PATTERN])].figure == "time"
    metric = "latency" if is_time else "bandwidth"
    arm = Arm(case.id, "message", metric, 1, params={axes.SEGMENT: _SURE})
    passes = Effect(
        what=text("the {metric} with {setting}", metric=metric, setting=setting),
        arms=(arm,),
        border=_PATIENCE_S if is_time else _size(case) / _PATIENCE_S,
        side="below" if is_time else "above",
        holds=text("with {setting} the same messages pass: the path loses longer frames", setting=setting),
        fails=text("with {setting} they rarely pass either", setting=setting),
        refutes=False,
        unit="s" if is_time else "B/s",
        excludes=True,
    )
    return Experiment(text("whether the same messages pass in shorter frames"), (passes,))


rule = Rule(
    "lost_frames",
    text("Does the path carry the longest frames that its ends send?"),
    text("TCP connections broke with long segments and held with short segments or messages"),
    _assess,
    applies=_between,
    timed=False,
)
