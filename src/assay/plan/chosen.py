"""Values of axes that a user chooses to replace the study's own, and levels that a user states."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from assay.catalogue import benchmarks
from assay.model.declaration import Axis
from assay.model.errors import UsageError, hint
from assay.model.measurand import NO_AXES
from assay.model.plan import Measure, split_levels


class Choice(NamedTuple):
    """The values of one axis that a user typed.

    Attributes:
        benchmark: benchmark with the axis; empty for every benchmark that has it.
        axis: name.
        values: in the order typed.
    """

    benchmark: str
    axis: str
    values: tuple[str, ...]

    def of(self, measure: Measure) -> Axis | None:
        """The axis of the measure's benchmark that is meant; None if there is none."""
        if self.benchmark not in {"", measure.benchmark}:
            return None
        return next((each for each in benchmarks.get(measure.benchmark).axes if each.name == self.axis), None)


def parse_levels(requests: Sequence[str]) -> dict[str, str]:
    """Factor -> level, of `--level NAME=LEVEL`: what the user states of the machine during the whole run.

    Raises:
        UsageError: it is not a pair, a name has another meaning in a run, or a factor is given twice.
    """
    found: dict[str, str] = {}
    axes = {axis.name for name in (benchmarks.names() if requests else ()) for axis in benchmarks.get(name).axes}
    for request in requests:
        name, _, level = (word.strip() for word in request.partition("="))
        why: str = ""
        if not re.fullmatch(r"[A-Za-z][\w.-]*", name) or not level:
            why = "it names a factor and its level"
        elif name in axes | NO_AXES | {"toolchain", "flags"}:
            why = f"'{name}' is measured, or set by another option: assay run --help"
        elif name in found:
            why = f"'{name}' is given twice, and a run has one level of a factor"
        if why:
            raise UsageError(f"'{request}' is not a level of the run", why=why, remedy="--level nps=4")
        found[name] = level
    return found


def choices(requests: Sequence[str], measures: Sequence[Measure]) -> tuple[Choice, ...]:
    """The choices of `--set [BENCHMARK.]AXIS=VALUE,VALUE`, in the order given.

    Raises:
        UsageError: there is no value, no measure has the axis, or an axis is set twice.
    """
    made = tuple(_choice(request, measures) for request in requests)
    for at, each in enumerate(made):
        if any(each[:2] == other[:2] for other in made[:at]):
            raise UsageError(
                f"'{each.axis}' is set twice", why="one --set names all values", remedy=f"--set {each.axis}=A,B"
            )
    return made


def _choice(request: str, measures: Sequence[Measure]) -> Choice:
    name, _, text = request.partition("=")
    benchmark, _, axis = name.strip().rpartition(".")
    choice = Choice(benchmark, axis, split_levels(text))
    having = {each.benchmark: each for each in measures}
    if not all(choice.values):
        raise UsageError(
            f"'{request}' sets nothing", why="a value is missing", remedy=f"--set {name.strip()}=VALUE"
        )
    if not any(map(choice.of, having.values())):
        known = list(dict.fromkeys(one.name for each in having for one in benchmarks.get(each).axes))
        raise UsageError(
            f"no benchmark of the study has an axis '{name.strip()}'",
            why=f"known: {', '.join(known)}" if benchmark else hint(axis, known),
            remedy="assay list benchmarks",
        )
    return choice


def with_choices(measures: Iterable[Measure], chosen: Sequence[Choice]) -> Iterator[Measure]:
    """The measures with the chosen values; a choice for one benchmark overrides a choice for all.

    A study gives the largest problem fewer launches, because it takes long. A chosen size gets all launches.
    """
    for measure in measures:
        axes, launches = dict(measure.axes), measure.launches
        larger = benchmarks.get(measure.benchmark).larger if launches else None
        for each in sorted(chosen, key=lambda one: bool(one.benchmark)):
            if each.of(measure):
                axes[each.axis] = each.values
                launches = 0 if larger and each.axis == larger.axis else launches
        yield msgspec.structs.replace(measure, axes=axes, launches=launches)


def fixes_sizes(measures: Iterable[Measure], chosen: Sequence[Choice]) -> bool:
    """Whether the user chose the points of a curve; then no others are added."""
    axes = (each.of(measure) for measure in measures for each in chosen)
    return any(axis.swept for axis in axes if axis)
