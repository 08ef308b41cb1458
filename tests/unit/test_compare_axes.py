"""Runs side by side over any numeric axis: cores, nodes, working set, a program's N; any number of runs."""

import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.simulation import simulated_run

from assay import store
from assay.analyse import examine
from assay.analyse.estimates import Measured
from assay.cli import assay
from assay.compare import charts, page, tables
from assay.compare.curves import over_axes
from assay.compare.meeting import Declared
from assay.compare.records import RUN, CurvePair, MessageCurve
from assay.compare.runs import against, between
from assay.compare.sides import Sides, sides
from assay.compare.statements import statements
from assay.model.errors import ThresholdError, UsageError
from assay.model.plan import Measure, Study
from assay.model.run import Run
from assay.plan import Options
from assay.simulation import Law

pytestmark = pytest.mark.usefixtures("undrawn")

CORES = Study("Memory", "How many?", (Measure("stream", ("cores:*",)),), launches=6)
SIZES = Study(
    "Copies", "How fast?", (Measure("memcpy", ("one-core",), axes={"bytes": (2**14, 2**18, 2**26)}),), launches=6
)
ALL = Study("Memory", "How fast?", (Measure("stream", ("all",)),), launches=6)


def cores(count: int) -> str:
    return f"pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:{count}(size=1MB) l1:1(size=32kB) core:1 pu:1"


def run(folder: Path, count: int, rate: float, study: Study = CORES, options: Options | None = None) -> Run:
    law = Law(core_traffic=rate)
    return store.load(
        simulated_run(folder, law, description=cores(count), study=study, options=options, seed=count)
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, ...]:
    """Three machines of 2, 4 and 3 cores: 12, 10 and 15 GB/s for each core, with the same memory behind them."""
    folder = tmp_path_factory.mktemp("axes") / "assay-runs"
    return tuple(run(folder, count, rate) for count, rate in ((2, 12e9), (4, 10e9), (3, 15e9)))


def only(side: Sides) -> list[CurvePair]:
    return [each for each in side.found.pairs if not isinstance(side.curves[each.a], MessageCurve)]


def test_curves_over_cores_lie_over_each_other_and_are_compared_where_both_have_cores(
    runs: tuple[Run, ...],
) -> None:
    side = sides(runs[:2])
    assert [(each.axis, each.kernel, each.at) for each in side.found.curves] == [
        ("cores", "triad", (1, 2)),
        ("cores", "triad", (1, 2, 3, 4)),
    ]
    (pair,) = only(side)
    assert (pair.differ, pair.exact) == (RUN, True)
    assert [(point.at, point.comparison.verdict) for point in pair.points] == [(1, "slower"), (2, "slower")]
    assert pair.points[0].comparison.ratio == pytest.approx(10 / 12, rel=0.02)
    ((title, curves),) = tables.groups(side).items()
    figure = charts.overlay(side, title, "anchor", curves)
    assert figure
    drawn = {(row["series"], row["x"]) for row in figure.spec["data"]["values"]}
    assert len(drawn) == 6
    assert {x for _, x in drawn} == {1.0, 2.0, 3.0, 4.0}


def test_ratios_of_three_runs_are_to_the_first_and_each_keeps_its_own(runs: tuple[Run, ...]) -> None:
    side = sides(runs)
    found = {(side.curves[pair.a].run, side.curves[pair.b].run): pair for pair in only(side)}
    first, second, third = (each.info.id for each in runs)
    assert found[second, first].points[0].comparison.ratio == pytest.approx(10 / 12, rel=0.02)
    assert found[third, first].points[0].comparison.ratio == pytest.approx(15 / 12, rel=0.02)
    assert found.keys() == {(second, first), (third, first)}
    ((_, curves),) = tables.groups(side).items()
    assert {side.curves[pair.b].run for pair in tables.against_base(side, curves)} == {first}


def test_each_run_is_compared_with_the_base_figure_by_figure(runs: tuple[Run, ...]) -> None:
    base, *others = runs
    compared = against(others, base, Declared(allowed=("topology",)))
    assert [(each.run, each.base) for each in compared] == [(each.info.id, base.info.id) for each in others]
    for each, other in zip(compared, others, strict=True):
        alone = between(other, base, Declared(allowed=("topology",)))
        assert each.pairs == alone.pairs  # two runs are a family, whatever else is compared
        assert {pair.comparison.verdict for pair in each.pairs} <= {
            "slower",
            "faster",
            "equivalent",
            "inconclusive",
        }


