"""The clock under load compared with the allowed one: governor, power limit, or turbo."""

from collections.abc import Iterable

from assay.analyse.bounds import CLOCK_SHARE
from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.experiments import retest, retest_single
from assay.analyse.peak import nominal
from assay.model import places
from assay.model.machine import Machine
from assay.model.result import Estimate, Finding
from assay.model.text import Rooted, cli, joined, text
from assay.model.units import format_quantity

_SHARE = 0.95
_TURBO = 1.01
_PERFORMANCE = Rooted("sudo cpupower frequency-set --governor performance")


def _assess(evidence: Evidence) -> Iterable[Finding]:
    clocks = evidence.clocks()
    yield from _refused(evidence)
    if not clocks:
        yield rule.not_assessed(text("The clock under load was not measured"), cli("run", "flops"))
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
            text("No fact gives the allowed clock of the cores: firmware or hypervisor decides it")
        )


def _refused(evidence: Evidence) -> Iterable[Finding]:
    """Yield one finding for all figures that cannot be clocks."""
    bounds = evidence.bounds
    refused = [each for each in evidence.having("clock", "loaded-clock") if bounds.is_refused(each)]
    if not refused:
        return
    slow = sorted(each.median or 0.0 for each in refused)
    low, high = (format_quantity(each, "Hz") for each in (slow[0], slow[-1]))
    figures = low if low == high else text("{low} to {high}", low=low, high=high)
    share = slow[0] / bounds.clock
    yield rule.finding(
        "refused",
        claim=text(
            "{count} measured clock of {figures} is not the clock of a core: it is below half of {typical}, the "
            "typical clock of the run. The cores were interrupted. No limit uses it ({case}).|{count} measured "
            "clocks of {figures} are not clocks of a core: they are below half of {typical}, the typical clock "
            "of the run. The cores were interrupted. No limit uses them ({case} and others).",
            count=len(refused),
            figures=figures,
            typical=format_quantity(bounds.clock, "Hz"),
            case=refused[0].case,
        ),
        evidence=tuple(each.id for each in refused),
        numbers=numbers(share, CLOCK_SHARE),
        statistic=text("clock / typical clock of the run {ratio}", ratio=f"{share:.2g}"),
        threshold=f"< {CLOCK_SHARE}",
        rivals=(text("other programs"), text("the hypervisor")),
        next=cli("run", evidence.study()),
    )


def _allowed(machine: Machine, estimate: Estimate) -> tuple[float, str] | None:
    """Return the clock that cores should keep: one core the highest clock, several the nominal one."""
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
    claim = text(
        "Under load {label} run at {clock}, {share} % of {allowed}.",
        label=places.cores(estimate.placement.label),
        clock=format_quantity(estimate.median or 0, "Hz"),
        share=f"{100 * (estimate.median or 0) / allowed[0]:.0f}",
        allowed=allowed[1],
    )
    decided = estimate.confidence is not None
    return rule.finding(
        estimate.id,
        claim=joined(" ", (claim, set_to)),
        severity="problem",
        status="observed" if decided else "candidate",
        evidence=(estimate.id,),
        numbers=numbers(estimate.value, _SHARE * allowed[0], estimate.unit),
        statistic=text(
            "upper bound (95 %) / allowed {ratio}" if decided else "largest of the launches / allowed {ratio}",
            ratio=f"{(estimate.hi or 0) / allowed[0]:.3g}",
        ),
        rivals=(
            text("a power or thermal limit"),
            text("the hypervisor"),
            text("the governor"),
            text("other programs on these cores"),
        ),
        experiment=None if decided else retest(retest_single(estimate, _SHARE * allowed[0])),
        next=text(
            "stop the governor from lowering the clock, then measure again: `{command}`",
            command=joined(" && ", (_PERFORMANCE, cli("run", evidence.study()))),
        ),
    )


def _turbo(estimate: Estimate, promised: tuple[float, str]) -> Finding:
    share = (estimate.median or 0) / promised[0]
    return rule.finding(
        f"turbo:{estimate.id}",
        claim=text(
            "Turbo: {label} run at {clock}, {share} % of {promised}. Efficiencies relative to the "
            "nominal clock can exceed 100 %.",
            label=places.cores(estimate.placement.label),
            clock=format_quantity(estimate.median or 0, "Hz"),
            share=f"{100 * share:.0f}",
            promised=promised[1],
        ),
        evidence=(estimate.id,),
        numbers=numbers(estimate.value, _TURBO * promised[0], estimate.unit),
        statistic=text("clock / nominal {ratio}", ratio=f"{share:.3g}"),
        threshold=f"> {_TURBO}",
    )


rule = Rule(
    "clock",
    text("Do the cores keep their allowed clock under load?"),
    text("loaded / allowed < {share} (one core: the highest clock, several: the nominal one)", share=f"{_SHARE}"),
    _assess,
)
