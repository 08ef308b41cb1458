"""Sections of first touch, levels of latency and numbers of cores on models by hand."""

from collections.abc import Sequence
from typing import Any, cast

import msgspec
import pytest
from tests.unit.law_evidence import measured, placed
from tests.unit.scene_by_hand import exactly, rows, scene

from assay.analyse.estimates import Measured
from assay.analyse.plateaus import Boundary
from assay.analyse.slowest import slowest_thread
from assay.model.comparison import Comparison
from assay.model.law import Point
from assay.model.placed import Proof
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Limit
from assay.report import figures as drawings
from assay.report.charts.curve import Guides
from assay.topics.memory.models.latency_levels import LatencyLevel, LatencyLevels
from assay.topics.memory.models.numa_matrix import NodeClass, NumaMatrix
from assay.topics.memory.models.saturation import Saturation
from assay.topics.memory.sections import latency, saturation, touch

KIB, MIB = 2**10, 2**20


def compared(a: str, b: str, ratio: float, verdict: str = "faster", **others: Any) -> Comparison:  # noqa: ANN401
    value = Quantity(ratio, 0.98 * ratio, 1.03 * ratio, "", "interval")
    return Comparison(id=f"{a} : {b}", a=a, b=b, value=value, blocks=6, verdict=verdict, **others)


def touched() -> list[Measured]:
    found = []
    for memory, policy in (
        ("first-touch", "serial"),
        ("first-touch", "parallel"),
        ("interleave", "serial"),
        ("bind:0-1", "serial"),
    ):
        place = placed("all", 0, 1, memory=memory)
        found.append(measured("stream", "triad", "bandwidth", [1e9] * 6, place, stores="ordinary", touch=policy))
    return found


def test_the_largest_certain_effect_of_first_touch_is_named_in_either_direction() -> None:
    figures = touched()
    serial, parallel, interleaved, bound = (each.estimate.id for each in figures)
    made = [
        compared(parallel, serial, 1.5),
        compared(interleaved, parallel, 0.5, "slower"),
        compared(bound, serial, 3.0, "inconclusive"),
        compared(serial, "unknown", 9.0),
        compared(serial, serial, 8.0),  # the same option
    ]
    of = scene(figures, comparisons=made)
    text = " ".join(map(str, touch.declared.sentences(of)))
    assert text.startswith("The largest certain difference: Triad bandwidth, all: ")
    assert "parallel first touch is 2.00 [1.94, 2.04] times as fast as interleaved, serial touch" in text
    shown = rows(touch.declared.page_tables[0], of)
    assert [row[1] for row in shown] == [
        "parallel first touch against serial first touch",
        "interleaved, serial touch against parallel first touch",
        "on nodes 0-1, serial touch against serial first touch",
    ]
    assert [row[2] for row in shown] == ["1.50", "0.500", "3.00"]
    none = " ".join(map(str, touch.declared.sentences(scene(figures, comparisons=made[2:]))))
    assert none.startswith("The largest difference: ")  # what was seen, and that it is not certain
    assert "on nodes 0-1, serial touch ran 3.00 [2.94, 3.09] times as fast as serial first touch" in none
    assert "not certain" in none
    alike = scene(figures, comparisons=[compared(serial, serial, 8.0)])
    assert not any(touch.declared.sentences(alike))


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [
        (0.75, "parallel first touch is 1.50 [1.47, 1.54] times as fast as serial first touch"),
        (0.6, "serial first touch is 1.67 [1.62, 1.70] times as fast as interleaved, serial touch"),
    ],
)
def test_effects_are_as_large_downwards_as_their_inverse(ratio: float, shown: str) -> None:
    figures = touched()[:3]
    serial, parallel, interleaved = (each.estimate.id for each in figures)
    made = [compared(parallel, serial, 1.5), compared(interleaved, serial, ratio, "slower")]
    assert shown in " ".join(map(str, touch.declared.sentences(scene(figures, comparisons=made))))
    two = scene(figures[:2], comparisons=made[:1])  # nothing but both sides
    assert " is 1.50 [1.47, 1.54] times" in " ".join(map(str, touch.declared.sentences(two)))


