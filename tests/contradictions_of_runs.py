"""Finds what one run says against its own records: conclusions, rows, findings, remedies, cards.

As in `tests.contradictions`, each check takes the numbers from the record, never from the prose.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import chain

import click

from assay import references
from assay.analyse.evidence import CONFIDENT
from assay.cli import assay
from assay.model.conclusion import Judged
from assay.model.derivation import Derivation, as_printed
from assay.model.imported import RANGE_END
from assay.model.profile import Profile, ProfileFigure
from assay.model.quantity import Quantity
from assay.model.repetition import RepeatedRow, Repetition
from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.model.text import Command, commands
from assay.report import remedies, repetition, summary
from assay.topics.messages.limiting import REACHED

#: Rounding of numbers that follow from each other.
NEAR = 1e-6
#: What a verdict says of the region.
HOLDS = {"holds": True, "does not hold": False}
#: Options that can be given several times.
REPEATED = frozenset(("--vary", "--set", "--level", "--mpi", "--toolchain", "--sweep", "--folder"))
#: Kinds of limits that long messages are said to reach.
LIMITS = frozenset(("wire", "shaper", "slot", "given", "memory"))


def of_run(run: Run, analysis: Analysis) -> list[str]:
    """All contradictions in what a run says of itself and of the publication that it repeats."""
    found = analysis.repetition
    return [
        *(of_repetition(found, analysis) if found else ()),
        *chain.from_iterable(of_finding(each, analysis) for each in analysis.findings),
        *chain.from_iterable(of_profile(each, analysis) for each in analysis.profiles),
        *of_remedies(run, analysis),
    ]


def of_repetition(found: Repetition, analysis: Analysis) -> list[str]:
    """The contradictions in the conclusions and rows of a repeated publication."""
    judged = [line for each in found.conclusions for line in of_judged(each)]
    rows = [line for each in found.rows for line in of_row(each, found)]
    return [*judged, *rows, *_flaws(found, analysis), *_one_need(found)]


def _flaws(found: Repetition, analysis: Analysis) -> Iterator[str]:
    """The flaw of what rests on figures against these: noise is of the run, other cpus are of a figure."""
    proven = {each.id: each.placement.proven for each in analysis.estimates}
    resting = [
        *((one.of, one.flaw) for one in found.conclusions if one.of),
        *(((row.own,), row.flaw) for row in found.rows if row.own),
    ]
    for of, flaw in resting:
        if (flaw and not analysis.flaw) or (analysis.flaw == "disturbed" and flaw != "disturbed"):
            yield f"the run is '{analysis.flaw}', what rests on it is '{flaw}'"
        if proven.keys() >= {*of}:
            used = [one for one in map(proven.__getitem__, of) if one]
            if (flaw == "misplaced") == all(one.as_asked for one in used):
                yield f"what rests on {', '.join(of)} is '{flaw}'"


def of_judged(each: Judged) -> list[str]:
    """The verdict against the region and the interval; the choice against the operand."""
    figure = each.quantity or each.printed
    holds = each.conclusion.region.holds(figure) if figure else None
    lines = []
    if HOLDS.get(each.truth, holds) is not holds and not (each.quantity is None and each.doubt):
        lines.append(f"'{each.truth}' beside {figure}")
    if (each.truth == "cannot be told") != bool(each.doubt):
        lines.append(f"'{each.truth}' because of '{each.doubt}'")
    if each.doubt == "straddles" and (each.quantity is None or holds is not None):
        lines.append("'partly there' beside an interval that is not partly there")
    if each.doubt == "unmeasured" and each.quantity is not None:
        lines.append("a figure of what was not measured")
    if each.flaw and each.quantity is None:
        lines.append("a flaw of no figure")
    lines += _ordered(each.quantity)
    if each.agreement and each.agreement.scale == "ratio" and each.agreement.apart and each.quantity:
        value = each.conclusion.value or each.printed
        lines += _apart(each.agreement.apart, each.quantity, value) if value and not each.agreement.side else ()
    return [f"{why}: {each.conclusion.says}" for why in lines]


def of_row(row: RepeatedRow, found: Repetition) -> list[str]:
    """The standing against the interval, and the conclusions about a row against its figure."""
    lines = [*_ordered(row.ours)]
    if (row.ours is None) != bool(row.reason) or (row.ours is None) != (not row.standing):
        lines.append("a figure and a reason why there is none")
    if row.ours and row.standing == "few" and row.launches >= CONFIDENT and row.ours.has_interval:
        lines.append("'no interval' beside an interval")
    if row.ours and row.standing in {"better", "worse"}:
        ours, theirs = (as_printed(each, row.form) for each in (row.ours, row.theirs))
        is_more = (ours.value > theirs.value) != (row.form == "loss")
        if (row.standing == "better") != (is_more == (row.better == "higher")):
            lines.append(f"'{row.standing}' beside {ours} and {theirs}")
    if row.ours and row.agreement and row.agreement.apart and row.agreement.scale == "ratio" and row.figures == 1:
        lines += _apart(row.agreement.apart, as_printed(row.ours, row.form), as_printed(row.theirs, row.form))
    for at in row.conclusions:
        judged = found.conclusions[at]
        if row.own and row.own not in judged.of:
            lines.append(f"a conclusion about another figure, '{judged.conclusion.says}'")
        if not row.own and row.ours and judged.quantity and not _is_near(judged.quantity.value, row.ours.value):
            lines.append(f"another value than in the conclusion '{judged.conclusion.says}'")
    return [f"{why}: {row.where}, {row.metric} {row.params}" for why in lines]


def _one_need(found: Repetition) -> Iterator[str]:
    """A row and a conclusion about the same place on the same axis lack the same."""
    tables = references.get(found.reference).tables
    stated = {
        (table.where, figure.metric, _point(figure.params)): figure.derivation
        for table in tables
        for figure in table.figures
        if figure.derivation
    }
    for row in found.rows:
        derivation = stated.get((row.where, row.metric, _point(row.params)))
        for each in found.conclusions:
            if derivation and _is_one(derivation, each.conclusion.quantity):
                lacks = each.detail if each.quantity is None else ""
                if lacks != row.reason:
                    yield f"the row lacks '{row.reason}', the conclusion '{lacks}': {each.conclusion.says}"


def _point(params: dict[str, int | float | str]) -> frozenset[tuple[str, object]]:
    return frozenset(item for item in params.items() if item[0] != RANGE_END)


def _is_one(a: Derivation, b: Derivation) -> bool:
    """Whether both are the place on one axis at which the same is best."""
    return (
        a.operation == b.operation == "best at"
        and a.along == b.along
        and (a.a.benchmark, a.a.params) == (b.a.benchmark, b.a.params)
    )


def of_finding(each: Finding, analysis: Analysis) -> list[str]:
    """The statistic against the threshold, and the evidence against what the analysis has."""
    statistic, threshold = each.numbers.get("statistic"), each.numbers.get("threshold")
    lines = [line for number in each.numbers.values() for line in _ordered(number)]
    if statistic and threshold and statistic.unit != threshold.unit:
        lines.append("statistic and threshold in two units")
    if statistic and threshold and each.assessed and each.severity != "fact":
        if statistic.lo < threshold.value < statistic.hi:
            lines.append(f"'{each.severity}' although the threshold lies within the interval")
        if statistic.value == threshold.value and statistic.lo == statistic.hi and not each.evidence:
            lines.append(f"'{each.severity}' on the threshold itself")
    known = _ids(analysis)
    lines += [f"evidence that the run does not have, '{name}'" for name in each.evidence if name not in known]
    pairs = {one.id: one for one in analysis.comparisons}
    for pair in (pairs[name] for name in each.evidence if name in pairs):
        if statistic and _is_near(statistic.value, pair.ratio) and not pair.lo <= statistic.value <= pair.hi:
            lines.append("a ratio beyond the ends of its comparison")
    return [f"{why}: {each.id}" for why in lines]


def _ids(analysis: Analysis) -> set[str]:
    figures = chain(analysis.estimates, analysis.members)
    return {
        *(each.id for each in figures),
        *(each.id for each in analysis.models),
        *(each.id for each in analysis.comparisons),
    }


def of_profile(each: Profile, analysis: Analysis) -> list[str]:
    """The figures of a card against each other, and against the limit that it names."""
    figures = {
        name: one for name in each.__struct_fields__ if isinstance(one := getattr(each, name), ProfileFigure)
    }
    lines = [line for one in figures.values() for line in _ordered(one.value)]
    known = _ids(analysis)
    lines += [f"'{name}' is of nothing" for name, one in figures.items() if not known.issuperset(one.of)]
    if each.rate and each.ceiling and each.share:
        if not _is_near(each.share.value.value, each.rate.value.value / each.ceiling.value):
            lines.append("the share is not that of the rate and its limit")
        if each.limited_by in LIMITS and each.share.value.hi < REACHED:
            lines.append(f"'{each.limited_by}' limits what does not reach it")
    if each.limited_by in LIMITS and not (each.share and each.ceiling):
        lines.append(f"'{each.limited_by}' limits, and there is no share of it")
    if (
        each.limited_by == "mpi"
        and each.tcp_share
        and each.share
        and each.tcp_share.value.hi < each.share.value.lo
    ):
        lines.append("the MPI limits, and is faster than sockets")
    if (
        each.pairs_rate
        and each.rate
        and each.limited_by == "one-pair"
        and each.pairs_rate.value.lo <= each.rate.value.hi
    ):
        lines.append("one pair limits, and more pairs get no more")
    if each.alone and each.small and not _is_near(each.alone.value.value * each.small.value.value, 1.0):
        lines.append("messages per second are not those of the time of one")
    if each.jump and not (each.jump.value.value > 1 and 0 < each.jump_bytes[0] < each.jump_bytes[1]):
        lines.append("a step that is none")
    if (each.rate is None) != (each.limited_by == "not-measured"):
        lines.append("a limit of what was not measured")
    return [f"{why}: card {each.id}" for why in lines]


def of_remedies(run: Run, analysis: Analysis) -> list[str]:
    """The commands that a reader is offered: known options, none twice, none that is given already."""
    found = analysis.repetition
    offered = [
        *((each.id, remedies.typed(each.next, run)) for each in analysis.findings if each.next),
        *(
            (each.conclusion.says, repetition.decides(each, (run,)))
            for each in (found.conclusions if found else ())
        ),
        *((str(each.why), each.do) for each in summary.summary(run, analysis).next),
    ]
    lines = [f"{why}: {of}" for of, said in offered for one in commands(said) for why in of_command(one, run)]
    return [*lines, *(line for each in (found.conclusions if found else ()) for line in _no_more(each, run))]


def _no_more(each: Judged, run: Run) -> Iterator[str]:
    """A command for more launches that asks for no more; one of a single solution asks for its size."""
    for asked in commands(each.command) if each.doubt in {"launches", "straddles"} else ():
        launches = [int(_value(asked.options, at)) for at in _places(asked.options, "--launches")]
        if launches and max(launches) <= run.plan.launches and not _places(asked.options, "--set"):
            yield f"'{asked}' asks for no more launches than the run has: {each.conclusion.says}"


def of_command(asked: Command, run: Run) -> Iterator[str]:
    """What is wrong with a command beside the run that offers it."""
    names = [word.partition("=")[0] for word in asked.options if word.startswith("-")]
    verb = "run" if asked.verb == "resume" else asked.verb
    known = set(chain.from_iterable(each.opts for each in _options(verb)))
    yield from (f"'{asked}' has an option '{name}' that does not exist" for name in names if name not in known)
    twice = {name for name in names if names.count(name) > 1} - REPEATED
    yield from (f"'{asked}' has '{name}' twice" for name in twice)
    is_complete = run.ending is not None and run.ending.status == "complete"
    if asked.verb == "resume" and is_complete and "--confirm" not in names:
        yield f"'{asked}' resumes a run that is complete"
    if asked.verb != "run" or asked.subject.removesuffix(".toml").rpartition("/")[2] != run.info.study:
        return
    varied = [_value(asked.options, at).partition("=")[0] for at in _places(asked.options, "--vary")]
    yield from (f"'{asked}' varies '{name}' twice" for name in {*varied} if varied.count(name) > 1)
    given = {f"{name}={level}" for name, level in run.plan.levels.items()}
    asked_levels = [_value(asked.options, at) for at in _places(asked.options, "--level")]
    kept = set(_words(run.info.command, "--level"))
    if asked_levels and {*asked_levels} <= given and not kept:
        yield f"'{asked}' asks for the level that the run has"


def _options(verb: str) -> list[click.Parameter]:
    command = assay.get_command(click.Context(assay), verb)
    assert command
    return command.params


def _places(options: Iterable[str], name: str) -> list[int]:
    return [at for at, word in enumerate(options) if word.partition("=")[0] == name]


def _value(options: tuple[str, ...], at: int) -> str:
    word = options[at]
    return word.partition("=")[2] if "=" in word and word.startswith("--") else options[at + 1]


def _words(command: tuple[str, ...], name: str) -> Iterator[str]:
    return (_value(tuple(command), at) for at in _places(command, name))


def _ordered(figure: Quantity | None) -> list[str]:
    if figure is None or not figure.has_ends or figure.lo <= figure.value <= figure.hi:
        return []
    return [f"a value beyond its ends, {figure}"]


def _apart(apart: Quantity, ours: Quantity, theirs: Quantity) -> list[str]:
    """A ratio that is not that of the two values."""
    if not theirs.value or _is_near(apart.value, ours.value / theirs.value):
        return []
    return [f"the ratio {apart.value:.4g} is not that of {ours.value:.4g} and {theirs.value:.4g}"]


def _is_near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=NEAR)
