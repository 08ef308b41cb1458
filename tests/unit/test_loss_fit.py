"""Which placements of a run have a loss by cause: those whose ranks were all counted, over a base that was."""

from collections.abc import Callable

import msgspec
import pytest
from tests.simulation import TWO_CORES, simulated_run

from assay import store
from assay.analyse import examine
from assay.analyse.curves import RunEstimates
from assay.model.plan import Measure, Study
from assay.model.rank import MpiCall, MpiTimes
from assay.model.record import End
from assay.model.run import CaseRecords, Run
from assay.simulation import Law
from assay.topics.scaling.models.losses import Losses, fit, loss, profile
from assay.topics.scaling.models.scaling import Scaling

#: Rank of a case, and number of its ranks -> its counted calls; None for none.
Counters = Callable[[int, int], MpiTimes | None]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> RunEstimates:
    axes = {"size": "XS", "coupling": ("sharing", "independent")}
    study = Study("Losses", "?", (Measure("himeno_mpi", ("1x1", "2x1"), axes=axes),), launches=2)  # type: ignore[arg-type]
    path = simulated_run(tmp_path_factory.mktemp("losses"), Law(sampled_s=0.0), description=TWO_CORES, study=study)
    return examine(store.load(path))


def counted(rank: int, ranks: int) -> MpiTimes:
    calls = {"MPI_Send": MpiCall("send", 100, 0.5 + rank / 10, 800, {"8": 100})} if ranks > 1 else {}
    return MpiTimes(10.0, 1e-6 * (1 + rank), calls)


def planted(
    known: RunEstimates, counters: Counters, change: Callable[[CaseRecords], CaseRecords] | None = None
) -> RunEstimates:
    def of(case: CaseRecords) -> CaseRecords:
        if case.header.benchmark != "himeno_mpi":
            return case
        ranks = case.header.ranks
        with_calls = tuple(
            msgspec.structs.replace(rank, mpi=counters(number, len(ranks))) for number, rank in enumerate(ranks)
        )
        case = msgspec.structs.replace(case, header=msgspec.structs.replace(case.header, ranks=with_calls))
        return change(case) if change else case

    launches = tuple(
        msgspec.structs.replace(each, cases=tuple(map(of, each.cases))) for each in known.run.launches
    )
    run: Run = msgspec.structs.replace(known.run, launches=launches)
    return RunEstimates(run, known.measured, known.models, known.farthest)


def test_a_step_whose_ranks_were_all_counted_has_its_loss_by_cause(known: RunEstimates) -> None:
    evidence = planted(known, counted)
    (found,) = fit(evidence)
    (scaling,) = known.fitted(Scaling)
    (step,) = (each for each in scaling.steps if not each.copies)
    two, one = ([[counted(rank, ranks) for rank in range(ranks)]] * 2 for ranks in (2, 1))
    wanted = loss(step, profile(two), profile(one), None)
    assert found.losses == (wanted,)
    assert wanted.messages > 0
    assert found.of == (scaling.base, step.estimates[0])
    assert found.scaling == scaling.id
    assert found.overhead == pytest.approx(100 * 2e-6 / 10)  # of the placement with most


@pytest.mark.parametrize(
    "counters",
    [
        lambda _rank, _ranks: None,
        lambda rank, ranks: counted(rank, ranks) if ranks == 1 else None,
        lambda rank, ranks: counted(rank, ranks) if ranks == 2 else None,
        lambda rank, ranks: counted(rank, ranks) if rank == 0 else None,
        lambda _rank, _ranks: MpiTimes(10.0, 1e-6, {}),
    ],
)
def test_without_the_calls_of_all_ranks_there_is_no_loss_by_cause(known: RunEstimates, counters: Counters) -> None:
    assert list(fit(planted(known, counters))) == []


def test_calls_of_one_rank_are_enough_where_the_others_make_none(known: RunEstimates) -> None:
    def first(rank: int, ranks: int) -> MpiTimes:
        return counted(rank, ranks) if rank == 0 else MpiTimes(10.0, 1e-6, {})

    assert len(list(fit(planted(known, first)))) == 1


def test_launches_that_did_not_end_do_not_count(known: RunEstimates) -> None:
    ended: list[str] = []

    def cut(case: CaseRecords) -> CaseRecords:
        ended.append(case.header.case)
        if ended.count(case.header.case) > 1:
            return case
        late = tuple(msgspec.structs.replace(rank, mpi=None) for rank in case.header.ranks)
        end = End("failed") if case.end else None
        return msgspec.structs.replace(case, end=end, header=msgspec.structs.replace(case.header, ranks=late))

    assert len(list(fit(planted(known, counted, cut)))) == 1

    def without_end(case: CaseRecords) -> CaseRecords:
        return msgspec.structs.replace(case, end=None)

    assert list(fit(planted(known, counted, without_end))) == []


def test_problems_that_grow_with_the_placement_have_no_loss(known: RunEstimates) -> None:
    (scaling,) = known.fitted(Scaling)
    for changes in ({"grows": True}, {"steps": tuple(each for each in scaling.steps if each.copies)}):
        other = msgspec.structs.replace(scaling, **changes)
        evidence = planted(known, counted)
        assert list(fit(RunEstimates(evidence.run, evidence.measured, (other,), evidence.farthest))) == []
    assert isinstance(next(iter(fit(planted(known, counted)))), Losses)
