"""Comparisons in a terminal: the claims with their intervals, and why other figures claim nothing."""

from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.text import Text

from assay.analyse import taken
from assay.compare import tables
from assay.compare.environment import is_declared
from assay.compare.records import RUN
from assay.compare.yardsticks import speed_up
from assay.model.compared import Compared, ComparedPair, Yardstick
from assay.model.imported import UNSTATED
from assay.model.run import Run
from assay.model.text import joined, text
from assay.model.units import count_of
from assay.report import formatting, repetition, selection, verdicts
from assay.report.screen import Screen
from assay.report.section import Table, headings
from assay.report.statements import NO_SPEED, times

#: Colours of the verdicts that deserve one.
_COLOURS = {"faster": "green", "slower": "red"}
#: Columns of figures without samples that would be the same in each row: interval, launches, p.
_UNTESTED = frozenset({3, 4, 5})
#: Maximum number of figures in a sentence.
_NAMED = 6
#: Maximum number of rows on a screen: up to here all are shown.
_SCREEN = 24


def render(
    compared: Compared,
    console: Console,
    *,
    everything: bool = False,
    curves: Callable[[], bool] | None = None,
    runs: Sequence[Run] = (),
) -> None:
    """Print the comparisons: claims first, then the number of others with their reasons.

    Args:
        compared: of one run, or of two.
        console: to print on.
        everything: a row for each comparison, also if they do not fit a screen.
        curves: prints the comparison of curves before the rows, and returns whether it printed sentences. Then
            many figures without samples, which claim nothing, have rows only with `everything`.
        runs: commands get the options of the measured one.
    """
    page = Screen(console)
    if compared.blocks:
        page.say(
            Text(f"Levels of '{compared.across}' in {count_of(len(compared.blocks), 'block')} of two runs", "bold")
        )
        for block in compared.blocks:
            page.say(f"{block[0]} against {block[1]} (base)", indent=2)
    elif compared.base:
        page.say(Text(f"{compared.run} against {compared.base} (base)", "bold"))
    if compared.base:
        _environments(compared, page)
        for table in tables.machines(("", each) for each in compared.yardsticks):
            page.table(table)
    in_words = curves() if curves else False
    chosen = _chosen(compared)
    whole = everything or len(chosen) <= _SCREEN
    groups = _groups(chosen)
    if in_words and not everything and len(groups) > _SCREEN and verdicts.are_imported(chosen):
        _growth(compared, page)
        _uncompared(compared, runs, page)
        page.say()
        page.say(
            Text(f"A row for each of the {len(chosen):,} pairs of figures: {_command(compared)} --all", "dim")
        )
        return
    for group in groups:
        _print(_figures(group, compared, whole=whole), page)
    _growth(compared, page)
    _resolution(compared, chosen, page)
    _uncompared(compared, runs, page)
    _notes(compared, chosen, page, whole=whole)


def _environments(compared: Compared, page: Screen) -> None:
    sides = ("base level", "this level") if compared.blocks else ("base", "this run")
    tables = different(compared, sides)
    if not tables:
        foreign = verdicts.are_imported(compared.pairs)  # few facts of an import are known
        same = "Nothing that both state differs." if foreign else "Machine, builds and settings are the same."
        page.say(same)
    for table in tables:
        page.say()
        page.rows([(name, "left") for name in ("not the same", *sides)], table.rows)
        if table.note:
            page.say(Text(table.note, "dim"), indent=2)
    for each in compared.differences:
        if each.kind == "unstated":
            who = "either" if each.a and each.b else compared.run if each.a else compared.base
            page.say(Text(f"Not stated by {who}, so not known to be the same: {each.name}", "dim"))
    for sentence in taken.sentences((compared.base, compared.run, each) for each in compared.taken):
        page.say(sentence)


def different(compared: Compared, sides: tuple[str, str]) -> tuple[Table, ...]:
    """Return what differs between two runs, or between two levels in all of their runs; none if nothing does.

    Args:
        compared: of two runs.
        sides: names of the base and of the other one.
    """
    declared = set() if compared.blocks else {compared.across, *compared.allowed}
    rows = tuple(
        (f"{each.name}{' *' if is_declared(each, declared) else ''}", each.b, each.a)
        for each in compared.differences
        if each.kind != "unstated"
    )
    note = text("* declared by --across or --allow") if any(declared) else ""
    caption = text("What differs in all runs of the two levels") if compared.blocks else text("What differs")
    return (
        (Table(caption, (*headings("What"), *sides), rows, note=note, recorded=True, first=bool(compared.blocks)),)
        if rows
        else ()
    )


