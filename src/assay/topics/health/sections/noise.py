"""How quiet the machine was while it was measured: states of the cores, drift, other work."""

from datetime import datetime

from assay.model.run import LaunchRecords
from assay.model.text import joined, text
from assay.report import formatting
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, headings
from assay.report.vocabulary import known
from assay.topics.health.timeline import DISTURBED, QUIET, Span, timeline

_NANO = 1e9
_OF_LAUNCH = text("largest share of cpu time during a launch")


def _rows(scene: Scene) -> list[tuple[str, ...]]:
    """The measures of noise, each with what it means."""
    noise = scene.analysis.noise
    rows: list[tuple[str, ...]] = [
        (
            text("Lost to stops"),
            _share(noise.lost),
            text("of {time} of fixed work in small pieces", time=formatting.quantity(noise.probed_s, "s")),
        ),
        (
            text("Longest stop"),
            text("not measured")
            if noise.longest_stop_s is None
            else formatting.quantity(noise.longest_stop_s, "s"),
            text("{count} stops a second", count=f"{noise.stops_per_s or 0.0:.3g}"),
        ),
        (
            text("Drift over the run"),
            _drift(noise.drift, noise.drift_p),
            text("Theil-Sen slope times duration of that work, with Kendall's p"),
        ),
        (
            text("Drift of the figures"),
            _drift(noise.figures_drift),
            text("the same of the median slowness of all figures, block by block"),
        ),
        (text("Steal time of the hypervisor"), _share(noise.steal), _OF_LAUNCH),
        (text("Used by other processes"), _share(noise.foreign), _OF_LAUNCH),
        (
            text("Resolution"),
            text("more than 100 %") if (noise.resolution or 0) > 1 else _share(noise.resolution),
            text("95 % of the pairs of launches of a case differ by less"),
        ),
        (
            text("Disturbed launches"),
            text("{made} of {planned}", made=noise.disturbed, planned=noise.launches),
            text("repeated while the budget allows; all are kept"),
        ),
        (
            text("Waited for other processes"),
            formatting.quantity(noise.waited_s, "s"),
            text("before launches that they had disturbed were made again"),
        ),
    ]
    for state, (launches, handover) in noise.states.items():
        label = (
            text("State “{state}”", state=known(state))
            if len(noise.states) > 1
            else text("Cache-line transfer between the cores of the probe")
        )
        meaning = text("median, one way, in {launches}", launches=formatting.count(launches, "launch", "launches"))
        rows.append((label, formatting.quantity(handover, "s"), meaning))
    return rows


def _drift(share: float | None, p: float | None = None) -> str:
    if share is None:
        return text("not assessed")
    return f"{100 * share:+z.1f} %" + ("" if p is None else f" (p = {p:.2g})")


def _share(value: float | None) -> str:
    return text("not known") if value is None else formatting.percent(value)


def _sentences(scene: Scene) -> str:
    noise, told = scene.analysis.noise, list[str]()
    if len(noise.states) > 1:
        seen = (
            (known(name), formatting.quantity(value, "s"), formatting.count(launches, "launch", "launches"))
            for name, (launches, value) in noise.states.items()
        )
        states = formatting.listed(
            text("“{state}” ({time}, {launches})", state=name, time=time, launches=many)
            for name, time, many in seen
        )
        told.append(
            text(
                "The probe found {count} states of the machine: {states}. If a state explains the figures of a "
                "benchmark, they are reported for each state.",
                count=len(noise.states),
                states=states,
            )
        )
    elif noise.states:
        told.append(text("The probe found one state in the whole run."))
    launches = formatting.count(noise.launches, "launch", "launches")
    told.append(
        text("{disturbed} of {launches} were disturbed.", disturbed=noise.disturbed, launches=launches)
        if noise.disturbed
        else text("No launch was disturbed.")
    )
    return joined(" ", told)


def _charts(scene: Scene) -> tuple[Figure, ...]:
    launches = scene.run.launches
    began = min(map(_time, launches))
    spans = [span for records in launches if (span := _span(records, began))]
    if not spans:
        return ()
    values = [value for span in spans for value in (span.before, span.after)]
    result = text(
        "{launches}; cache-line transfer between {low} and {high}",
        launches=formatting.count(len(spans), "launch", "launches"),
        low=f"{min(values):.3g}",
        high=f"{max(values):.3g} ns",
    )
    caption = text(
        "Cache-line transfer time between the two cores of the probe before and after each launch, joined by a "
        "line. A line over a factor of 1.5 or more means that the time changed during the launch, for example "
        "because a hypervisor moved virtual cores."
    )
    return (Figure("figure-states", caption, result, timeline(spans)),)


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


declared = Declared(
    order=90,
    id="noise",
    title=text("How quiet the machine was"),
    introduction=text(
        "A short cache-line probe runs before and after every launch. Assay also reads the counters of the "
        "operating system before and after it."
    ),
    applies=lambda scene: scene.run.launches,
    sentences=_sentences,
    charts=_charts,
    page_tables=(
        Listing(text("Noise of the machine during the run"), headings("Measure", "Value", "Meaning"), _rows, {1}),
    ),
    rules=frozenset({"machine_noise"}),
)
