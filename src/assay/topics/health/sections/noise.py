"""How quiet the machine was while it was measured: states of the cores, drift, other work."""

import statistics
from collections.abc import Iterable
from datetime import datetime

import numpy as np

from assay.model.bracket import Bracket
from assay.model.result import Estimate
from assay.model.run import LaunchRecords
from assay.model.text import joined, text
from assay.model.units import format_share_with_ends
from assay.report import formatting, selection
from assay.report.charts.theme import COLOURS
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, headings
from assay.report.vocabulary import known
from assay.topics.health.launched import clock, launched, widest
from assay.topics.health.strips import Dot, Share, cumulative, strips
from assay.topics.health.timeline import DISTURBED, QUIET, Span, timeline

_NANO, _GIGA = 1e9, 1e9
#: Most cases that are drawn by launch.
_ROWS = 16
#: Percentiles of a cumulative curve.
_SHARES = (0, *range(1, 100), 99.9, 100)
_OF_LAUNCH = text("largest share of cpu time during a launch")


def _rows(scene: Scene) -> list[tuple[str, ...]]:
    """List the measures of noise, each with its meaning."""
    noise = scene.analysis.noise
    rows: list[tuple[str, ...]] = [
        (
            text("Lost to stops and slower moments"),
            f"{format_share_with_ends(noise.lost)} %" if noise.lost else text("not known"),
            text("of {time} of fixed work in small pieces", time=formatting.quantity(noise.probed_s, "s")),
        ),
        (
            text("Most that a piece lost"),
            text("not measured")
            if noise.longest_stop_s is None
            else formatting.quantity(noise.longest_stop_s, "s"),
            text(
                "{count} pieces a second took more than 10 % longer than usual",
                count=f"{noise.stops_per_s or 0.0:.3g}",
            ),
        ),
        (
            text("Drift over the run"),
            _drift(noise.drift, noise.drift_p),
            text("Theil-Sen slope times duration of that work, with Kendall's p"),
        ),
        (
            text("Drift of the figures"),
            _drift(noise.figures_drift),
            text("the same for the median slowness of all figures, block by block"),
        ),
        (text("Steal time of the hypervisor"), _share(noise.steal), text("share of cpu time over all launches")),
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


def _times(scene: Scene) -> list[tuple[str, ...]]:
    """List the parts of the time of the run; none for a run of an earlier version."""
    effort = scene.analysis.effort
    if effort is None or effort.time is None or not effort.time.whole_s:
        return []
    spent = effort.time
    each_s = spent.engine_s / max(1, len(scene.run.made))
    parts = (
        (text("Sampling"), spent.sampled_s, text("from the first sample of each case to its last")),
        (
            text("Set-up"),
            spent.setup_s,
            text("starts of programs and launchers, first touch of memory, checks of results"),
        ),
        (text("Probes"), spent.probes_s, text("cache-line transfer before and after each launch")),
        (text("Waiting"), spent.waited_s, text("until other processes used little cpu time")),
        (
            text("Assay itself"),
            spent.engine_s,
            text("choice of launches, checks, storage: {time} a launch", time=formatting.quantity(each_s, "s")),
        ),
    )
    return [
        (name, formatting.quantity(seconds, "s"), formatting.percent(seconds / spent.whole_s), meaning)
        for name, seconds, meaning in parts
    ]


def _drift(share: float | None, p: float | None = None) -> str:
    if share is None:
        return text("not assessed")
    return f"{100 * share:+z.1f} %" + ("" if p is None else f" (p = {p:.2g})")


def _share(value: float | None) -> str:
    return text("not known") if value is None else formatting.percent(value)


def _sentences(scene: Scene) -> str:
    noise, sentences = scene.analysis.noise, list[str]()
    if len(noise.states) > 1:
        seen = (
            (known(name), formatting.quantity(value, "s"), formatting.count(launches, "launch", "launches"))
            for name, (launches, value) in noise.states.items()
        )
        states = formatting.listed(
            text("“{state}” ({time}, {launches})", state=name, time=time, launches=many)
            for name, time, many in seen
        )
        sentences.append(
            text(
                "The probe found {count} states of the machine: {states}. If a state explains the figures of a "
                "benchmark, they are reported for each state.",
                count=len(noise.states),
                states=states,
            )
        )
    elif noise.states:
        sentences.append(text("The probe found one state: no other one lasted for two launches."))
    launches = formatting.count(noise.launches, "launch", "launches")
    sentences.append(
        text("{disturbed} of {launches} were disturbed.", disturbed=noise.disturbed, launches=launches)
        if noise.disturbed
        else text("No launch was disturbed.")
    )
    return joined(" ", sentences)


def _charts(scene: Scene) -> Iterable[Figure]:
    begin = min(map(_time, scene.run.launches))
    declared = {case.id: scene.run.plan.declared(case.benchmark) for case in scene.run.plan.cases}
    spans = [_span(records, _time(records) - begin, clock(records, declared)) for records in scene.run.launches]
    handover = [value for span in spans for value in (span.before, span.after) if value]
    parts = [
        formatting.count(len(spans), "launch", "launches"),
        text(
            "cache-line transfer between {low} and {high}",
            low=f"{min(handover):.3g}",
            high=f"{max(handover):.3g} ns",
        )
        if handover
        else "",
    ]
    caption = text(
        "Launches by program over time, and what else the machine did. A disturbed launch has a cross. Other "
        "processes above the dashed line disturb a launch. The probe of the cache-line transfer runs before and "
        "after each launch: a line over a factor of 1.5 or more means that the time changed during it, for "
        "example because a hypervisor moved virtual cores."
    )
    yield Figure("figure-timeline", caption, joined("; ", parts), timeline(spans, 100 * Bracket.FOREIGN))
    yield from _of_launches(scene)


def _of_launches(scene: Scene) -> Iterable[Figure]:
    """Draw each launch of the cases that vary most as a dot, and, folded, their samples."""
    estimates = widest(scene.analysis, _ROWS)
    found = launched(scene.run, estimates)
    names = {e.case: _case(e, estimates) for e in estimates if e.case in found}
    if not names:
        return
    middles = {case: statistics.median(each.middle for each in found[case]) for case in names}
    marks = [
        Dot(name, str(each.block + 1), over, f"{over:.3f}", each.launch)
        for case, name in names.items()
        for each in found[case]
        for over in [each.middle / middles[case]]
    ]
    caption = text(
        "Each dot is a launch: its median time relative to that of its case, logarithmic; right is slower. "
        "Colours and shapes show the blocks, in order of time. Cases whose launches differ most: {some} of {all}.",
        some=len(names),
        all=len({e.case for e in selection.measured(scene.analysis.estimates)}),
    )
    ends = [
        text("{row}: {low} to {high}", row=name, low=f"{min(of):.3f}", high=f"{max(of):.3f}")
        for name in names.values()
        for of in [[dot.value for dot in marks if dot.row == name]]
    ]
    title = text("time of a launch over the median of its case")
    yield Figure("figure-launches", caption, joined("; ", ends), strips(marks, title))
    pooled = {
        name: np.concatenate([each.seconds for each in found[case]]) / middles[case]
        for case, name in list(names.items())[: len(COLOURS)]
    }
    shares = [
        Share(name, float(at), share)
        for name, samples in pooled.items()
        for at, share in zip(np.percentile(samples, _SHARES), _SHARES, strict=True)
    ]
    caption = text(
        "Cumulative shares (ECDF) of the samples of the {number} cases whose launches differ most, relative to "
        "the median of each case, logarithmic. A step is a second mode; a long tail is noise.",
        number=len(pooled),
    )
    ends = [
        text("{row}: 99 % of the samples within {high}", row=name, high=f"{np.percentile(samples, 99):.3f}")
        for name, samples in pooled.items()
    ]
    spec = cumulative(shares, text("time of a sample over the median of its case"))
    yield Figure("figure-samples", caption, joined("; ", ends), spec, folded=text("Distribution of the samples"))


def _case(e: Estimate, others: list[Estimate]) -> str:
    """Name a case by place and levels that differ from other cases of its benchmark."""
    names = selection.varied(each for each in others if each.benchmark == e.benchmark)
    units, levels = e.declared.units, {**e.params, **e.factors}
    settings = [formatting.setting(name, levels[name], units.get(name, "")) for name in names if name in levels]
    return joined(", ", [e.benchmark, formatting.placed(e), *settings])


def _time(records: LaunchRecords) -> float:
    return datetime.fromisoformat(records.launch.started).timestamp()


def _span(records: LaunchRecords, start: float, hertz: float | None) -> Span:
    launch, bracket = records.launch, records.launch.bracket
    repeat = text("attempt {number}", number=launch.attempt + 1) if launch.attempt else ""
    return Span(
        start=start,
        end=start + bracket.elapsed_s,
        program=launch.program,
        state=DISTURBED if bracket.disturbance else QUIET,
        launch=joined(", ", (launch.id, repeat)),
        note=bracket.disturbance or QUIET,
        foreign=None if bracket.foreign is None else 100 * bracket.foreign,
        steal=None if bracket.steal is None else 100 * bracket.steal,
        clock=hertz / _GIGA if hertz else None,
        before=_NANO * bracket.before.median_s if bracket.before else None,
        after=_NANO * bracket.after.median_s if bracket.after else None,
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
        Listing(
            text("Time of the run, experiments included"),
            headings("Part", "Time", "Share", "Meaning"),
            _times,
            {1, 2},
        ),
    ),
    rules=frozenset({"machine_noise"}),
)
