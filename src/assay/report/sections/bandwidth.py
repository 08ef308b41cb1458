"""Memory bandwidth: by placement, by kind of store, by kernel, by node."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, words
from assay.report.section import Figure, Headline, Section, Table
from assay.report.sections import numa, saturation, touch

order = 10
claims = frozenset({"stream"})

#: Of more settings than this a sentence tells the least and the best.
_TOLD = 4
_WHY = text(
    "Most programs that work on large arrays run at the speed of memory, not of the processor. The triad "
    "a[i] = b[i] + s·c[i] over arrays far larger than the caches shows that speed."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no bandwidth was planned."""
    del run
    estimates = choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "stream")))
    if not estimates:
        return None
    triad = choose.headline_kernel(estimates)
    matrix = numa.cells(analysis)
    ways = {e.id for members in touch.groups(analysis).values() for e in members if not _is_plain(e)}
    by_placement = tuple(e for e in triad if e.id not in matrix | ways and not saturation.is_counted(e))
    if not by_placement:
        return None
    return Section(
        id="memory-bandwidth",
        title=choose.title("stream"),
        meaning=_meaning(choose.measured(by_placement)),
        figures=_figures(choose.measured(by_placement), choose.measured(estimates)),
        estimates=by_placement,
        headlines=_headlines(choose.measured(by_placement)),
        benchmarks=claims,
    )


def _is_plain(estimate: Estimate) -> bool:
    """Whether each thread touched its own part and no memory policy was set."""
    return estimate.placement.memory == "first-touch" and choose.is_usual(estimate, "touch")


def tables(_run: Run, _analysis: Analysis) -> tuple[Table, ...]:
    """None: a terminal lists the figures."""
    return ()


def _widest(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Those of the placement that uses most cpus."""
    cpus = max((sum(map(len, e.placement.cpus)) for e in estimates), default=0)
    return tuple(e for e in estimates if sum(map(len, e.placement.cpus)) == cpus)


def _narrowest(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    cpus = min((sum(map(len, e.placement.cpus)) for e in estimates), default=0)
    return tuple(e for e in estimates if sum(map(len, e.placement.cpus)) == cpus)


def _prevailing(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Those of the machine's state that most launches found: a headline rests on no single launch."""
    launches: dict[str | None, int] = {}
    for each in estimates:
        launches[each.state] = launches.get(each.state, 0) + each.launches
    state = max(launches, key=lambda name: launches[name], default=None)
    return tuple(each for each in estimates if each.state == state)


def _headlines(triad: tuple[Estimate, ...]) -> tuple[Headline, ...]:
    widest, narrowest = _widest(triad), _narrowest(triad)
    top, single = choose.best(_prevailing(widest)), choose.best(_prevailing(narrowest))
    lines = (
        [Headline(text("Memory bandwidth, {where}", where=words.cores(top.placement.label)), top)] if top else []
    )
    best = choose.best(_prevailing(triad))
    if (
        best
        and top
        and best.placement.label not in {top.placement.label, single and single.placement.label}
        and (best.lo or 0) > (top.hi or 0)
    ):
        lines.append(Headline(text("Memory bandwidth, {where}", where=words.cores(best.placement.label)), best))
    if single and top and single.placement.label != top.placement.label:
        lines.append(
            Headline(text("Memory bandwidth, {where}", where=words.cores(single.placement.label)), single)
        )
    return tuple(lines)


def _figures(triad: tuple[Estimate, ...], every: tuple[Estimate, ...]) -> tuple[Figure, ...]:
    if not triad:
        return ()
    drawn = [figures.placements(triad, "figure-bandwidth", text("Triad bandwidth"))]
    usual = _usual(_widest(every))
    if len({e.kernel for e in usual}) > 1:
        title = text("Bandwidth on {label} by kernel", label=usual[0].placement.label)
        drawn.append(figures.placements(usual, "figure-bandwidth-kernels", title, row=lambda e: e.kernel))
    return tuple(drawn)


def _usual(estimates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Those with the memory policy of the first and with parallel first touch."""
    return tuple(
        e
        for e in estimates
        if e.placement.memory == estimates[0].placement.memory and choose.is_usual(e, but=("stores",))
    )


def _meaning(triad: tuple[Estimate, ...]) -> tuple[str, ...]:
    if not triad:
        return (
            text("No memory bandwidth could be measured; the reasons are listed under what was not measured."),
        )
    widest, narrowest = _widest(triad), _narrowest(triad)
    said = [_WHY, _placement_sentence(widest)]
    if widest[0].placement.label != narrowest[0].placement.label:
        said += [_placement_sentence(narrowest)]
    said += _limit_sentence(widest)
    counted = choose.meaning(triad[0])
    return (joined(" ", said), text("Counted are {what}.", what=counted) if counted else "")


def _placement_sentence(estimates: tuple[Estimate, ...]) -> str:
    usual = _usual(estimates) or estimates
    label = usual[0].placement.label
    names = choose.varied(usual)
    cpus = words.count(sum(map(len, usual[0].placement.cpus)), "cpu", "cpus")
    told = sorted(usual, key=lambda e: e.median or 0.0) if len(usual) > _TOLD else usual
    parts = []
    for estimate in told if len(usual) <= _TOLD else (told[0], told[-1]):
        figure = words.shown(estimate)
        if figure:
            how = choose.series(estimate, names)
            parts.append(text("{figure} with {how}", figure=figure.full, how=how) if how else figure.full)
    reached = words.listed(parts) if len(usual) <= _TOLD else text("{low} to {high}", low=parts[0], high=parts[-1])
    return text("Placed “{label}” ({cpus}), it reaches {reached}.", label=label, cpus=cpus, reached=reached)


def _limit_sentence(estimates: tuple[Estimate, ...]) -> list[str]:
    limited = choose.best(e for e in estimates if e.limit)
    if limited is None or limited.limit is None:
        return [text("No limit is known to hold these figures against.")]
    share, limit = words.share_text(limited), words.quantity(limited.limit.value, limited.unit)
    where = limited.placement.label
    source, of = words.SOURCES[limited.limit.source], limited.limit.of
    return [
        text(
            "The best with “{where}” is {share} of the limit, {limit} ({source}): {of}.",
            where=where,
            share=share,
            limit=limit,
            source=source,
            of=of,
        )
    ]
