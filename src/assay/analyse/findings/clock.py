"""The clock under load against the one that is allowed: governor, power limit, or turbo."""

from collections.abc import Iterable

from assay.analyse.bounds import CLOCK_SHARE
from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import alone, anew
from assay.analyse.peak import nominal
from assay.model.machine import Machine
from assay.model.result import Estimate, Finding
from assay.model.text import joined, text
from assay.model.units import format_quantity

_SHARE = 0.95
_TURBO = 1.01


def _assess(evidence: Evidence) -> Iterable[Finding]:
    clocks = evidence.clocks()
    yield from _refused(evidence)
    if not clocks:
        yield rule.not_assessed(text("The clock under load was not measured"), "assay run flops")
        return
    judged = 0
    for estimate in clocks:
        machine = machine_of(estimate, evidence.run.machines)
        allowed = _allowed(machine, estimate) if machine else None
        if machine is None or allowed is None:
            continue
        judged += 1
        if (estimate.hi or estimate.median or 0.0) < _SHARE * allowed[0]:
            yield _slow(estimate, allowed, machine, evidence)
        promised = nominal(machine)
        if promised and (estimate.lo or 0.0) > _TURBO * promised[0]:
            yield _turbo(estimate, promised)
    if not judged:
        yield rule.not_assessed(
            text("No facts say at which clock the cores may run; they are left to firmware or hypervisor")
        )


def _refused(evidence: Evidence) -> Iterable[Finding]:
    """One finding for all clocks that cannot be any."""
    bounds = evidence.bounds
    refused = [each for each in evidence.of_unit("flops", "Hz") if not bounds.is_clock(each)]
    if not refused:
        return
    slow = sorted(each.median or 0.0 for each in refused)
    ends = tuple(dict.fromkeys(format_quantity(each, "Hz") for each in (slow[0], slow[-1])))
    figures = ends[0] if len(ends) == 1 else text("{low} to {high}", low=ends[0], high=ends[1])
    yield Finding(
        id=f"{rule.name}:refused",
        rule=rule.name,
        claim=text(
            "{count} measured clock of {figures} cannot be any at which a core runs: below half of {typical}, the "
            "run's own. The cores did something else in between; no limit rests on them ({case}).|{count} "
            "measured clocks of {figures} cannot be any at which a core runs: below half of {typical}, the run's "
            "own. The cores did something else in between; no limit rests on them ({case} and others).",
            count=len(refused),
            figures=figures,
            typical=format_quantity(bounds.clock, "Hz"),
            case=refused[0].case,
        ),
        severity="fact",
        status="observed",
        evidence=tuple(each.id for each in refused),
        statistic=text("clock / the run's own {ratio}", ratio=f"{slow[0] / bounds.clock:.2g}"),
        threshold=f"< {CLOCK_SHARE}",
        rivals=(text("other programs"), text("the hypervisor")),
        next=f"assay run {evidence.study()}",
    )


def _allowed(machine: Machine, estimate: Estimate) -> tuple[float, str] | None:
    """What the cores should keep: a single one the highest clock, several the nominal one."""
    highest = machine.fact("processor", "highest frequency")
    boost = machine.fact("frequency", "boost").value is not False
    alone = len(estimate.placement.cpus[0]) == 1
    if alone and boost and isinstance(highest.value, int | float):
        clock = format_quantity(float(highest.value), "Hz")
        return float(highest.value), text("{clock} highest ({source})", clock=clock, source=highest.source)
    return nominal(machine)


def _slow(estimate: Estimate, allowed: tuple[float, str], machine: Machine, evidence: Evidence) -> Finding:
    governor = machine.fact("frequency", "governor")
    set_to = text("The governor is {governor}.", governor=str(governor.value)) if governor.known else ""
    told = text(
        "Under load the cores of {label} run at {clock}, {share} % of {allowed}.",
        label=estimate.placement.label,
        clock=format_quantity(estimate.median or 0, "Hz"),
        share=f"{100 * (estimate.median or 0) / allowed[0]:.0f}",
        allowed=allowed[1],
    )
    decided = estimate.confidence is not None
    return Finding(
        id=f"{rule.name}:{estimate.id}",
        rule=rule.name,
        claim=joined(" ", (told, set_to)),
        severity="problem",
        status="observed" if decided else "candidate",
        evidence=(estimate.id,),
        statistic=text(
            "upper bound (95 %) / allowed {ratio}" if decided else "largest of the launches / allowed {ratio}",
            ratio=f"{(estimate.hi or 0) / allowed[0]:.3g}",
        ),
        threshold=rule.threshold,
        rivals=(
            text("a power or thermal limit"),
            text("the hypervisor"),
            text("the governor"),
            text("other programs on these cores"),
        ),
        experiment=None if decided else anew(alone(estimate, _SHARE * allowed[0], "below")),
        next=text(
            "keep the governor from lowering it, then measure again: `{command}`",
            command=f"sudo cpupower frequency-set --governor performance && assay run {evidence.study()}",
        ),
    )


def _turbo(estimate: Estimate, promised: tuple[float, str]) -> Finding:
    share = (estimate.median or 0) / promised[0]
    return Finding(
        id=f"{rule.name}:turbo:{estimate.id}",
        rule=rule.name,
        claim=text(
            "Turbo: the cores of {label} run at {clock}, {share} % of {promised}. Efficiencies against the "
            "nominal clock may exceed 100 %.",
            label=estimate.placement.label,
            clock=format_quantity(estimate.median or 0, "Hz"),
            share=f"{100 * share:.0f}",
            promised=promised[1],
        ),
        severity="fact",
        status="observed",
        evidence=(estimate.id,),
        statistic=text("clock / nominal {ratio}", ratio=f"{share:.3g}"),
        threshold=f"> {_TURBO}",
    )


rule = Rule(
    "clock",
    text("Do the cores keep the clock that they are allowed under load?"),
    text("loaded / allowed < {share} (one core: the highest clock, several: the nominal one)", share=f"{_SHARE}"),
    _assess,
)
