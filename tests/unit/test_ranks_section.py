"""The section of the ranks of applications: cells computed here from planted counters of each rank."""

import itertools
from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Literal

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.figure_columns import set_right

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.rank import MpiCall, MpiTimes, Usage
from assay.model.record import Checked, Verdict
from assay.model.result import Analysis
from assay.model.run import CaseRecords, LaunchRecords, Run
from assay.model.units import format_quantity, format_size
from assay.report.sections import sections
from assay.simulation import Law

#: Of each launch and rank: resident bytes, voluntary and involuntary switches, seconds on other cpus.
USED = (
    ((100e6, 10, 5, 0.0), (300e6, 7, 9, 0.0)),
    ((200e6, 30, 1, 0.25), (250e6, 2, 2, 0.5)),
    ((400e6, 20, 3, 0.0), (100e6, 40, 4, 0.125)),
)
Calls = Mapping[str, tuple[int, float, int, dict[str, int]]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Run:
    study = Study("Ranks", "?", (Measure("himeno_mpi", ("2x1",), axes={"size": "XS"}),), launches=3)
    return store.load(simulated_run(tmp_path_factory.mktemp("ranks"), Law(sampled_s=0.0), study=study))


@pytest.fixture(scope="module")
def analysis(plain: Run) -> Analysis:
    return analyse(plain)


def planted(run: Run, calls: Sequence[Sequence[Calls | None]], keep: int = 2) -> Run:
    """The run with these counters; `keep`: ranks of the last launch whose resources are known."""
    launches: list[LaunchRecords] = []
    numbers = itertools.count()
    for launch in run.launches:
        cases = (
            _counted(case, next(numbers), calls, keep) if case.header.benchmark == "himeno_mpi" else case
            for case in launch.cases
        )
        launches.append(msgspec.structs.replace(launch, cases=tuple(cases)))
    assert next(numbers) == 3
    return msgspec.structs.replace(run, launches=tuple(launches))


def _counted(case: CaseRecords, number: int, calls: Sequence[Sequence[Calls | None]], keep: int) -> CaseRecords:
    ranks = tuple(
        msgspec.structs.replace(
            rank,
            usage=Usage(int(used[0]), *used[1:]) if number < 2 or at < keep else None,
            mpi=_times(calls[number][at]),
        )
        for at, (rank, used) in enumerate(zip(case.header.ranks, USED[number], strict=True))
    )
    return msgspec.structs.replace(case, header=msgspec.structs.replace(case.header, ranks=ranks))


def _times(calls: Calls | None) -> MpiTimes | None:
    if calls is None:
        return None
    return MpiTimes(10.0, 1e-7, {name: MpiCall("all", *each) for name, each in calls.items()})


def tables(run: Run, analysis: Analysis) -> list[list[dict[str, str]]]:
    found = next((each for each in sections(run, analysis) if each.id == "ranks"), None)
    return [
        [dict(zip(map(str, table.columns), map(str, row), strict=True)) for row in table.rows]
        for table in (found.tables if found else ())
    ]


NONE: Sequence[Sequence[Calls | None]] = ((None, None),) * 3


def test_resources_are_medians_over_launches_of_the_rank_with_most(plain: Run, analysis: Analysis) -> None:
    ((row,),) = tables(planted(plain, NONE), analysis)
    assert row["Ranks"] == "2"
    assert row["Memory of a rank"] == format_size(median((300e6, 250e6, 400e6)))
    assert row["Memory of all"] == format_size(median((400e6, 450e6, 500e6)))
    assert row["Voluntary context switches"] == f"{median((10, 30, 40))}"
    assert row["Involuntary context switches"] == f"{median((9, 2, 4))}"
    assert row["Time on other cpus"] == format_quantity(0.5, "s")


def test_a_launch_with_a_rank_of_unknown_resources_does_not_count(plain: Run, analysis: Analysis) -> None:
    ((row,),) = tables(planted(plain, NONE, keep=1), analysis)
    assert row["Memory of a rank"] == format_size(median((300e6, 250e6)))
    assert tables(plain, analysis) == []


def test_calls_are_means_over_ranks_and_launches_the_longest_first(plain: Run, analysis: Analysis) -> None:
    calls: Sequence[Sequence[Calls]] = tuple(
        tuple(
            {
                "MPI_Send": (10 + launch, 1.0 + rank, 1000, {"64": 6, "1024": 4}),
                "MPI_Allreduce": (4, 0.25, 0, {}),
                "MPI_Recv": (3, 2.0 + launch, 500, {"8": 3, "512": 1, "4096": 2}),
            }
            for rank in range(2)
        )
        for launch in range(3)
    )
    _, rows = tables(planted(plain, calls), analysis)
    assert [row["Call"] for row in rows] == ["MPI_Recv", "MPI_Send", "MPI_Allreduce"]
    whole = 6 * 10.0
    for row, seconds, number, longest in (
        (rows[0], [2.0, 2.0, 3.0, 3.0, 4.0, 4.0], 3, 4.0),
        (rows[1], [1.0, 2.0] * 3, 11, 2.0),
        (rows[2], [0.25] * 6, 4, 0.25),
    ):
        assert row["Calls"] == f"{number}"
        assert row["Time"] == format_quantity(mean(seconds), "s")
        assert row["Share"] == f"{100 * sum(seconds) / whole:.{0 if sum(seconds) >= 6 else 1}f} %"
        share = 100 * longest * 6 / whole
        assert row["Share of the longest rank"] == f"{share:.{0 if share >= 10 else 1}f} %"
    assert [row["Sent"] for row in rows] == [format_size(500), format_size(1000), ""]
    # Half of 60 sends are at most 64 B; of 36 that were received half are at most 8 B.
    assert [row["Half of the messages up to"] for row in rows] == ["8 B", "64 B", ""]


@pytest.mark.parametrize(
    ("sizes", "half"),
    [
        ({"8": 1, "64": 1}, "8 B"),
        ({"8": 1, "64": 2}, "64 B"),
        ({"64": 3, "8": 4}, "8 B"),
        ({"512": 1}, "512 B"),
        ({}, ""),
    ],
)
def test_half_of_the_messages_are_up_to_a_size(
    plain: Run, analysis: Analysis, sizes: dict[str, int], half: str
) -> None:
    calls: Sequence[Sequence[Calls]] = (({"MPI_Send": (1, 1.0, 100, sizes)},) * 2,) * 3
    _, (row,) = tables(planted(plain, calls), analysis)
    assert row.get("Half of the messages up to", "") == half


def test_a_rest_of_half_a_message_counts(plain: Run, analysis: Analysis) -> None:
    one: Calls = {"MPI_Send": (3, 1.0, 100, {"8": 1, "64": 2})}
    calls: Sequence[Sequence[Calls]] = ((one, {}), ({}, {}), ({}, {}))
    _, (row,) = tables(planted(plain, calls), analysis)
    assert row["Half of the messages up to"] == "64 B"


def test_columns_without_a_cell_are_left_out_and_figures_are_set_so(plain: Run, analysis: Analysis) -> None:
    calls: Calls = {"MPI_Barrier": (3, 1.0, 0, {})}
    silent = planted(plain, ((calls, calls),) * 3)
    usage, called = tables(silent, analysis)
    assert "Sent" not in called[0]
    assert "Half of the messages up to" not in called[0]
    assert "Time on other cpus" in usage[0]
    for run in (silent, planted(plain, (({"MPI_Send": (3, 1.0, 9, {"8": 3})},) * 2,) * 3)):
        assert set_right(next(each for each in sections(run, analysis) if each.id == "ranks").tables)


def test_six_calls_are_shown_and_ranks_without_counters_do_not_count(plain: Run, analysis: Analysis) -> None:
    every: Calls = {f"MPI_{number}": (1, 1.0 + number, 0, {}) for number in range(8)}
    _, rows = tables(planted(plain, ((every, None),) * 3), analysis)
    assert [row["Call"] for row in rows] == [f"MPI_{number}" for number in range(7, 1, -1)]
    assert rows[0]["Time"] == format_quantity(8.0, "s")
    assert rows[0]["Share"] == "80 %"


def test_checks_are_counted_by_their_result(plain: Run, analysis: Analysis) -> None:
    assert not any(each.id == "checks" for each in sections(plain, analysis))
    results: tuple[tuple[Literal["right", "wrong", "unknown"], ...], ...] = (
        ("right", "wrong"),
        ("right", "right"),
        ("right", "unknown"),
    )
    cases = iter(results)

    def checked(case: CaseRecords) -> CaseRecords:
        if case.header.benchmark != "himeno_mpi":
            return case
        checks = tuple(Checked(name, status, "") for name, status in zip("ab", next(cases), strict=True))
        return msgspec.structs.replace(
            case, verdict=Verdict(passed=True, error=0.0, tolerance=1.0, version="1.2", checks=checks)
        )

    launches = tuple(
        msgspec.structs.replace(launch, cases=tuple(map(checked, launch.cases))) for launch in plain.launches
    )
    found = sections(msgspec.structs.replace(plain, launches=launches), analysis)
    (table,) = next(each for each in found if each.id == "checks").tables
    assert sorted(tuple(map(str, row[1:])) for row in table.rows) == [
        ("1.2", "a", "right", "3"),
        ("1.2", "b", "not known for this version or these parameters", "1"),
        ("1.2", "b", "right", "1"),
        ("1.2", "b", "wrong", "1"),
    ]
