"""A repeated publication in words: its conclusions with figures and verdicts, and its figures beside the run's."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from assay.analyse.evidence import CONFIDENT
from assay.catalogue import benchmarks
from assay.model import places, roles
from assay.model.conclusion import Assumption, Choice, Conclusion, Judged, Truth
from assay.model.derivation import Derivation
from assay.model.flaw import Flaw
from assay.model.grouping import grouped
from assay.model.imported import RANGE_END, UNSTATED
from assay.model.quantity import Quantity, exact
from assay.model.repetition import RepeatedRow, Repetition, Standing
from assay.model.run import Run
from assay.model.text import Text, commands, filled, joined, text
from assay.model.units import format_size
from assay.report import formatting, printed, remedies
from assay.report.section import Table, headings, trimmed
from assay.report.vocabulary import known

#: Marks of the verdicts.
MARKS: dict[Truth, str] = {"holds": "✓", "does not hold": "✕", "cannot be told": "?"}
WORDS: dict[Truth, Text] = {
    "holds": text("holds"),
    "does not hold": text("does not hold"),
    "cannot be told": text("cannot be told"),
}
_TITLES: dict[Truth, Text] = {
    "holds": text("{count} holds|{count} hold"),
    "does not hold": text("{count} does not hold|{count} do not hold"),
    "cannot be told": text("{count} cannot be told|{count} cannot be told"),
}
#: Conclusions that do not hold come first: they say where this machine differs.
ORDER: tuple[Truth, ...] = ("does not hold", "cannot be told", "holds")
STANDINGS: dict[Standing, Text | str] = {
    "": "",
    "as published": text("as published"),
    "better": text("better"),
    "worse": text("worse"),
    "elsewhere": text("elsewhere"),
    "open": text("cannot be told"),
    "few": text("no interval"),
}
#: Why figures are not to be used, beside what rests on them.
FLAWS: dict[Flaw, Text] = {
    "misplaced": text("do not use: not of the cpus asked"),
    "misnamed": text("do not use: the figures are not what they are called"),
    "disturbed": text("do not use: disturbed"),
}
#: Doubts that no command on this machine removes.
_ELSEWHERE = frozenset(("machine", "program", "unprinted"))
_ENDS = {"low": text("lower end"), "high": text("upper end")}
_NODES, _USUAL_MEMORY = "nodes", "first-touch"
#: A publication names MPIs of its own, which no other site has by these names.
_MPIS = text("(your site gives the names after --mpi: assay list mpis)")
#: The commands of a publication name its usual level first, which need not be that of the site.
_USUAL = text("(name your usual level first: it is set again at the end)")
#: Figures without an interval that differ by a smaller factor are not worth a sentence; at most so many are.
_APART, _SENTENCES = 1.25, 4
_ASSUMED: dict[Assumption, Text] = {
    "figure": text("A figure without an uncertainty is met within 5 %."),
    "about": text("“About” is met within 10 %."),
    "fraction": text("A simple fraction in words, such as a third, is met within 20 %."),
    "same": text("“Hardly differs” means 2 % at most."),
    "rounded": text("A rounded number is met within half of its last digit."),
    "bound": text("A bound is as printed."),
    "order": text("Of two, the larger one exceeds the other by more than 1 %."),
    "greatly": text("“Greatly” or “much” means a factor of 1.5 or more."),
}


def counted(found: Repetition) -> Text:
    """How many conclusions hold: `31 conclusions of leo: 9 hold, 17 do not hold, 5 cannot be told.`.

    Of a publication itself, numbers that it prints alone are counted apart: they have no figures to be judged by.
    Those on figures that are not to be used are told after the others.
    """
    truths = [each.truth for each in found.conclusions]
    subject = text(
        "{count} conclusion of {source}|{count} conclusions of {source}", count=len(truths), source=found.label
    )
    counts = [filled(_TITLES[each], {"count": truths.count(each)}) for each in WORDS]
    if not found.rows:
        alone = sum(each.is_stated for each in found.conclusions)
        held = truths.count("holds") - alone
        counts[:1] = (
            text("{count} holds by its figures|{count} hold by its figures", count=held),
            text("{count} is printed without figures|{count} are printed without figures", count=alone),
        )
    told = text("{conclusions}: {counts}.", conclusions=subject, counts=joined(", ", counts))
    unusable = sum(bool(each.flaw) for each in found.conclusions)
    return joined(" ", (told, text("Do not use {count} of these.", count=unusable))) if unusable else told


def of_truth(found: Repetition, truth: Truth) -> tuple[Judged, ...]:
    """Return those with this verdict: comparisons before single figures, what a command decides before others."""

    def order(each: Judged) -> tuple[bool, bool]:
        return each.doubt in _ELSEWHERE, each.conclusion.quantity.operation == "value"

    return tuple(sorted((each for each in found.conclusions if each.truth == truth), key=order))


def verdict(judged: Judged) -> str:
    """Its verdict in words, with the flaw of the figures that it rests on: `✓ holds (disturbed)`."""
    held = text("{mark} {verdict}", mark=MARKS[judged.truth], verdict=WORDS[judged.truth])
    return flawed(held, judged.flaw)


def flawed(said: str, flaw: Flaw) -> str:
    """The words, with why the figures that they rest on are not to be used."""
    return text("{value} ({basis})", value=said, basis=FLAWS[flaw]) if flaw else said


def says(judged: Judged) -> str:
    """The sentence of the authors; it is a quotation and stays as it was recorded."""
    sentence = judged.conclusion.says
    return f"{sentence[:1].upper()}{sentence[1:]}"


def figures(judged: Judged) -> str:
    """The quantity of the run beside what is published: `12.3 [12.1, 12.4] here`; empty without one."""
    here, number = ours(judged), theirs(judged)
    if not here:
        return ""
    if at := chosen(judged):
        here = text("{value} ({basis})", value=here, basis=at)
    if judged.conclusion.stated or not number:
        return text("{here} here", here=here)
    return text("{here} here, {published} published", here=here, published=number)


def chosen(judged: Judged) -> str:
    """Where the figures of the run were the best, or the largest: `64 KiB`, `1 MiB against 64 KiB`; else empty."""
    # First touch is a choice where the other side has another one.
    has_memory = any(each.memory not in {"", _USUAL_MEMORY} for each in judged.choices)
    words = [_place(each, has_memory=has_memory) for each in judged.choices]
    several = len({each.benchmark for each in judged.choices}) > 1
    both = [] if several else words[1:]
    shared = [word for word in words[0] if all(word in each for each in both)] if both else []
    apart = []
    for each, own in zip(judged.choices, words, strict=True):
        alone = joined(", ", (word for word in own if word not in shared))
        apart.append(f"{each.benchmark} {alone}" if several and alone else alone)
    different = list(dict.fromkeys(filter(None, apart)))
    if len(different) > 1:
        different = [text("{a} against {b}", a=different[0], b=different[1])]
    return joined(", ", (*different, *shared))


def _place(choice: Choice, *, has_memory: bool) -> list[str]:
    """What tells a figure from others, word by word."""
    units = benchmarks.of(choice.benchmark).units
    axes = (
        text("{count} node|{count} nodes", count=int(value))
        if name == _NODES
        else formatting.setting(name, value, units.get(name, ""))
        for name, value in choice.params.items()
    )
    levels = (f"{name} {level}" for name, level in choice.factors.items())
    place = places.cores(choice.placement) if choice.placement else ""
    memory = choice.memory if has_memory else ""
    return [each for each in (place, memory, *axes, *levels, *choice.hosts) if each]


def why(judged: Judged) -> str:
    """Why it does not hold, or cannot be told; empty if it holds."""
    if judged.fails:
        return text("It needs {region}.", region=region(judged))
    if judged.doubt == "straddles":
        partly = text("It needs {region}; the interval is partly there.", region=region(judged))
        return joined(" ", (partly, formatting.sentence(judged.detail)))
    if judged.doubt == "unprinted":
        return text("The source prints no figure for it.")
    if judged.is_stated and judged.quantity is None and not judged.doubt:
        return text("The source prints this number alone, not the figures from which it follows.")
    return formatting.sentence(judged.detail)


def region(judged: Judged) -> Text:
    """Where the quantity must lie: `25.2 to 30.8`, `28 or more`, `3 or less`."""
    rule = judged.conclusion
    ends = [rule.region.least, rule.region.most]
    if rule.quantity.printed == "loss":
        ends.reverse()
    least, most = ("" if end is None else _in_unit(exact(end), rule) for end in ends)
    if least and most:
        return text("{least} to {most}", least=least, most=most)
    return text("{least} or more", least=least) if least else text("{most} or less", most=most)


def ours(judged: Judged) -> str:
    """The quantity of the run, with its interval, in the unit as printed; empty without one."""
    return _in_unit(judged.quantity, judged.conclusion) if judged.quantity else ""


def theirs(judged: Judged) -> str:
    """The number that the authors print, else what follows from their figures; empty without both."""
    rule = judged.conclusion
    if rule.stated or judged.printed is None or judged.is_stated:
        return printed.number(rule.stated, rule.unit, is_ratio=rule.quantity.is_ratio)
    return _in_unit(judged.printed, rule)


def _in_unit(figure: Quantity, rule: Conclusion) -> str:
    return printed.in_unit(figure, rule.unit, rule.quantity.printed, is_ratio=rule.quantity.is_ratio)


class Line(msgspec.Struct, frozen=True):
    """A conclusion on the first page.

    Attributes:
        says: the sentence.
        figures: of the run and of the publication.
        why: reason and command.
        flaw: why the figures of the run are not to be used, in words; empty if they can be.
    """

    says: str
    figures: str
    why: str
    flaw: str


class Group(msgspec.Struct, frozen=True):
    """Conclusions with one verdict, for the first page."""

    truth: Truth
    mark: str
    title: Text
    lines: tuple[Line, ...]


class Glance(msgspec.Struct, frozen=True):
    """The first page of a repetition: how many conclusions hold, and which do not and why."""

    counted: Text
    groups: tuple[Group, ...]


def glance(found: Repetition | None, runs: Sequence[Run]) -> Glance | None:
    """Return the conclusions for the first page; None if there are none. Commands get the options of runs."""
    if found is None or not found.conclusions:
        return None
    groups = (_group(truth, of_truth(found, truth), runs) for truth in ORDER)
    return Glance(counted(found), tuple(group for group in groups if group.lines))


def _group(truth: Truth, members: Sequence[Judged], runs: Sequence[Run]) -> Group:
    known = set[str]()
    lines = []
    for each in members:
        command = "" if each.command in known else decides(each, runs)
        known.add(each.command)
        flaw = FLAWS[each.flaw] if each.flaw else ""
        lines.append(Line(says(each), figures(each), joined(" ", (why(each), command)), flaw))
    return Group(truth, MARKS[truth], filled(_TITLES[truth], {"count": len(members)}), tuple(lines))


def decides(judged: Judged, runs: Iterable[Run]) -> str:
    """Return the command that decides it, with the options of the run that it names; empty without one."""
    run = next((each for each in runs if each.info.id == judged.run), None)
    return offered(judged.command, run, _needed(judged.conclusion.quantity)) if run else judged.command


def _needed(quantity: Derivation) -> dict[str, str]:
    """Axis of a benchmark -> value that its figures have; empty for an axis of which several are needed."""
    found: dict[str, str] = {}
    for operand in quantity.operands:
        several = dict.fromkeys(filter(None, (quantity.along, operand.take)), "")
        values = {axis: str(value) for axis, value in operand.params.items()}
        found |= {f"{operand.benchmark}.{axis}": value for axis, value in (several | values).items()}
    return found


def reason(row: RepeatedRow, run: Run) -> str:
    """Return why the run has no such figure, with a command that has its options; empty if it has one."""
    return offered(row.reason, run)


def offered(said: str, run: Run, needed: Mapping[str, str] = {}) -> str:
    """Return the words with the options of the run in their command, and whose names it has."""
    typed = remedies.typed(said, run, (), needed)
    has_mpis = any("--mpi" in each.options for each in commands(said))
    sets = any(":" in option and "|" in option for each in commands(said) for option in each.options)
    return joined(" ", (typed, *[_MPIS] * has_mpis, *[_USUAL] * sets)) if has_mpis or sets else typed


def conclusions(found: Repetition, runs: Sequence[Run]) -> Table:
    """Make a row for each conclusion: the authors' figure, ours, how they compare, and whether it holds.

    Args:
        found: the publication, judged.
        runs: that judge it; commands get their options.
    """
    rows = tuple(
        (
            f"{each.conclusion.says} ({each.conclusion.where})",
            theirs(each),
            ours(each),
            chosen(each),
            printed.compared(each.agreement, each.conclusion.unit),
            verdict(each),
            joined(" ", (why(each), decides(each, runs))),
        )
        for truth in ORDER
        for each in of_truth(found, truth)
    )
    columns = headings("The authors say", "Published", "Here", "Measured at", "Compared", "Verdict", "Why")
    caption = text("Conclusions of {source}", source=found.label)
    table = Table(caption, columns, rows, frozenset({1, 2, 4}), note=_assumed(found), recorded=True, first=True)
    return trimmed(table, {1, 2, 3, 4, 6})


def _assumed(found: Repetition) -> str:
    """What the regions assume."""
    used = dict.fromkeys(each.conclusion.assumes for each in found.conclusions)
    return joined(
        " ",
        (
            text("Authors state no uncertainty. These are assumptions of Assay."),
            *(_ASSUMED[each] for each in used),
        ),
    )


def rows(found: Repetition, run: Run) -> Iterator[Table]:
    """Make tables of the published figures with ours, one for each quantity, and one of those without ours."""
    columns = headings("What", "Published", "Here", "Compared", "Standing", "Conclusion")
    for title, members in grouped((row for row in found.rows if row.ours), _title).items():
        cells = tuple((_named(each), *_cells(each), _concluded(each, found)) for each in members)
        yield trimmed(Table(title, columns, cells, frozenset({1, 2, 3}), recorded=True), {5})
    without = tuple(
        (text("{title}, {figure}", title=_title(row), figure=_named(row)), _published(row), reason(row, run))
        for row in found.rows
        if not row.ours
    )
    if without:
        caption = text("Published figures without one of this run")
        yield Table(caption, headings("What", "Published", "Why"), without, frozenset({1}), recorded=True)


def undecided(found: Repetition) -> str:
    """Say of each quantity which figure is farthest from the published one, if too few launches prove nothing."""
    apart = [row for row in found.rows if row.standing == "few" and row.ours and _factor(row) > _APART]
    widest = (max(of, key=_factor) for of in grouped(apart, _title).values())
    return joined(" ", [_unproven(row) for row in sorted(widest, key=_factor, reverse=True)[:_SENTENCES]])


def _unproven(row: RepeatedRow) -> str:
    """What was seen, and what is missing."""
    seen = text(
        "{title}, {figure}: {here} here, {published} published ({compared}).",
        title=_title(row),
        figure=_what(row),
        here=_ours(row),
        published=_published(row),
        compared=printed.compared(row.agreement, row.unit),
    )
    more = CONFIDENT - row.launches
    if more <= 0:
        return seen
    few = text("{count} launch gives no interval|{count} launches give no interval", count=row.launches)
    decide = text("{count} more decides|{count} more decide", count=more)
    return joined(" ", (seen, text("Not certain: {few}; {decide}.", few=few, decide=decide)))


def _factor(row: RepeatedRow) -> float:
    """By what factor both differ, 1 or more; 1 for what has no ratio."""
    apart = row.agreement.apart if row.agreement and row.agreement.scale == "ratio" else None
    return max(apart.value, 1 / apart.value) if apart and apart.value > 0 else 1.0


def _title(row: RepeatedRow) -> str:
    return text("{title}: {metric}", title=known(benchmarks.of(row.benchmark).title), metric=known(row.metric))


def _what(row: RepeatedRow) -> str:
    """The figure in words: its place, its axes, its levels."""
    sized = roles.axis(benchmarks.of(row.benchmark), "message-size")
    axes = [_setting(name, value, sized) for name, value in row.params.items() if name != RANGE_END]
    ends = [_ENDS[str(row.params[RANGE_END])]] if RANGE_END in row.params else []
    levels = [f"{name} {level}" for name, level in row.factors.items()]
    place = "" if row.placement == UNSTATED else places.cores(row.placement)
    memory = "" if row.memory == "first-touch" else row.memory
    return joined(", ", (place, memory, *axes, *levels, *ends)) or row.kernel


def _named(row: RepeatedRow) -> str:
    """The same with what the source says of its number: `one core, n 10000 (less than)`."""
    return text("{value} ({basis})", value=_what(row), basis=row.remark) if row.remark else _what(row)


def _setting(name: str, value: float | str, sized: str) -> str:
    if name == sized and isinstance(value, int):
        return format_size(value)
    return places.cores(value) if isinstance(value, str) else f"{name} {value}"


def _cells(row: RepeatedRow) -> tuple[str, ...]:
    standing = flawed(STANDINGS[row.standing], row.flaw)
    return _published(row), _ours(row), printed.compared(row.agreement, row.unit), standing


def _published(row: RepeatedRow) -> str:
    return printed.number(row.printed, row.unit, is_ratio=row.is_ratio)


def _ours(row: RepeatedRow) -> str:
    return printed.in_unit(row.ours, row.unit, row.form, is_ratio=row.is_ratio) if row.ours else ""


def _concluded(row: RepeatedRow, found: Repetition) -> str:
    """The conclusions about a figure, each with the mark of its verdict."""
    about = (found.conclusions[at] for at in row.conclusions)
    return "; ".join(f"{MARKS[each.truth]} {each.conclusion.says}" for each in about)
