"""Factors: what a user varies on purpose, and its effect on measures, cases and launches."""

import itertools
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay import toolchain as toolchains
from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis
from assay.model.errors import UsageError, hint
from assay.model.measurand import NO_AXES
from assay.model.plan import Case, Factor, Measure, Study, split_levels
from assay.model.toolchain import Library
from assay.model.units import parse_size

MEMORY, TOOLCHAIN, FLAGS, MPI = "memory", "toolchain", "flags", "mpi"
_BUILT_IN = (MEMORY, TOOLCHAIN, FLAGS, MPI)
#: Keys of a table `[factor.NAME]`: a command before each launch, or words before the program.
_PREFIX = "prefix"
_KEYS = ("levels", _PREFIX)
#: Kinds of factors that apply to every program.
_AROUND = frozenset(("toolchain", "flags", "commands", "variable", "prefix"))
_FEWEST_LEVELS = 2
#: 5 blocks cannot give 95 % (docs/factors.md).
_FEWEST_BLOCKS = 6
#: More blocks are made only if the user asks for them.
_MOST_BLOCKS = 10
_HELP = "assay run STUDY --vary memory=first-touch,interleave"
#: `LEVEL:COMMAND`, of a command with further words or a path: `bind:0` is none. The name becomes one of a file.
_STATED = re.compile(r"[^:]+:\s*(?:/|\S+[\s/]).*")
_NAME = re.compile(r"[A-Za-z][\w.-]*")
#: What a shell would not give to the command as it is: operators, variables, names of files, lists, comments.
_OF_SHELL = re.compile(r"[|&;<>()\n]+|[$`*?]\w*|\[\S*?\]|\{\S*?(?:,|\.\.)\S*?\}|(?<!\S)[~#]\S*|^[A-Za-z_]\w*=")
#: Stands for an interface in commands that are printed.
_DEVICE = re.compile(r"\bDEVICE\b")
#: Behind a backslash or between quotes; a shell replaces variables between double quotes as well.
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
_IN_DOUBLE = re.compile(r"\\.|[^$`]", re.DOTALL)
#: Environment variables that can be varied, and the prefixes of those that only an MPI reads.
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Za-z0-9_]+")
_OF_MPI = ("OMPI_", "PMIX_", "PRTE_", "MPICH_", "MPIR_", "I_MPI_", "UCX_", "FI_")


def parse(
    requests: Sequence[str],
    study: Study,
    declared: Mapping[str, Any],
    libraries: Sequence[Library] = (),
) -> tuple[Factor, ...]:
    """The factors of `--vary NAME=LEVEL,LEVEL`, in the order given.

    Levels are separated by commas, or by `|` if the text contains one. A factor of the configuration without
    levels means all of its levels; `LEVEL:COMMAND` states a level and the command that sets it.

    Args:
        requests: as typed.
        study: study whose benchmarks have the axes.
        declared: the tables `[factor.NAME]` of the configuration.
        libraries: installed libraries of every role that the study needs.

    Raises:
        UsageError: no such factor, fewer than two levels, an invalid level, a factor given twice.
    """
    own = {name: _declared(name, table) for name, table in declared.items()}
    measured = {measure.benchmark: benchmarks.get(measure.benchmark) for measure in study.measure}
    factors: list[Factor] = []
    for request in requests:
        name, equals, text = request.partition("=")
        levels = split_levels(text) if equals else ()
        needed = {role for each in measured.values() for role in each.needs}
        if name.strip() in needed:
            factor = _of_libraries(name.strip(), levels, libraries)
        else:
            factor = _factor(name.strip(), levels, own, measured)
        if factor.name in {other.name for other in factors}:
            raise UsageError(f"'{factor.name}' is varied twice", why="a factor is given once", remedy=_HELP)
        factors.append(factor)
    return tuple(factors)


def toolchain_factor(names: tuple[str, ...]) -> Factor:
    """The factor of several toolchains."""
    return Factor(TOOLCHAIN, _checked_levels(TOOLCHAIN, names), "toolchain")


def mpi_factor(names: tuple[str, ...]) -> Factor:
    """The factor of several MPIs."""
    return Factor(MPI, _checked_levels(MPI, names), "mpi")


