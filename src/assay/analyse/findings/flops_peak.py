"""Floating-point peak: how much of what units and clock allow is reached."""

from collections.abc import Iterable

from assay.analyse.bounds import LOADED_CLOCK
from assay.analyse.comparisons.effects import compare
from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence, Rule
from assay.analyse.peak import nominal, rate
from assay.model.result import Comparison, Estimate, Finding
from assay.model.text import Text, joined, text
from assay.model.units import format_quantity

_PERCENT = 100
_PRECISIONS = ("fp64", "fp32")


def _assess(evidence: Evidence) -> Iterable[Finding]:
    rates = [each for each in evidence.of_unit("flops", "flop/s") if each.params.get("mix") == "fma"]
    if not rates:
        yield rule.not_assessed(text("Fused multiply-adds were not measured"), "assay run flops")
        return
    for precision in _PRECISIONS:
        of_kind = [each for each in rates if each.params.get("format") == precision]
        best = max(of_kind, key=lambda each: each.median or 0.0, default=None)
        if best is not None:
            yield _finding(evidence, best, precision)


def _finding(evidence: Evidence, best: Estimate, precision: str) -> Finding:
    machine = machine_of(best, evidence.run.machines)
    per_cycle = rate(best, machine) if machine else None
    promised = nominal(machine) if machine and per_cycle else None
    shares: list[str] = []
    turbo = ""
    if per_cycle and promised:
        peak = per_cycle.per_cycle * promised[0]
        share = f"{_PERCENT * (best.median or 0) / peak:.0f}"
        shares.append(text("{share} % at {clock}", share=share, clock=promised[1]))
        turbo = text("Above 100 % of the nominal clock is turbo.") if (best.lo or 0) > peak else ""
    beside = _clock_beside(evidence, best) if per_cycle else None
    if per_cycle and beside:
        shares.append(_loaded(*beside, per_cycle.per_cycle))
    told = _told(best, precision, joined(", ", shares), per_cycle.derivation if per_cycle else "")
    return Finding(
        id=f"{rule.name}:{precision}",
        rule=rule.name,
        claim=joined(" ", (told, turbo)),
        severity="fact",
        status="observed",
        evidence=(best.id, *([beside[0].id] if beside else [])),
        statistic=joined("; ", shares) or text("none"),
        threshold=rule.threshold,
    )


def _told(best: Estimate, precision: str, shares: str, derivation: str) -> Text:
    rate, width = format_quantity(best.median or 0, best.unit), str(best.params.get("width"))
    label = best.placement.label
    if not shares:
        return text(
            "The best {precision} rate is {rate} on {label} (width {width}), which no fact bounds.",
            precision=precision,
            rate=rate,
            label=label,
            width=width,
        )
    return text(
        "The best {precision} rate is {rate} on {label} (width {width}): {shares}, of {peak}.",
        precision=precision,
        rate=rate,
        label=label,
        width=width,
        shares=shares,
        peak=derivation,
    )


def _clock_beside(evidence: Evidence, best: Estimate) -> tuple[Estimate, Comparison] | None:
    """The clock that the same launches measured beside a rate, and the rate over it: flops a cycle."""
    of_case = {each.estimate.id: each for each in evidence.measured if each.estimate.case == best.case}
    for each in of_case.values():
        clock = each.estimate
        alike = (clock.placement.hosts, clock.state) == (best.placement.hosts, best.state)
        if clock.kernel == LOADED_CLOCK and clock.median and alike:
            comparison = compare(of_case[best.id], each)
            return (clock, comparison) if comparison else None
    return None


def _loaded(clock: Estimate, comparison: Comparison, per_cycle: float) -> str:
    """The share of the peak at the clock under load; no share where all of its interval is impossible."""
    at = text("{clock} under load", clock=format_quantity(clock.median or 0, "Hz"))
    share, low, high = (_PERCENT * each / per_cycle for each in (comparison.ratio, comparison.lo, comparison.hi))
    if round(low) > _PERCENT:
        return text("at {clock} the share is not known: clock and rate were not measured in one state", clock=at)
    launches = text("{count} launch|{count} launches", count=comparison.blocks)
    basis = (
        text(
            "{confidence} % interval of {blocks}",
            confidence=f"{_PERCENT * comparison.confidence:.0f}",
            blocks=launches,
        )
        if comparison.confidence
        else text("range of {launches}", launches=launches)
    )
    return text(
        "{share} % at {clock} ({low} to {high} %, {basis})",
        share=f"{share:.0f}",
        clock=at,
        low=f"{low:.0f}",
        high=f"{high:.0f}",
        basis=basis,
    )


rule = Rule("flops_peak", text("What share of the floating-point peak is reached?"), text("none: a fact"), _assess)