def _print(table: Table, page: Screen) -> None:
    """Print the table with coloured verdicts."""
    page.heading(table.caption)
    sides = ("right" if at in table.numeric else "left" for at in range(len(table.columns)))
    rows: list[tuple[str | Text, ...]] = [
        (*row[:-1], Text(row[-1], style=_COLOURS.get(row[-1], ""), no_wrap=row[-1] in _COLOURS))
        for row in table.rows
    ]
    if rows:
        page.rows(zip(table.columns, sides, strict=True), rows)
    if table.note:
        page.say(Text(table.note, "dim"), indent=2)


def _groups(pairs: Iterable[ComparedPair]) -> list[tuple[ComparedPair, ...]]:
    """The comparisons by the word and the two levels in which they differ."""

    def key(pair: ComparedPair) -> tuple[str, str, str]:
        return pair.comparison.differ, pair.comparison.level, pair.comparison.base

    return list(selection.grouped(pairs, key).values())


def _chosen(compared: Compared) -> list[ComparedPair]:
    """The comparisons to show: without A against A; in one run those that were varied, if any."""
    pairs = [pair for pair in compared.pairs if not pair.comparison.is_control]
    return [pair for pair in pairs if pair.comparison.varied or compared.base] or pairs


def figure_tables(compared: Compared) -> tuple[Table, ...]:
    """Return the same rows for a page: a table for each two levels."""
    chosen = _chosen(compared)
    return tuple(_figures(group, compared, whole=len(chosen) <= _SCREEN) for group in _groups(chosen))


def _figures(pairs: Sequence[ComparedPair], compared: Compared, *, whole: bool) -> Table:
    """The figures that differ in the same word: the claims, or all, and what the others lack."""
    first = pairs[0].comparison
    counted = text(
        "{figures}: {verdicts}",
        figures=formatting.count(len(pairs), "figure", "figures"),
        verdicts=verdicts.counted(pair.comparison for pair in pairs),
    )
    differ = "" if first.differ == RUN else f"{first.differ} "
    levels = text("{a} against {b} (base)", a=f"{differ}{first.level}", b=first.base)
    # What differs between two runs is printed above, unless it was declared.
    caption = counted if compared.base and not compared.across else joined(", ", (levels, counted))
    claims = [pair for pair in pairs if pair.comparison.is_claim]
    untested = verdicts.are_imported(pairs)
    shown = pairs if whole or untested else claims or verdicts.nearest(pairs)
    silent = "" if claims or untested else text("Nothing is claimed to be faster or slower.")
    columns, rows = _rows(shown, _names(pairs), compared.yardsticks, whole=whole)
    return Table(
        caption,
        tuple(name for name, _ in columns),
        rows,
        frozenset(at for at, (_, is_number) in enumerate(columns) if is_number),
        joined(" ", (silent, verdicts.unsure(pair.comparison for pair in pairs))),
    )


def _names(pairs: Sequence[ComparedPair]) -> dict[str, list[str]]:
    """Benchmark -> axes and factors in which its figures differ, without that in which the two sides differ."""
    differ = pairs[0].comparison.differ
    return {
        name: [axis for axis in selection.varied([pair.b for pair in members]) if axis != differ]
        for name, members in selection.grouped(pairs, lambda pair: pair.a.benchmark).items()
    }


def _growth(compared: Compared, page: Screen) -> None:
    """The figures that grew more than the clock, or than another ratio of the machines."""
    known = {pair.comparison.id: pair for pair in compared.pairs}
    names = _names(compared.pairs) if compared.pairs else {}
    if compared.yardsticks and compared.growth:
        page.heading("Speed-ups beside those of the machines")
    for each in compared.yardsticks:
        for growth, words in (("more", "More than"), ("equal", "As much as"), ("less", "Less than")):
            of = [known[name] for name, found in compared.growth.items() if found[each.name] == growth]
            of.sort(key=lambda pair: -speed_up(pair).value)
            if of:
                shown = "; ".join(_grown(pair, names) for pair in of[:_NAMED])
                rest = f"; and {len(of) - _NAMED} more" if len(of) > _NAMED else ""
                page.say(f"{words} the {each.name} ({times(each.ratio)}): {shown}{rest}", mark="-")


