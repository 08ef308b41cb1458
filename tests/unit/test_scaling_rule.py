"""The rule on efficiency and the section of speed-ups, from planted steps: borders, reasons, cells, headlines."""

import msgspec
import pytest
from tests.simulation import TWO_CORES, simulated_run
from tests.unit.figure_columns import set_right

from assay import store
from assay.analyse import conclude, examine
from assay.analyse.evidence import Evidence
from assay.analyse.findings import findings
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity, exact
from assay.model.result import Finding
from assay.plan import Options
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Law
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.steps import Step, advice


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    axes = {"size": "S", "coupling": ("sharing", "independent")}
    study = Study("Rule", "?", (Measure("himeno_mpi", ("1x1", "2x1", "1x1@2"), axes=axes),), launches=6)  # type: ignore[arg-type]
    options = Options(hosts=("n1", "n2"))
    path = simulated_run(
        tmp_path_factory.mktemp("rule"), Law(sampled_s=0.0), description=TWO_CORES, study=study, options=options
    )
    return examine(store.load(path))


def ends(value: float, lo: float | None = None, hi: float | None = None) -> Quantity:
    return Quantity(value, value - 0.01 if lo is None else lo, value + 0.01 if hi is None else hi, "", "interval")


def model(known: Evidence) -> Scaling:
    return next(each for each in known.fitted(Scaling) if each.base_label == "1x1")


def step(known: Evidence, label: str = "2x1", *, copies: bool = False) -> Step:
    return next(each for each in model(known).steps if each.label == label and each.copies == copies)


def planted(known: Evidence, *steps: Step, **changes: object) -> Evidence:
    """The evidence with these steps alone."""
    one = msgspec.structs.replace(model(known), steps=steps, **changes)
    return msgspec.structs.replace(known, models=(one,))


def with_efficiency(step: Step, efficiency: Quantity, **changes: object) -> Step:
    speed_up = efficiency.scaled(step.cores, "")
    return msgspec.structs.replace(step, efficiency=efficiency, speed_up=speed_up, **changes)


def found(evidence: Evidence) -> list[Finding]:
    return [each for each in findings(evidence) if each.rule == "scaling" and each.assessed]


@pytest.mark.parametrize("high", [0.799, 0.8])
def test_a_loss_is_heard_where_the_upper_end_is_below_0_8(known: Evidence, high: float) -> None:
    low = with_efficiency(step(known), ends(0.7, 0.6, high))
    assert bool(found(planted(known, low))) == (high < 0.8)


def test_only_ranks_that_share_a_problem_lose_by_messages(known: Evidence) -> None:
    copies = with_efficiency(step(known, copies=True), ends(0.5))
    (nothing,) = (each for each in findings(planted(known, copies)) if each.rule == "scaling")
    assert not nothing.assessed
    assert len(found(planted(known, with_efficiency(step(known), ends(0.5), ranks=1)))) == 1
    without_messages = with_efficiency(step(known), ends(0.5), ranks=0)
    well = with_efficiency(step(known), ends(0.9))
    assert found(planted(known, copies, without_messages, well)) == []
    assert len(found(planted(known, copies, with_efficiency(step(known), ends(0.6))))) == 1


def test_the_placement_that_loses_most_is_named(known: Evidence) -> None:
    worse = with_efficiency(step(known, "1x1@2"), ends(0.5))
    better = with_efficiency(step(known), ends(0.6))
    for steps in ((worse, better), (better, worse)):
        (finding,) = found(planted(known, *steps))
        assert "50.0 % of a linear speed-up" in finding.claim
        assert finding.numbers["statistic"].parts == worse.efficiency.parts
        assert finding.numbers["threshold"].value == 0.8
        assert finding.statistic.startswith("upper end of the efficiency 0.510")
        assert (finding.severity, finding.status) == ("problem", "observed")


