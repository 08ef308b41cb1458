"""An application: a third-party program, declared as data in the table `[application]` of a TOML file."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from assay.model.benchmark import Benchmark, ForeignProgram
from assay.model.declaration import Axis, Metric, Params, ParamValue
from assay.model.placement import Placement
from assay.model.units import BASE_UNITS, Prefix, parse_duration, parse_size, printed_unit

if TYPE_CHECKING:
    from assay.model.role_words import Role

#: The placeholder `{edge}` in commands and input files; `${edge}` is not ours.
_PLACE = re.compile(r"(?<!\$)\{([a-z][a-z0-9-]*)\}", re.ASCII)
#: Placeholders filled from the placement, and the folder where Assay installed the application (empty: unknown).
_RANKS, _THREADS, _PREFIX = "ranks", "threads", "prefix"
PLACED = (_RANKS, _THREADS)
PLACES = frozenset((*PLACED, _PREFIX))
#: The wall time that the starter measures from outside.
ELAPSED = "elapsed"
#: Of the samples of a launch: what a program prints.
Statistic = Literal["median", "mean", "best"]

#: How the processes of an application share the cpus of a placement.
Form = Literal["one", "threads", "ranks", "hybrid"]
_PLACEMENTS: Mapping[Form, tuple[str, ...]] = {
    "one": ("one-core",),
    "threads": ("one-core", "all"),
    "ranks": ("one-core", "all"),
    "hybrid": ("one-core", "all"),
}


class Parameter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An axis of the application; `{name}` stands for its value in the command and in input files.

    Attributes:
        meaning: one sentence for people.
        values: all values (words), or the default ones (numbers).
        default: default value; None: the first of `values`.
        unit: unit of numbers.
        swept: whether figures are drawn as a curve along it.
    """

    meaning: str
    values: Annotated[tuple[ParamValue, ...], msgspec.Meta(min_length=1)]
    default: ParamValue | None = None
    unit: str = ""
    swept: bool = False


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure that the program prints.

    Attributes:
        pattern: regular expression with one group, the number; `^` and `$` match at line ends.
        unit: as printed: `s`, `ms`, `GFLOP/s`, `steps/s`.
        meaning: what is counted, one sentence.
        take: which of several matches: one, their sum or mean, or each as a separate figure.
        skip: number of first matches to leave out, as warm-up.
        better: direction; lower for times.
        role: its role; empty: time or rate of a whole solution.
    """

    pattern: str
    unit: str
    meaning: str
    take: Literal["first", "last", "all", "sum", "mean"] = "last"
    skip: Annotated[int, msgspec.Meta(ge=0)] = 0
    better: Literal["", "higher", "lower"] = ""
    role: Literal["", "solution-time", "step-time", "phase-time", "solution-rate", "solution-flop-rate"] = ""

    def metric(self, name: str) -> Metric:
        """The metric of the kernel `name`."""
        unit, _ = printed_unit(self.unit)
        time = unit == "s"
        role: Role = self.role or ("solution-time" if time else "solution-rate")
        better = self.better or ("lower" if time else "higher")
        work = "" if time else "solution"
        prefix: Prefix = "decimal" if unit in BASE_UNITS else "none"  # as printed: `ns/day`
        return Metric(name, unit, better, work, self.meaning, kernels=(name,), role=role, prefix=prefix)


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check of the output: one of `value`, `present` and `absent`.

    Attributes:
        about: what is checked: `total energy`.
        pattern: pattern of the number, with one group; the last match counts.
        value: right value.
        tolerance: allowed difference.
        versions: pattern of the program versions that have this value; empty for all.
        when: parameter -> value for which the right value is known; other parameters do not matter.
        present: pattern that must match; `{ranks}`, `{threads}` and parameters are replaced by their values.
        absent: pattern that must not match.
    """

    about: str
    pattern: str = ""
    value: float | None = None
    tolerance: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    versions: str = ""
    when: dict[str, ParamValue] = {}
    present: str = ""
    absent: str = ""