def _grown(pair: ComparedPair, names: dict[str, list[str]]) -> str:
    return f"{_what(pair, names[pair.a.benchmark])} {formatting.factor(speed_up(pair).value)} times"


def _over_yardsticks(pair: ComparedPair, yardsticks: Sequence[Yardstick]) -> tuple[str, ...]:
    """The speed-up over the ratio of each yardstick; empty for what is no speed."""
    if pair.a.unit in NO_SPEED:
        return ("",) * len(yardsticks)
    return tuple(f"{speed_up(pair).value / each.ratio.value:.2f}" for each in yardsticks)


def _rows(
    pairs: Sequence[ComparedPair], names: dict[str, list[str]], yardsticks: Sequence[Yardstick], *, whole: bool
) -> tuple[tuple[tuple[str, bool], ...], tuple[tuple[str, ...], ...]]:
    """Return each column, with whether it has numbers, and the rows: the most important verdicts first."""
    untested = verdicts.are_imported(pairs)
    paired = any(pair.comparison.blocks for pair in pairs)
    figures = headings("Base", "Ratio", "Interval", "Pairs" if paired else "Launches", "Adjusted p")
    what, verdict = headings("What", "Verdict")
    numbers = ((name, True) for name in (*figures, *(f"÷ {each.name}" for each in yardsticks)))
    columns: list[tuple[str, bool]] = [(what, False), *numbers, (verdict, False)]
    ordered = sorted(pairs, key=lambda pair: verdicts.rank(pair.comparison))
    curves = selection.grouped(ordered, lambda pair: _curve(pair, names[pair.a.benchmark], whole=whole))
    rows = []
    for members in curves.values():
        cells = _single(members[0], names) if len(members) == 1 else _folded(members, names)
        over = _over_yardsticks(members[0], yardsticks) if len(members) == 1 else ("",) * len(yardsticks)
        rows.append((*cells, *over, verdicts.word(members[0].comparison)))
    left_out = {*_UNTESTED, len(columns) - 1} if untested else set()
    kept = [at for at in range(len(columns)) if at not in left_out and any(row[at] for row in rows)]
    return tuple(columns[at] for at in kept), tuple(tuple(row[at] for at in kept) for row in rows)


def _curve(pair: ComparedPair, names: Sequence[str], *, whole: bool) -> tuple[str, ...]:
    """The key of a row: a figure, or the points of a curve with the same verdict if not all rows are shown."""
    axis = pair.a.declared.swept
    if whole or axis not in pair.a.params:
        return (pair.comparison.id,)
    return (_what(pair, [name for name in names if name != axis]), pair.comparison.verdict)


def _single(pair: ComparedPair, names: dict[str, list[str]]) -> tuple[str, ...]:
    each, figure = verdicts.speeds(pair.comparison, pair.a.better), formatting.shown(pair.b)
    return (
        _what(pair, names[pair.a.benchmark]),
        figure.plain,
        formatting.factor(each.ratio),
        verdicts.plain_ends(each),
        verdicts.number(each),
        "" if each.adjusted_p is None else f"{each.adjusted_p:.2g}",
    )


def _folded(pairs: Sequence[ComparedPair], names: dict[str, list[str]]) -> tuple[str, ...]:
    """One row for the points of a curve: smallest to largest ratio, all their intervals, the fewest pairs."""
    benchmark = pairs[0].a.benchmark
    axis = pairs[0].a.declared.swept
    what = _what(pairs[0], [name for name in names[benchmark] if name != axis])
    points = [verdicts.speeds(pair.comparison, pair.a.better) for pair in pairs]
    return (
        joined(", ", (what, formatting.count(len(points), "point", "points"))),
        "",
        _extent([each.ratio for each in points]),
        verdicts.why_no_interval(points[0]) or _extent([end for each in points for end in (each.lo, each.hi)]),
        min((verdicts.number(each) for each in points), key=lambda number: (len(number), number)),
        f"{max(each.adjusted_p or 0.0 for each in points):.2g}",
    )


def _extent(ratios: Sequence[float]) -> str:
    """`0.0560 to 0.282`: the smallest and the largest."""
    return f"{formatting.factor(min(ratios))} to {formatting.factor(max(ratios))}"


