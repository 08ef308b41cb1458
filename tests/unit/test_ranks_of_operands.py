"""Which ranks an operand `rank-per:DOMAIN` means: the figure of a run of exactly these, under whatever word."""

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.test_like import given

from assay import store, studies
from assay.analyse import analyse, examine
from assay.analyse.operands import Figures, MissingError, select
from assay.model.derivation import Operand
from assay.model.run import Run

NAME = "epyc-7601"
NX = 1600
#: Word of an operand -> labels of the one figure that it means, by study; empty: there is none.
WANTED = {
    "weather": {
        "rank-per:core": "64x1",
        "rank-per:l3": "rank-per:l3",
        "rank-per:numa": "rank-per:numa",
        "rank-per:socket": "rank-per:socket",
    },
    f"like:{NAME}": {
        "rank-per:core": "rank-per:core",
        "rank-per:l3": "",
        "rank-per:numa": "rank-per:numa@1",
        "rank-per:socket": "",
    },
}


@pytest.fixture(scope="module", params=WANTED)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The weather of one node in a study, as if it repeated the reference."""
    study = studies.get(request.param)
    study = msgspec.structs.replace(
        study, measure=tuple(each for each in study.measure if each.benchmark == "weather")
    )
    shape, options = given(NAME)
    options = msgspec.structs.replace(options, hosts=("n1",), launches=6)
    path = simulated_run(tmp_path_factory.mktemp("runs"), description=shape, study=study, options=options)
    made = store.load(path)
    return msgspec.structs.replace(
        made, plan=msgspec.structs.replace(made.plan, reference=NAME, study=request.param)
    )


@pytest.mark.parametrize("on", ["", "@1", "@all"])
def test_an_operand_of_ranks_meets_the_figure_of_these_ranks_only(run: Run, on: str) -> None:
    for word, label in WANTED[run.plan.study].items():
        try:
            found = select(
                Figures(run, examine(run).measured), Operand("weather", placement=word + on, params={"nx": NX})
            )
        except MissingError:
            found = []
        assert {each.estimate.placement.label for each in found} == ({label} if label else set()), word


def test_ranks_and_ranks_with_threads_are_two_figures_of_the_authors_sentence(run: Run) -> None:
    repetition = analyse(run).repetition
    assert repetition
    (judged,) = (each for each in repetition.conclusions if "dmpar and as dm+sm" in each.conclusion.says)
    assert judged.quantity
    assert len(set(judged.of)) == 2
    wanted = WANTED[run.plan.study]
    assert [each.split("/")[1] for each in judged.of] == [wanted["rank-per:core"], wanted["rank-per:numa"]]
