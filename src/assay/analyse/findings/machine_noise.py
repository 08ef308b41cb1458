"""Whether the machine was quiet enough for its figures to be trusted: one finding for each cause of noise."""

from collections.abc import Iterable
from typing import NamedTuple

from assay.analyse.evidence import Evidence, Rule, more
from assay.analyse.states import FACTOR, FAR, NEAR, UNSETTLED
from assay.analyse.strata import FEWEST
from assay.model.record import Bracket
from assay.model.result import Finding, Noise
from assay.model.units import format_quantity

_TAIL = 1.10
_STEAL = 0.02
_DRIFT = 0.02
_DRIFT_P = 0.01


class _Cause(NamedTuple):
    """Something that disturbed the run: what it did, with the figure that shows it."""

    name: str
    claim: str
    statistic: str
    threshold: str
    rivals: tuple[str, ...]
    remedy: str


def _assess(evidence: Evidence) -> Iterable[Finding]:
    noise = evidence.noise
    drift = list(_drift(noise))
    causes = [*drift, *_tail(noise, abs(noise.drift or 0.0) / 2 if drift else 0.0), *_taken(noise)]
    # What had no time for its launches gets time, not twice as many.
    launches = evidence.run.plan.launches * (1 if evidence.budget() else 2)
    repeat = more(evidence, launches)
    for cause in causes:
        yield Finding(
            id=f"{rule.name}:{cause.name}",
            rule=rule.name,
            claim=cause.claim,
            severity="problem",
            status="observed",
            evidence=(),
            statistic=cause.statistic,
            threshold=cause.threshold,
            rivals=cause.rivals,
            next=f"{cause.remedy}: {repeat}",
        )
    if not causes and noise.sentinel_p99 is None:
        yield rule.not_assessed("the run has no launch of the sentinel")
    elif not causes:
        yield Finding(
            id=f"{rule.name}:quiet",
            rule=rule.name,
            claim=f"The machine was quiet: {_figures(noise)}.",
            severity="fact",
            status="observed",
            evidence=(),
            statistic=f"{noise.disturbed} of {noise.launches} launches disturbed",
            threshold=rule.threshold,
        )
    yield from _states(evidence, repeat)


def _drift(noise: Noise) -> Iterable[_Cause]:
    if noise.drift is None or noise.drift_p is None or abs(noise.drift) <= _DRIFT or noise.drift_p >= _DRIFT_P:
        return
    change = "slower" if noise.drift > 0 else "faster"
    yield _Cause(
        "drift",
        f"The machine drifted: fixed work became {100 * abs(noise.drift):.1f} % {change} while the run lasted.",
        f"Theil-Sen slope x duration {100 * noise.drift:+.1f} %, Kendall's p = {noise.drift_p:.2g}",
        f"{100 * _DRIFT:.0f} % with p < {_DRIFT_P}",
        ("clocks that fall as the machine heats up", "other users", "the hypervisor moved the cores"),
        "repeat when the machine has been at work for some minutes",
    )


def _tail(noise: Noise, explained: float) -> Iterable[_Cause]:
    """A tail beyond what drift has `explained`: at its end the machine is slower than its median by half of it."""
    if noise.sentinel_p99 is not None and noise.sentinel_p99 > _TAIL + explained:
        yield _Cause(
            "tail",
            "The machine was not steady: once in a hundred times the same fixed small work took "
            f"{noise.sentinel_p99:.3g} times as long as usual, or longer.",
            f"p99 / median {noise.sentinel_p99:.4g}",
            f"p99 / median > {_TAIL:.2f}",
            ("other users of the machine", "the hypervisor and its other guests", "a clock that changes"),
            "repeat on an idle machine",
        )


def _taken(noise: Noise) -> Iterable[_Cause]:
    """The cpus' time that others had."""
    for name, claim, share, most, rival, remedy in (
        ("steal", "The hypervisor took up to", noise.steal, _STEAL, "other guests of the host",
         "repeat at another hour or on a machine of its own"),
        ("foreign", "The machine was not idle: other processes used up to", noise.foreign, Bracket.FOREIGN,
         "other users of the machine", "end what else is running, then repeat"),
    ):  # fmt: skip
        if share is not None and share > most:
            figure = f"{100 * share:.0f} % of the cpus' time"
            yield _Cause(
                name, f"{claim} {figure} during a launch.", figure, f"> {100 * most:.0f} %", (rival,), remedy
            )


def _figures(noise: Noise) -> str:
    figures = [] if noise.sentinel_p99 is None else [f"fixed work p99 / median {noise.sentinel_p99:.4g}"]
    if noise.drift is not None:
        p = "" if noise.drift_p is None else f" (p = {noise.drift_p:.2g})"
        figures.append(f"drift {100 * noise.drift:+.1f} %{p}")
    figures += [
        f"{name} {100 * share:.1f} % at most"
        for name, share in (("steal", noise.steal), ("foreign cpu", noise.foreign))
        if share is not None
    ]
    return ", ".join(figures)


def _states(evidence: Evidence, repeat: str) -> Iterable[Finding]:
    noise = evidence.noise
    if NEAR not in noise.states and FAR not in noise.states:
        return
    seen = ", ".join(
        f"{name} in {launches} launches ({format_quantity(handover, 's')})"
        for name, (launches, handover) in noise.states.items()
    )
    split = sorted({each.estimate.benchmark for each in evidence.measured if each.estimate.state})
    whole = {each.estimate.benchmark for each in evidence.measured} - set(split)
    told = [f"The states explain {', '.join(split)}, whose figures are given for each."] if split else []
    if whole:
        told.append(
            f"{'Of the others' if split else 'Of every benchmark'} launches of both are pooled: they differ by no "
            "more than chance makes between so few."
        )
    yield Finding(
        id=f"{rule.name}:states",
        rule=rule.name,
        claim=f"The machine changed between states that the hand-over of a cache line shows: {seen}. "
        f"{' '.join(told)}",
        severity="fact",
        status="observed",
        evidence=(),
        statistic=seen,
        threshold=f"a gap of {FACTOR} between hand-over times; {UNSETTLED}: changed during the launch; figures: "
        f"{FEWEST} launches or more in each state, see docs/analysis.md",
        rivals=("the hypervisor moves virtual cores", "the kernel's frequency governor"),
        next=repeat if whole else "",
    )


rule = Rule(
    "machine_noise",
    "Was the machine quiet?",
    f"p99 / median > {_TAIL:.2f}, steal > {100 * _STEAL:.0f} %, foreign cpu > {100 * Bracket.FOREIGN:.0f} %, "
    f"drift > {100 * _DRIFT:.0f} % with p < {_DRIFT_P}",
    _assess,
)
