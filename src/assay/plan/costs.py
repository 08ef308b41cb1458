"""Costs of cases, measured in the launches of a run; later plans use them in place of assumptions."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from assay.catalogue import benchmarks
from assay.model.grouping import grouped
from assay.model.plan import Case, Plan
from assay.model.run import LaunchRecords

if TYPE_CHECKING:
    from assay.model.samples import SampleTable

#: Minimum samples of a kernel, warm-up and measured.
FEWEST_SAMPLES = 12


class Cost(NamedTuple):
    """The cost of a case in a launch.

    Attributes:
        overhead: measured over planned time of start and set-up of its launches.
        sampled_s: seconds of sampling.
        fewest_s: seconds of the minimum samples.
    """

    overhead: float
    sampled_s: float
    fewest_s: float

    def sampling_s(self, wanted_s: float) -> float:
        """Seconds of sampling in another launch: as before, within the wanted time and the minimum samples."""
        return max(min(self.sampled_s, wanted_s), self.fewest_s)

    def setup_s(self, case: Case) -> float:
        """Expected set-up of a case in a launch of its own, from its planned set-up."""
        start_s = benchmarks.get(case.benchmark).start_seconds
        return max(0.0, self.overhead * (start_s + case.setup_s) - start_s)


def costs(plan: Plan, launches: Iterable[LaunchRecords]) -> dict[str, Cost]:
    """Case -> its median cost over the launches that measured it whole."""
    cases = {case.id: case for case in plan.cases}
    found = [each for launch in launches for each in _of_launch(cases, launch)]
    return {
        case: Cost(*(median(values) for values in zip(*(cost for _, cost in members), strict=True)))
        for case, members in grouped(found, lambda each: each[0]).items()
    }


def _of_launch(cases: Mapping[str, Case], records: LaunchRecords) -> Sequence[tuple[str, Cost]]:
    from assay.model.samples import table_of  # noqa: PLC0415 (numpy, which a plan without launches does not need)

    names = records.launch.cases
    tables = {each.header.case: table_of(each.series) for each in records.cases if each.series and each.end}
    if tables.keys() != set(names) or not tables.keys() <= cases.keys():
        return ()
    start_s = benchmarks.get(cases[names[0]].benchmark).start_seconds
    sampled = {name: _sampled_s(table) for name, table in tables.items()}
    planned_s = start_s + sum(cases[name].setup_s for name in names)
    overhead = max(0.0, records.launch.bracket.elapsed_s - sum(sampled.values())) / planned_s
    return [(name, Cost(overhead, sampled[name], _fewest_s(table))) for name, table in tables.items()]


def _sampled_s(table: "SampleTable") -> float:
    """Seconds in the samples of one rank, over all kernels."""
    rows = (table.rank == table.rank.min()).nonzero()[0]
    return float(sum(table.seconds[table.ends[row] - table.counts[row] : table.ends[row]].sum() for row in rows))


def _fewest_s(table: "SampleTable") -> float:
    """Seconds of the minimum samples of each kernel, from the mean measured sample."""
    from assay.model.samples import PHASES  # noqa: PLC0415 (the same)

    measured = (table.rank == table.rank.min()) & (table.phase == PHASES.index("measured")) & (table.counts > 0)
    means = (
        table.seconds[table.ends[row] - table.counts[row] : table.ends[row]].mean()
        for row in measured.nonzero()[0]
    )
    return float(FEWEST_SAMPLES * sum(means))
