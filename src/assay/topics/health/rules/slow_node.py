"""A node that is slower than similar nodes: one finding for each node, whatever figures show it."""

from collections.abc import Iterable, Sequence

import numpy as np

from assay.analyse.evidence import Evidence, Rule, more, numbers
from assay.model.result import Estimate, Finding
from assay.model.text import Text, cli, filled, text
from assay.model.units import format_quantity
from assay.topics.health.slowness import (
    DEVIATIONS,
    ERROR,
    FEWEST_LAUNCHES,
    FEWEST_NODES,
    MARGIN,
    Slowness,
    crowds,
    slow,
)

#: Most figures of a node that are listed.
_SHOWN = 12


def _assess(evidence: Evidence) -> Iterable[Finding]:
    hosts = evidence.run.plan.hosts
    figures = crowds(evidence.measured)
    if len(hosts) < FEWEST_NODES:
        yield rule.not_assessed(
            text(
                "{count} node: a usual value needs at least {fewest}|"
                "{count} nodes: a usual value needs at least {fewest}",
                count=len(hosts),
                fewest=FEWEST_NODES,
            )
        )
    elif not figures:
        yield rule.not_assessed(
            text("No figure of a node alone was measured on {fewest} nodes", fewest=FEWEST_NODES),
            cli("run", "quick"),
        )
    elif evidence.run.plan.launches < FEWEST_LAUNCHES:
        yield rule.not_assessed(
            text("One launch of each case does not show the error"), more(evidence, FEWEST_LAUNCHES)
        )
    for host, found in slow(figures).items():
        yield _finding(evidence, host, found, len(figures))


def _finding(evidence: Evidence, host: str, found: Sequence[Slowness], figures: int) -> Finding:
    clearest = found[0]
    single = [each.crowds[0].estimates[host].id for each in found if len(each.crowds) == 1]
    ids = single or [each.estimates[host].id for each in clearest.crowds if host in each.estimates]
    factor = clearest.factor
    return rule.finding(
        host,
        claim=_one(evidence, host, clearest, len(single), figures) if single else _many(host, clearest),
        severity="problem",
        evidence=tuple(ids[:_SHOWN]),
        numbers=numbers(factor, clearest.border),
        statistic=text(
            "time / median time of the nodes {factor} ({low} to {high})",
            factor=f"{factor.value:.3f}",
            low=f"{factor.lo:.3f}",
            high=f"{factor.hi:.3f}",
        ),
        rivals=(
            text("another program on that node"),
            text("a missing memory module"),
            text("a lower clock"),
        ),
        next=text("measure it alone: `{command}`", command=cli("run", evidence.study(), "--hosts", host)),
    )


def _one(evidence: Evidence, host: str, found: Slowness, count: int, figures: int) -> Text:
    """The claim on the figure that shows it best."""
    estimates = found.crowds[0].estimates
    estimate = estimates[host]
    usual = float(np.median([each.median or 0.0 for each in estimates.values()]))
    own = estimate.median or 0.0
    template = (
        text(
            "{host} is slower than similar nodes in {count} of {figures} figures. Clearest: {what} reaches {own}, "
            "on similar nodes {usual} ({share} % less)."
        )
        if estimate.better == "higher"
        else text(
            "{host} is slower than similar nodes in {count} of {figures} figures. Clearest: {what} takes {own}, "
            "on similar nodes {usual} ({share} % more)."
        )
    )
    return filled(
        template,
        {
            "host": host,
            "count": count,
            "figures": figures,
            "what": _what(evidence, estimate),
            "own": format_quantity(own, estimate.unit),
            "usual": format_quantity(usual, estimate.unit),
            "share": f"{100 * abs(own / usual - 1):.0f}",
        },
    )


def _many(host: str, found: Slowness) -> Text:
    """The claim on the median of several figures, each of which alone does not show it."""
    return text(
        "{host} is slower than similar nodes: in the median of {count} figures its time is {share} % longer.",
        host=host,
        count=len(found.crowds),
        share=f"{100 * (found.factor.value - 1):.1f}",
    )


def _what(evidence: Evidence, estimate: Estimate) -> str:
    return text("{case} ({kernel})", case=evidence.run.plan.names[estimate.case], kernel=estimate.kernel)


rule = Rule(
    "slow_node",
    text("Is a node slower than similar nodes?"),
    text(
        "time / median time of the nodes > {ratio} and beyond {deviations} median absolute deviations of the "
        "nodes, with an error of {error} % over all nodes and figures",
        ratio=f"{1 + MARGIN:.2f}",
        deviations=DEVIATIONS,
        error=f"{100 * ERROR:.0f}",
    ),
    _assess,
)
