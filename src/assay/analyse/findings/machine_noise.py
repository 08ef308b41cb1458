"""Whether the machine was quiet enough for its figures to be trusted."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.states import FAR, NEAR, UNSETTLED
from assay.model.record import Bracket
from assay.model.result import Finding, Noise
from assay.model.units import format_quantity

_TAIL = 1.10
_STEAL = 0.02
_DRIFT = 0.02
_DRIFT_P = 0.01


def _assess(evidence: Evidence) -> Iterable[Finding]:
    noise = evidence.noise
    loud = _loud(noise)
    if loud:
        yield Finding(
            id=f"{rule.name}:loud",
            rule=rule.name,
            claim=f"The machine was not quiet: {'; '.join(loud)}.",
            severity="problem",
            status="observed",
            evidence=(),
            statistic=_figures(noise),
            threshold=rule.threshold,
            rivals=("other users of the machine", "the hypervisor and its other guests", "a clock that changes"),
            next="repeat on an idle machine, or with more launches: "
            f"assay run {evidence.run.plan.study} --launches {2 * evidence.run.plan.launches}",
        )
    elif noise.sentinel_p99 is None:
        yield rule.not_assessed("the run has no launch of the sentinel")
    else:
        yield Finding(
            id=f"{rule.name}:quiet",
            rule=rule.name,
            claim=f"The machine was quiet: {_figures(noise)}.",
            severity="fact",
            status="observed",
            evidence=(),
            statistic=_figures(noise),
            threshold=rule.threshold,
        )
    yield from _states(noise)


def _loud(noise: Noise) -> list[str]:
    loud = []
    if noise.sentinel_p99 is not None and noise.sentinel_p99 > _TAIL:
        loud.append(f"1 % of a fixed small work took {noise.sentinel_p99:.2f} times its median or longer")
    if noise.steal is not None and noise.steal > _STEAL:
        loud.append(f"the hypervisor took up to {100 * noise.steal:.0f} % of the cpus' time")
    if noise.foreign is not None and noise.foreign > Bracket.FOREIGN:
        loud.append(f"other processes used up to {100 * noise.foreign:.0f} % of the cpus")
    drift, p = noise.drift or 0.0, 1.0 if noise.drift_p is None else noise.drift_p
    if abs(drift) > _DRIFT and p < _DRIFT_P:
        change = "slower" if drift > 0 else "faster"
        loud.append(f"fixed work became {100 * abs(drift):.1f} % {change} (p = {p:.2g})")
    return loud


def _figures(noise: Noise) -> str:
    figures = []
    if noise.sentinel_p99 is not None:
        figures.append(f"fixed work p99 / median {noise.sentinel_p99:.3f}")
    if noise.drift is not None:
        figures.append(f"drift {100 * noise.drift:+.1f} % (p = {noise.drift_p:.2g})")
    figures += [
        f"{name} {100 * share:.1f} % at most"
        for name, share in (("steal", noise.steal), ("foreign cpu", noise.foreign))
        if share is not None
    ]
    return ", ".join([*figures, f"{noise.disturbed} of {noise.launches} launches disturbed"])


def _states(noise: Noise) -> Iterable[Finding]:
    if NEAR not in noise.states and FAR not in noise.states:
        return
    seen = ", ".join(
        f"{name} in {launches} launches ({format_quantity(handover, 's')})"
        for name, (launches, handover) in noise.states.items()
    )
    yield Finding(
        id=f"{rule.name}:states",
        rule=rule.name,
        claim=f"The machine changed between states that the hand-over of a cache line shows: {seen}. Figures that "
        "they explain are given for each state.",
        severity="fact",
        status="observed",
        evidence=(),
        statistic=seen,
        threshold=f"a gap of 1.5 between hand-over times; {UNSETTLED}: changed during the launch",
        rivals=("the hypervisor moves virtual cores", "the kernel's frequency governor"),
    )


rule = Rule(
    "machine_noise",
    "Was the machine quiet?",
    f"p99 / median > {_TAIL:.2f}, steal > {100 * _STEAL:.0f} %, foreign cpu > {100 * Bracket.FOREIGN:.0f} %, "
    f"drift > {100 * _DRIFT:.0f} % with p < {_DRIFT_P}",
    _assess,
)
