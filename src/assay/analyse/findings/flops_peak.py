"""Floating-point peak: how much of what units and clock allow is reached."""

from collections.abc import Iterable

from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence, Rule
from assay.analyse.peak import nominal, rate
from assay.model.result import Estimate, Finding
from assay.model.units import format_quantity

_PERCENT = 100
_PRECISIONS = ("fp64", "fp32")


def _assess(evidence: Evidence) -> Iterable[Finding]:
    rates = [each for each in evidence.of_unit("flops", "flop/s") if each.params.get("mix") == "fma"]
    if not rates:
        yield rule.not_assessed("fused multiply-adds were not measured", "assay run flops")
        return
    for precision in _PRECISIONS:
        of_kind = [each for each in rates if each.params.get("format") == precision]
        best = max(of_kind, key=lambda each: each.median or 0.0, default=None)
        if best is not None:
            yield _finding(evidence, best, precision)


def _finding(evidence: Evidence, best: Estimate, precision: str) -> Finding:
    machine = machine_of(best, evidence.run.machines)
    per_cycle = rate(best, machine) if machine else None
    against = []
    if machine and per_cycle:
        clocks = (nominal(machine), evidence.bounds().loaded_clock(best))
        against = [(per_cycle.per_cycle * clock[0], clock[1]) for clock in clocks if clock]
    shares = [f"{_PERCENT * (best.median or 0) / value:.0f} % at {clock}" for value, clock in against]
    of = f": {', '.join(shares)}, of {per_cycle.derivation}" if shares and per_cycle else ", which no fact bounds"
    beyond = any((best.lo or 0) > value for value, _ in against[:1]) and machine and nominal(machine)
    turbo = ". Above 100 % of the nominal clock is turbo" if beyond else ""
    return Finding(
        id=f"{rule.name}:{precision}",
        rule=rule.name,
        claim=f"The best {precision} rate is {format_quantity(best.median or 0, best.unit)} on "
        f"{best.placement.label} (width {best.params.get('width')}){of}{turbo}.",
        severity="fact",
        status="observed",
        evidence=(best.id,),
        statistic="; ".join(shares) or "none",
        threshold=rule.threshold,
    )


rule = Rule("flops_peak", "What share of the floating-point peak is reached?", "none: a fact", _assess)
