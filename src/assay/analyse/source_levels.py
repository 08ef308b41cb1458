"""Levels of factors of a publication, and what has the same level in a run, whatever it is called there."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from assay.analyse.estimates import Measured
from assay.model.imported import UNSTATED, StatedFactor
from assay.model.machine import device_of
from assay.model.measurands import network_of
from assay.model.plan import Factor
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import Command, Text, cli, filled, joined, listed, text

#: (factor, level) of a source -> (factor, level) of a run.
Own = Mapping[tuple[str, str], tuple[str, str]]
#: In a command of a source: the interface of the network, which differs from system to system.
_DEVICE = "DEVICE"
_NAMED = re.compile(rf"\b{_DEVICE}\b")


def stated(source: Run) -> Mapping[str, StatedFactor]:
    """Return the factors of a publication of which it says what it had where it varied nothing."""
    return source.imported.factors if source.imported else {}


def own(source: Run, run: Run) -> Own:
    """Return the levels that a run has of the factors that a publication states."""
    factors = stated(source).items()
    return {(name, level): pair for name, each in factors for level, pair in _own(name, each, run).items()}


def has(source: Run, run: Run, name: str, level: str) -> bool:
    """Whether a run has a level: it varied it, states it, or has nothing of the factor and the level is usual.

    Of a factor without levels of its own, the largest and the smallest, it has both if it varied any two.
    """
    factor = stated(source)[name]
    if not factor.levels:
        varied = _of_run(name, factor, run)
        return isinstance(varied, Factor) and len(varied.levels) > 1
    is_usual = level in {factor.default, UNSTATED}
    return (name, level) in own(source, run) or (is_usual and _of_run(name, factor, run) is None)


def lacking(source: Run, run: Run, name: str, levels: Sequence[str]) -> tuple[Text, Command]:
    """Return what a run needs for levels of a factor that it lacks, and the command that measures them."""
    factor, study = stated(source)[name], f"like:{source.info.id}"
    word = next((level for level in levels if level != factor.default), factor.default)
    words = {"factor": name, "levels": listed(levels)}
    needs = text("it needs {factor} {levels}")
    if not factor.levels:
        needs = text("it needs two levels of {factor}")
    elif _of_run(name, factor, run) is not None and not _own(name, factor, run):
        known = listed([each for level in levels for each in factor.words(level)])
        needs = text("it needs {factor} {levels}, and no level of this run has a word for it ({known})")
        words |= {"known": known}
    if factor.mpis and not all(map(factor.is_set, levels)):
        mpis = (factor.mpis[level] for level in dict.fromkeys((factor.default, *levels)))
        command = cli("run", study, *(each for mpi in mpis for each in ("--mpi", mpi)))
    elif factor.vary:
        command = cli("run", study, "--vary", _NAMED.sub(_interface(run), factor.vary))
    else:
        command = cli("run", study, "--level", f"{name}={factor.words(word)[0]}")
    why = filled(needs, words)
    return (why if factor.vary or factor.mpis else joined("; ", (why, text("this needs a reboot")))), command


def _interface(run: Run) -> str:
    """The interface to which a command refers: of the network of a run, of several the fastest; else `DEVICE`.

    A source names the network of a row only if it is not its fastest one.
    """
    varied = next((each.devices for each in run.plan.factors if each.kind == "network"), {})
    devices = varied or {run.plan.network: run.plan.network}
    rates = [(network_of(run, device, level)[1], device) for level, device in devices.items()]
    fastest = [device for rate, device in rates if rate == max(rates)[0]]
    name = device_of(fastest[0]) if len(fastest) == 1 else ""
    card = next(iter(run.machines.values())).network_device(name) if name and run.machines else None
    return name if card and card.kind == "network" else _DEVICE


def refusal(printed: Estimate, source: Run, run: Run) -> str:
    """Return why a run cannot be compared at the levels of a printed figure, and what to vary; empty if it can.

    Those of a figure that follows from others are the levels of these.
    """
    operands = printed.derivation.operands if printed.derivation else ()
    levels = [*printed.factors.items(), *(each for operand in operands for each in operand.factors.items())]
    for name in stated(source):
        wanted = list(dict.fromkeys(level for factor, level in levels if factor == name))
        if not all(has(source, run, name, level) for level in wanted):
            why, command = lacking(source, run, name, wanted)
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


def _own(name: str, factor: StatedFactor, run: Run) -> dict[str, tuple[str, str]]:
    """Level of a source -> (factor, level) of a run with a word for it; one of a run is of one of the source."""
    found = _of_run(name, factor, run)
    if found is None:
        return {}
    if isinstance(found, str):
        said = {run.plan.levels[found]: run.plan.levels[found]}
    else:
        said = {
            level: f"{level} {found.prefixes.get(level, '')} {found.commands.get(level, '')}"
            for level in found.levels
        }
    of_run, met = found if isinstance(found, str) else found.name, dict[str, str]()
    ranked = sorted((at, level, word) for level in factor.levels for at, word in enumerate(factor.words(level)))
    for _, level, word in ranked:  # the best words of all levels first
        free = (mine for mine, about in said.items() if mine not in met.values() and _plain(word) in _plain(about))
        if level not in met and (mine := next(free, "")):
            met[level] = mine
    return {level: (of_run, met[level]) for level in factor.levels if level in met}


def _plain(words: str) -> str:
    """` idle set e `: whole words, so that one is found in others as a whole."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', words.lower()))} "