class Needs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Required software.

    Attributes:
        program: name of the executable; with placeholders of parameters if there is one for each of their values.
        modules: Python modules, if the program is Python.
        debian: Debian packages that provide it.
        pypi: PyPI packages that provide it.
        mpi: family of the MPI it was built with, whose launcher starts it.
        instead: applications that solve the same problem with another program.
        install: how a site gets it, if no package has it: `make cg CLASS=A in NPB3.4-MPI`.
        folder: name of the folder for its packages, which several applications may share; default: the own name.
    """

    program: str
    modules: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    pypi: tuple[str, ...] = ()
    mpi: Literal["", "openmpi", "mpich", "intel"] = ""
    instead: tuple[str, ...] = ()
    install: str = ""
    folder: str = ""


class Input(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file in the working directory of the command: generated from a template, or copied.

    Attributes:
        text: template of its content.
        file: path of the original, relative to the folder of the declaration.
        sha256: hash of that file.
    """

    text: str = ""
    file: str = ""
    sha256: str = ""


class Counterpart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The figure of Assay's benchmark that is the same quantity as a figure of the program.

    Attributes:
        kernel: of the benchmark.
        metric: of that kernel.
        axes: axis -> its value; the axes of the whole table hold as well.
        statistic: of the samples of a launch, the nearest to what the program prints: both are compared by it.
    """

    kernel: str
    metric: str
    axes: dict[str, ParamValue] = {}
    statistic: Statistic = "median"


class Beside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Assay's benchmark that measures what the program measures: the study `beside:NAME` measures both.

    A parameter of the program that has the name of an axis has its meaning: both get the same values.

    Attributes:
        benchmark: its name.
        figures: figure of the program -> that of the benchmark.
        axes: axis of the benchmark, or parameter of the program, -> the values to measure.
        differs: in which the two differ by necessity, a sentence each.
        suite: the name of several programs that are measured by one command: `osu`.
    """

    benchmark: str
    figures: Annotated[dict[str, Counterpart], msgspec.Meta(min_length=1)]
    axes: dict[str, tuple[ParamValue, ...] | ParamValue] = {}
    differs: tuple[str, ...] = ()
    suite: str = ""


