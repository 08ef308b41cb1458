"""Comparisons in a terminal: what is claimed, how sure that is, why the rest claims nothing."""

from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.model.result import Compared, ComparedPair
from assay.report import choose, verdicts, words

#: Colours of the verdicts that deserve one.
_COLOURS = {"faster": "green", "slower": "red"}
_PLAIN = str.maketrans({"µ": "u", "·": "-", "−": "-", "×": "x", "“": '"', "”": '"'})  # noqa: RUF001
#: So many rows fit a screen: then all are shown.
_SCREEN = 24


def render(
    compared: Compared,
    console: Console,
    *,
    everything: bool = False,
    curves: Callable[[], bool] | None = None,
    floor: bool = True,
) -> None:
    """Print the comparisons: claims first, the others counted with their reasons.

    Args:
        compared: of one run, or of two.
        console: where.
        everything: a row for each comparison, also where they are more than fit a screen.
        curves: prints what curves of messages show, before the rows; whether it had words for it. Then tables of
            figures without samples, which claim nothing, are left for `everything` where they are many.
        floor: say what A against A showed; the terminal's report of the same run has said it already.
    """
    if compared.base:
        console.print(f"{compared.run} against {compared.base} (base)", style="bold")
        _environments(compared, console)
    in_words = curves() if curves else False
    sides = [pair for pair in compared.pairs if pair.comparison.differ != verdicts.CONTROL]
    chosen = [pair for pair in sides if pair.comparison.varied or compared.base] or sides
    whole = everything or len(chosen) <= _SCREEN
    groups = choose.grouped(chosen, _differ)
    if in_words and not everything and len(groups) > _SCREEN and verdicts.are_imported(chosen):
        _uncompared(compared, console)
        _rest(compared, chosen, console)
        return
    for pairs in groups.values():
        _group(pairs, compared, console, whole=whole)
    _resolution(compared, chosen if floor else (), console)
    _uncompared(compared, console)
    _notes(compared, chosen, console, whole=whole)


def _differ(pair: ComparedPair) -> tuple[str, str, str]:
    return pair.comparison.differ, pair.comparison.level, pair.comparison.base


def _environments(compared: Compared, console: Console) -> None:
    if not compared.differences:
        foreign = verdicts.are_imported(compared.pairs)  # of whom little is known
        same = "Nothing that both state differs." if foreign else "Machine, builds and settings are the same."
        console.print(same)
        return
    table = _grid(("not the same", "left"), ("base", "left"), ("this run", "left"))
    for each in compared.differences:
        mark = " *" if each.kind in {compared.across, *compared.allowed} else ""
        _row(table, console, f"{each.name}{mark}", each.b, each.a)
    console.print(Padding(table, (1, 0, 0, 2), expand=False))
    if compared.across or compared.allowed:
        console.print("  * declared by --across or --allow", style="dim")


def _group(pairs: Sequence[ComparedPair], compared: Compared, console: Console, *, whole: bool) -> None:
    """What the same two words tell apart: a table of claims, or of all; and why the rest is silent."""
    first = pairs[0].comparison
    figures = words.count(len(pairs), "figure", "figures")
    what = f"{first.differ} {first.level} against {first.base} (base), " if _is_named(compared) else ""
    heading = f"{what}{figures}: {verdicts.counted(pair.comparison for pair in pairs)}"
    console.print()
    console.print(Text(_ascii(heading, console), style="bold"))
    claims = [pair for pair in pairs if pair.comparison.verdict in verdicts.CLAIMS]
    shown = pairs if whole or verdicts.are_imported(pairs) else claims
    if not shown:
        shown = verdicts.nearest(pairs)
        largest = "; the largest differences that would be claims alone:" if shown else "."
        console.print(_ascii(f"  Nothing is claimed to be faster or slower{largest}", console))
    if shown:
        shown = sorted(shown, key=lambda pair: verdicts.rank(pair.comparison))
        _table(shown, _names(pairs), console, whole=whole)
    for reason, members in verdicts.silent(pairs).items():
        text = f"{len(members):,} inconclusive: {reason}."
        console.print(Padding(Text(_ascii(text, console), style="dim"), (0, 0, 0, 2), expand=False))


def _is_named(compared: Compared) -> bool:
    """Whether words tell the sides apart; two runs are named above."""
    return not compared.base or bool(compared.across)


def _names(pairs: Sequence[ComparedPair]) -> dict[str, list[str]]:
    """Benchmark -> axes and factors in which its figures differ, without what tells the two sides apart."""
    differ = pairs[0].comparison.differ
    return {
        name: [axis for axis in choose.varied([pair.b for pair in members]) if axis != differ]
        for name, members in choose.grouped(pairs, lambda pair: pair.a.benchmark).items()
    }


def _table(pairs: Sequence[ComparedPair], names: dict[str, list[str]], console: Console, *, whole: bool) -> None:
    paired = any(pair.comparison.blocks for pair in pairs)
    judged = any(pair.comparison.adjusted_p is not None for pair in pairs)
    table = _grid(
        ("what", "left"),
        ("base", "right"),
        ("change", "right"),
        ("interval", "right"),
        ("pairs" if paired else "launches", "right"),
        *([("adjusted p", "right")] if judged else []),
        ("verdict", "left"),
    )
    curves = choose.grouped(pairs, lambda pair: _curve(pair, names[pair.a.benchmark], whole=whole))
    for members in curves.values():
        cells = _single(members[0], names) if len(members) == 1 else _folded(members, names)
        verdict = members[0].comparison.verdict
        word = Text(verdict, style=_COLOURS.get(verdict, ""), no_wrap=True)
        _row(table, console, *(cells if judged else cells[:-1]), word)
    console.print(Padding(table, (0, 0, 0, 2), expand=False))


