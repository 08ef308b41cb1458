"""How quiet the machine was while it was measured: states of the cores, drift, other work."""

from datetime import datetime

from assay.model.result import Analysis, Noise
from assay.model.run import LaunchRecords, Run
from assay.model.text import text
from assay.report import words
from assay.report.charts.timeline import Span, timeline
from assay.report.section import Figure, Section, Table

order = 90
claims: frozenset[str] = frozenset()

_NANO = 1e9


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where nothing was launched."""
    if not run.launches:
        return None
    drawn = _figure(run)
    return Section(
        id="noise",
        title=text("How quiet the machine was"),
        meaning=(_meaning(analysis.noise),),
        figures=(drawn,) if drawn else (),
        tables=(table(analysis.noise),),
        rules=frozenset({"machine_noise"}),
    )


def tables(_run: Run, _analysis: Analysis) -> tuple[Table, ...]:
    """None: a terminal ends with a line of it."""
    return ()


def table(noise: Noise) -> Table:
    """The measures of noise, each with what it means."""
    rows = [
        ("Slow tail of fixed work", _tail(noise), "99th percentile over median of a small fixed kernel"),
        ("Drift over the run", _drift(noise), "Theil-Sen slope times duration of that kernel, with Kendall's p"),
        ("Taken by a hypervisor", _share(noise.steal), "largest share of cpu time during a launch"),
        ("Used by other processes", _share(noise.foreign), "largest share of cpu time during a launch"),
        ("Resolution", _share(noise.resolution), "95 % of pairs of launches of one case differ by less"),
        (
            "Disturbed launches",
            f"{noise.disturbed} of {noise.launches}",
            "repeated while the budget allowed; all kept",
        ),
    ]
    for state, (launches, handover) in noise.states.items():
        label = f"State “{state}”" if len(noise.states) > 1 else "Hand-over between the probe's cores"
        meaning = f"median, one way, in {words.count(launches, 'launch', 'launches')}"
        rows.append((label, words.quantity(handover, "s"), meaning))
    return Table(
        "Noise of the machine during the run", ("Measure", "Value", "Meaning"), tuple(rows), frozenset({1})
    )


def _tail(noise: Noise) -> str:
    return "not measured" if noise.sentinel_p99 is None else f"{noise.sentinel_p99:.4g}"


def _drift(noise: Noise) -> str:
    if noise.drift is None:
        return "not assessed"
    p = "" if noise.drift_p is None else f" (p = {noise.drift_p:.2g})"
    return f"{100 * noise.drift:+.1f} %{p}"


def _share(value: float | None) -> str:
    return "not known" if value is None else words.percent(value)


def _meaning(noise: Noise) -> str:
    text = (
        "Every launch stands between two short probes of the time a cache line takes from one core to another, "
        "and the counters of the operating system are read around it."
    )
    if len(noise.states) > 1:
        states = words.listed(
            f"“{name}” ({words.quantity(value, 's')}, {words.count(launches, 'launch', 'launches')})"
            for name, (launches, value) in noise.states.items()
        )
        text += (
            f" The probe found the machine in {len(noise.states)} states: {states}. Figures that near and "
            "far plainly explain are reported for each."
        )
    elif noise.states:
        text += " The probe found one state throughout."
    quiet = (
        "no launch was disturbed"
        if not noise.disturbed
        else (f"{noise.disturbed} of {words.count(noise.launches, 'launch', 'launches')} were disturbed")
    )
    return f"{text} {words.sentence(quiet)}"


def _figure(run: Run) -> Figure | None:
    began = min(_time(records) for records in run.launches)
    spans = [span for records in run.launches if (span := _span(records, began))]
    if not spans:
        return None
    values = [value for span in spans for value in (span.before, span.after)]
    result = f"{len(spans)} launches; hand-over between {min(values):.3g} and {max(values):.3g} ns"
    caption = (
        "Time of one hand-over between the probe's two cores just before and just after each launch, joined by a "
        "line. A line that spans a factor of 1.5 or more means that the cores moved during the launch."
    )
    return Figure("figure-states", caption, result, timeline(spans))


def _time(records: LaunchRecords) -> float:
    return datetime.fromisoformat(records.launch.started).timestamp()


def _span(records: LaunchRecords, began: float) -> Span | None:
    launch, bracket = records.launch, records.launch.bracket
    if bracket.before is None or bracket.after is None:
        return None
    start = _time(records) - began
    return Span(
        start=start,
        end=start + bracket.elapsed_s,
        before=_NANO * bracket.before.median_s,
        after=_NANO * bracket.after.median_s,
        state="disturbed" if bracket.disturbance else "quiet",
        launch=launch.id + (f", attempt {launch.attempt + 1}" if launch.attempt else ""),
        note=bracket.disturbance or "quiet",
    )