def on_nodes(memory: str, policy: str = "parallel", label: str = "all", *cpus: int) -> Measured:
    place = placed(label, *(cpus or (0, 1)), memory=memory)
    return measured("stream", "triad", "bandwidth", [1e9] * 6, place, stores="ordinary", touch=policy)


def test_options_of_the_same_cpus_are_one_group_unless_all_are_bound() -> None:
    free, serial, bound = on_nodes("first-touch"), on_nodes("first-touch", "serial"), on_nodes("bind:1")
    lone = on_nodes("first-touch", "parallel", "half", 0)
    nodes = [on_nodes(f"bind:{node}", "parallel", "all:numa:0", 2, 3) for node in (0, 1)]
    latency_walk = measured("latency", "chase", "latency", [1.0] * 6, placed("all", 0, 1), bytes=1, pages="huge")
    found = touch.groups(scene([free, serial, bound, lone, *nodes, latency_walk]).analysis)
    ((name, members),) = found.items()
    assert [each.id for each in members] == [each.estimate.id for each in (free, serial, bound)]
    assert name.endswith(", all")
    assert not touch.groups(scene([free]).analysis)


def test_of_a_matrix_only_the_own_memory_and_the_farthest_stand_beside_other_options() -> None:
    cells = [on_nodes(f"bind:{node}", "parallel", "all", 0, 1) for node in range(4)]
    points = tuple(
        Point(
            each.estimate.id,
            cast("dict[str, Any]", {"cpu node": 0, "memory node": node, "class": kind})
            | ({"distance": away} if away else {}),
            exactly(1.0),
            None,
        )
        for node, (each, kind, away) in enumerate(
            zip(cells, ("same node", "far", "same socket", "far"), (10, 30, 20, 0), strict=True)
        )
    )
    classes = tuple(NodeClass(name, exactly(1.0), None) for name in ("same node", "same socket", "far"))
    model = NumaMatrix(
        id="m",
        of=tuple(each.estimate.id for each in cells),
        points=points,
        what="bandwidth",
        classes=classes,
        agreement=None,
    )
    free = on_nodes("first-touch")
    other = walk(level(1.0, "L1"))[1]  # another law
    analysis = scene([free, *cells], model).analysis
    cast("Any", analysis).models = (other, model)
    (members,) = touch.groups(analysis).values()
    assert [each.placement.memory for each in members] == ["first-touch", "bind:0", "bind:1"]


def proven(each: Measured, *nodes: str) -> Measured:
    proof = Proof(((0, 1),), dict.fromkeys(nodes, 1 / len(nodes)), as_asked=True)
    place = msgspec.structs.replace(each.estimate.placement, proven=proof)
    return Measured(msgspec.structs.replace(each.estimate, placement=place), each.launches)


@pytest.mark.parametrize(("nodes", "said"), [(("0",), True), (("0", "1"), False)])
def test_a_machine_of_one_memory_node_is_told_that_a_policy_can_only_cost(
    nodes: tuple[str, ...], *, said: bool
) -> None:
    text = " ".join(map(str, touch.declared.sentences(scene([proven(touched()[0], *nodes)]))))
    assert ("This machine has one memory node" in text) == said


def himeno(memory: str, rate: float, threads: tuple[float, ...], pages: dict[str, float]) -> Measured:
    place = msgspec.structs.replace(
        placed("all", 4, 5, 6, memory=memory), proven=Proof(((4, 5, 6),), pages, as_asked=True)
    )
    made = measured("himeno", "jacobi", "rate", [rate] * 6, place, size="L", touch="serial")
    slowest = slowest_thread([[own / max(threads) for own in threads]] * 6, place) if threads else None
    return Measured(
        msgspec.structs.replace(made.estimate, threads=threads, slowest=slowest, disturbed=0), made.launches
    )


