"""Comparisons in a terminal: how much differs, how sure that is, what else was not the same."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from assay.model.result import Compared, ComparedPair, Comparison
from assay.report import choose, words

#: Colours of the verdicts that deserve one.
_COLOURS = {"faster": "green", "slower": "red"}
_CONTROL = "control"
_PLAIN = str.maketrans({"µ": "u", "·": "-", "−": "-"})  # noqa: RUF001 (a minus sign)


def render(compared: Compared, console: Console, rows: int | None = None) -> None:
    """Print the comparisons.

    Args:
        compared: of one run, or of two.
        console: where.
        rows: most rows of a table, the largest differences; all where None.
    """
    if compared.base:
        console.print(f"{compared.run} against {compared.base} (base)", style="bold")
        _environments(compared, console)
    sides = [pair for pair in compared.pairs if pair.comparison.differ != _CONTROL]
    chosen = [pair for pair in sides if pair.comparison.varied or compared.base] or sides
    for pairs in _groups(chosen):
        _table(pairs, compared, console, rows)
    _resolution(compared, console)
    _uncompared(compared, console)
    _notes(compared, chosen, console)


def _groups(pairs: Iterable[ComparedPair]) -> list[list[ComparedPair]]:
    """Pairs of one benchmark that the same words tell apart."""
    groups: dict[tuple[str, ...], list[ComparedPair]] = {}
    for pair in pairs:
        each = pair.comparison
        groups.setdefault((each.differ, each.level, each.base, pair.a.benchmark), []).append(pair)
    return list(groups.values())


def _environments(compared: Compared, console: Console) -> None:
    if not compared.differences:
        console.print("Machine, builds and settings are the same.")
        return
    table = _grid(("not the same", "left"), ("base", "left"), ("this run", "left"))
    for each in compared.differences:
        mark = " *" if each.kind in {compared.across, *compared.allowed} else ""
        _row(table, console, f"{each.name}{mark}", each.b, each.a)
    console.print(Padding(table, (1, 0, 0, 2), expand=False))
    if compared.across or compared.allowed:
        console.print("  * declared by --across or --allow", style="dim")


def _table(pairs: Sequence[ComparedPair], compared: Compared, console: Console, rows: int | None) -> None:
    first = pairs[0].comparison
    heading = choose.title(pairs[0].a.benchmark)
    if not compared.base or compared.across:
        heading += f": {first.differ} {first.level} against {first.base} (base)"
    console.print()
    console.print(Text(_ascii(heading, console), style="bold"))
    table = _grid(
        ("what", "left"), ("base", "right"), ("change", "right"), ("interval", "right"), ("verdict", "left")
    )
    shown = pairs
    if rows is not None and len(pairs) > rows:
        largest = sorted(pairs, key=lambda pair: -abs(pair.comparison.ratio - 1))[:rows]
        shown = [pair for pair in pairs if pair in largest]
    names = [name for name in choose.varied([pair.b for pair in pairs]) if name != first.differ]
    for pair in shown:
        figure = words.shown(pair.b)
        base = f"{figure.value} {figure.unit}" if figure else ""
        verdict = pair.comparison.verdict
        colour = _COLOURS.get(verdict, "")
        cells = (_what(pair, names), base, *_change(pair.comparison))
        _row(table, console, *cells, Text(verdict, style=colour))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))
    if len(shown) < len(pairs):
        console.print(f"  {len(pairs) - len(shown)} more: assay compare {compared.run}", style="dim")


def _what(pair: ComparedPair, names: Sequence[str]) -> str:
    settings = choose.levels(pair.b, names)
    return " · ".join(filter(None, (pair.a.kernel, words.placed(pair.b), settings, pair.comparison.state)))


def _change(comparison: Comparison) -> tuple[str, str]:
    """Change and its interval in percent of the base; a range is written `a to b`."""
    change, lo, hi = (_percent(end) for end in (comparison.ratio, comparison.lo, comparison.hi))
    return f"{change} %", f"[{lo}, {hi}]" if comparison.confidence else f"{lo} to {hi}"


def _percent(ratio: float) -> str:
    value = 100 * (ratio - 1)
    return f"{value:+.1f}" if abs(value) < 100 else f"{value:+.0f}"  # noqa: PLR2004 (three digits are enough)


def _resolution(compared: Compared, console: Console) -> None:
    """What A against A showed, which is the floor of every claim."""
    controls = [pair.comparison for pair in compared.pairs if pair.comparison.differ == _CONTROL]
    known = sorted(pair.comparison.resolution for pair in compared.pairs if pair.comparison.resolution is not None)
    if not known:
        return
    middle, most = known[len(known) // 2], known[-1]
    console.print()
    console.print(
        f"A against A: this machine cannot tell apart less than {words.percent(middle)} (the median case; "
        f"{words.percent(most)} in the worst). No smaller difference is claimed."
    )
    differing = [each for each in controls if each.verdict in _COLOURS]
    if differing:
        console.print(
            f"Beware: {len(differing)} of {len(controls)} controls differ from themselves, e.g. {differing[0].b}.",
            style="yellow",
        )


def _uncompared(compared: Compared, console: Console) -> None:
    reasons = list(compared.uncompared.values())
    if reasons:
        console.print()
    for reason in dict.fromkeys(reasons):
        names = [name for name, why in compared.uncompared.items() if why == reason]
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        console.print(_ascii(f"Not compared: {names[0]}{more}: {reason}", console))


def _notes(compared: Compared, shown: Sequence[ComparedPair], console: Console) -> None:
    """How to read the tables, and what the open questions need."""
    told = [pair.comparison for pair in shown]
    basis = "Mann-Whitney over launches" if compared.base else "signed rank over blocks"
    lines = [f"[a, b]: 95 % interval ({basis}); a to b: a range, which claims nothing. Margin 1 % or more."]
    if any(each.adjusted_p is not None for each in told):
        lines.append(f"Claims hold among all {len(told)} comparisons (Benjamini-Yekutieli, 5 %).")
    finds = sorted(each.detectable for each in told if each.verdict == "inconclusive" and each.detectable)
    if finds:
        lines.append(
            f"Inconclusive: differences of {words.percent(finds[0])} to {words.percent(finds[-1])} would have "
            "been found four times in five. More launches find less."
        )
    if any(each.confidence is None for each in told):
        lines.append("Ranges need more launches: 6 blocks in one run, or 4 launches in each of two.")
    if compared.base:
        lines.append("Two runs are two times: what else changed in between is part of these differences.")
    console.print()
    for line in lines:
        console.print(line, style="dim")


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