@pytest.mark.parametrize(
    ("shared", "messages", "reason", "remedy"),
    [
        ((0.94, 0.93, 0.95), (0.97, 0.96, 0.98), "Sharing the node costs 6.0 %", "fewer ranks per node"),
        ((0.95, 0.94, 0.96), (0.97, 0.96, 0.98), "Messages cost 3.0 %; sharing the node costs 5.0 %", "network"),
        ((0.8, 0.79, 0.81), (0.7, 0.69, 0.71), "Messages cost 30.0 %; sharing the node costs 20.0 %", "network"),
        ((0.7, 0.69, 0.71), (0.8, 0.79, 0.81), "Sharing the node costs 30.0 %", "fewer ranks per node"),
        ((0.6, 0.59, 0.61), (1.1, 1.01, 1.2), "a cache effect", "fewer ranks per node"),
        ((0.7, 0.69, 0.71), (1.1, 1.0, 1.2), "Sharing the node costs 30.0 %", "fewer ranks per node"),
        ((1.0, 0.9, 1.1), (1.0, 0.99, 1.01), "Messages cost 0.0 %", "cannot be told apart"),
        ((0.98, 0.9, 1.0), (0.98, 0.9, 1.0), "Messages cost 2.0 %", "cannot be told apart"),
        ((0.98, 0.9, 1.0), (0.98, 0.9, 0.99), "Messages cost 2.0 %", "network"),
    ],
)
def test_the_reason_is_the_larger_of_two_losses(
    known: Evidence,
    shared: tuple[float, float, float],
    messages: tuple[float, float, float],
    reason: str,
    remedy: str,
) -> None:
    low = with_efficiency(step(known), ends(0.6), shared=ends(*shared), messages=ends(*messages), as_full=False)
    (finding,) = found(planted(known, low))
    assert reason in finding.claim
    assert remedy in str(finding.next)


def test_on_nodes_as_full_as_the_base_copies_show_how_nodes_differ(known: Evidence) -> None:
    def claim(shared: Quantity, messages: Quantity) -> tuple[str, str]:
        low = with_efficiency(step(known, "1x1@2"), ends(0.6), shared=shared, messages=messages, as_full=True)
        (finding,) = found(planted(known, low))
        return str(finding.claim), str(finding.next)

    text, remedy = claim(exact(1.0), ends(0.6))
    assert "the loss comes from messages and waiting for them" in text
    assert "faster network" in remedy
    text, remedy = claim(ends(0.7), ends(0.86))
    assert "The nodes differ: without messages, ranks on them lose 30.0 %. Messages cost 14.0 %." in text
    assert "find the slow node" in remedy
    text, _ = claim(ends(0.96), ends(0.62))
    assert "Messages cost 38.0 %. Without messages, ranks on the same nodes lose 4.0 %." in text


def test_what_is_not_known_separately_is_said_with_the_command_that_measures_it(known: Evidence) -> None:
    low = with_efficiency(step(known), ends(0.6), shared=None, messages=None)
    (finding,) = found(planted(known, low))
    assert "were not measured separately" in finding.claim
    assert "scale:himeno_mpi" in str(finding.next)
    half = msgspec.structs.replace(low, shared=ends(0.7))
    (finding,) = found(planted(known, half))
    assert "scale:himeno_mpi" in str(finding.next)
    single = msgspec.structs.replace(low, shared=ends(0.7), messages=exact(0.86), as_full=False)
    (finding,) = found(planted(known, single))
    assert "Too few launches to separate" in finding.claim
    few = msgspec.structs.replace(low, shared=exact(0.7), messages=ends(0.86), as_full=False)
    (finding,) = found(planted(known, few))
    assert "Too few launches to separate" in finding.claim
    assert "more launches" in str(finding.next)


def test_a_faster_placement_on_as_many_cores_is_the_remedy(known: Evidence) -> None:
    low = with_efficiency(step(known), ends(0.6), shared=None, messages=None)
    other = with_efficiency(step(known, "1x1@2"), ends(0.9, 0.62, 0.95))
    (finding,) = found(planted(known, low, other))
    assert "a speed-up of 1.80 in place of 1.20" in str(finding.next)
    assert "srun --nodes=2 --ntasks-per-node=1 PROGRAM" in str(finding.next)
    overlapping = with_efficiency(step(known, "1x1@2"), ends(0.9, 0.61, 0.95))
    (finding,) = found(planted(known, low, overlapping))
    assert "in place of" not in str(finding.next)


def test_without_an_interval_a_loss_is_a_fact_and_a_candidate(known: Evidence) -> None:
    ranged = Quantity(0.6, 0.59, 0.61, "", "range")
    (finding,) = found(planted(known, with_efficiency(step(known), ranged)))
    assert (finding.severity, finding.status) == ("fact", "candidate")