def _curve(pair: ComparedPair, names: Sequence[str], *, whole: bool) -> tuple[str, ...]:
    """What a row is of: a figure, or the points of a curve with the same verdict where not all rows are shown."""
    axis = choose.swept(pair.a.benchmark)
    if whole or axis not in pair.a.params:
        return (pair.comparison.id,)
    return (_what(pair, [name for name in names if name != axis]), pair.comparison.verdict)


def _single(pair: ComparedPair, names: dict[str, list[str]]) -> tuple[str, ...]:
    each, figure = pair.comparison, words.shown(pair.b)
    return (
        _what(pair, names[pair.a.benchmark]),
        f"{figure.value} {figure.unit}" if figure else "",
        words.change(each.ratio),
        verdicts.ends(each),
        verdicts.number(each),
        "" if each.adjusted_p is None else f"{each.adjusted_p:.2g}",
    )


def _folded(pairs: Sequence[ComparedPair], names: dict[str, list[str]]) -> tuple[str, ...]:
    """The points of a curve: from the least to the largest change, all their intervals, the fewest pairs."""
    benchmark = pairs[0].a.benchmark
    axis = choose.swept(benchmark)
    what = _what(pairs[0], [name for name in names[benchmark] if name != axis])
    told = [pair.comparison for pair in pairs]
    least, most = min(each.ratio for each in told), max(each.ratio for each in told)
    ends = verdicts.alone(told[0]) or words.changes(
        most, min(each.lo for each in told), max(each.hi for each in told), sure=True
    )
    return (
        f"{what}, {len(pairs)} points",
        "",
        words.changes(most, least, most, sure=False),
        ends,
        min((verdicts.number(each) for each in told), key=lambda number: (len(number), number)),
        f"{max(each.adjusted_p or 0.0 for each in told):.2g}",
    )


def _what(pair: ComparedPair, names: Sequence[str]) -> str:
    kernel = pair.a.kernel if pair.a.kernel == pair.a.benchmark else f"{pair.a.benchmark} {pair.a.kernel}"
    state = f"{pair.comparison.state} cores" if pair.comparison.state else ""
    place = words.placed(pair.b)
    return " · ".join(filter(None, (kernel, place, choose.levels(pair.b, names), state)))


def _resolution(compared: Compared, chosen: Sequence[ComparedPair], console: Console) -> None:
    """What A against A showed, and the differences that would have been found."""
    told = [pair.comparison for pair in chosen]
    controls = [pair.comparison for pair in compared.pairs if pair.comparison.differ == verdicts.CONTROL]
    lines = list(filter(None, (verdicts.resolution(told), verdicts.detectable(told))))
    differing = [each for each in controls if each.verdict in verdicts.CLAIMS]
    if lines or differing:
        console.print()
    for line in lines:
        console.print(_ascii(line, console))
    if differing:
        console.print(
            f"Beware: {len(differing)} of {len(controls)} controls differ from themselves, e.g. {differing[0].b}.",
            style="yellow",
        )


def _uncompared(compared: Compared, console: Console) -> None:
    reasons = choose.grouped(compared.uncompared.items(), lambda item: item[1])
    if reasons:
        console.print()
    for reason, items in reasons.items():
        more = f" and {len(items) - 1} more" if len(items) > 1 else ""
        console.print(_ascii(f"Not compared: {items[0][0]}{more}: {reason}", console))


def _notes(compared: Compared, chosen: Sequence[ComparedPair], console: Console, *, whole: bool) -> None:
    """How to read the tables, and what the open questions need."""
    console.print()
    for line in _lines(compared, chosen, whole=whole):
        console.print(_ascii(line, console), style="dim")


def _rest(compared: Compared, chosen: Sequence[ComparedPair], console: Console) -> None:
    """How to see the rows that were not shown."""
    console.print()
    line = f"A row for each of the {len(chosen):,} pairs of figures: {_command(compared)} --all"
    console.print(_ascii(line, console), style="dim")


def _command(compared: Compared) -> str:
    """What was typed."""
    runs = " ".join(filter(None, (compared.base, compared.run)))
    across = f" --across {compared.across}" if compared.across else ""
    return f"assay compare {runs}{across}{''.join(f' --allow {kind}' for kind in compared.allowed)}"


def _lines(compared: Compared, chosen: Sequence[ComparedPair], *, whole: bool) -> Iterable[str]:
    told = [pair.comparison for pair in chosen]
    basis = "Mann-Whitney over launches" if compared.base else "signed rank over pairs in a block"
    if not verdicts.are_imported(chosen):
        yield f"[a, b]: 95 % interval ({basis}); a to b: a range, which claims nothing. Margin 1 % or more."
    tested = sum(each.adjusted_p is not None for each in told)
    if tested:
        yield f"Claims hold among all {tested:,} comparisons (Benjamini-Yekutieli, 5 %): p is adjusted."
    if compared.base:
        yield "Two runs are two times: what else changed in between is part of these differences."
    if not whole:
        yield f"All {len(chosen):,} rows: {_command(compared)} --all"


def _grid(*columns: tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=True, header_style="dim")
    for column, justify in columns:
        table.add_column(column, justify=justify, overflow="fold")  # type: ignore[arg-type] # a literal
    return table


def _row(table: Table, console: Console, *cells: str | Text) -> None:
    table.add_row(*(cell if isinstance(cell, Text) else Text(_ascii(cell, console)) for cell in cells))


def _ascii(text: str, console: Console) -> str:
    """The text, in ASCII where the terminal knows no more."""
    if console.encoding.lower().startswith("utf"):
        return text
    return text.translate(_PLAIN).encode("ascii", "replace").decode()
