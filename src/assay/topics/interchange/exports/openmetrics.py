"""OpenMetrics text 1.0, which Prometheus reads (the textfile collector of its node exporter, a push gateway)."""

import re
from collections.abc import Callable, Iterator, Mapping

from assay.model.answers import Export
from assay.model.result import Analysis, Estimate
from assay.model.run import Run

_FAMILIES: tuple[tuple[str, str, Callable[[Estimate], float | None]], ...] = (
    ("assay_figure", "Median over launches, in the SI base unit that the label unit names.", lambda e: e.median),
    ("assay_figure_lower", "Lower end of the figure; the label basis says of what.", lambda e: e.lo),
    ("assay_figure_upper", "Upper end of the figure; the label basis says of what.", lambda e: e.hi),
    (
        "assay_figure_limit",
        "Limit that the figure is compared with.",
        lambda e: e.limit.value if e.limit else None,
    ),
    ("assay_figure_launches", "Launches that the figure rests on.", lambda e: e.launches if e.value else None),
)


def figures(run: Run, analysis: Analysis) -> Iterator[str]:
    """Yield a gauge for each figure and each of its ends, with labels; findings by severity."""
    yield "# TYPE assay_run info\n# HELP assay_run The run that the figures are of.\n"
    about = {"id": run.info.id, "study": run.info.study, "started": run.info.started, "version": run.info.assay}
    yield f"assay_run_info{_labels(about)} 1\n"
    for family, words, value in _FAMILIES:
        found = [
            (estimate, number)
            for estimate in (*analysis.estimates, *analysis.members)
            if (number := value(estimate)) is not None
        ]
        yield f"# TYPE {family} gauge\n# HELP {family} {words}\n" if found else ""
        yield from (f"{family}{_labels(_about(run, estimate))} {number!r}\n" for estimate, number in found)
    yield "# TYPE assay_findings gauge\n# HELP assay_findings Findings by severity and status.\n"
    kinds = [(each.severity, each.status) for each in analysis.findings]
    for severity, status in sorted(set(kinds)):
        labels = {"run": run.info.id, "severity": severity, "status": status}
        yield f"assay_findings{_labels(labels)} {kinds.count((severity, status))}\n"
    yield "# EOF\n"


def _about(run: Run, e: Estimate) -> dict[str, str]:
    """Return the labels of a figure; its id is unique in the run."""
    fixed = {
        "run": run.info.id,
        "figure": e.id,
        "benchmark": e.benchmark,
        "kernel": e.kernel,
        "metric": e.metric,
        "unit": e.unit,
        "basis": e.basis or "",
        "placement": e.placement.label,
        "memory": e.placement.memory,
        "hosts": ",".join(e.placement.hosts),
        "state": e.state or "",
    }
    varied = {f"param_{name}": str(value) for name, value in e.params.items()}
    return fixed | varied | {f"factor_{name}": value for name, value in e.factors.items()}


def _labels(values: Mapping[str, str]) -> str:
    labels = (
        f'{re.sub("[^A-Za-z0-9_]", "_", name)}="{_escaped(value)}"' for name, value in values.items() if value
    )
    return f"{{{','.join(labels)}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


export = Export("gauges for Prometheus and Grafana", figures)
