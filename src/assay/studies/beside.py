"""The study `beside:NAME`: other programs and Assay's benchmarks of the same, side by side in the same blocks."""

from collections.abc import Iterator, Sequence

from assay.catalogue import benchmarks
from assay.model.application import Application
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
    peers = [each for each in benchmarks.applications().values() if each.beside]
    named = [each for each in peers if each.beside and name in {each.name, each.beside.suite}]
    if not named:
        known = dict.fromkeys(word for each in peers if each.beside for word in (each.beside.suite or each.name,))
        raise UsageError(
            f"nothing is declared to measure beside '{name}'",
            why=hint(name, list(known)),
            remedy="assay list applications   # those with a counterpart; docs/beside.md adds one",
        )
    measures: list[Measure] = []
    for measure in _measures(named):
        if measure not in measures:
            measures.append(measure)
    return Study(
        title=f"Assay beside {name}",
        question=f"Is what Assay measures as fast as {name}, on the same cores, in the same blocks?",
        measure=tuple(measures),
        launches=_BLOCKS,
        precision=0.02,
    )


def _measures(named: Sequence[Application]) -> Iterator[Measure]:
    """Each program, then the benchmark at the same placements, for each choice of its axes."""
    for each in named:
        assert each.beside  # noqa: S101 (the caller chose those with one)
        usual = {name: parameter.default or parameter.values[0] for name, parameter in each.parameters.items()}
        values: _Axes = usual | each.beside.axes
        own = {name: value for name, value in values.items() if name in each.parameters}
        yield Measure(each.name, each.usual_placements, axes=own, why="the program of others")
        axes = {axis.name for axis in benchmarks.get(each.beside.benchmark).axes}
        ours = {name: value for name, value in values.items() if name in axes}
        for figure in each.beside.figures.values():
            why = "the same by Assay's benchmark, in the same blocks"
            yield Measure(each.beside.benchmark, each.usual_placements, axes=ours | figure.axes, why=why)