def test_single_figures_at_other_numbers_of_cores_make_an_overlay_and_no_ratio(tmp_path: Path) -> None:
    side = sides([run(tmp_path, count, 12e9, ALL) for count in (2, 4)])
    assert [each.at for each in side.found.curves] == [(2,), (4,)]
    assert only(side) == []


def test_the_same_figure_alone_is_no_curve(tmp_path: Path) -> None:
    side = sides([run(tmp_path / str(rate), 2, rate, ALL) for rate in (10e9, 12e9)])
    assert side.found.curves == ()
    assert side.found.shared


def test_a_working_set_is_an_axis(tmp_path: Path) -> None:
    side = sides([run(tmp_path / str(rate), 2, rate, SIZES) for rate in (10e9, 12e9)])
    assert [(each.axis, each.at) for each in side.found.curves] == [("bytes", (2**14, 2**18, 2**26))] * 2
    (pair,) = only(side)
    assert [(point.at, point.comparison.is_claim) for point in pair.points] == [
        (2**14, False),
        (2**18, False),
        (2**26, False),
    ]
    assert [each for each in statements(side) if each.kind == "curve"] == []  # nothing is certain


def test_what_an_import_states_as_a_number_is_an_axis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def hpl(name: str, rates: dict[int, float]) -> str:
        rows = "\n".join(
            f"WR11C2R4       {n:6d}   128     2     2             100.00              {rate:.4e}"
            for n, rate in rates.items()
        )
        head = "T/V                N    NB     P     Q               Time                 Gflops"
        (tmp_path / name).write_text(f"{head}\n{'-' * 80}\n{rows}\n", "utf-8")
        return invoke("import", "hpl", name).stdout.strip()

    names = [hpl("old.txt", {1000: 10.0, 2000: 15.0}), hpl("new.txt", {1000: 20.0, 4000: 40.0})]
    side = sides([store.load(store.find(name)) for name in names])
    assert [each.at for each in side.found.curves if each.metric == "rate"] == [(1000, 2000), (1000, 4000)]
    assert {each.axis for each in side.found.curves} == {"n"}
    (pair,) = [each for each in only(side) if side.curves[each.a].metric == "rate"]
    (point,) = pair.points
    assert point.at == 1000
    assert point.comparison.ratio == pytest.approx(2.0)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(assay, arguments)


def test_the_command_takes_any_number_of_runs(runs: tuple[Run, ...]) -> None:
    paths = [each.path for each in runs]
    assert isinstance(invoke("compare", *paths).exception, UsageError)  # the topology differs, undeclared
    shown = invoke("compare", *paths, "--allow", "topology")
    assert shown.exit_code == 0, shown.output
    for other in runs[1:]:
        assert f"{other.info.id} against {runs[0].info.id} (base)" in shown.output
    document = json.loads(invoke("compare", *paths, "--allow", "topology", "--json").stdout)
    assert document["runs"] == [each.info.id for each in runs]
    assert [each["run"] for each in document["compared"]] == document["runs"][1:]
    assert {each["axis"] for each in document["side_by_side"]["curves"]} == {"cores"}
    error = invoke("compare", *paths, "--allow", "topology", "--fail-below", "10%").exception
    assert isinstance(error, ThresholdError)
    assert runs[1].info.id in error.remedy


def test_a_page_of_three_runs_draws_cores_and_says_what_ratios_are_to(runs: tuple[Run, ...]) -> None:
    written = page.render(sides(runs))
    assert 'id="figure-curves-0"' in written
    assert 'id="figure-ratio-0"' in written
    assert "Ratios are to simulated" in written


def test_ranks_with_as_many_cpus_each_are_an_axis(tmp_path: Path) -> None:
    def laid_out(measured: Measured, ranks: int) -> Measured:
        placement = msgspec.structs.replace(measured.estimate.placement, label=f"{ranks}x2", laid_out=ranks)
        return msgspec.structs.replace(
            measured, estimate=msgspec.structs.replace(measured.estimate, placement=placement)
        )

    found = []
    for count in (2, 4):
        evidence = examine(run(tmp_path, count, 12e9, ALL))
        measured = tuple(laid_out(each, count // 2) for each in evidence.measured)
        found.append(msgspec.structs.replace(evidence, measured=measured))
    curves = [[each.curve for each in of] for of in over_axes(found, frozenset())]
    assert [[(each.axis, each.at) for each in of] for of in curves] == [[("ranks", (1,))], [("ranks", (2,))]]
