"""Whether the machine was quiet enough to trust its figures: one finding for each cause of noise."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule, more, numbers
from assay.analyse.states import FACTOR, FAR, NEAR, UNSETTLED
from assay.analyse.strata import FEWEST
from assay.model.bracket import Bracket
from assay.model.noise import Noise
from assay.model.result import Finding
from assay.model.text import Text, filled, joined, text
from assay.model.units import format_quantity, format_share, format_share_with_ends

_SPOILT = 0.05
_FIGURES_P = 0.05
_STEAL = 0.02
_DRIFT = 0.02
_DRIFT_P = 0.01
_NAMES = {NEAR: text("near"), FAR: text("far"), UNSETTLED: text("unsettled")}


def _assess(evidence: Evidence) -> Iterable[Finding]:
    noise = evidence.noise
    # A run that its budget cut gets more time, else twice as many launches.
    launches = evidence.run.plan.launches * (1 if evidence.budget() else 2)
    repeat = more(evidence, launches)
    causes = [*_drift(noise, repeat), *_lost(noise, repeat), *_taken(noise, repeat)]
    if found := causes or [*_disturbed(noise, repeat), *_open(noise, repeat)]:
        yield from found
    elif noise.lost is None:
        yield rule.not_assessed(text("The run has no launch of the sentinel"))
    else:
        yield _quiet(noise)
    yield from _states(evidence, repeat)


def _quiet(noise: Noise) -> Finding:
    return rule.finding(
        "quiet",
        claim=text(
            "The machine was quiet in all but {disturbed} of {launches} launches: {figures}."
            if noise.disturbed
            else "The machine was quiet: {figures}.",
            disturbed=noise.disturbed,
            launches=noise.launches,
            figures=_figures(noise),
        ),
        numbers=numbers(noise.disturbed, 0),
        statistic=text(
            "{disturbed} of {launches} launches disturbed", disturbed=noise.disturbed, launches=noise.launches
        ),
    )


def _open(noise: Noise, repeat: str) -> Iterable[Finding]:
    """Report that the launches of the sentinel do not tell whether the machine was steady."""
    if noise.is_open:
        yield rule.finding(
            "open",
            claim=text("It is not clear whether the machine was steady: {figures}.", figures=_figures(noise)),
            numbers=numbers(noise.lost, noise.STEADY),
            statistic=_lost_statistic(noise),
            threshold=_steady(noise),
            next=repeat,
        )


def _drift(noise: Noise, repeat: str) -> Iterable[Finding]:
    if noise.drift is None or noise.drift_p is None or abs(noise.drift) <= _DRIFT or noise.drift_p >= _DRIFT_P:
        return
    figures, figures_p = noise.figures_drift or 0.0, noise.figures_drift_p
    if (
        abs(figures) <= _DRIFT
        or figures_p is None
        or figures_p >= _FIGURES_P
        or (figures > 0) != (noise.drift > 0)
    ):
        return  # the sentinel drifts, but no figure does
    p = f"{noise.drift_p:.2g}"
    yield rule.finding(
        "drift",
        claim=text(
            "The machine drifted: work of fixed length became {change} % slower during the run."
            if noise.drift > 0
            else "The machine drifted: work of fixed length became {change} % faster during the run.",
            change=f"{100 * abs(noise.drift):.1f}",
        ),
        severity="problem",
        numbers=numbers(abs(noise.drift), _DRIFT),
        statistic=text(
            "Theil-Sen slope x duration {drift} %, Kendall's p = {p}", drift=f"{100 * noise.drift:+.1f}", p=p
        ),
        threshold=text("{drift} % with p < {p}", drift=f"{100 * _DRIFT:.0f}", p=f"{_DRIFT_P}"),
        rivals=(
            text("clocks that fall as the machine gets hot"),
            text("other users"),
            text("the hypervisor moved the cores"),
        ),
        next=_next(text("repeat after the machine has worked for some minutes"), repeat),
    )


def _next(remedy: str, repeat: str) -> Text:
    return text("{remedy}: `{command}`", remedy=remedy, command=repeat)


def _lost(noise: Noise, repeat: str) -> Iterable[Finding]:
    if noise.loses(noise.STEADY):
        yield rule.finding(
            "lost",
            claim=text(
                "The machine was not steady: work of fixed length lost {share} % of its time to stops and slower "
                "moments, at most {longest} at once.",
                share=_lost_share(noise),
                longest=format_quantity(noise.longest_stop_s or 0.0, "s"),
            ),
            severity="problem",
            numbers=numbers(noise.lost, noise.STEADY),
            statistic=_lost_statistic(noise),
            threshold=_steady(noise),
            rivals=(
                text("other users of the machine"),
                text("the hypervisor and its other guests"),
                text("a changing clock"),
            ),
            next=_next(text("repeat on an idle machine"), repeat),
        )


def _disturbed(noise: Noise, repeat: str) -> Iterable[Finding]:
    """Report launches that count although they were disturbed, if no other finding explains it."""
    if noise.spoilt > _SPOILT * noise.made:
        counted = text("{disturbed} of {made} launches", disturbed=noise.spoilt, made=noise.made)
        yield rule.finding(
            "disturbed",
            claim=text(
                "{launches} were disturbed at every attempt, and their figures still count: {figures}.",
                launches=counted,
                figures=_figures(noise),
            ),
            severity="advice",
            numbers=numbers(noise.spoilt / noise.made, _SPOILT),
            statistic=counted,
            threshold=text("> {share} % of the launches", share=f"{100 * _SPOILT:.0f}"),
            rivals=(text("the hypervisor moves virtual cores"), text("other users of the machine")),
            next=_next(text("repeat on an idle machine"), repeat),
        )


def _taken(noise: Noise, repeat: str) -> Iterable[Finding]:
    """Report the cpu time of other processes and guests."""
    hypervisor = (
        text("The hypervisor took {share}, over all launches."),
        text("other guests of the host"),
        text("repeat at another time or on a dedicated machine"),
    )
    processes = (
        text("The machine was not idle: other processes used up to {share} during a launch."),
        text("other users of the machine"),
        text("stop the other processes, then repeat"),
    )
    often = noise.crowded > _SPOILT * noise.made
    for name, value, border, (claim, rival, remedy) in (
        ("steal", noise.steal, _STEAL, hypervisor),
        ("foreign", noise.foreign if often else None, Bracket.FOREIGN, processes),
    ):
        if value is not None and value > border:
            share = text("{share} % of the cpus' time", share=format_share(value))
            yield rule.finding(
                name,
                claim=filled(claim, {"share": share}),
                severity="problem",
                numbers=numbers(value, border),
                statistic=share,
                threshold=f"> {100 * border:.0f} %",
                rivals=(rival,),
                next=_next(remedy, repeat),
            )


def _figures(noise: Noise) -> str:
    figures: list[str] = []
    if noise.lost is not None:
        share, longest = _lost_share(noise), format_quantity(noise.longest_stop_s or 0.0, "s")
        figures.append(
            text(
                "{share} % of the time lost to stops and slower moments, at most {time} at once",
                share=share,
                time=longest,
            )
        )
    if noise.drift is not None:
        drift, p = f"{100 * noise.drift:+z.1f}", "" if noise.drift_p is None else f"{noise.drift_p:.2g}"
        figures.append(text("drift {drift} % (p = {p})" if p else "drift {drift} %", drift=drift, p=p))
    if noise.steal is not None:
        figures.append(text("steal {share} %", share=format_share(noise.steal)))
    if noise.foreign is not None:
        figures.append(text("other processes {share} % at most", share=format_share(noise.foreign)))
    return joined(", ", figures)


def _lost_share(noise: Noise) -> str:
    return format_share_with_ends(noise.lost) if noise.lost else ""


def _lost_statistic(noise: Noise) -> Text:
    return text("{share} % of the time lost", share=_lost_share(noise))


def _steady(noise: Noise) -> Text:
    return text("both ends > {share} %", share=f"{100 * noise.STEADY:.0f}")


def _states(evidence: Evidence, repeat: str) -> Iterable[Finding]:
    noise = evidence.noise
    if NEAR not in noise.states and FAR not in noise.states:
        return
    each = ((_NAMES.get(name, name), launches, times) for name, (launches, times) in noise.states.items())
    seen = joined(
        ", ",
        [
            text(
                "{state} in {launches} launches ({time})",
                state=name,
                launches=made,
                time=format_quantity(time, "s"),
            )
            for name, made, time in each
        ],
    )
    times = [handover for _, handover in noise.states.values()]
    split = sorted({each.estimate.benchmark for each in evidence.measured if each.estimate.state})
    whole = {each.estimate.benchmark for each in evidence.measured} - set(split)
    explained = text(
        "The states explain {benchmarks}; their figures are given for each state.", benchmarks=", ".join(split)
    )
    pooled = text(
        "The other benchmarks pool the launches of both states: too few launches, or differences that may be "
        "chance."
        if split
        else "All benchmarks pool the launches of both states: too few launches, or differences that may be "
        "chance."
    )
    sentences = (
        text("The machine changed its state, as the cache-line probe shows: {states}.", states=seen),
        explained if split else "",
        pooled if whole else "",
    )
    yield rule.finding(
        "states",
        claim=joined(" ", sentences),
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
        "time lost to stops and slower moments > {lost} % (lower end), steal > {steal} %, other processes > "
        "{foreign} % (or another disturbance) at every attempt of more than {crowded} % of the launches, "
        "drift > {drift} % with p < {p} if figures also drift",
        lost=f"{100 * Noise.STEADY:.0f}",
        crowded=f"{100 * _SPOILT:.0f}",
        steal=f"{100 * _STEAL:.0f}",
        foreign=f"{100 * Bracket.FOREIGN:.0f}",
        drift=f"{100 * _DRIFT:.0f}",
        p=f"{_DRIFT_P}",
    ),
    _assess,
    concerns="noise",
)
