"""Messages that wait for a timer of TCP: 40 ms for an acknowledgement held back, 200 ms for a lost segment."""

from collections.abc import Collection, Iterable

import numpy as np

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.messages import place
from assay.analyse.messages.curves import BYTES
from assay.model.grouping import grouped
from assay.model.quantity import exact
from assay.model.result import Estimate, Finding
from assay.model.text import cli, text
from assay.model.units import format_size
from assay.topics.messages import stalls
from assay.topics.messages.benchmarks import tcp
from assay.topics.messages.stalls import TIMERS, Timer

#: Name of the wait, in s, among the numbers of a finding.
WAIT = "wait"
#: Share of the samples of a launch that wait, and the fewest samples of a launch that counts.
_SHARE = 0.1
_FEWEST_SAMPLES = 10
#: Messages of more bytes in an iteration may take as long as the timers.
_LONGEST_BYTES = 65536


def _assess(evidence: Evidence) -> Iterable[Finding]:
    estimates: dict[str, Estimate] = {}
    for estimate in evidence.estimates.values():
        wanted = estimate.declared.between_two and estimate.declared.two_sided and estimate.median is not None
        window = int(estimate.params.get("window", 1)) if estimate.metric != "latency" else 1
        short = window * int(estimate.params.get(BYTES, 0)) <= _LONGEST_BYTES
        if wanted and short and not _takes_turns(estimate):
            estimates.setdefault(estimate.case, estimate)
    shares = grouped(_shares(evidence, estimates), lambda each: each[:2])
    medians = (
        (case, timer, float(np.median([each[-1] for each in found]))) for (case, timer), found in shares.items()
    )
    waiting = [(timer, estimates[case], share) for case, timer, share in medians if share >= _SHARE]
    for (timer, path), cases in grouped(waiting, lambda each: (each[0], place.path_name(each[1]))).items():
        yield _finding(timer, path, [(estimate, share) for _, estimate, share in cases])


def _takes_turns(estimate: Estimate) -> bool:
    """Whether ranks of hosts that are one machine share its cpus: a time slice is as long as a timer."""
    placed, proven = estimate.placement, estimate.placement.proven
    return proven is not None and proven.machines < len(placed.hosts) and len(proven.cpus) < placed.ranks


def _shares(evidence: Evidence, estimates: Collection[str]) -> Iterable[tuple[str, Timer, float]]:
    """Yield case, timer, and share of waiting samples, for each launch and rank."""
    cases = (case for launch in evidence.run.launches for case in launch.cases if case.header.case in estimates)
    for case in cases:
        for series in case.series:
            if series.phase == "measured" and len(series.seconds) >= _FEWEST_SAMPLES:
                for timer, share in stalls.waits(np.array(series.seconds), series.iterations).items():
                    yield case.header.case, timer, share


def _finding(timer: Timer, path: str, cases: list[tuple[Estimate, float]]) -> Finding:
    worst, share = max(cases, key=lambda each: each[1])
    sizes = sorted({int(estimate.params[BYTES]) for estimate, _ in cases})
    return rule.finding(
        f"{timer.milliseconds}ms:{worst.case}",
        claim=text(
            "Messages sometimes wait {wait} ({case}; {sizes}): {share} % of the samples of {size}. This is the "
            "time of {cause}.",
            wait=f"{timer.milliseconds} ms",
            case=path,
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
        next=cli("run", "network", "--vary", f"{tcp.benchmark.name}.nodelay=on,off")
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
    applies=lambda evidence: place.passed(evidence) and evidence.run.launches,  # it looks at samples
)
