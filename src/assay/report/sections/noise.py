"""How quiet the machine was while it was measured: states of the cores, drift, other work."""

from datetime import datetime

from assay.model.result import Analysis, Noise
from assay.model.run import LaunchRecords, Run
from assay.model.text import joined, text
from assay.report import words
from assay.report.charts.timeline import DISTURBED, QUIET, Span, timeline
from assay.report.section import Figure, Section, Table, headings
from assay.report.vocabulary import known

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
    rows: list[tuple[str, ...]] = [
        (
            text("Slow tail of fixed work"),
            _tail(noise),
            text("99th percentile over median of a small fixed kernel"),
        ),
        (
            text("Drift over the run"),
            _drift(noise),
            text("Theil-Sen slope times duration of that kernel, with Kendall's p"),
        ),
        (text("Taken by a hypervisor"), _share(noise.steal), text("largest share of cpu time during a launch")),
        (
            text("Used by other processes"),
            _share(noise.foreign),
            text("largest share of cpu time during a launch"),
        ),
        (
            text("Resolution"),
            _share(noise.resolution),
            text("95 % of pairs of launches of one case differ by less"),
        ),
        (
            text("Disturbed launches"),
            text("{made} of {planned}", made=noise.disturbed, planned=noise.launches),
            text("repeated while the budget allowed; all kept"),
        ),
    ]
    for state, (launches, handover) in noise.states.items():
        label = (
            text("State “{state}”", state=known(state))
            if len(noise.states) > 1
            else text("Hand-over between the probe's cores")
        )
        meaning = text("median, one way, in {launches}", launches=words.count(launches, "launch", "launches"))
        rows.append((label, words.quantity(handover, "s"), meaning))
    return Table(
        text("Noise of the machine during the run"),
        headings("Measure", "Value", "Meaning"),
        tuple(rows),
        frozenset({1}),
    )


def _tail(noise: Noise) -> str:
    return text("not measured") if noise.sentinel_p99 is None else f"{noise.sentinel_p99:.2f}"


def _drift(noise: Noise) -> str:
    if noise.drift is None:
        return text("not assessed")
    p = "" if noise.drift_p is None else f" (p = {noise.drift_p:.2g})"
    return f"{100 * noise.drift:+z.1f} %{p}"


def _share(value: float | None) -> str:
    return text("not known") if value is None else words.percent(value)


def _meaning(noise: Noise) -> str:
    told: list[str] = [
        text(
            "Every launch stands between two short probes of the time a cache line takes from one core to "
            "another, and the counters of the operating system are read around it."
        )
    ]
    if len(noise.states) > 1:
        states = words.listed(
            text(
                "“{state}” ({time}, {launches})",
                state=known(name),
                time=words.quantity(value, "s"),
                launches=words.count(launches, "launch", "launches"),
            )
            for name, (launches, value) in noise.states.items()
        )
        told.append(
            text(
                "The probe found the machine in {count} states: {states}. Figures that near and far plainly "
                "explain are reported for each.",
                count=len(noise.states),
                states=states,
            )
        )
    elif noise.states:
        told.append(text("The probe found one state throughout."))
    launches = words.count(noise.launches, "launch", "launches")
    told.append(
        text("{disturbed} of {launches} were disturbed.", disturbed=noise.disturbed, launches=launches)
        if noise.disturbed
        else text("No launch was disturbed.")
    )
    return joined(" ", told)


def _figure(run: Run) -> Figure | None:
    began = min(_time(records) for records in run.launches)
    spans = [span for records in run.launches if (span := _span(records, began))]
    if not spans:
        return None
    values = [value for span in spans for value in (span.before, span.after)]
    result = text(
        "{launches}; hand-over between {low} and {high}",
        launches=words.count(len(spans), "launch", "launches"),
        low=f"{min(values):.3g}",
        high=f"{max(values):.3g} ns",
    )
    caption = text(
        "Time of one hand-over between the probe's two cores just before and just after each launch, joined by a "
        "line. Where it spans a factor of 1.5 or more the hand-over changed during the launch, as it does when a "
        "hypervisor moves virtual cores."
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
        state=DISTURBED if bracket.disturbance else QUIET,
        launch=joined(
            ", ", (launch.id, text("attempt {number}", number=launch.attempt + 1) if launch.attempt else "")
        ),
        note=bracket.disturbance or QUIET,
    )
