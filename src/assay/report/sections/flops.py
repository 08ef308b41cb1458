"""Operations a second in registers, by precision, width and mix, and the clock that the cores keep meanwhile."""

from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, provenance, words
from assay.report.charts.dots import Dot, dotted
from assay.report.section import Figure, Headline, Section, Table, headings

order = 40
claims = frozenset({"flops"})

_RATE, _CLOCK, _LOADED = "flop/s", "Hz", "loaded-clock"
_WHY = text(
    "What the arithmetic units give when nothing has to come from memory: chains of independent operations in "
    "registers. Wider instructions do more at once; divisions and roots are slow; a fused multiply-add counts as "
    "two operations."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no arithmetic was planned."""
    every = choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "flops")))
    if not every:
        return None
    rates = tuple(e for e in every if e.unit == _RATE)
    measured = choose.measured(rates)
    best = _best(measured)
    return Section(
        id="flops",
        title=choose.title("flops"),
        meaning=(joined(" ", (_WHY, _meaning(run, analysis, measured))),),
        figures=_figures(measured),
        tables=tables(run, analysis),
        estimates=rates,
        headlines=tuple(
            Headline(
                text("Peak arithmetic, {where}, {form}", where=words.cores(e.placement.label), form=_form(e)), e
            )
            for e in best
        ),
        benchmarks=claims,
    )


def tables(run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """The clock as the machine names it, as one core keeps it, and as it is while all work; peaks by precision."""
    every = choose.measured(choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "flops"))))
    rates = tuple(e for e in every if e.unit == _RATE)
    peaks = tuple(_peak_row(e) for e in _peaks(rates))
    refused = _refused(analysis)
    clocks = _clocks(run, tuple(e for e in every if e.unit == _CLOCK and e.id not in refused))
    best = headings("Peak of", "Rate", "Interval", "Of limit", "By")
    clock = headings("Clock", "Least", "Most", "Over")
    found = (
        Table(text("Best rate of each placement and precision"), best, peaks, frozenset({1, 2, 3})),
        Table(text("Clock of the cores"), clock, clocks, frozenset({1, 2})),
    )
    return tuple(table for table in found if table.rows)


def _peaks(rates: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """The best of each placement and precision, in each state where there are several."""
    found: dict[str, Estimate] = {}
    for members in choose.grouped(rates, lambda e: (e.placement.label, e.params.get("format", ""))).values():
        for state in {e.state for e in members if e.state} or {""}:
            best = choose.best(e for e in members if e.state in {None, state})
            found |= {best.id: best} if best else {}
    return tuple(found.values())


def _best(measured: tuple[Estimate, ...]) -> tuple[Estimate, ...]:
    """Double precision on the most cores, one for each state."""
    double = [e for e in _peaks(measured) if e.params.get("format", "fp64") == "fp64"]
    cpus = max((len(e.placement.cpus[0]) for e in double), default=0)
    return tuple(e for e in double if len(e.placement.cpus[0]) == cpus)[:1]


def _peak_row(e: Estimate) -> tuple[str, ...]:
    figure = words.shown(e)
    name = joined(", ", [e.placement.label, str(e.params.get("format", "")), choose.state(e)])
    how = " ".join(str(e.params[axis]) for axis in ("width", "mix") if axis in e.params)
    if figure is None:
        return (name, "", "", "", how)
    return (
        name,
        f"{figure.value} {figure.unit}",
        figure.ends,
        words.against(e),
        _width(how),
    )


def _width(how: str) -> str:
    first, _, rest = how.partition(" ")
    return text("{bits}-bit {mix}", bits=first, mix=rest) if first.isdigit() else how


def _figures(measured: tuple[Estimate, ...]) -> tuple[Figure, ...]:
    """One plot for each placement and precision: a row for each mix, a mark for each width."""
    groups = choose.grouped(measured, lambda e: (e.placement.label, str(e.params.get("format", ""))))
    return tuple(_figure(label, precision, members) for (label, precision), members in groups.items())


def _figure(label: str, precision: str, members: tuple[Estimate, ...]) -> Figure:
    factor, unit = figures.scaled(members)
    names = tuple(name for name in choose.varied(members) if name != "mix")
    dots = [_dot(e, names, factor) for e in sorted(members, key=_rank)]
    caption = joined(
        " ",
        (
            text(
                "Rate on {where}, by mix of operations and width of instructions, logarithmic.",
                where=", ".join(filter(None, (label, precision))),
            ),
            figures.whiskers(members),
            text("A short red line is the limit of the mark on it."),
        ),
    )
    result = figures.told((dot.row, dot.series, dot.text) for dot in dots)
    anchor = f"figure-flops-{label.replace(':', '-')}-{precision}".rstrip("-")
    return Figure(anchor, caption, result, dotted(dots, text("rate ({unit})", unit=unit)))


def _rank(estimate: Estimate) -> tuple[int, ...]:
    """Mixes and widths as the benchmark declares them."""
    declared = choose.declaration(estimate.benchmark)
    axes = {axis.name: axis.values for axis in declared.axes} if declared else {}
    params = ((axes.get(name, ()), estimate.params.get(name)) for name in ("mix", "width"))
    return tuple(values.index(value) if value in values else len(values) for values, value in params)


def _dot(e: Estimate, names: tuple[str, ...], factor: float) -> Dot:
    figure, value = words.shown(e), factor * (e.median or 0.0)
    mix = str(e.params.get("mix", e.kernel))
    return Dot(
        row=_MIXES.get(mix, mix),
        series=choose.levels(e, names) or text("rate"),
        value=value,
        lo=value if e.lo is None else factor * e.lo,
        hi=value if e.hi is None else factor * e.hi,
        limit=factor * e.limit.value if e.limit else None,
        text=joined(" ", [figure.short if figure else "", choose.state(e)]),
        basis=figure.basis if figure else "",
        share=words.share_text(e),
    )


_MIXES = {
    "fma": text("fused multiply-add"),
    "add": text("add"),
    "multiply": text("multiply"),
    "divide": text("divide"),
    "sqrt": text("square root"),
}


def _clocks(run: Run, clocks: tuple[Estimate, ...]) -> tuple[tuple[str, ...], ...]:
    """Rows of the table of clocks: what the machine names, then what each placement kept over its cases."""
    machine = next(iter(run.machines.values()), None)
    known = {
        name: fact
        for part in ("processor", "frequency")
        for name, fact in (machine.facts.get(part, {}) if machine and clocks else {}).items()
        if fact.known and fact.unit == _CLOCK
    }
    rows: list[tuple[str, ...]] = [
        (text("{name} (a fact)", name=name), provenance.fact(fact), "", fact.source)
        for name, fact in known.items()
    ]
    groups = choose.grouped(clocks, lambda e: (e.placement.label, e.kernel, choose.state(e)))
    for (label, kernel, state), members in groups.items():
        ordered = sorted(members, key=lambda e: e.median or 0.0)
        least, most = (figure.short if (figure := words.shown(e)) else "" for e in (ordered[0], ordered[-1]))
        how = text("beside the work") if kernel == _LOADED else text("alone")
        what = joined(", ", [label, how, state])
        rows.append((what, least, most if len(members) > 1 else "", words.count(len(members), "case", "cases")))
    return tuple(rows)


def _meaning(run: Run, analysis: Analysis, measured: tuple[Estimate, ...]) -> str:
    best = next(iter(_best(measured)), None)
    figure = words.shown(best) if best else None
    if best is None or figure is None:
        return text("None of it could be measured.")
    how = _width(" ".join(str(best.params[axis]) for axis in ("width", "mix") if axis in best.params))
    told = [
        text(
            "The most is {figure} on “{label}” with {how} in double precision.",
            figure=figure.full,
            label=best.placement.label,
            how=how,
        )
    ]
    if best.limit:
        told.append(
            text(
                "That is {share} of the best measured, {limit}: {of}."
                if best.limit.source == "measured"
                else "That is {share} of {limit}: {of}.",
                share=words.share_text(best),
                limit=words.quantity(best.limit.value, best.unit),
                of=best.limit.of,
            )
        )
    refused = len(_refused(analysis))
    if refused:
        told.append(
            text(
                "{count} clock is too low to be any and not shown; a finding says why.|"
                "{count} clocks are too low to be any and not shown; a finding says why.",
                count=refused,
            )
        )
    return joined(" ", (*told, _nominal(run)))


def _nominal(run: Run) -> str:
    """That no nominal clock is known, and what cannot be told for want of it; empty where one is."""
    for machine in run.machines.values():
        fact = machine.fact("processor", "nominal frequency")
        if not fact.known:
            if not fact.unavailable:
                return text(
                    "No nominal clock is known: what share of it is reached, and whether there is turbo, cannot "
                    "be told."
                )
            return text(
                "No nominal clock is known ({why}): what share of it is reached, and whether there is turbo, "
                "cannot be told.",
                why=fact.unavailable,
            )
    return ""


def _refused(analysis: Analysis) -> frozenset[str]:
    """Ids of clocks that the rule `clock` does not believe."""
    return frozenset(name for each in analysis.findings if each.id == "clock:refused" for name in each.evidence)


def _form(estimate: Estimate) -> str:
    return str(estimate.params.get("format", ""))