class Application(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[application]`.

    Attributes:
        title: for headings.
        measures: what it measures, one sentence.
        needs: see `Needs`.
        command: words; `{name}` is replaced by a parameter, as are `{ranks}`, `{threads}`, `{prefix}`.
        figures: name -> figure; the first one is the headline.
        verify: checks of the output; at least one.
        source: authors of the program and the problem.
        parallel: `one` process with one thread, `threads` of one process, MPI `ranks`, or `hybrid`: both.
        parameters: name -> axis.
        inputs: name -> file.
        environment: variable -> value.
        prologue: shell line that prepares the folder; it is not timed.
        output: file that holds the results, `*` for any part of its name; empty: stdout.
        counted: whether its MPI calls are counted. That takes some 10 ns for each, too much where single messages
            are timed.
        version: pattern of the program's version in its output, with one group.
        limit: time limit of the command.
        seconds: estimated time of a run, for plans.
        memory: memory of each rank, for plans.
        placements: placement words if a study names none.
        launches: launches of each case.
        beside: Assay's benchmark of the same; None if there is none.
        name: name of the benchmark; by default that of the file.
    """

    title: str
    measures: str
    needs: Needs
    command: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    figures: Annotated[dict[str, Wanted], msgspec.Meta(min_length=1)]
    verify: Annotated[tuple[Check, ...], msgspec.Meta(min_length=1)]
    source: str = ""
    parallel: Form = "one"
    parameters: dict[str, Parameter] = {}
    inputs: dict[str, Input] = {}
    environment: dict[str, str] = {}
    prologue: str = ""
    output: str = ""
    counted: bool = True
    version: str = ""
    limit: str = "1h"
    seconds: Annotated[float, msgspec.Meta(gt=0)] = 10.0
    memory: str = "64M"
    placements: tuple[str, ...] = ()
    launches: Annotated[int, msgspec.Meta(ge=1)] = 6
    beside: Beside | None = None
    name: str = ""

    @property
    def executables(self) -> tuple[str, ...]:
        """Every executable that it may start: one, or one for each combination of values of parameters."""
        names: tuple[str, ...] = (self.needs.program,)
        for place in placeholders(self.needs.program):
            values = self.parameters[place].values
            names = tuple(filled(name, {place: str(value)}) for name in names for value in values)
        return names

    @property
    def usual_placements(self) -> tuple[str, ...]:
        """The placement words if a study names none."""
        return self.placements or _PLACEMENTS[self.parallel]

    def values(self, params: Params, placement: Placement, prefix: str) -> dict[str, str]:
        """The value of each placeholder."""
        given = {name: str(value) for name, value in params.items()}
        threads = max(map(len, placement.rank_cpus))
        return given | {_RANKS: str(len(placement.rank_cpus)), _THREADS: str(threads), _PREFIX: prefix}

    def benchmark(self) -> Benchmark:
        """The application as a benchmark."""
        mpi = self.parallel in {"ranks", "hybrid"}
        memory_bytes, seconds = parse_size(self.memory), self.seconds
        return Benchmark(
            name=self.name,
            title=self.title,
            measures=self.measures,
            source=self.source,
            program="start",
            kernels=(*self.figures, ELAPSED),
            axes=tuple(_axis(name, each) for name, each in self.parameters.items()),
            metrics=(
                *(each.metric(name) for name, each in self.figures.items()),
                Metric(
                    ELAPSED,
                    "s",
                    "lower",
                    "",
                    "wall time of the whole program",
                    kernels=(ELAPSED,),
                    role="program-time",
                ),
            ),
            memory_bytes=lambda _params, _placement: memory_bytes,
            setup_seconds=lambda _params: seconds,
            launcher="mpi" if mpi else "direct",
            max_cpus=1 if self.parallel == "one" else None,
            max_rank_cpus=None if self.parallel in {"hybrid", "threads"} else 1,
            foreign=ForeignProgram(
                name=self.needs.program,
                names=self.executables if placeholders(self.needs.program) else (),
                install=self.needs.install,
                command=self._command,
                inputs=self._inputs,
                files={name: each.file for name, each in self.inputs.items() if each.file},
                prologue=self._prologue,
                output=self.output,
                limit_s=parse_duration(self.limit),
                application=self,
            ),
        )

    def _command(self, params: Params, placement: Placement, prefix: str) -> tuple[str, ...]:
        values = self.values(params, placement, prefix)
        variables = [f"{name}={filled(value, values)}" for name, value in self.environment.items()]
        words = tuple(filled(word, values) for word in self.command)
        return ("env", *variables, *words) if variables else words

    def _inputs(self, params: Params, placement: Placement, prefix: str) -> dict[str, str]:
        values = self.values(params, placement, prefix)
        return {name: filled(each.text, values) for name, each in self.inputs.items() if not each.file}

    def _prologue(self, params: Params, placement: Placement, prefix: str) -> str:
        values = self.values(params, placement, prefix)
        exported = "".join(f"export {name}='{filled(v, values)}'\n" for name, v in self.environment.items())
        return exported + filled(self.prologue, values) if self.prologue else ""


def placeholders(template: str) -> list[str]:
    """The names of the placeholders of a template."""
    return _PLACE.findall(template)


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with its placeholders replaced; other braces stay."""
    return _PLACE.sub(lambda match: values.get(match[1], match[0]), template)


def _axis(name: str, each: Parameter) -> Axis:
    default = each.values[0] if each.default is None else each.default
    named = any(isinstance(value, str) for value in each.values)
    return Axis(name, each.meaning, each.values, default, each.unit, swept=each.swept, named=named)
