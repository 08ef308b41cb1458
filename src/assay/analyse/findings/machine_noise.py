"""Whether the machine was quiet enough for its figures to be trusted: one finding for each cause of noise."""

from collections.abc import Iterable
from typing import NamedTuple

from assay.analyse.evidence import Evidence, Rule, more
from assay.analyse.states import FACTOR, FAR, NEAR, UNSETTLED
from assay.analyse.strata import FEWEST
from assay.model.record import Bracket
from assay.model.result import Finding, Noise
from assay.model.text import Text, joined, text
from assay.model.units import format_quantity, format_share

_TAIL = 1.10
_STEAL = 0.02
_DRIFT = 0.02
_DRIFT_P = 0.01
_NAMES = {NEAR: text("near"), FAR: text("far"), UNSETTLED: text("unsettled")}


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
            next=text("{remedy}: `{command}`", remedy=cause.remedy, command=repeat),
        )
    if not causes and noise.sentinel_p99 is None:
        yield rule.not_assessed(text("The run has no launch of the sentinel"))
    elif not causes:
        yield Finding(
            id=f"{rule.name}:quiet",
            rule=rule.name,
            claim=text("The machine was quiet: {figures}.", figures=_figures(noise)),
            severity="fact",
            status="observed",
            evidence=(),
            statistic=text(
                "{disturbed} of {launches} launches disturbed", disturbed=noise.disturbed, launches=noise.launches
            ),
            threshold=rule.threshold,
        )
    yield from _states(evidence, repeat)


def _drift(noise: Noise) -> Iterable[_Cause]:
    if noise.drift is None or noise.drift_p is None or abs(noise.drift) <= _DRIFT or noise.drift_p >= _DRIFT_P:
        return
    change, p = f"{100 * abs(noise.drift):.1f}", f"{noise.drift_p:.2g}"
    yield _Cause(
        "drift",
        text(
            "The machine drifted: fixed work became {change} % slower while the run lasted."
            if noise.drift > 0
            else "The machine drifted: fixed work became {change} % faster while the run lasted.",
            change=change,
        ),
        text("Theil-Sen slope x duration {drift} %, Kendall's p = {p}", drift=f"{100 * noise.drift:+.1f}", p=p),
        text("{drift} % with p < {p}", drift=f"{100 * _DRIFT:.0f}", p=f"{_DRIFT_P}"),
        (
            text("clocks that fall as the machine heats up"),
            text("other users"),
            text("the hypervisor moved the cores"),
        ),
        text("repeat when the machine has been at work for some minutes"),
    )


def _tail(noise: Noise, explained: float) -> Iterable[_Cause]:
    """A tail beyond what drift has `explained`: at its end the machine is slower than its median by half of it."""
    if noise.sentinel_p99 is not None and noise.sentinel_p99 > _TAIL + explained:
        yield _Cause(
            "tail",
            text(
                "The machine was not steady: once in a hundred times the same fixed small work took {times} times "
                "as long as usual, or longer.",
                times=f"{noise.sentinel_p99:.2f}",
            ),
            text("p99 / median {ratio}", ratio=f"{noise.sentinel_p99:.2f}"),
            text("p99 / median > {ratio}", ratio=f"{_TAIL:.2f}"),
            (
                text("other users of the machine"),
                text("the hypervisor and its other guests"),
                text("a clock that changes"),
            ),
            text("repeat on an idle machine"),
        )


def _taken(noise: Noise) -> Iterable[_Cause]:
    """The cpus' time that others had."""
    if noise.steal is not None and noise.steal > _STEAL:
        figure = _of_cpus(noise.steal)
        yield _Cause(
            "steal",
            text("The hypervisor took up to {share} during a launch.", share=figure),
            figure,
            f"> {100 * _STEAL:.0f} %",
            (text("other guests of the host"),),
            text("repeat at another hour or on a machine of its own"),
        )
    if noise.foreign is not None and noise.foreign > Bracket.FOREIGN:
        figure = _of_cpus(noise.foreign)
        yield _Cause(
            "foreign",
            text("The machine was not idle: other processes used up to {share} during a launch.", share=figure),
            figure,
            f"> {100 * Bracket.FOREIGN:.0f} %",
            (text("other users of the machine"),),
            text("end what else is running, then repeat"),
        )


def _of_cpus(share: float) -> Text:
    return text("{share} % of the cpus' time", share=format_share(share))


def _figures(noise: Noise) -> str:
    figures: list[str] = []
    if noise.sentinel_p99 is not None:
        figures.append(text("fixed work p99 / median {ratio}", ratio=f"{noise.sentinel_p99:.2f}"))
    if noise.drift is not None:
        drift = f"{100 * noise.drift:+z.1f}"
        p = "" if noise.drift_p is None else f"{noise.drift_p:.2g}"
        figures.append(
            text("drift {drift} % (p = {p})", drift=drift, p=p) if p else text("drift {drift} %", drift=drift)
        )
    if noise.steal is not None:
        figures.append(text("steal {share} % at most", share=format_share(noise.steal)))
    if noise.foreign is not None:
        figures.append(text("other processes {share} % at most", share=format_share(noise.foreign)))
    return joined(", ", figures)


def _states(evidence: Evidence, repeat: str) -> Iterable[Finding]:
    noise = evidence.noise
    if NEAR not in noise.states and FAR not in noise.states:
        return
    seen = joined(
        ", ",
        [
            text(
                "{state} in {launches} launches ({time})",
                state=_NAMES.get(name, name),
                launches=launches,
                time=format_quantity(handover, "s"),
            )
            for name, (launches, handover) in noise.states.items()
        ],
    )
    split = sorted({each.estimate.benchmark for each in evidence.measured if each.estimate.state})
    whole = {each.estimate.benchmark for each in evidence.measured} - set(split)
    told: list[str] = [
        text("The machine changed between states that the hand-over of a cache line shows: {states}.", states=seen)
    ]
    if split:
        told.append(
            text("The states explain {benchmarks}, whose figures are given for each.", benchmarks=", ".join(split))
        )
    if whole:
        told.append(
            text(
                "Of the others launches of both are pooled: they differ by no more than chance makes between so "
                "few."
                if split
                else "Of every benchmark launches of both are pooled: they differ by no more than chance makes "
                "between so few."
            )
        )
    yield Finding(
        id=f"{rule.name}:states",
        rule=rule.name,
        claim=joined(" ", told),
        severity="fact",
        status="observed",
        evidence=(),
        statistic=seen,
        threshold=text(
            "a gap of {factor} between hand-over times; unsettled: changed during the launch; figures: {fewest} "
            "launches or more in each state, see docs/analysis.md",
            factor=f"{FACTOR}",
            fewest=FEWEST,
        ),
        rivals=(text("the hypervisor moves virtual cores"), text("the kernel's frequency governor")),
        next=repeat if whole else "",
    )


rule = Rule(
    "machine_noise",
    text("Was the machine quiet?"),
    text(
        "p99 / median > {tail}, steal > {steal} %, other processes > {foreign} %, drift > {drift} % with p < {p}",
        tail=f"{_TAIL:.2f}",
        steal=f"{100 * _STEAL:.0f}",
        foreign=f"{100 * Bracket.FOREIGN:.0f}",
        drift=f"{100 * _DRIFT:.0f}",
        p=f"{_DRIFT_P}",
    ),
    _assess,
)
