"""Messages that wait for a timer of TCP: 40 ms for an acknowledgement held back, 200 ms for a lost segment."""

from collections.abc import Iterable

import numpy as np

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.messages import place, stalls
from assay.analyse.messages.curves import BYTES
from assay.model.result import Estimate, Finding
from assay.model.text import text
from assay.model.units import format_size

#: Share of the samples of a launch that wait, in at least so many of its launches.
_SHARE = 0.1
_FEWEST_SAMPLES = 10
#: Messages of one iteration that are longer may last as long as the timers do.
_LONGEST_BYTES = 65536
_PROGRAMS = ("pt2pt", "tcp")
_CAUSES = {
    0.04: (
        text("an acknowledgement that is held back while Nagle's algorithm waits for it (no TCP_NODELAY)"),
        "40",
    ),
    0.2: (text("a segment that was lost and is sent again when its timer ends"), "200"),
}


def _assess(evidence: Evidence) -> Iterable[Finding]:
    estimates: dict[str, Estimate] = {}
    for each in evidence.measured:
        estimate = each.estimate
        wanted = estimate.benchmark in _PROGRAMS and estimate.median is not None
        if wanted and _short(estimate) and not _takes_turns(estimate):
            estimates.setdefault(estimate.case, estimate)
    shares = _shares(evidence, estimates)
    told: dict[tuple[float, str], list[tuple[Estimate, float]]] = {}
    for (case, wait), found in shares.items():
        if found and float(np.median(found)) >= _SHARE:
            way = place.way(estimates[case])
            told.setdefault((wait, way), []).append((estimates[case], float(np.median(found))))
    for (wait, way), cases in told.items():
        yield _finding(wait, way, cases)


def _takes_turns(estimate: Estimate) -> bool:
    """Whether ranks of hosts that are one machine share its cpus: a time slice lasts as long as a timer."""
    ranks = sum(map(len, estimate.placement.cpus))
    proven = estimate.placement.proven
    if proven is None:
        return False
    return proven.machines < len(estimate.placement.hosts) and len(proven.cpus) < ranks


def _short(estimate: Estimate) -> bool:
    window = int(estimate.params.get("window", 1)) if estimate.metric != "latency" else 1
    return window * int(estimate.params.get(BYTES, 0)) <= _LONGEST_BYTES


def _shares(evidence: Evidence, estimates: dict[str, Estimate]) -> dict[tuple[str, float], list[float]]:
    """(case, wait) -> the share of samples that waited, of each launch and rank."""
    shares: dict[tuple[str, float], list[float]] = {}
    for launch in evidence.run.launches:
        for case in launch.cases:
            if case.header.case not in estimates:
                continue
            for series in case.series:
                if series.phase == "measured" and len(series.seconds) >= _FEWEST_SAMPLES:
                    for wait, share in stalls.waits(np.array(series.seconds), series.iterations).items():
                        shares.setdefault((case.header.case, wait), []).append(share)
    return shares


def _finding(wait: float, way: str, cases: list[tuple[Estimate, float]]) -> Finding:
    cause, milliseconds = _CAUSES[wait]
    worst, share = max(cases, key=lambda each: each[1])
    sizes = sorted({int(estimate.params[BYTES]) for estimate, _ in cases})
    size = format_size(int(worst.params[BYTES]))
    usual = worst.params.get("nodelay") == "off"
    return Finding(
        id=f"{rule.name}:{milliseconds}ms:{worst.case}",
        rule=rule.name,
        claim=text(
            "Messages wait {wait} at times ({way}; {sizes}): {share} % of the samples of {size} do. So long lasts "
            "{cause}.",
            wait=f"{milliseconds} ms",
            way=way,
            sizes=", ".join(map(format_size, sizes)),
            share=f"{100 * share:.0f}",
            size=size,
            cause=cause,
        ),
        severity="fact" if usual else "problem",
        status="observed",
        evidence=tuple(estimate.id for estimate, _ in cases[:3]),
        statistic=text("median over the launches of the share of samples {share}", share=f"{share:.2g}"),
        threshold=rule.threshold,
        rivals=(
            text("the other process did not run: it was moved, or its core was taken away"),
            text("a link that pauses"),
        ),
        next="assay run network --vary tcp.nodelay=on,off"
        if wait < max(_CAUSES)
        else text("count segments sent again while it runs: `nstat -z TcpRetransSegs`"),
    )


rule = Rule(
    "delayed_ack",
    text("Do messages wait for a timer of TCP?"),
    text(
        "a wait of about 40 or 200 ms in {share} of the samples of half the launches (up to 64 KiB in each)",
        share=f"{_SHARE:.0%}",
    ),
    _assess,
)
