"""Comparisons in a terminal: the claims with their intervals, and why other figures claim nothing."""

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.text import Text

from assay.analyse import taken
from assay.compare import tables
from assay.compare.yardsticks import NO_SPEED, speed_up
from assay.model.compared import Compared, ComparedPair, Yardstick
from assay.model.units import count_of
from assay.report import formatting, selection, verdicts
from assay.report.screen import Screen

#: Colours of the verdicts that deserve one.
_COLOURS = {"faster": "green", "slower": "red"}
_TIMES = "\N{MULTIPLICATION SIGN}"
#: Columns of figures without samples that would have the same words in each row.
_UNTESTED = frozenset({"interval", "launches", "verdict"})
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
) -> None:
    """Print the comparisons: claims first, then the number of others with their reasons.

    Args:
        compared: of one run, or of two.
        console: to print on.
        everything: a row for each comparison, also if they do not fit a screen.
        curves: prints the comparison of curves before the rows, and returns whether it printed sentences. Then
            many figures without samples, which claim nothing, have rows only with `everything`.
    """
    page = Screen(console)
    if compared.base:
        page.say(Text(f"{compared.run} against {compared.base} (base)", "bold"))
        _environments(compared, page)
        for table in tables.machines(("", each) for each in compared.yardsticks):
            page.table(table)
    in_words = curves() if curves else False
    pairs = [pair for pair in compared.pairs if not pair.comparison.is_control]
    chosen = [pair for pair in pairs if pair.comparison.varied or compared.base] or pairs
    whole = everything or len(chosen) <= _SCREEN
    groups = selection.grouped(
        chosen, lambda pair: (pair.comparison.differ, pair.comparison.level, pair.comparison.base)
    )
    if in_words and not everything and len(groups) > _SCREEN and verdicts.are_imported(chosen):
        _growth(compared, page)
        _uncompared(compared, page)
        page.say()
        page.say(
            Text(f"A row for each of the {len(chosen):,} pairs of figures: {_command(compared)} --all", "dim")
        )
        return
    for group in groups.values():
        _group(group, compared, page, whole=whole)
    _growth(compared, page)
    _resolution(compared, chosen, page)
    _uncompared(compared, page)
    _notes(compared, chosen, page, whole=whole)


def _environments(compared: Compared, page: Screen) -> None:
    different = [each for each in compared.differences if each.kind != "unstated"]
    if not different:
        foreign = verdicts.are_imported(compared.pairs)  # few facts of an import are known
        same = "Nothing that both state differs." if foreign else "Machine, builds and settings are the same."
        page.say(same)
    declared = {compared.across, *compared.allowed}
    rows = [(f"{e.name}{' *' if e.kind in declared else ''}", e.b, e.a) for e in different]
    if rows:
        page.say()
        page.rows((("not the same", "left"), ("base", "left"), ("this run", "left")), rows)
    if rows and (compared.across or compared.allowed):
        page.say(Text("* declared by --across or --allow", "dim"), indent=2)
    for each in compared.differences:
        if each.kind == "unstated":
            who = "either" if each.a and each.b else compared.run if each.a else compared.base
            page.say(Text(f"Not stated by {who}, so not known to be the same: {each.name}", "dim"))
    for sentence in taken.sentences((compared.base, compared.run, each) for each in compared.taken):
        page.say(sentence)


def _group(pairs: Sequence[ComparedPair], compared: Compared, page: Screen, *, whole: bool) -> None:
    """The figures that differ in the same word: a table of claims, or of all, and why others claim nothing."""
    first = pairs[0].comparison
    figures = formatting.count(len(pairs), "figure", "figures")
    # What differs between two runs is printed above, unless it was declared.
    what = (
        ""
        if compared.base and not compared.across
        else f"{first.differ} {first.level} against {first.base} (base), "
    )
    page.heading(f"{what}{figures}: {verdicts.counted(pair.comparison for pair in pairs)}")
    claims = [pair for pair in pairs if pair.comparison.verdict in verdicts.CLAIMS]
    shown = pairs if whole or verdicts.are_imported(pairs) else claims
    if not shown:
        shown = verdicts.nearest(pairs)
        largest = "; the largest differences that would be claims alone:" if shown else "."
        page.say(f"Nothing is claimed to be faster or slower{largest}", indent=2)
    if shown:
        shown = sorted(shown, key=lambda pair: verdicts.rank(pair.comparison))
        _table(shown, _names(pairs), page, compared.yardsticks, whole=whole)
    for reason, members in verdicts.silent(pairs).items():
        page.say(Text(f"{len(members):,} inconclusive: {reason}.", "dim"), indent=2)


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
        for growth, words in (("more", "more than"), ("equal", "as"), ("less", "less than")):
            of = [known[name] for name, found in compared.growth.items() if found[each.name] == growth]
            of.sort(key=lambda pair: -speed_up(pair).value)
            if of:
                shown = "; ".join(_grown(pair, names) for pair in of[:_NAMED])
                rest = f"; and {len(of) - _NAMED} more" if len(of) > _NAMED else ""
                page.say(f"Grew {words} the {each.name} ({tables.ratio(each.ratio)}): {shown}{rest}", mark="-")


def _grown(pair: ComparedPair, names: dict[str, list[str]]) -> str:
    return f"{_what(pair, names[pair.a.benchmark])} {_TIMES}{speed_up(pair).value:.3g}"


