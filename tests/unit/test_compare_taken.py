"""Networks of two systems meet by role; what was taken for what is said, and --as decides."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.simulation import simulated_run
from tests.unit.test_like import SHAPES

from assay import plan as planning
from assay import store, studies
from assay.analyse import taken
from assay.cli import assay
from assay.compare import figure_rows, page
from assay.compare.meeting import Declared
from assay.compare.runs import between
from assay.compare.sides import sides
from assay.model.compared import Compared, Taken
from assay.model.errors import UsageError
from assay.model.measurand import Level
from assay.model.plan import Measure, Study
from assay.model.run import Run
from assay.simulation import Law
from assay.simulation.law import Link

FAST, SLOW = Link(2e-6, 1e9, 1e9, gap_s=0.0), Link(50e-6, 1e8, 1e8, gap_s=0.0)


@pytest.fixture
def leo() -> Run:
    return store.load(store.find("leo"))


def measured(folder: Path, networks: dict[str, str], links: dict[str, Link] | None = None) -> Run:
    """What `like:leo` measures of messages between nodes, over these networks."""
    study = studies.get("like:leo")
    study = msgspec.structs.replace(study, measure=tuple(m for m in study.measure if m.benchmark == "pt2pt"))
    options = planning.Options(hosts=("n1", "n2"), launches=2, networks=networks)
    law = Law(links={**Law().links, **links}) if links else None
    return store.load(simulated_run(folder, law, description=SHAPES["leo"][0], study=study, options=options))


def met(compared: Compared) -> dict[str, str]:
    return {each.b: each.a for each in compared.taken if each.b != "not stated"}


def networks_of(compared: Compared) -> set[tuple[str, str]]:
    """Pairs of networks of the compared figures: as the publication names them, and the run's own."""

    def name(levels: tuple[Level, ...]) -> str:
        return next((each.level for each in levels if each.role == "network"), "")

    pairs = {(name(pair.b.measurand.levels), name(pair.a.measurand.levels)) for pair in compared.pairs}
    return {pair for pair in pairs if all(pair)}


@pytest.mark.parametrize("order", [("blue", "red"), ("red", "blue")])
def test_the_fast_network_meets_the_fast_one_whatever_their_names_and_order(
    tmp_path: Path, leo: Run, order: tuple[str, str]
) -> None:
    devices = {"blue": "mlx5_0:1", "red": "eth0"}
    run = measured(tmp_path, {name: devices[name] for name in order}, {"mlx5_0:1": FAST, "eth0": SLOW})
    compared = between(run, leo)
    assert met(compared) == {"SCI": "blue", "Fast Ethernet": "red"}
    assert {each.by for each in compared.taken if each.b != "not stated"} == {"rate"}
    assert networks_of(compared) == {("SCI", "blue"), ("Fast Ethernet", "red")}
    turned = between(leo, run)
    assert {(b, a) for a, b in networks_of(turned)} == {("SCI", "blue"), ("Fast Ethernet", "red")}


def test_what_was_taken_for_what_is_said_in_the_terminal_and_on_the_page(tmp_path: Path, leo: Run) -> None:
    run = measured(tmp_path, {"blue": "mlx5_0:1", "red": "eth0"}, {"mlx5_0:1": FAST, "eth0": SLOW})
    console = Console(width=200, record=True)
    figure_rows.render(between(run, leo), console)
    said = f"Network SCI of leo is taken for blue of {run.info.id}, by the order of their rates."
    assert said in console.export_text()
    beside = sides([leo, run])
    assert len(beside.taken) == 2
    assert "Network Fast Ethernet of" in page.render(beside)
    differ = [each.differ for each in (*beside.found.contrasts, *beside.found.shared)]
    differ += [each.differ for each in beside.found.pairs]
    assert "run" in differ, "figures of the two systems are laid beside each other although no name is equal"


def test_as_decides_against_the_order_of_the_rates(tmp_path: Path, leo: Run) -> None:
    run = measured(tmp_path, {"blue": "mlx5_0:1", "red": "eth0"}, {"mlx5_0:1": FAST, "eth0": SLOW})
    compared = between(run, leo, Declared(names={"sci": "red"}))
    assert met(compared) == {"SCI": "red", "Fast Ethernet": "blue"}
    assert networks_of(compared) == {("SCI", "red"), ("Fast Ethernet", "blue")}
    with pytest.raises(UsageError, match="names no networks") as error:
        between(run, leo, Declared(names={"sci": "green"}))
    assert "Fast Ethernet" in str(error.value.why)


def test_a_single_network_is_taken_for_the_fast_one_and_that_is_called_a_guess(tmp_path: Path, leo: Run) -> None:
    compared = between(measured(tmp_path, {}), leo)
    assert compared.taken[0] == Taken("network", "not stated", "SCI", "guess")
    places = {pair.b.factors.get("network", "") for pair in compared.pairs if pair.b.placement.nodes > 1}
    assert places == {""}
    assert any("Fast Ethernet" in name for name in compared.uncompared)
    (line,) = taken.sentences([("leo", "run", compared.taken[0])])
    assert "--as sci=NAME decides it" in line


def test_equal_names_meet_whatever_their_rates(tmp_path: Path, leo: Run) -> None:
    links = {"mlx5_0:1": FAST, "eth0": SLOW}
    run = measured(tmp_path, {"Fast Ethernet": "mlx5_0:1", "SCI": "eth0"}, links)
    compared = between(run, leo)
    assert met(compared) == {"SCI": "SCI", "Fast Ethernet": "Fast Ethernet"}
    assert not taken.sentences(("leo", "run", each) for each in compared.taken)


def test_two_words_for_one_placement_are_one_measurand(tmp_path: Path) -> None:
    """A run of two cores of one kind, and one that names a rank of one core on each of two nodes."""

    def figures(word: str, seed: int) -> Run:
        study = Study(
            "Words", "?", (Measure("pt2pt", (word,), axes={"bytes": 8, "pattern": "latency"}),), launches=4
        )
        options = planning.Options(hosts=("n1", "n2"), launches=4)
        return store.load(simulated_run(tmp_path / word.replace(":", ""), study=study, options=options, seed=seed))

    one, other = figures("one-core@2", 1), figures("1x1@2", 2)
    compared = between(one, other)
    assert [(pair.a.placement.label, pair.b.placement.label) for pair in compared.pairs] == [
        ("one-core@2", "1x1@2")
    ]
    assert not compared.uncompared


def test_the_option_is_a_pair_of_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RUNS", str(tmp_path))
    measured(tmp_path, {"blue": "mlx5_0:1", "red": "eth0"}, {"mlx5_0:1": FAST, "eth0": SLOW})
    wrong = CliRunner().invoke(assay, ["compare", "leo", "last", "--as", "sci"])
    assert isinstance(wrong.exception, UsageError)
    done = CliRunner().invoke(assay, ["compare", "leo", "last", "--as", "SCI=Red", "--json"])
    assert done.exit_code == 0, done.output
    assert '"by": "given"' in done.output
    path = str(tmp_path / "page.html")
    done = CliRunner().invoke(assay, ["report", "leo", "last", "--as", "sci=red", "-o", path])
    assert done.exit_code == 0, done.output
    assert "as the user says" in Path(path).read_text("utf-8")