def test_himeno_with_and_without_interleave_is_shown_in_mflops_with_the_slowest_thread() -> None:
    plain = himeno("first-touch", 1.5e9, (0.2, 0.5, 0.25), {"0": 1.0})
    spread = himeno("interleave", 3e9, (0.1, 0.11, 0.1), {"0": 0.5, "1": 0.5})
    of = scene([plain, spread], comparisons=[compared(spread.estimate.id, plain.estimate.id, 2.0)])
    (rates,), (threads,) = (shared(of) for shared in touch.declared.shared_tables)
    assert [tuple(map(str, row))[:5] for row in rates.rows] == [
        ("none", "1,500", "[1,500, 1,500]", "6", "1"),
        ("interleave", "3,000", "[3,000, 3,000]", "6", "2.00"),
    ]
    assert "The ratio comes from launches paired by block" in rates.note
    assert [tuple(map(str, row)) for row in threads.rows] == [
        (
            "all, size L, serial first touch",
            *("node 0 100 %", "5", "6 of 6", "500 ms", "1.58 [1.58, 1.58]", "100 % [100, 100]"),
            "yes, and it is slow",
        ),
        (
            "all, size L, interleaved, serial touch",
            *("node 0 50 %, node 1 50 %", "5", "6 of 6", "110 ms", "1.06 [1.06, 1.06]", "100 % [100, 100]"),
            "yes, and it is slow",
        ),
    ]


def test_himeno_of_other_blocks_is_not_compared() -> None:
    plain, spread = (himeno(memory, 1e9, (), {"0": 1.0}) for memory in ("first-touch", "interleave:0"))
    (table,) = touch.declared.shared_tables[0](scene([plain, spread]))
    assert tuple(map(str, table.rows[1]))[4:] == ("not compared", "no block has both", "0")
    assert (
        table.note == "This machine has one memory node: interleaving changes nothing, so the expected ratio is 1."
    )
    few = msgspec.structs.replace(
        compared(spread.estimate.id, plain.estimate.id, 2.0), value=Quantity(2.0, 1.0, 3.0, "", "range"), blocks=2
    )
    (short,) = touch.declared.shared_tables[0](scene([plain, spread], comparisons=[few]))
    assert "2 pairs are too few for an interval: a ratio needs 6." in short.note
    assert "Its range" in map(str, short.columns)


def walk(*levels: LatencyLevel, name: str = "walk", sizes: Sequence[int] = (KIB, 64 * KIB, MIB)) -> Any:  # noqa: ANN401
    figures = [
        measured(
            "latency", "chase", "latency", [1e-9] * 6, placed("one-core", 0), bytes=size, pages="small", line=at
        )
        for at, size in enumerate(sizes)
    ]
    points = tuple(
        Point(each.estimate.id, {"bytes": size, "level": at + 1}, exactly(1e-9, "s"), 1.0)
        for at, (each, size) in enumerate(zip(figures, sizes, strict=True))
    )
    model = LatencyLevels(
        id=name, of=tuple(each.estimate.id for each in figures), points=points, pages="small", levels=levels
    )
    return figures, model


def level(
    seconds: float, by: str, *, step: int = 1, beyond: bool = False, end: Boundary | None = None
) -> LatencyLevel:
    cycles = exactly(seconds * 3e9) if by == "L1" else None
    return LatencyLevel(exactly(seconds, "s"), by, beyond, step, end, cycles)


def ends_at(kib: float, cause: str) -> Boundary:
    return Boundary(Quantity(kib * KIB, 0.5 * kib * KIB, 2 * kib * KIB, "B", "range"), cause)


