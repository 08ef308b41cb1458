"""Messages that wait for a timer of TCP: 40 ms for an acknowledgement held back, 200 ms for a lost segment."""

from collections.abc import Iterable, Mapping

import numpy as np

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.messages import place
from assay.analyse.messages.curves import BYTES
from assay.model import roles
from assay.model.quantity import exact
from assay.model.result import Estimate, Finding
from assay.model.text import cli, text
from assay.model.units import format_size
from assay.topics.messages import stalls
from assay.topics.messages.stalls import TIMERS, Timer

#: Name of the time that messages wait, in s, among the numbers of a finding.
WAIT = "wait"
#: Share of the samples of a launch that wait, in at least so many of its launches.
_SHARE = 0.1
_FEWEST_SAMPLES = 10
#: Messages of one iteration that are longer may last as long as the timers do.
_LONGEST_BYTES = 65536


def _assess(evidence: Evidence) -> Iterable[Finding]:
    estimates: dict[str, Estimate] = {}
    for each in evidence.measured:
        estimate = each.estimate
        wanted = roles.message_curves().get(estimate.benchmark) and estimate.median is not None
        if wanted and _short(estimate) and not _takes_turns(estimate):
            estimates.setdefault(estimate.case, estimate)
    told: dict[tuple[Timer, str], list[tuple[Estimate, float]]] = {}
    for (case, timer), found in _shares(evidence, estimates).items():
        share = float(np.median(found))
        if share >= _SHARE:
            told.setdefault((timer, place.way(estimates[case])), []).append((estimates[case], share))
    for (timer, way), cases in told.items():
        yield _finding(timer, way, cases)


def _takes_turns(estimate: Estimate) -> bool:
    """Whether ranks of hosts that are one machine share its cpus: a time slice lasts as long as a timer."""
    ranks = estimate.placement.ranks
    proven = estimate.placement.proven
    if proven is None:
        return False
    return proven.machines < len(estimate.placement.hosts) and len(proven.cpus) < ranks


def _short(estimate: Estimate) -> bool:
    window = int(estimate.params.get("window", 1)) if estimate.metric != "latency" else 1
    return window * int(estimate.params.get(BYTES, 0)) <= _LONGEST_BYTES


def _shares(evidence: Evidence, estimates: Mapping[str, Estimate]) -> dict[tuple[str, Timer], list[float]]:
    """(case, timer) -> the share of samples that waited, of each launch and rank."""
    shares: dict[tuple[str, Timer], list[float]] = {}
    cases = (case for launch in evidence.run.launches for case in launch.cases if case.header.case in estimates)
    for case in cases:
        for series in case.series:
            if series.phase == "measured" and len(series.seconds) >= _FEWEST_SAMPLES:
                for timer, share in stalls.waits(np.array(series.seconds), series.iterations).items():
                    shares.setdefault((case.header.case, timer), []).append(share)
    return shares


def _finding(timer: Timer, way: str, cases: list[tuple[Estimate, float]]) -> Finding:
    worst, share = max(cases, key=lambda each: each[1])
    sizes = sorted({int(estimate.params[BYTES]) for estimate, _ in cases})
    return rule.finding(
        f"{timer.milliseconds}ms:{worst.case}",
        claim=text(
            "Messages sometimes wait {wait} ({way}; {sizes}): {share} % of the samples of {size}. This is the "
            "time of {cause}.",
            wait=f"{timer.milliseconds} ms",
            way=way,
            sizes=", ".join(map(format_size, sizes)),
            share=f"{100 * share:.0f}",
            size=format_size(int(worst.params[BYTES])),
            cause=timer.cause,
        ),
        severity="fact" if worst.params.get("nodelay") == "off" else "problem",
        evidence=tuple(estimate.id for estimate, _ in cases[:3]),
        numbers=numbers(share, _SHARE) | {WAIT: exact(timer.seconds, "s")},
        statistic=text("median over the launches of the share of samples {share}", share=f"{share:.2g}"),
        rivals=(text("the other process did not run: it was migrated or preempted"), text("a link that pauses")),
        next=cli("run", "network", "--vary", "tcp.nodelay=on,off")
        if timer is not TIMERS[-1]
        else text("count the retransmitted segments during a run: `nstat -z TcpRetransSegs`"),
    )


rule = Rule(
    "delayed_ack",
    text("Do messages wait for a TCP timer?"),
    text(
        "a wait of about 40 or 200 ms in {share} of the samples of half the launches (up to 64 KiB in each)",
        share=f"{_SHARE:.0%}",
    ),
    _assess,
)
