"""Comparisons on simulated machines: planted effects are found, nothing is found where nothing is, two runs."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.simulation import TWO_CORES, begin, carry_on, described, plan_for, simulated_run
from tests.unit.compare_example import BOOST, STUDY, boosted, effects, pair

from assay import store
from assay.analyse import analyse
from assay.analyse.history import ASSUMED
from assay.compare.environment import differences
from assay.compare.meeting import Declared
from assay.compare.runs import against, between
from assay.model.comparison import Comparison, Lack
from assay.model.errors import UsageError
from assay.model.plan import Factor, Measure, Study
from assay.model.run import Run
from assay.plan import Options
from assay.simulation import Law, SimulatedMachine


def test_a_planted_effect_of_5_percent_is_found_under_drift(tmp_path: Path) -> None:
    for seed in range(5):
        found = effects(boosted(tmp_path, 0.05, seed))
        assert [each.verdict for each in found] == ["faster"] * 4
        for each in found:
            assert (each.level, each.base, each.varied, each.blocks, each.confidence) == (
                "on",
                "off",
                True,
                8,
                0.95,
            )
            assert each.ratio == pytest.approx(1.05, abs=0.01)
            assert each.resolution is not None
            assert each.margin == max(0.01, each.resolution)
            assert each.adjusted_p is not None
            assert each.p is not None
            assert each.p <= each.adjusted_p <= 0.05
            assert (each.among, each.lack, each.between_runs) == (4, None, None)


def test_nothing_is_found_where_nothing_was_planted(tmp_path: Path, repeats: Callable[[int, int], int]) -> None:
    runs, claims, small = repeats(8, 40), 0, 0
    for seed in range(runs):
        found = effects(boosted(tmp_path, 0.0, seed, launches=6))
        claims += any(each.verdict in {"faster", "slower", "trivially different"} for each in found)
        small += any(each.p is not None and each.p <= 0.05 for each in found[:1])
    assert claims == 0
    assert small / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


def test_an_effect_as_large_as_the_detectable_one_is_found_about_four_times_in_five(
    tmp_path: Path, repeats: Callable[[int, int], int]
) -> None:
    single = Study("t", "q?", (Measure("memcpy", ("one-core",), axes={"bytes": 2**26}),), launches=8)

    def only(gain: float, seed: int) -> Comparison:
        law = Law(launch_noise=0.01, noise=0.01, commands={"boost off": 1.0, "boost on": 1 + gain})
        found = simulated_run(tmp_path, law, study=single, options=Options(factors=(BOOST,)), seed=seed)
        return effects(store.load(found))[0]

    detectable = sorted(each.detectable or 0.0 for each in (only(0.0, seed) for seed in range(9)))[4]
    runs = repeats(10, 30)
    found = sum(only(detectable, 100 + seed).verdict == "faster" for seed in range(runs))
    assert 0.5 <= found / runs <= 0.97


def test_a_against_a_is_compared_and_is_the_floor(tmp_path: Path) -> None:
    law = Law(commands={"boost off": 1.0, "boost on": 1.01}, launch_noise=0.03)
    run = store.load(simulated_run(tmp_path, law, study=STUDY, options=Options(factors=(BOOST,))))
    controls = effects(run, "control")
    assert [each.a for each in controls] == [
        f"stream/one-core/first-touch/stores=ordinary,touch=parallel/boost=off/again/{kernel}/bandwidth"
        for kernel in ("copy", "scale", "add", "triad")
    ]
    assert not any(each.varied for each in controls)
    for each in effects(run):
        assert each.resolution is not None
        assert each.margin == max(0.01, each.resolution) > 0.01
        assert each.verdict == "inconclusive"
    assert {estimate.factors["boost"] for estimate in analyse(run).estimates} == {"off", "on"}


def test_six_blocks_claim_an_effect_among_many_and_five_say_what_is_missing(tmp_path: Path) -> None:
    found = effects(boosted(tmp_path, 0.05, 1, launches=6))
    assert {(each.p, each.adjusted_p, each.verdict) for each in found} == {(2 / 2**6, 2 / 2**6, "faster")}
    few = effects(boosted(tmp_path, 0.05, 1, launches=5))
    assert {each.verdict for each in few} == {"inconclusive"}
    assert {each.lack for each in few} == {Lack(("launches",), more=1)}


def test_each_factor_is_compared_at_every_level_of_the_other(tmp_path: Path) -> None:
    stores = Factor("stores", ("ordinary", "non-temporal"), "axis")
    law = Law(commands={"boost off": 1.0, "boost on": 1.05})
    run = store.load(simulated_run(tmp_path, law, study=STUDY, options=Options(factors=(BOOST, stores))))
    triads = [each for each in analyse(run).comparisons if each.b.endswith("triad/bandwidth") and each.varied]
    assert sorted((each.differ, each.level, each.base) for each in triads) == [
        ("boost", "on", "off"),
        ("boost", "on", "off"),
        ("stores", "non-temporal", "ordinary"),
        ("stores", "non-temporal", "ordinary"),
    ]
    assert {each.verdict for each in triads} == {"faster"}


def test_levels_of_a_number_are_compared(tmp_path: Path) -> None:
    sizes = Factor("bytes", ("64", "67108864"), "axis")
    study = Study("t", "q?", (Measure("memcpy", ("one-core",)),))
    run = store.load(simulated_run(tmp_path, study=study, options=Options(factors=(sizes,))))
    (found,) = effects(run, "bytes")
    assert (found.level, found.base) == ("67108864", "64")


def test_comparisons_are_made_within_a_state(tmp_path: Path) -> None:
    flips = tuple((60.0 * number, ("near", "far")[number % 2]) for number in range(1, 6))
    law = Law(commands={"boost off": 1.0, "boost on": 1.05}, flips=flips)
    options = Options(factors=(BOOST,), launches=24)
    run = store.load(simulated_run(tmp_path, law, study=STUDY, options=options))
    found = effects(run)
    assert {each.state for each in found} == {"near", "far"}
    for each in found:
        assert each.blocks >= 6
        assert each.ratio == pytest.approx(1.05, abs=0.01)


# Two runs


def test_two_runs_are_compared_by_their_launches(tmp_path: Path) -> None:
    run, base = pair(tmp_path, 0.15)
    compared = between(run, base)
    assert (compared.run, compared.base) == (run.info.id, base.info.id)
    assert len(compared.pairs) == 4
    for each in compared.pairs:
        assert each.comparison.verdict == "faster"
        assert each.comparison.ratio == pytest.approx(1.15, abs=0.01)
        assert (each.comparison.blocks, each.comparison.launches) == (0, (6, 6))
        assert (each.a.median or 0) > (each.b.median or 0)
    slower = between(base, run)
    assert {each.comparison.verdict for each in slower.pairs} == {"slower"}


def test_a_difference_that_runs_may_have_by_themselves_needs_earlier_runs(tmp_path: Path) -> None:
    """4 % is more than launches explain, and less than what two runs of a machine may differ by."""
    run, base = pair(tmp_path, 0.04)
    (alone,) = against([run], base)
    for each in alone.pairs:
        assert (each.comparison.verdict, each.comparison.between_runs) == ("inconclusive", ASSUMED)
        assert each.comparison.is_assumed
        assert each.comparison.lack == Lack(("among", "runs"), runs=3)
    earlier = [
        store.load(simulated_run(tmp_path, study=STUDY, options=Options(launches=6), seed=seed))
        for seed in range(3, 9)
    ]
    (known,) = against([run], base, earlier=earlier)
    for each in known.pairs:
        assert (each.comparison.verdict, each.comparison.history) == ("faster", 6)
        assert not each.comparison.is_assumed


def test_three_launches_show_a_difference_and_claim_nothing(tmp_path: Path) -> None:
    compared = between(*pair(tmp_path, 0.2, launches=3))
    assert {(each.comparison.verdict, each.comparison.confidence) for each in compared.pairs} == {
        ("inconclusive", None)
    }
    assert compared.pairs[0].comparison.ratio == pytest.approx(1.2, abs=0.03)


def test_drift_falls_on_one_of_two_runs_but_on_both_levels_of_one(tmp_path: Path) -> None:
    law = Law(drift=0.15 / 20, commands={"boost off": 1.0, "boost on": 1.0})
    machine = SimulatedMachine(described().topology, law)
    paths = []
    for _ in range(2):
        plan = plan_for(TWO_CORES, STUDY, Options(launches=8))
        directory = begin(tmp_path, plan)
        carry_on(directory, plan, machine)
        paths.append(directory.path)
    base, run = map(store.load, paths)
    assert {each.comparison.verdict for each in between(run, base).pairs} == {"slower"}
    interleaved = store.load(simulated_run(tmp_path, law, study=STUDY, options=Options(factors=(BOOST,))))
    assert not {each.verdict for each in effects(interleaved)} & {"faster", "slower"}


def other_machine(run: Run) -> Run:
    (machine,) = run.machines.values()
    processor = machine.facts["processor"] | {"model": msgspec.structs.replace(
        machine.facts["processor"]["model"], value="Another", unavailable="")}  # fmt: skip
    changed = msgspec.structs.replace(machine, facts=machine.facts | {"processor": processor})
    return msgspec.structs.replace(run, machines={machine.host: changed})


def other_flags(run: Run) -> Run:
    builds = {
        name: msgspec.structs.replace(build, toolchain=msgspec.structs.replace(build.toolchain, flags=("-O1",)))
        for name, build in run.info.builds.items()
    }
    return msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, builds=builds))


def one_more_toolchain(run: Run) -> Run:
    """As a study has it that passes messages, too: of another compiler."""
    (build,) = run.info.builds.values()
    other = msgspec.structs.replace(build.toolchain, name="mpi", version="clang 18", flags=("-O1",))
    builds = run.info.builds | {"mpi": msgspec.structs.replace(build, toolchain=other, sources="f" * 16)}
    return msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, builds=builds))


def without_builds(run: Run) -> Run:
    return msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, builds={}))


@pytest.mark.parametrize("change", [one_more_toolchain, without_builds])
def test_what_only_one_run_is_built_with_forbids_no_comparison(
    tmp_path: Path, change: Callable[[Run], Run]
) -> None:
    run = store.load(simulated_run(tmp_path, study=STUDY))
    for one, other in ((run, change(run)), (change(run), run)):
        assert between(one, other).pairs
        assert not [each for each in differences(one, other) if each.kind in {"toolchain", "sources"}]


def other_sources(run: Run) -> Run:
    builds = {name: msgspec.structs.replace(build, sources="f" * 16) for name, build in run.info.builds.items()}
    return msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, builds=builds))


def fewer_cpus(run: Run) -> Run:
    (machine,) = run.machines.values()
    topology = msgspec.structs.replace(machine.topology, allowed_cpus=(0,))
    changed = msgspec.structs.replace(machine, topology=topology)
    return msgspec.structs.replace(run, machines={machine.host: changed})


def older_records(run: Run) -> Run:
    return msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, schema=0))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (other_machine, "machine"),
        (other_flags, "toolchain"),
        (other_sources, "sources"),
        (fewer_cpus, "topology"),
        (older_records, "schema"),
    ],
)
def test_what_differs_undeclared_is_refused_until_it_is_declared(
    tmp_path: Path, change: object, kind: str
) -> None:
    run, base = pair(tmp_path)
    assert callable(change)
    run = change(run)
    with pytest.raises(UsageError) as caught:
        between(run, base)
    assert kind in caught.value.what
    assert f"--across {kind}" in caught.value.remedy
    assert f"--allow {kind}" in caught.value.remedy
    allowed = between(run, base, Declared(allowed=(kind,)))
    assert {each.comparison.differ for each in allowed.pairs} == {"run"}
    across = between(run, base, Declared(across=kind))
    assert {(each.comparison.differ, each.comparison.varied) for each in across.pairs} == {(kind, True)}
    assert kind in {each.kind for each in across.differences}
    assert across.pairs[0].comparison.level != across.pairs[0].comparison.base


def test_a_setting_that_differs_is_shown_and_refuses_nothing(tmp_path: Path) -> None:
    run, base = pair(tmp_path)
    run = msgspec.structs.replace(run, info=msgspec.structs.replace(run.info, environment={"OMP_STACKSIZE": "1G"}))
    shown = [(each.kind, each.name, each.a, each.b) for each in between(run, base).differences]
    assert ("environment", "OMP_STACKSIZE", "1G", "none") in shown


def stores(folder: Path, level: str) -> Run:
    study = Study("t", "q?", (Measure("stream", ("one-core",), axes={"stores": level}),), launches=6)
    return store.load(simulated_run(folder, study=study))


def test_an_axis_may_be_what_two_runs_are_compared_across(tmp_path: Path) -> None:
    run, base = stores(tmp_path, "non-temporal"), stores(tmp_path, "ordinary")
    with pytest.raises(UsageError, match="nothing in common"):
        between(run, base)
    compared = between(run, base, Declared(across="stores"))
    words = {(each.comparison.level, each.comparison.base) for each in compared.pairs}
    assert words == {("non-temporal", "ordinary")}
    with pytest.raises(UsageError, match="'colour'"):
        between(run, base, Declared(across="colour"))


def test_a_run_with_several_levels_of_what_is_compared_across_is_refused(tmp_path: Path) -> None:
    run = boosted(tmp_path, 0.0, 1, launches=1)
    with pytest.raises(UsageError, match="several levels of 'boost'"):
        between(run, run, Declared(across="boost"))


def test_cases_of_one_run_only_are_named_with_the_reason(tmp_path: Path) -> None:
    wide = Study("t", "q?", (Measure("stream", ("one-core", "all")),), launches=6)
    run = store.load(simulated_run(tmp_path, study=wide))
    _, base = pair(tmp_path)
    compared = between(run, base)
    lost = [name for name in compared.uncompared if name.startswith("stream/all/")]
    assert len(lost) == 4
    assert base.info.id in compared.uncompared[lost[0]]
    back = between(base, run).uncompared
    assert {why for name, why in back.items() if name.startswith("stream/all/")} == {f"only in {run.info.id}"}


def test_near_is_never_compared_with_far(tmp_path: Path) -> None:
    near = store.load(simulated_run(tmp_path, study=STUDY, seed=1))
    handover = {"far": 125e-9, "near": 28e-9}
    far = store.load(simulated_run(tmp_path, Law(handover=handover), study=STUDY, seed=2))
    with pytest.raises(UsageError) as caught:
        between(far, near)
    assert "different states: far against near" in caught.value.why
