"""The share of the floating-point peak that is reached."""

from collections.abc import Iterable

from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.peak import nominal, rate
from assay.model import places
from assay.model.grouping import grouped
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Finding
from assay.model.text import Text, cli, joined, text
from assay.model.units import format_quantity

_PERCENT = 100
_PRECISIONS = ("fp64", "fp32")


def _assess(evidence: Evidence) -> Iterable[Finding]:
    rates = [each for each in evidence.having("flop-rate") if each.params.get("mix") == "fma"]
    if not rates:
        yield rule.not_assessed(text("Fused multiply-adds were not measured"), cli("run", "flops"))
    of_kind = grouped(rates, lambda each: str(each.params.get("format")))
    for precision in filter(of_kind.__contains__, _PRECISIONS):
        yield _finding(evidence, max(of_kind[precision], key=lambda each: each.median or 0.0), precision)


def _finding(evidence: Evidence, best: Estimate, precision: str) -> Finding:
    machine = machine_of(best, evidence.run.machines)
    per_cycle = rate(best, machine, evidence.bounds) if machine else None
    promised = nominal(machine) if machine and per_cycle else None
    shares: list[str] = []
    turbo, peak = "", None
    if per_cycle and promised:
        peak = per_cycle.per_cycle * promised[0]
        share = f"{_PERCENT * (best.median or 0) / peak:.0f}"
        shares.append(text("{share} % at {clock}", share=share, clock=promised[1]))
        turbo = text("More than 100 % of the nominal clock means turbo.") if (best.lo or 0) > peak else ""
    clock = evidence.bounds.loaded_clock(best) if per_cycle else None
    if per_cycle and clock and best.value:
        shares.append(_loaded(best, best.value.over(per_cycle.per_cycle * clock[0]), clock[0]))
    claim = _claim(best, precision, joined(", ", shares), per_cycle.derivation if per_cycle else "")
    return rule.finding(
        precision,
        claim=joined(" ", (claim, turbo)),
        evidence=(best.id,),
        numbers=numbers(best.value, peak, best.unit),
        statistic=joined("; ", shares) or text("none"),
    )


def _claim(best: Estimate, precision: str, shares: str, derivation: str) -> Text:
    return text(
        "The best {precision} rate is {rate} on {label} (width {width}): {shares}, of {peak}."
        if shares
        else "The best {precision} rate is {rate} on {label} (width {width}); no fact gives a limit.",
        precision=precision,
        rate=format_quantity(best.median or 0, best.unit),
        label=places.cores(best.placement.label),
        width=str(best.params.get("width")),
        shares=shares,
        peak=derivation,
    )


def _loaded(best: Estimate, share: Quantity, clock: float) -> str:
    """State the share of the peak at the clock under load; unknown where its whole interval is impossible."""
    at = text("{clock} under load", clock=format_quantity(clock, "Hz"))
    if share.is_wide:
        return text("at {clock} the share is unknown: it differs too much from launch to launch", clock=at)
    if round(_PERCENT * share.lo) > _PERCENT:
        return text(
            "at {clock} the share is unknown: clock and rate were not measured in the same state", clock=at
        )
    value, low, high = (f"{_PERCENT * each:.0f}" for each in share)
    launches = text("{count} launch|{count} launches", count=best.launches)
    basis = text("range of {launches}", launches=launches)
    if share.confidence:
        sure = f"{_PERCENT * share.confidence:.0f}"
        basis = text("{confidence} % interval of {blocks}", confidence=sure, blocks=launches)
    return text(
        "{share} % at {clock} ({low} to {high} %, {basis})", share=value, clock=at, low=low, high=high, basis=basis
    )


rule = Rule("flops_peak", text("What share of the floating-point peak is reached?"), text("none: a fact"), _assess)
