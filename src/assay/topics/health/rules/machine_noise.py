"""Whether the machine was quiet enough for its figures to be trusted: one finding for each cause of noise."""

from collections.abc import Iterable
from typing import NamedTuple

from assay.analyse.evidence import Evidence, Rule, more, numbers
from assay.analyse.states import FACTOR, FAR, NEAR, UNSETTLED
from assay.analyse.strata import FEWEST
from assay.model.bracket import Bracket
from assay.model.noise import Noise
from assay.model.quantity import Quantity
from assay.model.result import Finding
from assay.model.text import Text, filled, joined, text
from assay.model.units import format_quantity, format_share

_LOST = 0.02
_CROWDED = 0.05
_FIGURES_P = 0.05
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
    numbers: dict[str, Quantity]
    rivals: tuple[str, ...]
    remedy: str


def _assess(evidence: Evidence) -> Iterable[Finding]:
    noise = evidence.noise
    causes = [*_drift(noise), *_lost(noise), *_taken(noise)]
    # What had no time for its launches gets time, not twice as many.
    launches = evidence.run.plan.launches * (1 if evidence.budget() else 2)
    repeat = more(evidence, launches)
    for cause in causes:
        yield rule.finding(
            cause.name,
            claim=cause.claim,
            severity="problem",
            evidence=(),
            numbers=cause.numbers,
            statistic=cause.statistic,
            threshold=cause.threshold,
            rivals=cause.rivals,
            next=text("{remedy}: `{command}`", remedy=cause.remedy, command=repeat),
        )
    if not causes and noise.lost is None:
        yield rule.not_assessed(text("The run has no launch of the sentinel"))
    elif not causes:
        yield rule.finding(
            "quiet",
            claim=text("The machine was quiet: {figures}.", figures=_figures(noise)),
            evidence=(),
            numbers=numbers(noise.disturbed, 0),
            statistic=text(
                "{disturbed} of {launches} launches disturbed", disturbed=noise.disturbed, launches=noise.launches
            ),
        )
    yield from _states(evidence, repeat)


def _drift(noise: Noise) -> Iterable[_Cause]:
    if noise.drift is None or noise.drift_p is None or abs(noise.drift) <= _DRIFT or noise.drift_p >= _DRIFT_P:
        return
    figures, figures_p = (
        noise.figures_drift or 0.0,
        1.0 if noise.figures_drift_p is None else noise.figures_drift_p,
    )
    if abs(figures) <= _DRIFT or figures_p >= _FIGURES_P or (figures > 0) != (noise.drift > 0):
        return  # whatever the sentinel does, no figure suffers from it
    change, p = f"{100 * abs(noise.drift):.1f}", f"{noise.drift_p:.2g}"
    yield _Cause(
        "drift",
        text(
            "The machine drifted: the sentinel became {change} % slower during the run."
            if noise.drift > 0
            else "The machine drifted: the sentinel became {change} % faster during the run.",
            change=change,
        ),
        text("Theil-Sen slope x duration {drift} %, Kendall's p = {p}", drift=f"{100 * noise.drift:+.1f}", p=p),
        text("{drift} % with p < {p}", drift=f"{100 * _DRIFT:.0f}", p=f"{_DRIFT_P}"),
        numbers(abs(noise.drift), _DRIFT),
        (
            text("clocks that fall as the machine gets hot"),
            text("other users"),
            text("the hypervisor moved the cores"),
        ),
        text("repeat after the machine has worked for some minutes"),
    )


def _lost(noise: Noise) -> Iterable[_Cause]:
    if noise.lost is not None and noise.lost > _LOST:
        yield _Cause(
            "lost",
            text(
                "The machine was not steady: work of fixed length lost {share} % of its time to stops, {count} a "
                "second, the longest {longest}.",
                share=format_share(noise.lost),
                count=f"{noise.stops_per_s or 0.0:.3g}",
                longest=format_quantity(noise.longest_stop_s or 0.0, "s"),
            ),
            text("{share} % of the time lost", share=format_share(noise.lost)),
            f"> {100 * _LOST:.0f} %",
            numbers(noise.lost, _LOST),
            (
                text("other users of the machine"),
                text("the hypervisor and its other guests"),
                text("a changing clock"),
            ),
            text("repeat on an idle machine"),
        )


def _taken(noise: Noise) -> Iterable[_Cause]:
    """The cpus' time that others had."""
    hypervisor = (
        text("The hypervisor took up to {share} during a launch."),
        text("other guests of the host"),
        text("repeat at another time or on a dedicated machine"),
    )
    processes = (
        text("The machine was not idle: other processes used up to {share} during a launch."),
        text("other users of the machine"),
        text("stop the other processes, then repeat"),
    )
    for name, value, border, (claim, rival, remedy) in (
        ("steal", noise.steal, _STEAL, hypervisor),
        ("foreign", noise.foreign, Bracket.FOREIGN, processes),
    ):
        if value is not None and value > border:
            share, threshold = _of_cpus(value), f"> {100 * border:.0f} %"
            told = filled(claim, {"share": share})
            yield _Cause(name, told, share, threshold, numbers(value, border), (rival,), remedy)


def _of_cpus(share: float) -> Text:
    return text("{share} % of the cpus' time", share=format_share(share))


def _figures(noise: Noise) -> str:
    figures: list[str] = []
    if noise.lost is not None:
        share, longest = format_share(noise.lost), format_quantity(noise.longest_stop_s or 0.0, "s")
        figures.append(text("{share} % of the time lost to stops, the longest {time}", share=share, time=longest))
    if noise.drift is not None:
        drift = f"{100 * noise.drift:+z.1f}"
        p = "" if noise.drift_p is None else f"{noise.drift_p:.2g}"
        figures.append(
            text("drift {drift} % (p = {p})", drift=drift, p=p) if p else text("drift {drift} %", drift=drift)
        )
    if noise.steal is not None:
        figures.append(text("steal {share} %", share=format_share(noise.steal)))
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
    times = [handover for _, handover in noise.states.values()]
    split = sorted({each.estimate.benchmark for each in evidence.measured if each.estimate.state})
    whole = {each.estimate.benchmark for each in evidence.measured} - set(split)
    told: list[str] = [
        text("The machine changed its state, as the cache-line probe shows: {states}.", states=seen)
    ]
    if split:
        told.append(
            text(
                "The states explain {benchmarks}; their figures are given for each state.",
                benchmarks=", ".join(split),
            )
        )
    if whole:
        told.append(
            text(
                "The other benchmarks pool the launches of both states: their differences are within chance."
                if split
                else "All benchmarks pool the launches of both states: their differences are within chance."
            )
        )
    yield rule.finding(
        "states",
        claim=joined(" ", told),
        evidence=(),
        numbers=numbers(max(times) / min(times), FACTOR),
        statistic=seen,
        threshold=text(
            "a factor of {factor} between cache-line transfer times; unsettled: the state changed during the "
            "launch; figures: at least {fewest} launches in each state, see docs/analysis.md",
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
        "time lost to stops > {lost} %, steal > {steal} %, other processes > {foreign} % in more than {crowded} % "
        "of the launches, drift > {drift} % with p < {p} where figures drift, too",
        lost=f"{100 * _LOST:.0f}",
        crowded=f"{100 * _CROWDED:.0f}",
        steal=f"{100 * _STEAL:.0f}",
        foreign=f"{100 * Bracket.FOREIGN:.0f}",
        drift=f"{100 * _DRIFT:.0f}",
        p=f"{_DRIFT_P}",
    ),
    _assess,
)