def _what(pair: ComparedPair, names: Sequence[str]) -> str:
    kernel = pair.a.kernel if pair.a.kernel == pair.a.benchmark else f"{pair.a.benchmark} {pair.a.kernel}"
    state = f"{pair.comparison.state} cores" if pair.comparison.state else ""
    if pair.b.derivation:
        kernel = f"{kernel}: {pair.b.metric}"
    place = "" if pair.b.placement.label == UNSTATED else formatting.placed(pair.b)
    size = pair.a.declared.swept
    alone = selection.levels(pair.a, [size]) if size not in pair.b.params else ""
    own = [name for name in pair.a.factors if name not in {*pair.b.factors, pair.comparison.differ}]
    levels = (selection.levels(pair.b, names), selection.levels(pair.a, own))
    return " · ".join(filter(None, (kernel, place, *levels, alone, state)))


def _resolution(compared: Compared, chosen: Sequence[ComparedPair], page: Screen) -> None:
    """The result of A against A, and the smallest differences that can be found."""
    compared_figures = [pair.comparison for pair in chosen]
    controls = [pair.comparison for pair in compared.pairs if pair.comparison.is_control]
    sentences = (verdicts.between_runs, verdicts.resolution, verdicts.detectable)
    lines = list(filter(None, (sentence(compared_figures) for sentence in sentences)))
    differing = [each for each in controls if each.verdict in verdicts.CLAIMS]
    if lines or differing:
        page.say()
    for line in lines:
        page.say(line)
    if differing:
        beware = f"{len(differing)} of {len(controls)} controls differ from themselves, e.g. {differing[0].b}."
        page.say(Text(f"Beware: {beware}", "yellow"))


def uncompared(compared: Compared, runs: Iterable[Run]) -> tuple[Table, ...]:
    """Return a row for each reason why figures are not compared, with the first figure; none if all are.

    Commands get the options of the measured one of `runs`.
    """
    sides = {compared.base, compared.run}
    own = next((run for run in runs if run.info.id in sides and not run.imported), None)
    reasons = selection.grouped(compared.uncompared.items(), lambda item: item[1])
    rows = tuple(
        (items[0][0], str(len(items) - 1 or ""), repetition.offered(reason, own) if own else reason)
        for reason, items in reasons.items()
    )
    columns = headings("Figure", "And others", "Why")
    return (Table(text("Not compared"), columns, rows, frozenset({1})),) if rows else ()


def _uncompared(compared: Compared, runs: Iterable[Run], page: Screen) -> None:
    for table in uncompared(compared, runs):
        page.say()
        for name, others, reason in table.rows:
            more = f" and {others} more" if others else ""
            page.say(f"Not compared: {name}{more}: {reason}")


def _notes(compared: Compared, chosen: Sequence[ComparedPair], page: Screen, *, whole: bool) -> None:
    """How to read the tables, and how to see rows that were not shown."""
    lines, imported = ["Ratios are of speeds: above 1 it is faster than the base."], verdicts.are_imported(chosen)
    if not imported:
        paired = compared.blocks or not compared.base
        basis = "signed rank over pairs in a block" if paired else "Mann-Whitney over launches"
        lines.append(
            f"[a, b]: 95 % interval ({basis}); a to b: a range, which claims nothing. Margin 1 % or more."
        )
    if any(pair.comparison.adjusted_p is not None for pair in chosen):
        lines.append("p is adjusted among all comparisons of the same two sides (Westfall-Young); claims: 5 %.")
    if compared.blocks:
        lines.append("A launch here is a whole run: its median.")
    elif compared.base and not imported:
        lines.append("Two runs are two times: what else changed in between is part of these differences.")
    if not whole:
        lines.append(f"All {len(chosen):,} rows: {_command(compared)} --all")
    page.say()
    for line in lines:
        page.say(Text(line, "dim"))


def _command(compared: Compared) -> str:
    """The command that made this comparison."""
    runs = " ".join(filter(None, (compared.base, compared.run)))
    across = f" --across {compared.across}" if compared.across else ""
    if compared.blocks:
        runs = " ".join(run for block in compared.blocks for run in reversed(block))
        across = f" --factor {compared.across}"
    return f"assay compare {runs}{across}{''.join(f' --allow {kind}' for kind in compared.allowed)}"