def _factor(
    name: str,
    levels: tuple[str, ...],
    own: Mapping[str, Factor],
    measured: Mapping[str, Benchmark],
) -> Factor:
    if name == MEMORY:
        return Factor(name, tuple(_memory(level) for level in _checked_levels(name, levels)), "memory")
    if name in {TOOLCHAIN, MPI}:
        return toolchain_factor(levels) if name == TOOLCHAIN else mpi_factor(levels)
    if name == FLAGS:
        return Factor(name, _checked_levels(name, tuple(map(_flags, levels))), "flags")
    benchmark, dot, axis = name.rpartition(".")
    having = [
        (each, one)
        for each in measured.values()
        for one in each.axes
        if one.name == axis and (not dot or each.name == benchmark)
    ]
    stated = any(map(_STATED.fullmatch, levels)) and not (name in own and set(levels) <= set(own[name].levels))
    is_free = _NAME.fullmatch(name) and not _VARIABLE.fullmatch(name) and name not in NO_AXES
    if stated and is_free and not having:
        own, levels = {name: _of_commands(name, levels)}, ()
    if name in own:
        if having:
            raise UsageError(
                f"'{name}' is an axis of {having[0][0].name} and a factor of the configuration",
                why="it is not clear which of the two is meant",
                remedy=f"rename [factor.{name}], or say --vary {having[0][0].name}.{name}=...",
            )
        return _of_configuration(own[name], levels)
    if not having:
        unknown = _misnamed(name) if stated else _unknown(name, levels, own, measured)
        return _of_variable(name, levels, unknown)
    words = [_word(level, having) for level in _checked_levels(name, levels)]
    return Factor(axis, _checked_levels(name, tuple(words)), "axis", benchmark=benchmark)


def library_files(role: str, levels: Sequence[str], libraries: Sequence[Library]) -> dict[str, str]:
    """Level -> file of libraries of a role, by name or by path.

    Raises:
        UsageError: no library has this name.
    """
    found = {each.name: each.file for each in libraries if each.role == role}
    for level in levels:
        if level not in found and "/" not in level:
            raise UsageError(
                f"there is no {role} '{level}' here",
                why=f"found: {', '.join(found) or 'none'}; a path is taken as it is",
                remedy=f"assay list {role}",
            )
    return {level: found.get(level) or str(Path(level).expanduser().absolute()) for level in levels}


def _of_libraries(role: str, levels: tuple[str, ...], libraries: Sequence[Library]) -> Factor:
    """The factor of the libraries of a role: by name or by path; without levels, all that are found."""
    levels = levels or tuple(each.name for each in libraries if each.role == role)
    return Factor(role, _checked_levels(role, levels), "library", files=library_files(role, levels, libraries))


def _of_variable(name: str, levels: tuple[str, ...], unknown: UsageError) -> Factor:
    """The factor of values of an environment variable; raises `unknown` if `name` cannot be a variable."""
    if not _VARIABLE.fullmatch(name):
        raise unknown
    return Factor(name, _checked_levels(name, levels), "variable")


def _checked_levels(name: str, levels: tuple[str, ...]) -> tuple[str, ...]:
    """The levels; UsageError unless there are two or more, each given once."""
    if len(set(levels)) < len(levels):
        raise UsageError(
            f"a level of '{name}' is given twice: {', '.join(levels)}",
            why="the first level is always measured a second time, A against A",
            remedy=_HELP,
        )
    if len(levels) < _FEWEST_LEVELS or not all(levels):
        raise UsageError(
            f"'{name}' needs two levels or more", why="a comparison is of two things", remedy=f"--vary {name}=A,B"
        )
    return levels


def _memory(level: str) -> str:
    if level == "bind:*":
        raise UsageError(
            "'bind:*' is not a level of memory",
            why="it is one policy for each node",
            remedy="--vary memory=bind:0,bind:1",
        )
    return level


def _flags(level: str) -> str:
    try:
        return shlex.join(shlex.split(level))
    except ValueError as error:
        raise UsageError(
            f"cannot split the flags '{level}'", why=str(error), remedy="close the quotation"
        ) from error


def _word(level: str, having: Sequence[tuple[Benchmark, Axis]]) -> str:
    """A level of an axis as in the ids of cases: a word of its closed set, or a whole number."""
    for benchmark, axis in having:
        words = [str(value) for value in axis.values if isinstance(value, str)]
        if words and level not in words:
            raise UsageError(
                f"{benchmark.name} has no {axis.name} '{level}'",
                why=f"known: {', '.join(words)}",
                remedy=f"--vary {benchmark.name}.{axis.name}={','.join(words[:2])}",
            )
        if not words:
            return level if level.removeprefix("-").isdecimal() else str(parse_size(level))
    return level