@pytest.mark.parametrize(
    ("sizes", "large", "severities"),
    [
        (("S", "M"), ends(0.7), ["fact", "problem"]),  # a study measures small problems on purpose
        (("M", "S"), ends(0.7), ["problem", "problem"]),  # the larger one loses more: both are told
        (("S", "M"), ends(0.605), ["problem", "problem"]),  # not certainly less
        (("S", "M"), ends(0.95), ["fact"]),
    ],
)
def test_a_small_problem_is_no_fault_where_a_larger_one_loses_less(
    known: Evidence, sizes: tuple[str, str], large: Quantity, severities: list[str]
) -> None:
    low, other = with_efficiency(step(known), ends(0.6)), with_efficiency(step(known), large)
    one = msgspec.structs.replace(model(known), steps=(low,), problem={"size": sizes[0]})
    two = msgspec.structs.replace(model(known), id="scaling/larger", steps=(other,), problem={"size": sizes[1]})
    told = {
        each.id.removeprefix("scaling:"): each for each in found(msgspec.structs.replace(known, models=(one, two)))
    }
    assert [told[name].severity for name in (one.id, two.id) if name in told] == severities
    small = told[one.id]
    assert bool(small.next) == (small.severity == "problem")
    if small.severity == "fact":
        assert f"The larger problem, size {sizes[1]}, loses {100 * (1 - large.value):.1f} % there." in small.claim


def test_a_largest_problem_that_a_curve_of_one_problem_has_told_is_not_told_again(known: Evidence) -> None:
    low = with_efficiency(step(known), ends(0.6))
    one = msgspec.structs.replace(model(known), steps=(low,), problem={"size": "S"})
    grown = msgspec.structs.replace(one, id="grown", problem={"size": "largest"}, grows=True)
    (finding,) = found(msgspec.structs.replace(known, models=(grown, one)))
    assert finding.id == f"scaling:{one.id}"
    (alone,) = found(msgspec.structs.replace(known, models=(grown,)))
    assert alone.id == "scaling:grown"


def test_another_network_is_no_larger_problem(known: Evidence) -> None:
    low, better = with_efficiency(step(known), ends(0.6)), with_efficiency(step(known), ends(0.95))
    one = msgspec.structs.replace(model(known), steps=(low,), problem={"size": "S", "network": "fe"})
    two = msgspec.structs.replace(one, id="other", steps=(better,), problem={"size": "M", "network": "sci"})
    (finding,) = found(msgspec.structs.replace(known, models=(one, two)))
    assert finding.severity == "problem"


def test_the_first_page_has_the_largest_problem_with_its_size(known: Evidence) -> None:
    one = msgspec.structs.replace(
        model(known), steps=(with_efficiency(step(known), ends(0.6)),), problem={"size": "S"}
    )
    two = msgspec.structs.replace(
        one, id="scaling/larger", steps=(with_efficiency(step(known), ends(0.9)),), problem={"size": "M"}
    )
    for models in ((one, two), (two, one)):
        (line,) = section(msgspec.structs.replace(known, models=models)).headlines
        assert line.label.endswith("Himeno over MPI (stencil), size M")
        assert line.estimate.median == two.steps[0].speed_up.value


def section(evidence: Evidence) -> Section:
    analysis = conclude(evidence)
    return next(each for each in sections(evidence.run, analysis) if each.id == "scaling")


def test_a_row_has_the_figures_of_its_step(known: Evidence) -> None:
    one = with_efficiency(step(known), ends(0.6), serial=ends(0.2), node_time=ends(0.55))
    two = with_efficiency(step(known, "1x1@2"), ends(0.7), serial=None, node_time=ends(1.4))
    copies = with_efficiency(step(known, "1x1@2", copies=True), ends(0.9))
    table = section(planted(known, one, two, copies)).tables[0]
    rows = {str(row[1]): dict(zip(map(str, table.columns), map(str, row), strict=True)) for row in table.rows}
    assert list(rows) == ["1x1", "2x1", "1x1@2", "1x1@2, independent copies"]
    assert [row["Nodes"] for row in rows.values()] == ["1", "1", "2", "2"]
    assert [row["Cores"] for row in rows.values()] == ["1", "2", "2", "2"]
    assert (rows["1x1"]["Speed-up"], rows["1x1"]["Interval"]) == ("base", "")
    assert rows["2x1"]["Speed-up"] == "1.20"
    assert rows["2x1"]["Interval"] == "[1.18, 1.22]"
    assert rows["2x1"]["Efficiency"] == "0.600"
    assert (rows["2x1"]["Serial fraction"], rows["1x1@2"]["Serial fraction"]) == ("0.200", "")
    assert (rows["2x1"]["Node time"], rows["1x1@2"]["Node time"], rows["1x1"]["Node time"]) == (
        "0.550",
        "1.40",
        "1",
    )
    assert rows["1x1@2, independent copies"]["Node time"] == ""


def test_columns_of_figures_are_set_as_figures(known: Evidence) -> None:
    one = with_efficiency(step(known), ends(0.6), serial=ends(0.2), shared=ends(0.7), messages=ends(0.86))
    evidence = planted(known, one, advice=advice("base", 1, [one]))
    assert set_right(section(evidence).tables)