def test_levels_of_latency_are_named_by_what_answers() -> None:
    figures, model = walk(
        level(1e-9, "L1", end=ends_at(32, "L1")),
        level(4e-9, "L2", step=2, end=ends_at(1024, "TLB")),
        level(9e-8, "memory", beyond=True, step=2),
        level(9.5e-8, "memory", step=3),
        level(2e-7, ""),
    )
    shown = rows(latency.declared.shared_tables[0], scene(figures, model))
    assert [row[1:3] for row in shown] == [
        ("L1", "1.00 ns"),
        ("L2 step 2", "4.00 ns"),
        ("memory beyond the TLB", "90.0 ns"),
        ("memory step 3", "95.0 ns"),
        ("level 5", "200 ns"),
    ]
    assert [row[4:] for row in shown[:3]] == [
        ("3.00", "32 KiB", "16 KiB to 64 KiB"),
        ("", "1 MiB (TLB)", "512 KiB to 2 MiB"),
        ("", "", ""),
    ]
    text = str(latency.declared.sentences(scene(figures, model, picked="latency")))
    assert "“Step 2” is a second level" in text
    plain = walk(level(1e-9, "L1"), level(1e-9, "L2", step=2, beyond=True))
    assert "“Step 2”" not in str(latency.declared.sentences(scene(plain[0], plain[1], picked="latency")))


def test_the_headline_of_latency_is_that_of_the_largest_working_set() -> None:
    figures, model = walk(level(1e-9, "L1"))
    (headline,) = latency.declared.headlines(scene(figures, model))
    assert str(headline.label) == "Memory latency, working set 1 MiB"
    assert headline.estimate.id == figures[-1].estimate.id


def test_ends_of_several_walks_are_one_mark_where_they_are_near() -> None:
    sizes = (4 * KIB, 8 * KIB, 16 * KIB, 64 * MIB)
    models = []
    figures: list[Measured] = []
    for at, kib in enumerate((30.0, 36.0, 60.0, 400.0)):
        own, model = walk(level(1e-9, "L1", end=ends_at(kib, "L1")), name=f"w{at}", sizes=sizes)
        figures += own
        models.append(model)
    (chart,) = latency.declared.charts(scene(figures, *models, picked="latency"))
    text = str(chart.spec)
    near = (30 * 36) ** 0.5
    for kib, is_drawn in ((near, True), (60, True), (400, True), (30, False), (36, False)):
        size = round(kib * KIB)
        assert (
            f"'x': {float(size)}" in text or any(abs(x - kib * KIB) < 1 for x in _marks(chart.spec))
        ) == is_drawn


def guides_of(monkeypatch: pytest.MonkeyPatch, of: Any) -> Guides:  # noqa: ANN401 (a scene)
    """The guides that the chart of latency is drawn with."""
    drawn: list[Guides] = []

    def curves(*given: Any) -> object:  # noqa: ANN401 (in the place of figures.curves)
        drawn.append(given[3])
        return given[1]

    monkeypatch.setattr(drawings, "curves", curves)
    assert [str(each) for each in latency.declared.charts(of)] == ["figure-latency"]
    return drawn[0]


SIZES = (KIB, 32 * KIB, 512 * KIB, MIB, 4 * MIB, 8 * MIB)


def test_fitted_levels_and_claimed_caches_are_drawn_over_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = [level(1e-9, "L1", end=ends_at(30, "L1")), level(4e-9, "L2"), level(4.5e-9, "L2"), level(5e-9, "L2")]
    figures, model = walk(*levels, sizes=SIZES)
    places = (1, 1, 2, 2, 3, 4)
    points = tuple(
        msgspec.structs.replace(each, at={"bytes": size, "level": place})
        for each, size, place in zip(model.points, SIZES, places, strict=True)
    )
    model = msgspec.structs.replace(model, points=points)
    guides = guides_of(monkeypatch, scene(figures, model, picked="latency"))
    assert [(each.x, each.end) for each in guides.steps] == [
        (KIB, 32 * KIB),
        (512 * KIB, MIB),
        (4 * MIB, 4 * MIB),
        (8 * MIB, 8 * MIB),
    ]
    assert [each.y for each in guides.steps] == pytest.approx([1.0, 4.0, 4.5, 5.0])  # in ns
    # Levels of one name that are nearer than 15 % share a label: 4.5 is near 4, 5 is not.
    assert [bool(each.label) for each in guides.steps] == [True, True, False, True]
    assert guides.steps[0].short == "L1  1.00 ns"
    assert [(each.x, each.short, each.measured) for each in guides.boundaries] == [
        (pytest.approx(30 * KIB), "L1 ends", True),
        (32 * KIB, "L1", False),
        (MIB, "L2", False),
    ]  # an L3 of 8 MiB is no smaller than the largest walk
    assert guides.second
    title, per_nano = guides.second
    assert str(title) == "cycles at 3.00 GHz, measured"
    assert per_nano == pytest.approx(3.0)
    bare = walk(level(4e-9, "L2"), sizes=SIZES)
    assert guides_of(monkeypatch, scene(bare[0], bare[1], picked="latency")).second is None


