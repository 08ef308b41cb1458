"""A node that is slower than similar nodes."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.model.grouping import grouped
from assay.model.result import Finding
from assay.model.text import cli, text
from assay.model.units import format_quantity

_FEWEST = 4
_DEVIATIONS = 6
_LOW = 0.03
_TWICE = 2


def _assess(evidence: Evidence) -> Iterable[Finding]:
    hosts = evidence.run.plan.hosts
    if len(hosts) < _FEWEST:
        yield rule.not_assessed(
            text(
                "{count} node: a usual value needs at least {fewest}|"
                "{count} nodes: a usual value needs at least {fewest}",
                count=len(hosts),
                fewest=_FEWEST,
            )
        )
        return
    triads = [
        each
        for each in evidence.measured
        if (each.estimate.kernel, each.estimate.metric) == ("triad", "bandwidth")
        and len(each.estimate.placement.hosts) == 1
    ]
    for case, measured in grouped(triads, lambda each: each.estimate.case).items():
        on = grouped(measured, lambda each: each.estimate.placement.hosts[0])
        rates = {
            host: {launch.block: launch.value for each in found for launch in each.launches}
            for host, found in on.items()
        }
        for host, low in _slow(rates).items():
            usual = float(np.median([rate for other in rates.values() for rate in other.values()]))
            own = float(np.median(list(rates[host].values())))
            yield rule.finding(
                f"{host}:{case}",
                claim=text(
                    "{host} reaches {rate} in triad, similar nodes reach {usual} ({share} % less).",
                    host=host,
                    rate=format_quantity(own, "B/s"),
                    usual=format_quantity(usual, "B/s"),
                    share=f"{100 * (1 - own / usual):.0f}",
                ),
                severity="problem",
                evidence=(on[host][-1].estimate.id,),
                numbers=numbers(own, (1 - _LOW) * usual, "B/s"),
                statistic=text("low in {low} of {launches} launches", low=low, launches=len(rates[host])),
                rivals=(
                    text("another program on that node"),
                    text("a missing memory module"),
                    text("a lower clock"),
                ),
                next=text("measure it alone: `{command}`", command=cli("run", evidence.study(), "--hosts", host)),
            )


def _slow(rates: Mapping[str, Mapping[int, float]]) -> dict[str, int]:
    """Host -> launches in which it was low, for hosts that were low twice."""
    low = Counter[str]()
    for block in sorted({block for each in rates.values() for block in each}):
        present = {host: each[block] for host, each in rates.items() if block in each}
        if len(present) < _FEWEST:
            continue
        values = np.array(list(present.values()))
        usual = float(np.median(values))
        border = min(usual - _DEVIATIONS * float(np.median(np.abs(values - usual))), (1 - _LOW) * usual)
        low.update(host for host, rate in present.items() if rate < border)
    return {host: count for host, count in low.items() if count >= _TWICE}


rule = Rule(
    "slow_node",
    text("Is a node slower than similar nodes?"),
    text(
        "below the median by {deviations} median absolute deviations and {low} %, in {launches} launches",
        deviations=_DEVIATIONS,
        low=f"{100 * _LOW:.0f}",
        launches=_TWICE,
    ),
    _assess,
)
