"""The clock under load against the one that is allowed: governor, power limit, or turbo."""

from collections.abc import Iterable

from assay.analyse.bounds import CLOCK_SHARE
from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import alone, anew
from assay.analyse.peak import nominal
from assay.model.machine import Machine
from assay.model.result import Estimate, Finding
from assay.model.units import format_quantity

_SHARE = 0.95
_TURBO = 1.01


def _assess(evidence: Evidence) -> Iterable[Finding]:
    clocks = evidence.clocks()
    yield from _refused(evidence)
    if not clocks:
        yield rule.not_assessed("the clock under load was not measured", "assay run flops")
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
            "no facts say at which clock the cores may run; they are left to firmware or hypervisor"
        )


def _refused(evidence: Evidence) -> Iterable[Finding]:
    """One finding for all clocks that cannot be any."""
    bounds = evidence.bounds()
    refused = [each for each in evidence.of_unit("flops", "Hz") if not bounds.is_clock(each)]
    if not refused:
        return
    slow = sorted(each.median or 0.0 for each in refused)
    figures = " to ".join(dict.fromkeys(format_quantity(each, "Hz") for each in (slow[0], slow[-1])))
    typical = format_quantity(bounds.clock, "Hz")
    yield Finding(
        id=f"{rule.name}:refused",
        rule=rule.name,
        claim=f"{len(refused)} measured clock{'s' if len(refused) > 1 else ''} of {figures} cannot be any at "
        f"which a core runs: below half of {typical}, the run's own. The cores did something else in between; no "
        f"limit rests on them ({refused[0].case}{' and others' if len(refused) > 1 else ''}).",
        severity="fact",
        status="observed",
        evidence=tuple(each.id for each in refused),
        statistic=f"clock / the run's own {slow[0] / bounds.clock:.2g}",
        threshold=f"< {CLOCK_SHARE}",
        rivals=("other programs", "the hypervisor"),
        next=f"assay run {evidence.study()}",
    )


def _allowed(machine: Machine, estimate: Estimate) -> tuple[float, str] | None:
    """What the cores should keep: a single one the highest clock, several the nominal one."""
    highest = machine.fact("processor", "highest frequency")
    boost = machine.fact("frequency", "boost").value is not False
    alone = len(estimate.placement.cpus[0]) == 1
    if alone and boost and isinstance(highest.value, int | float):
        return float(highest.value), f"{format_quantity(float(highest.value), 'Hz')} highest ({highest.source})"
    return nominal(machine)


def _slow(estimate: Estimate, allowed: tuple[float, str], machine: Machine, evidence: Evidence) -> Finding:
    governor = machine.fact("frequency", "governor")
    set_to = f" The governor is {governor.value}." if governor.known else ""
    decided = estimate.confidence is not None
    return Finding(
        id=f"{rule.name}:{estimate.id}",
        rule=rule.name,
        claim=f"Under load the cores of {estimate.placement.label} run at "
        f"{format_quantity(estimate.median or 0, 'Hz')}, {100 * (estimate.median or 0) / allowed[0]:.0f} % of "
        f"{allowed[1]}.{set_to}",
        severity="problem",
        status="observed" if decided else "candidate",
        evidence=(estimate.id,),
        statistic=f"{'upper bound (95 %)' if decided else 'largest of the launches'} / allowed "
        f"{(estimate.hi or 0) / allowed[0]:.3g}",
        threshold=rule.threshold,
        rivals=("a power or thermal limit", "the hypervisor", "the governor", "other programs on these cores"),
        experiment=None if decided else anew(alone(estimate, _SHARE * allowed[0], "below")),
        next="keep the governor from lowering it, then measure again: `sudo cpupower frequency-set --governor "
        f"performance && assay run {evidence.study()}`",
    )


def _turbo(estimate: Estimate, promised: tuple[float, str]) -> Finding:
    share = (estimate.median or 0) / promised[0]
    return Finding(
        id=f"{rule.name}:turbo:{estimate.id}",
        rule=rule.name,
        claim=f"Turbo: the cores of {estimate.placement.label} run at "
        f"{format_quantity(estimate.median or 0, 'Hz')}, {100 * share:.0f} % of "
        f"{promised[1]}. Efficiencies against the nominal clock may exceed 100 %.",
        severity="fact",
        status="observed",
        evidence=(estimate.id,),
        statistic=f"clock / nominal {share:.3g}",
        threshold=f"> {_TURBO}",
    )


rule = Rule(
    "clock",
    "Do the cores keep the clock that they are allowed under load?",
    f"loaded / allowed < {_SHARE} (one core: the highest clock, several: the nominal one)",
    _assess,
)