def _marks(spec: Any) -> list[float]:  # noqa: ANN401 (any part of a spec)
    if isinstance(spec, dict):
        own = [float(spec["x"])] if isinstance(spec.get("x"), int | float) else []
        return own + [each for part in spec.values() for each in _marks(part)]
    return [each for part in spec for each in _marks(part)] if isinstance(spec, list) else []


def curve(cores: Sequence[int], *, one: bool = True, limit: Limit | None = None) -> Any:  # noqa: ANN401
    figures = []
    for count in cores:
        made = measured("stream", "triad", "bandwidth", [1e9 * count] * 6, placed(f"cores:{count}", *range(count)))
        figures.append(Measured(msgspec.structs.replace(made.estimate, limit=limit), made.launches))
    points = tuple(
        Point(each.estimate.id, {"cores": count, "order": "compact"}, exactly(1e9 * count, "B/s"), 1.0)
        for each, count in zip(figures, cores, strict=True)
    )
    model = Saturation(
        id="saturation/compact/x",
        of=tuple(each.estimate.id for each in figures),
        points=points,
        order="compact",
        cores=Quantity(3.0, 2.0, 4.0, "", "interval"),
        maximum=exactly(4e9, "B/s"),
        cores_at_maximum=Quantity(4.0, 3.0, 4.0, "", "range"),
        one_core=exactly(1e9, "B/s") if one else None,
    )
    return figures, model


@pytest.mark.parametrize(("cores", "applies"), [((1, 2, 3), False), ((1, 2, 4), True)])
def test_saturation_is_shown_from_four_cores_on(cores: tuple[int, ...], *, applies: bool) -> None:
    figures, model = curve(cores)
    of = scene(figures, model)
    assert bool(saturation.declared.applies(of)) == applies
    shown = rows(saturation.declared.shared_tables[0], of)
    assert [row[1:] for row in shown] == (
        [("1.00 GB/s [0.90, 1.10]", "4.00 GB/s [3.60, 4.40]", "4 (3 to 4)", "3 [2, 4]")] if applies else []
    )
    if applies:
        without = curve(cores, one=False)
        assert rows(saturation.declared.shared_tables[0], scene(*without))[0][1] == ""


@pytest.mark.parametrize(("by", "drawn"), [("", True), ("another", False)])
def test_a_curve_of_cores_has_a_mark_and_a_line_of_a_limit_that_no_figure_set(by: str, *, drawn: bool) -> None:
    figures, model = curve((1, 2, 4), limit=Limit(5e9, "derived", "channels", "memory", measured_by=by))
    (chart,) = saturation.declared.charts(scene(figures, model))
    assert chart.result.endswith("95 % with 3 cores, maximum 4.00 GB/s [4.00, 4.00] with 4 cores")
    assert ("The horizontal line is the limit." in chart.caption) == drawn


def test_only_estimates_on_a_number_of_cores_are_counted() -> None:
    figures = [*curve((2, 3))[0], measured("stream", "triad", "bandwidth", [1.0], placed("all", 0, 1))]
    names: list[Estimate] = [each.estimate for each in figures]
    assert saturation.cells(scene(figures).analysis) == {each.id for each in names[:2]}
