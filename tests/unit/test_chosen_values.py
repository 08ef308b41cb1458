"""Values of axes that a user sets in place of the study's own."""

import pytest
from click.testing import CliRunner
from tests.simulation import TWO_CORES, plan_for

from assay.cli import assay
from assay.model.declaration import ParamValue
from assay.model.errors import UsageError
from assay.model.plan import Plan
from assay.plan import Options

BLAS = {"blas": "/simulated/libblas.so"}


def planned(study: str, *values: str, refine: int | None = None) -> Plan:
    return plan_for(TWO_CORES, study, Options(values=values, libraries=BLAS, refine=refine))


def of_axis(plan: Plan, benchmark: str, axis: str) -> list[ParamValue]:
    return list(dict.fromkeys(case.params[axis] for case in plan.studied if case.benchmark == benchmark))


@pytest.mark.parametrize(("study", "benchmark"), [("hpl", "hpl"), ("mxp", "mxp"), ("dgemm", "dgemm")])
def test_one_order_is_measured_and_no_other_is_added(study: str, benchmark: str) -> None:
    plan = planned(study, "n=2048")
    assert of_axis(plan, benchmark, "n") == [2048]
    assert plan.refine == 0
    assert planned(study, "n=2048", refine=2).refine == 2


def test_linpack_of_another_order_has_its_leading_dimension() -> None:
    plan = planned("linpack", "n=500")
    assert of_axis(plan, "linpack", "n") == [500]
    assert of_axis(plan, "linpack", "leading") == [501]


def test_a_benchmark_is_named_where_only_its_own_axis_is_meant() -> None:
    plan = planned("hpl", "hpl.n=1024,2048", "nb=128")
    assert of_axis(plan, "hpl", "n") == [1024, 2048]
    assert of_axis(plan, "hpl", "nb") == [128]
    assert of_axis(plan, "dgemm", "n") == of_axis(planned("hpl"), "dgemm", "n")


def test_what_is_no_size_of_a_curve_leaves_the_rounds_of_sizes() -> None:
    assert planned("hpl", "nb=128").refine == planned("hpl").refine > 0


def test_a_word_and_a_range_are_values() -> None:
    assert of_axis(planned("quick", "stream.stores=ordinary"), "stream", "stores") == ["ordinary"]
    assert of_axis(planned("quick", "memcpy.bytes=1K:4K"), "memcpy", "bytes") == [1024, 2048, 4096]


@pytest.mark.parametrize(
    ("values", "what", "why"),
    [
        (("m=8",), "has an axis 'm'", "known: "),
        (("stream.n=8",), "has an axis 'stream.n'", "known: "),
        (("ordr=8",), "has an axis 'ordr'", ""),
        (("n=",), "'n=' sets nothing", "a value is missing"),
        (("n",), "'n' sets nothing", "a value is missing"),
        (("n=8", "n=9"), "'n' is set twice", "one --set"),
        (("hpl.broadcast=loud",), "hpl has no broadcast 'loud'", "known: shared"),
        (("n=many",), "many", ""),
    ],
)
def test_what_cannot_be_set_is_refused_with_the_reason(values: tuple[str, ...], what: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        planned("hpl", *values)
    assert what in refused.value.what
    assert why in refused.value.why


def test_the_next_command_has_the_values_that_were_typed() -> None:
    words = ["plan", "quick", "--synthetic", TWO_CORES, "--set", "elements=1000000"]
    done = CliRunner().invoke(assay, words)
    assert done.exit_code == 0, done.output
    assert "assay run quick --set elements=1000000" in done.stdout
