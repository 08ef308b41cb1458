"""Levels of factors of a publication, and what has the same level in a run, whatever it is called there."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from assay.analyse.estimates import Measured
from assay.model.imported import UNSTATED, StatedFactor
from assay.model.plan import Factor
from assay.model.run import Run
from assay.model.text import Command, Text, cli, listed, text

#: (factor, level) of a source -> (factor, level) of a run.
Own = Mapping[tuple[str, str], tuple[str, str]]
_TWO = 2


def stated(source: Run) -> Mapping[str, StatedFactor]:
    """Return the factors of a publication of which it says what it had where it varied nothing."""
    return source.imported.factors if source.imported else {}


def own(source: Run, run: Run) -> Own:
    """Return the levels that a run has of the factors that a publication states."""
    factors = stated(source).items()
    return {(name, level): pair for name, each in factors for level, pair in _own(name, each, run)}


def has(source: Run, run: Run, name: str, level: str) -> bool:
    """Whether a run has a level: it varied it, states it, or has nothing of the factor and the level is usual."""
    factor = stated(source)[name]
    is_usual = level in {factor.default, UNSTATED}
    return (name, level) in own(source, run) or (is_usual and _of_run(name, factor, run) is None)


def lacking(source: Run, name: str, levels: Sequence[str]) -> tuple[Text, Command]:
    """Return what a run needs for levels of a factor that it lacks, and the command that measures them."""
    factor, study = stated(source)[name], f"like:{source.info.id}"
    wanted = listed(levels)
    if factor.vary:
        return text("it needs {factor} {levels}", factor=name, levels=wanted), cli(
            "run", study, "--vary", factor.vary
        )
    word = next((level for level in levels if level != factor.default), factor.default)
    why = text("it needs {factor} {levels}, which needs a reboot", factor=name, levels=wanted)
    return why, cli("run", study, "--level", f"{name}={factor.words(word)[0]}")


def refusal(printed: Mapping[str, str], source: Run, run: Run) -> str:
    """Return why a run cannot be compared at the levels of a printed figure, and what to vary; empty if it can."""
    for name, level in printed.items():
        if name in stated(source) and not has(source, run, name, level):
            why, command = lacking(source, name, (level,))
            return text("{why}: {command}", why=why, command=command)
    return ""


def renamed(printed: Sequence[Measured], source: Run, run: Run, measured: Sequence[Measured]) -> list[Measured]:
    """Return printed figures with the levels of a run in their measurands; their own words stay beside them.

    Args:
        printed: figures of the source.
        source: that printed them.
        run: with which they are compared.
        measured: its figures.
    """
    found, factors = own(source, run), stated(source)
    if not found:
        return list(printed)
    known = {(level.factor, level.level): level for each in measured for level in each.estimate.measurand.levels}

    def of(each: Measured) -> Measured:
        measurand, levels = each.estimate.measurand, {}
        for level in measurand.levels:
            name = level.factor
            usual = factors[name].default if name in factors and level.level == UNSTATED else level.level
            mine = known.get(found.get((name, usual), ("", "")), level)
            levels[mine.factor] = mine
        changed = msgspec.structs.replace(measurand, levels=tuple(levels[name] for name in sorted(levels)))
        return msgspec.structs.replace(each, estimate=msgspec.structs.replace(each.estimate, measurand=changed))

    return [of(each) for each in printed]


def _of_run(name: str, factor: StatedFactor, run: Run) -> Factor | str | None:
    """The factor of a run that is one of a source: varied, or the name under which it states a level."""
    names = {each.casefold() for each in (name, *factor.also)}
    varied = next((each for each in run.plan.factors if each.name.casefold() in names), None)
    return varied or next((each for each in run.plan.levels if each.casefold() in names), None)


def _own(name: str, factor: StatedFactor, run: Run) -> Iterator[tuple[str, tuple[str, str]]]:
    found = _of_run(name, factor, run)
    if found is None:
        return
    if isinstance(found, str):
        level = run.plan.levels[found]
        yield from ((each, (found, level)) for each in factor.levels if _named(factor.words(each), {level: level}))
        return
    said = {
        level: f"{level} {found.prefixes.get(level, '')} {found.commands.get(level, '')}" for level in found.levels
    }
    met = {each: mine for each in factor.levels if (mine := _named(factor.words(each), said))}
    if not met and factor.default:  # names that say nothing: the usual level is the first of each
        others = [each for each in factor.levels if each != factor.default]
        met = {factor.default: found.levels[0]}
        met |= {others[0]: found.levels[1]} if len(factor.levels) == len(found.levels) == _TWO else {}
    yield from ((each, (found.name, mine)) for each, mine in met.items())


def _named(words: Sequence[str], said: Mapping[str, str]) -> str:
    """The level of a run whose name or command has the first of these words that any has; empty if none has."""
    for word in words:
        if mine := next((level for level, about in said.items() if _plain(word) in _plain(about)), ""):
            return mine
    return ""


def _plain(words: str) -> str:
    """` idle set e `: whole words, so that one is found in others as a whole."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', words.lower()))} "
