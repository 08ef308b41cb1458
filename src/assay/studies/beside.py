"""The study `beside:NAME`: original programs and Assay's benchmarks of the same, in the same blocks."""

from collections.abc import Iterator, Sequence

from assay.catalogue import benchmarks
from assay.model.application import Application, Beside
from assay.model.declaration import ParamValue
from assay.model.errors import UsageError, hint
from assay.model.plan import Measure, Study

_BLOCKS = 6
_Axes = dict[str, tuple[ParamValue, ...] | ParamValue]


def study(name: str, _sweeps: Sequence[str] = ()) -> Study:
    """The programs of a name, or of a suite, and what Assay has for each of their figures.

    Raises:
        UsageError: no program of this name has a counterpart.
    """
    peers = [(each, each.beside) for each in benchmarks.applications().values() if each.beside]
    named = [(each, beside) for each, beside in peers if name in {each.name, beside.suite}]
    if not named:
        known = dict.fromkeys(beside.suite or each.name for each, beside in peers)
        raise UsageError(
            f"nothing is declared to measure beside '{name}'",
            why=hint(name, known),
            remedy="assay list applications   # those with a counterpart; docs/beside.md adds one",
        )
    measures = [measure for each, beside in named for measure in _measures(each, beside)]
    return Study(
        title=f"Assay beside {name}",
        question=f"Is what Assay measures as fast as {name}, on the same cores, in the same blocks?",
        measure=tuple(measure for at, measure in enumerate(measures) if measure not in measures[:at]),
        launches=_BLOCKS,
        precision=0.02,
    )


def _measures(each: Application, beside: Beside) -> Iterator[Measure]:
    """The program, then the benchmark at the same placements, with the axes of each figure."""
    usual: _Axes = {
        name: parameter.values[0] if parameter.default is None else parameter.default
        for name, parameter in each.parameters.items()
    }
    values: _Axes = usual | beside.axes
    own = {name: value for name, value in values.items() if name in each.parameters}
    yield Measure(each.name, each.usual_placements, axes=own, why="the program of others")
    axes = {axis.name for axis in benchmarks.get(beside.benchmark).axes}
    ours = {name: value for name, value in values.items() if name in axes}
    for figure in beside.figures.values():
        figure_axes: _Axes = {**ours, **figure.axes}
        yield Measure(
            beside.benchmark,
            each.usual_placements,
            axes=figure_axes,
            why="the same by Assay's benchmark, in the same blocks",
            beside=each.name,
        )
