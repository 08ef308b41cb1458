"""Published systems of equations and speed-ups compared with own ones."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.simulation import TWO_CORES, simulated_run

from assay import references, store
from assay.cli import assay
from assay.compare import tables
from assay.compare.sides import Side, Sides, sides
from assay.model.plan import Measure, Study
from assay.plan import Options
from assay.report import selection
from assay.simulation import Law

HOSTS = Options(hosts=("n1", "n2"), libraries={"blas": "/simulated/libblas.so"})


def study(*orders: int) -> Study:
    together = Measure("hpl", ("one-core", "pair", "one-core@2"), axes={"n": orders})
    copies = Measure("hpl", ("pair",), axes={"n": orders, "coupling": "independent"})
    return Study("Systems", "How much faster?", (together, copies), launches=2)


def made(folder: Path, wanted: Study, options: Options = HOSTS) -> Path:
    return simulated_run(folder / "assay-runs", Law(), study=wanted, options=options, description=TWO_CORES)


def compared(*runs: str | Path) -> Sides:
    return sides([store.load(store.find(str(each))) for each in runs])


def invoke(*arguments: str) -> Result:
    done = CliRunner().invoke(assay, arguments)
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def at_10000(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("laws"), study(10000))


@pytest.fixture(scope="module")
def at_others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("others"), study(1024, 2048))


def test_an_own_system_of_the_published_order_has_its_ratio_to_the_published_rate(at_10000: Path) -> None:
    found = json.loads(invoke("compare", "leo", str(at_10000), "--json").stdout)
    pairs = {(each["a"]["benchmark"], each["a"]["placement"]["label"]): each for each in found["pairs"]}
    pair = pairs["hpl", "one-core"]
    assert pair["b"]["value"]["value"] == 3164e6
    assert pair["comparison"]["value"]["value"] == pytest.approx(pair["a"]["value"]["value"] / 3164e6, rel=1e-3)
    assert pair["comparison"]["verdict"] == "inconclusive"


def test_systems_of_other_orders_stand_beside_the_published_ones_without_a_ratio(at_others: Path) -> None:
    found = compared("leo", at_others)
    curves = {(each.run, each.at) for each in found.found.curves if each.place == "one-core"}
    assert curves == {("leo", (10000,)), (found.sides[1].run.info.id, (1024, 2048))}
    assert not [each for each in found.found.pairs if found.curves[each.a].benchmark == "hpl"]
    output = invoke("compare", "leo", str(at_others)).output
    assert "3.16 GFLOP/s" in output
    assert "by order of the system of equations, side by side" in " ".join(output.split())


def test_published_speed_ups_stand_beside_own_ones_of_the_same_cores_and_nodes(at_others: Path) -> None:
    found = compared("leo", "sci", at_others)
    own = found.sides[2].run.info.id
    by_place = {(each.at["cores"], each.at["nodes"]): each.of for each in found.found.law_figures}
    assert set(by_place) == {(2, 2), (2, 1)}
    for place, leo, sci in (((2, 2), 1.94, 2.0), ((2, 1), 1.73, 1.87)):
        of_run = selection.grouped(by_place[place], lambda each: each[0])
        values = {run: [figure.value for _, _, figure in of] for run, of in of_run.items()}
        assert (values["leo"], values["sci"]) == ([leo], [sci])
        assert len(values[own]) == (4 if place == (2, 1) else 2)  # two orders, and on one node independent copies
        assert all(1 < each < 2.1 for each in values[own])
    output = " ".join(invoke("compare", "leo", str(at_others)).output.split())
    assert "1.73 (n 10,000)" in output
    assert "coupling independent" in output


def test_linpack_100_of_the_same_language_stands_beside_the_published_one(tmp_path: Path) -> None:
    loops = Study("LINPACK", "How fast?", (Measure("linpack_fortran", ("one-core",)),), launches=2)
    found = json.loads(invoke("compare", "leo", str(made(tmp_path, loops, Options())), "--json").stdout)
    (pair,) = (each for each in found["pairs"] if each["b"]["benchmark"] == "linpack_fortran")
    assert (pair["a"]["params"]["n"], pair["b"]["params"]["n"], pair["b"]["value"]["value"]) == (100, 100, 1251e6)


def test_speed_ups_over_more_than_one_core_are_not_those_that_others_publish(tmp_path: Path) -> None:
    pair = Study("Pairs", "How much faster?", (Measure("hpl", ("pair", "2x1@2"), axes={"n": 1024}),), launches=2)
    assert not compared("leo", made(tmp_path, pair)).found.law_figures


def test_figures_of_one_cell_with_equal_problems_are_told_apart_by_their_placements(tmp_path: Path) -> None:
    places = ("one-core", "2x1", "1x2")
    air = Study("Air", "How much faster?", (Measure("weather", places, axes={"nx": 400}),), launches=3)
    runs = [made(tmp_path / name, air) for name in "ab"]
    (table,) = tables.law_figures(compared(*runs))
    (row,) = (row for row in table.rows if "2 cores" in str(row[1]) and "1 node" in str(row[1]))
    for cell in map(str, row[2:]):
        problems = re.findall(r"nx [^)]*", cell)
        assert len(problems) == len(set(problems)) == 2, cell


def test_computed_speed_ups_follow_from_the_rates_of_their_source() -> None:
    tables = [each for each in references.get("epyc-7601").tables if each.benchmark == "stream"]
    rates = {each.placement: each.figures[0].value for each in tables if each.figures[0].metric == "bandwidth"}
    (stated,) = (each for each in tables if each.figures[0].metric == "speed-up over one core")
    places = ("all:l3:0", "all:numa:0", "half", "all")
    for figure, place in zip(stated.figures, places, strict=True):
        assert figure.value == pytest.approx(rates[place] / rates["one-core"], rel=0.005)
        assert f"{rates[place] / 1e9:g} GB/s / {rates['one-core'] / 1e9:g} GB/s" in figure.remark


@pytest.mark.parametrize(("residual", "unfit"), [(0.30, False), (0.31, True)])
def test_a_law_far_from_its_figures_is_called_unfit_and_its_parameters_have_one_digit(
    residual: float,
    unfit: bool,  # noqa: FBT001 (a row)
) -> None:
    found = compared("hpcdiy-qdr", "hpcdiy-gbe")

    def off(side: Side) -> Side:
        models = (msgspec.structs.replace(each, residual=residual) for each in side.analysis.models)
        return msgspec.structs.replace(side, analysis=msgspec.structs.replace(side.analysis, models=tuple(models)))

    table, *_ = tables.laws(msgspec.structs.replace(found, sides=tuple(map(off, found.sides))))
    for row in table.rows:
        assert row[-1].endswith("too large") is unfit
        assert row[3].startswith("about ") is unfit
        assert not unfit or len(re.sub(r"[^1-9]", "", row[3])) == 1
