"""Figures that follow from others: computed alike from a reference's own numbers and from those of a run."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.rule_evidence import of
from tests.unit.test_like import given

from assay import references, store
from assay.analyse import analyse, derived, examine, matching, operands
from assay.analyse.curves import is_headline
from assay.analyse.estimates import Measured
from assay.analyse.operands import Figures, MissingError
from assay.catalogue import benchmarks
from assay.model.declaration import keep
from assay.model.derivation import Derivation, Operand
from assay.model.imported import Figure
from assay.model.run import Run


@cache
def reference(name: str) -> Run:
    return store.load(store.find(name))


def stated(name: str) -> list[Figure]:
    """The derived figures of a reference."""
    tables = references.get(name).tables
    return [figure for table in tables for figure in table.figures if figure.derivation]


@pytest.fixture(scope="module")
def epyc(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    shape, options = given("epyc-7601")
    run = store.load(
        simulated_run(
            tmp_path_factory.mktemp("runs"),
            description=shape,
            study="like:epyc-7601",
            options=msgspec.structs.replace(options, launches=6),
        )
    )
    return Figures(run, [each for each in examine(run).measured if is_headline(each.estimate)])


GALLERY = Path(__file__).parents[2] / "docs/gallery"
STREAM = Operand("stream", placement="all")


#: 900 Mbit/s of TCP less 750 to 800 of MPI are 100 to 150; the author prints `about 150`.
ROUNDED = {("vtpcc", "gain over MPI")}


@pytest.mark.parametrize("name", references.names())
def test_what_a_source_derives_follows_from_its_own_figures(name: str) -> None:
    """Where it prints all operands; within the rounding of its numbers, most of which are `about`."""
    of = operands.of_reference(reference(name))
    for figure in stated(name):
        assert figure.derivation
        try:
            found = derived.evaluate(figure.derivation, of).quantity
        except MissingError:
            continue
        assert found.basis == "imported" or figure.derivation.operation == "value"
        allowed = figure.value / 3 if (name, figure.metric) in ROUNDED else 0.06 * figure.value
        assert found.value == pytest.approx(figure.value, abs=allowed), figure


def test_a_ratio_of_a_run_is_taken_block_by_block_with_an_interval(epyc: Figures) -> None:
    ratio = Derivation("ratio", Operand("stream", placement="all:socket:0"), STREAM)
    found = derived.evaluate(ratio, epyc)
    assert found.quantity.basis == "interval"
    assert len(found.launches) == 6
    assert found.quantity.lo <= 0.5 <= found.quantity.hi
    figures = {each.estimate.id: each for each in epyc.measured}
    a, b = (figures[name] for name in found.of)
    of_a, of_b = ({one.block: one.value for one in each.launches} for each in (a, b))
    assert {one.block: one.value for one in found.launches} == {at: of_a[at] / of_b[at] for at in of_a}


def test_the_peak_is_that_of_the_cores_at_their_nominal_clock(epyc: Figures) -> None:
    peak = derived.value(Operand("hpl", placement="all", aspect="nominal peak"), epyc).quantity
    assert peak.value == pytest.approx(64 * 8 * 2.2e9)


def test_memory_is_as_far_as_the_operand_says(epyc: Figures) -> None:
    near, far = (
        operands.select(epyc, Operand("stream", placement="all:numa:0", memory="bind:*", where=where))
        for where in ("same socket", "other socket")
    )
    assert {each.estimate.placement.memory for each in near} == {f"bind:{node}" for node in (1, 2, 3)}
    assert {each.estimate.placement.memory for each in far} == {f"bind:{node}" for node in (4, 5, 6, 7)}
    assert [each.estimate.merit for each in far] == sorted((each.estimate.merit for each in far), reverse=True)


@pytest.mark.parametrize(
    "operand",
    [
        Operand("stream", placement="all:socket:7"),
        Operand("himeno", placement="all"),
        Operand("stream", placement="all", reference="leo"),
        Operand(aspect="node memory", at={"node": 8}),
    ],
)
def test_an_operand_without_a_figure_has_a_reason(epyc: Figures, operand: Operand) -> None:
    with pytest.raises(MissingError, match=r"\w+ \w+"):
        derived.value(operand, epyc)


@pytest.mark.parametrize(
    ("launches", "spread", "best"),
    [
        (6, 0.01, "large"),
        (3, 0.01, "large"),  # a budget cut the sizes that are the best: no verdict on the others
        (1, 0.0, "small"),  # one launch may have met it by chance
        (3, 0.9995, "small"),  # its range reaches into the interval
        (1, 0.9995, "small"),
    ],
)
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_the_best_is_no_figure_that_all_launches_of_another_one_exceed(
    launches: int, spread: float, best: str, better: str
) -> None:
    large, small = (1000.0, 1.0) if better == "higher" else (1.0, 1000.0)
    spread = spread if better == "higher" else 1e4 * spread if spread > 0.5 else spread
    found = [
        Measured(of("large", large, launches=launches, spread=spread, better=better), ()),
        Measured(of("small", small, spread=0.2, better=better), ()),
    ]
    assert derived._taken(STREAM, found).estimate.id == best
    # Of figures whose direction is the other one, the same is the worst.
    other = "lower" if better == "higher" else "higher"
    turned = [
        msgspec.structs.replace(each, estimate=msgspec.structs.replace(each.estimate, better=other))
        for each in reversed(found)
    ]
    worst = msgspec.structs.replace(STREAM, take="worst")
    assert derived._taken(worst, turned).estimate.id == best


#: A rate of a solver, by the order of its system, in ascending order: order, rate, launches.
GROWS = ((16384, 867e9, 6), (32768, 900e9, 1), (159744, 1.1e12, 1))
#: A problem of which a smaller one, in the caches, is faster.
FALLS = ((16384, 1.1e12, 6), (159744, 867e9, 1))


def solutions(sizes: Sequence[tuple[int, float, int]], benchmark: str, axis: str) -> list[Measured]:
    """The rates, the best first, as figures of a benchmark that has this axis."""
    by_rank = sorted(sizes, key=lambda each: -each[1])
    return [
        Measured(
            of(
                str(size),
                rate,
                launches=launches,
                better="higher",
                benchmark=benchmark,
                params={axis: size},
                declaration=keep(benchmarks.get(benchmark).declaration),
            ),
            (),
        )
        for size, rate, launches in by_rank
    ]


@pytest.mark.parametrize(
    ("benchmark", "axis", "sizes", "best"),
    [
        ("hpl", "n", GROWS, "159744"),
        ("hpl", "n", GROWS[:2], "32768"),
        ("hpl", "n", FALLS, "16384"),
        ("pt2pt", "bytes", GROWS, "16384"),  # sizes of messages: one launch may have met it by chance
    ],
)
def test_the_best_of_a_problem_that_grows_is_the_largest_even_of_one_launch(
    benchmark: str, axis: str, sizes: Sequence[tuple[int, float, int]], best: str
) -> None:
    found = solutions(sizes, benchmark, axis)
    assert derived._taken(STREAM, found).estimate.id == best
    assert found[matching._best(found, range(len(found)))].estimate.id == best


def test_a_rate_of_the_largest_order_in_one_launch_cannot_be_told() -> None:
    """A run of the gallery: 867 GFLOP/s of six launches at n 16384 are no verdict on 1.1 TFLOP/s at 159744."""
    found = analyse(store.load(GALLERY / "like-epyc-7601.tar.xz")).repetition
    assert found
    orders = [each for each in found.conclusions if any("n=159744" in of for of in each.of)]
    assert {(each.truth, each.doubt) for each in orders} == {("cannot be told", "launches")}
    assert len(orders) == 3
    rows = [row for row in found.rows if "n=159744" in row.own]
    assert {(row.standing, row.launches) for row in rows} == {("few", 1)}
    assert not [row for row in found.rows if row.benchmark == "hpl" and row.standing == "worse"]


def test_two_operands_of_one_node_each_are_paired_within_a_node(epyc: Figures) -> None:
    """Not the best half of one node over the best whole of another one, which the nodes decide, too."""
    half, whole = Operand("stream", placement="half"), Operand("stream", placement="all")

    def scaled(placement: str, host: str, times: float) -> list[Measured]:
        word = f"stream/{placement}/first-touch/"
        (of_run,) = (
            each
            for each in epyc.measured
            if each.estimate.id.startswith(word)
            and each.estimate.kernel == "triad"
            and each.estimate.metric == "bandwidth"
            and each.estimate.placement.hosts == (host,)
        )
        value = of_run.estimate.value
        assert value
        launches = tuple(msgspec.structs.replace(one, value=one.value * times) for one in of_run.launches)
        return [
            Measured(msgspec.structs.replace(of_run.estimate, value=value.over(1 / times, value.unit)), launches)
        ]

    first, other = epyc.run.plan.hosts[:2]
    # The first node has the better half, the other one the better whole.
    both = [*scaled("half", first, 1.2), *scaled("all", first, 1.0), *scaled("half", other, 1.0)]
    figures = epyc._replace(measured=[*both, *scaled("all", other, 1.2)])
    found = derived.evaluate(Derivation("ratio", half, whole), figures)
    of = {each.estimate.id: each.estimate for each in figures.measured}
    assert [of[name].placement.hosts for name in found.of] == [(first,), (first,)]
    assert found.quantity.value == pytest.approx(1.2, rel=0.1)
    assert len(found.launches) == 6

    # Only where no node has both, across nodes.
    apart = epyc._replace(measured=[*scaled("half", first, 1.2), *scaled("all", other, 1.2)])
    across = derived.evaluate(Derivation("ratio", half, whole), apart)
    assert [of[name].placement.hosts for name in across.of] == [(first,), (other,)]