def _declared(name: str, table: object) -> Factor:
    """The factor of a table `[factor.NAME]`, with all of its levels; UsageError if the table is wrong."""
    where = f"[factor.{name}] of the configuration"
    remedy = f'[factor.{name}]   levels = {{ on = "cpupower idle-set -E", off = "cpupower idle-set -D 0" }}'
    if name in _BUILT_IN:
        raise UsageError(
            f"{where} has a name that is taken", why=f"--vary {name} means another thing", remedy=remedy
        )
    if not isinstance(table, Mapping):
        raise UsageError(f"{where} is not a table", remedy=remedy)
    if unknown := next((key for key in table if key not in _KEYS), None):
        raise UsageError(f"unknown key '{unknown}' in {where}", why=f"known: {', '.join(_KEYS)}", remedy=remedy)
    key = next(iter(table), _KEYS[0])
    levels = table.get(key)
    if len(table) > 1 or not isinstance(levels, Mapping) or len(levels) < _FEWEST_LEVELS:
        raise UsageError(
            f"{where} needs levels", why=f"two or more, each with its words, in one of {_KEYS}", remedy=remedy
        )
    for level, words in levels.items():
        if not isinstance(words, str) or not (words.strip() or key == _PREFIX):
            raise UsageError(f"level '{level}' in {where} has no command", remedy=remedy)
        _check_quotes(words, where, remedy)
    if key == _PREFIX:
        return Factor(name, tuple(levels), "prefix", prefixes=dict(levels))
    return Factor(name, tuple(levels), "commands", commands=dict(levels))


def _check_quotes(command: str, where: str, remedy: str) -> None:
    """UsageError if a command cannot be split into words."""
    try:
        shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"cannot split the command '{command}' in {where}", why=str(error), remedy=remedy
        ) from error


def _check_shell(command: str, name: str) -> None:
    """UsageError if a command is written for a shell: without one, its operators would be arguments."""
    bare = _QUOTED.sub(lambda each: _IN_DOUBLE.sub("", each[0]) if each[0][0] == '"' else "", command)
    if found := _OF_SHELL.search(bare):
        raise UsageError(
            f"'{found[0]}' in the command '{command}' of '{name}' is for a shell",
            why="commands are started without a shell; an argument with such a character is quoted",
            remedy=f"a script with this command, or: sh -c {shlex.quote(command)}",
        )
    if _DEVICE.search(command):
        raise UsageError(
            f"DEVICE in the command '{command}' of '{name}' is the name of no interface",
            why="it stands for an interface of your nodes",
            remedy=f"assay discover   # then: {command.replace('DEVICE', 'eth0')}, with yours",
        )


def _of_commands(name: str, levels: tuple[str, ...]) -> Factor:
    """The factor of `LEVEL:COMMAND` for each level; the first one is the usual state of the machine."""
    stated = {level.strip(): command.strip() for level, _, command in (each.partition(":") for each in levels)}
    where = f"--vary {name}"
    remedy = f"--vary '{name}=A:COMMAND|B:COMMAND'   # a | within quotes separates levels as well: use a script"
    for level, command in stated.items():
        if not command.strip("\"' "):
            raise UsageError(
                f"level '{level}' of {where} has no command",
                why="each level is LEVEL:COMMAND, and a | separates them",
                remedy=remedy,
            )
        _check_quotes(command, where, remedy)
    names = _checked_levels(name, tuple(each.partition(":")[0].strip() for each in levels))
    return Factor(name, names, "commands", commands=stated)


def _of_configuration(own: Factor, levels: tuple[str, ...]) -> Factor:
    levels = levels or own.levels
    for command in (own.commands | own.prefixes).values():
        _check_shell(command, own.name)
    for level in levels:
        if level not in own.levels:
            why = hint(level, own.levels)
            raise UsageError(f"'{own.name}' has no level '{level}'", why=why, remedy=f"--vary {own.name}")
    return msgspec.structs.replace(own, levels=_checked_levels(own.name, levels))


def _unknown(
    name: str, levels: Iterable[str], own: Iterable[str], measured: Mapping[str, Benchmark]
) -> UsageError:
    axes = [axis.name for benchmark in measured.values() for axis in benchmark.axes]
    known = list(dict.fromkeys([*_BUILT_IN, *own, *axes]))
    why = f"known: {', '.join(known)}" if "." in name else hint(name, known)
    remedy = f"{_HELP}   # or a command for each level: --vary '{name}=A:COMMAND|B:COMMAND'"
    words = [word for word in (each.partition(":")[2].strip() for each in levels) if word]
    if words and not any(map(str.isdecimal, words)):  # `bind:0` is memory
        why += f"; a command has several words or is a path, '{words[0]}' is neither"
        remedy = f"write the paths of commands: --vary '{name}=A:/PATH/{words[0]}|B:/PATH/{words[-1]}'"
    return UsageError(f"nothing is called '{name}' that could be varied here", why=why, remedy=remedy)