def _over_yardsticks(pair: ComparedPair, yardsticks: Sequence[Yardstick]) -> tuple[str, ...]:
    """The speed-up over the ratio of each yardstick; empty for what is no speed."""
    if pair.a.unit in NO_SPEED:
        return ("",) * len(yardsticks)
    return tuple(f"{speed_up(pair).value / each.ratio.value:.2f}" for each in yardsticks)


def _table(
    pairs: Sequence[ComparedPair],
    names: dict[str, list[str]],
    page: Screen,
    yardsticks: Sequence[Yardstick],
    *,
    whole: bool,
) -> None:
    paired = any(pair.comparison.blocks for pair in pairs)
    has_p = any(pair.comparison.adjusted_p is not None for pair in pairs)
    figures = (
        "base",
        "change",
        "interval",
        "pairs" if paired else "launches",
        *(("adjusted p",) if has_p else ()),
    )
    quotients = tuple((f"÷ {each.name}", "right") for each in yardsticks)
    columns = (("what", "left"), *((name, "right") for name in figures), *quotients, ("verdict", "left"))
    rows: list[tuple[str | Text, ...]] = []
    curves = selection.grouped(pairs, lambda pair: _curve(pair, names[pair.a.benchmark], whole=whole))
    for members in curves.values():
        cells = _single(members[0], names) if len(members) == 1 else _folded(members, names)
        found = members[0].comparison
        verdict = Text(verdicts.word(found), style=_COLOURS.get(found.verdict, ""), no_wrap=True)
        over = _over_yardsticks(members[0], yardsticks) if len(members) == 1 else ("",) * len(yardsticks)
        rows.append((*(cells if has_p else cells[:-1]), *over, verdict))
    left_out = _UNTESTED if verdicts.are_imported(pairs) else frozenset()
    kept = [
        at for at, (name, _) in enumerate(columns) if name not in left_out and any(str(row[at]) for row in rows)
    ]
    page.rows([columns[at] for at in kept], [[row[at] for at in kept] for row in rows])


def _curve(pair: ComparedPair, names: Sequence[str], *, whole: bool) -> tuple[str, ...]:
    """The key of a row: a figure, or the points of a curve with the same verdict if not all rows are shown."""
    axis = pair.a.declared.swept
    if whole or axis not in pair.a.params:
        return (pair.comparison.id,)
    return (_what(pair, [name for name in names if name != axis]), pair.comparison.verdict)


def _single(pair: ComparedPair, names: dict[str, list[str]]) -> tuple[str, ...]:
    each, figure = pair.comparison, formatting.shown(pair.b)
    return (
        _what(pair, names[pair.a.benchmark]),
        figure.plain,
        formatting.change(each.ratio),
        verdicts.ends(each),
        verdicts.number(each),
        "" if each.adjusted_p is None else f"{each.adjusted_p:.2g}",
    )


def _folded(pairs: Sequence[ComparedPair], names: dict[str, list[str]]) -> tuple[str, ...]:
    """One row for the points of a curve: smallest to largest change, all their intervals, the fewest pairs."""
    benchmark = pairs[0].a.benchmark
    axis = pairs[0].a.declared.swept
    what = _what(pairs[0], [name for name in names[benchmark] if name != axis])
    points = [pair.comparison for pair in pairs]
    least, most = min(each.ratio for each in points), max(each.ratio for each in points)
    ends = verdicts.why_no_interval(points[0]) or formatting.changes(
        most, min(each.lo for each in points), max(each.hi for each in points), sure=True
    )
    return (
        f"{what}, {count_of(len(points), 'point')}",
        "",
        formatting.changes(most, least, most, sure=False),
        ends,
        min((verdicts.number(each) for each in points), key=lambda number: (len(number), number)),
        f"{max(each.adjusted_p or 0.0 for each in points):.2g}",
    )


def _what(pair: ComparedPair, names: Sequence[str]) -> str:
    kernel = pair.a.kernel if pair.a.kernel == pair.a.benchmark else f"{pair.a.benchmark} {pair.a.kernel}"
    state = f"{pair.comparison.state} cores" if pair.comparison.state else ""
    place = formatting.placed(pair.b)
    size = pair.a.declared.swept
    alone = selection.levels(pair.a, [size]) if size not in pair.b.params else ""
    return " · ".join(filter(None, (kernel, place, selection.levels(pair.b, names), alone, state)))


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


def _uncompared(compared: Compared, page: Screen) -> None:
    reasons = selection.grouped(compared.uncompared.items(), lambda item: item[1])
    if reasons:
        page.say()
    for reason, items in reasons.items():
        more = f" and {len(items) - 1} more" if len(items) > 1 else ""
        page.say(f"Not compared: {items[0][0]}{more}: {reason}")


def _notes(compared: Compared, chosen: Sequence[ComparedPair], page: Screen, *, whole: bool) -> None:
    """How to read the tables, and how to see rows that were not shown."""
    lines, imported = [], verdicts.are_imported(chosen)
    if not imported:
        basis = "Mann-Whitney over launches" if compared.base else "signed rank over pairs in a block"
        lines.append(
            f"[a, b]: 95 % interval ({basis}); a to b: a range, which claims nothing. Margin 1 % or more."
        )
    if tested := sum(pair.comparison.adjusted_p is not None for pair in chosen):
        lines.append(f"Claims hold among all {tested:,} comparisons (Benjamini-Yekutieli, 5 %): p is adjusted.")
    if compared.base and not imported:
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
    return f"assay compare {runs}{across}{''.join(f' --allow {kind}' for kind in compared.allowed)}"