def _misnamed(name: str) -> UsageError:
    """Why levels with commands cannot have this name."""
    taken = f"'{name}' is a word of Assay's own"
    why = taken if _NAME.fullmatch(name) else "a name is a letter, then letters, digits, '.', '-' and '_'"
    free = re.sub(r"[^\w.-]+", "-", name.strip()).lstrip("-._0123456789") or "setting"
    free = f"my-{free}" if free == name else free
    remedy = f"--vary '{free}=A:COMMAND|B:COMMAND'"
    return UsageError(f"'{name}' cannot be the name of a factor", why=why, remedy=remedy)


def apply(measure: Measure, factors: Iterable[Factor]) -> Measure:
    """The measure with the levels of the factors for its memory and axes."""
    axes = {axis.name: axis for axis in benchmarks.get(measure.benchmark).axes}
    for factor in factors_of(measure.benchmark, factors):
        if factor.kind == "memory":
            measure = msgspec.structs.replace(measure, memory=factor.levels)
        elif factor.kind == "axis":
            words = any(isinstance(value, str) for value in axes[factor.name].values)
            levels = factor.levels if words else tuple(int(level) for level in factor.levels)
            measure = msgspec.structs.replace(measure, axes=measure.axes | {factor.name: levels})
    return measure


def factors_of(benchmark: str, factors: Iterable[Factor]) -> list[Factor]:
    """The factors that apply to a benchmark."""
    one = benchmarks.get(benchmark)
    return [factor for factor in factors if _applies_to(factor, one)]


def _applies_to(factor: Factor, benchmark: Benchmark) -> bool:
    if factor.kind == "axis":
        axes = {axis.name for axis in benchmark.axes}
        return factor.name in axes and factor.benchmark in ("", benchmark.name)
    if factor.kind == "library":
        return factor.name in benchmark.needs
    of_mpi = factor.kind in {"mpi", "network"} or (factor.kind == "variable" and factor.name.startswith(_OF_MPI))
    return benchmark.launcher == "mpi" or not of_mpi


def combinations(
    benchmark: str, factors: Iterable[Factor], memory: str, point: Mapping[str, object]
) -> Iterator[dict[str, str]]:
    """Factor -> level for each case of a benchmark at one memory policy and one point of its axes."""
    having = factors_of(benchmark, factors)
    fixed = {MEMORY: memory} | {axis: str(value) for axis, value in point.items()}
    levels = [(fixed[f.name],) if f.kind in {"memory", "axis"} else f.levels for f in having]
    for combination in itertools.product(*levels):
        yield {factor.name: level for factor, level in zip(having, combination, strict=True)}


def first_levels(factors: Iterable[Factor]) -> dict[str, str]:
    """The first level of every factor that applies to every program: the levels of the sentinel."""
    around = [factor for factor in factors if factor.kind in _AROUND]
    return {factor.name: factor.levels[0] for factor in around}


def toolchain(levels: Mapping[str, str], default: str, mpi: str = "") -> str:
    """Name of the toolchain at these levels: `gcc`, `gcc -O2` if flags vary, `gcc/mpich` for an MPI program.

    Args:
        levels: factor -> level.
        default: the toolchain if none is varied.
        mpi: the MPI if none is varied; empty for a program without MPI.
    """
    plain = " ".join(filter(None, (levels.get(TOOLCHAIN, default), levels.get(FLAGS))))
    return toolchains.with_mpi(plain, levels.get(MPI, mpi))


def controls(cases: Iterable[Case], factors: Iterable[Factor]) -> tuple[Case, ...]:
    """A second copy of the cases at the first level of all factors, to compare A against A."""
    first = {factor.name: factor.levels[0] for factor in factors}
    return tuple(
        msgspec.structs.replace(case, id=f"{case.id}/again", role="control", plain=case.subject, repeats=case.id)
        for case in cases
        if case.factors and all(level == first[name] for name, level in case.factors.items())
    )


def blocks(cases: Iterable[Case], factors: Iterable[Factor]) -> int:
    """Number of blocks for these comparisons: 6, which decide on a large difference, to 10.

    Among more comparisons a difference must be larger to be significant; further blocks make up for most of that.
    """
    first = {factor.name: factor.levels[0] for factor in factors}
    count = sum(
        len(benchmarks.get(case.benchmark).kernels)
        for case in cases
        for name, level in case.factors.items()
        if level != first[name]
    )
    return min(_MOST_BLOCKS, _FEWEST_BLOCKS + math.ceil(2 * math.log10(max(count, 1))))
