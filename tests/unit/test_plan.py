from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import studies
from assay.catalogue import benchmarks
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.facts import Fact
from assay.model.machine import Core, Machine, NumaNode
from assay.model.plan import Measure, Plan, Study
from assay.plan import Options, make
from assay.store import earlier

MakeMachine = Callable[..., Machine]
SEVEN = Options(seed=7)


def study_of(*measures: Measure, launches: int = 3) -> Study:
    return Study("Title", "Question?", measures, launches=launches)


def stored(name: str, machine: Machine, options: Options = SEVEN) -> Plan:
    return make(name, studies.get(name), machine, options)


def own(machine: Machine, *measures: Measure, options: Options = SEVEN) -> Plan:
    return make("own.toml", study_of(*measures), machine, options)


def ids(plan: Plan) -> list[str]:
    return [case.id for case in plan.cases if case.role == "measure"]


def narrowed(machine: Machine, cpus: tuple[int, ...], nodes: tuple[int, ...]) -> Machine:
    topology = msgspec.structs.replace(machine.topology, allowed_cpus=cpus, allowed_nodes=nodes)
    return msgspec.structs.replace(machine, topology=topology)


def odd_machines(make_machine: MakeMachine) -> dict[str, Machine]:
    two_nodes = make_machine(1, 2, 1, 2)
    nodes = (NumaNode(0, 2**34, (0, 1), 0), NumaNode(1, 0, (2, 3), 0), NumaNode(2, 2**34, (), None))
    cores = tuple(msgspec.structs.replace(core, numa=0) for core in two_nodes.topology.cores)
    memoryless = msgspec.structs.replace(
        two_nodes.topology, numa_nodes=nodes, cores=cores, allowed_nodes=(0, 1, 2), caches=()
    )
    eight = make_machine(cores=8)
    kinds = tuple(
        Core(core.index, core.cpus, 0, 0, 0, "performance" if core.index > 3 else "efficiency")
        for core in eight.topology.cores
    )
    offline = msgspec.structs.replace(eight.topology, cores=eight.topology.cores[:5])
    return {
        "one core": make_machine(),
        "two cores": make_machine(cores=2),
        "two sockets with SMT": make_machine(2, 1, 1, 64, 2),
        "eight nodes": make_machine(2, 4, 2, 4),
        "memoryless and memory-only nodes": msgspec.structs.replace(two_nodes, topology=memoryless),
        "hybrid": msgspec.structs.replace(eight, topology=msgspec.structs.replace(eight.topology, cores=kinds)),
        "two of 192": narrowed(make_machine(2, 4, 1, 24), (100, 150), (4, 6)),
        "offline cpus": msgspec.structs.replace(eight, topology=offline),
    }


ODD = (
    "one core",
    "two cores",
    "two sockets with SMT",
    "eight nodes",
    "memoryless and memory-only nodes",
    "hybrid",
    "two of 192",
    "offline cpus",
)


@pytest.mark.parametrize("name", ["quick", "memory"])
@pytest.mark.parametrize("kind", ODD)
def test_every_machine_gets_a_plan_of_distinct_cases_on_allowed_cpus(
    kind: str, name: str, make_machine: MakeMachine
) -> None:
    machine = odd_machines(make_machine)[kind]
    topology = machine.topology
    existing = {cpu for core in topology.cores for cpu in core.cpus} & set(topology.allowed_cpus)
    with_memory = {node.index for node in topology.numa_nodes if node.memory_bytes} & set(topology.allowed_nodes)
    plan = stored(name, machine)
    assert len({case.id for case in plan.cases}) == len(plan.cases)
    for case in plan.cases:
        assert case.placement.cpus
        assert set(case.placement.cpus) <= existing
        assert set(case.placement.memory.nodes) <= with_memory
        assert case.memory_bytes <= machine.memory.value  # type: ignore[operator]  # a number here
    policies = [None if len(with_memory) == 1 else case.placement.memory for case in plan.cases]
    things = [
        (case.benchmark, frozenset(case.placement.cpus), policy, tuple(case.params.items()))
        for case, policy in zip(plan.cases, policies, strict=True)
    ]
    assert len(set(things)) == len(things)
    assert set(plan.probe_cpus) <= existing
    assert len(plan.probe_cpus) == (2 if len(topology.cores) > 1 else 0)


def test_the_memory_study_of_the_dual_epyc_is_that_of_the_published_one(make_machine: MakeMachine) -> None:
    plan = stored("memory", make_machine(2, 4, 2, 4))
    by_place: dict[tuple[str, str], int] = {}
    for case in plan.cases:
        if case.benchmark == "stream" and case.role == "measure":
            by_place[case.placement.label, str(case.placement.memory)] = len(case.placement.cpus)
    matrix = {(f"all:numa:{cpu}", f"bind:{memory}"): 8 for cpu in range(8) for memory in range(8)}
    assert by_place == matrix | {
        ("all", "first-touch"): 64,
        ("half", "first-touch"): 32,
        ("all:socket:0", "first-touch"): 32,
        ("all:numa:0", "first-touch"): 8,
        ("half:numa:0", "first-touch"): 4,
        ("all:l3:0", "first-touch"): 4,
        ("one-core", "first-touch"): 1,
        ("all", "bind:0,1,2,3,4,5,6,7"): 64,
        ("all", "interleave:0,1,2,3,4,5,6,7"): 64,
    }


def test_the_memory_study_copies_three_bytes_more_and_less_than_powers_of_two(make_machine: MakeMachine) -> None:
    plan = stored("memory", make_machine(cores=2))
    sizes = {
        int(case.params["bytes"]) + int(case.params["offset"])
        for case in plan.cases
        if case.benchmark == "memcpy" and case.params["buffers"] == "hot"
    }
    powers = {2**power for power in range(27)}
    assert sizes == powers | {size + 3 for size in powers if size > 2} | {size - 3 for size in powers if size > 2}


def test_what_a_plan_of_an_earlier_version_told_in_ids_and_wishes_is_read_from_them(
    make_machine: MakeMachine,
) -> None:
    wish = Measure("stream", ("all", "half", "all:socket:0"), ("first-touch", "interleave"))
    plan = own(make_machine(cores=2), wish, options=Options(seed=1, toolchains=("gcc", "clang")))
    assert {case.role for case in plan.cases} == {"measure", "control", "sentinel"}
    assert {each.labels for each in plan.folded} >= {("all:socket:0", "all"), ("half", "half")}
    earlier_plan = msgspec.structs.replace(
        plan,
        cases=tuple(msgspec.structs.replace(case, plain="", repeats="") for case in plan.cases),
        folded=tuple(msgspec.structs.replace(each, labels=("", "")) for each in plan.folded),
    )
    assert earlier.plan(earlier_plan) == earlier.plan(plan) == plan != earlier_plan


def test_on_two_cores_and_one_node_the_duplicates_fold_and_the_plan_says_so(make_machine: MakeMachine) -> None:
    plan = stored("memory", make_machine(cores=2))
    folds = {f"{fold.request} is {fold.into}: {fold.reason}" for fold in plan.folded}
    assert folds == {
        "half is one-core: half of 2 cores is one core",
        "all:socket:0 is all: this machine has one socket",
        "all:numa:0 is all: this machine has one NUMA node",
        "half:numa:0 is one-core: this machine has one NUMA node",
        "all:l3:0 is all: this machine has one L3 group",
        "all, bind:local is all: this machine has one memory node, so every memory policy means the same",
        "all, interleave is all: this machine has one memory node, so every memory policy means the same",
        "all:numa:0, bind:0 is all: this machine has one NUMA node",
    }
    assert [left.reason for left in plan.left_out] == [
        "this machine has one hardware thread per core",
        "it needs 2 memory nodes; one memory node may be used",
    ]


def test_on_one_core_what_needs_two_is_left_out_and_the_rest_remains(make_machine: MakeMachine) -> None:
    plan = stored("quick", make_machine())
    assert {case.benchmark for case in plan.cases} == {"stream", "memcpy"}
    assert ("core_to_core at pair", "this machine has one core") in [(o.request, o.reason) for o in plan.left_out]


def test_serial_touch_is_measured_only_where_there_are_several_memory_nodes(make_machine: MakeMachine) -> None:
    serial = "stream/all/first-touch/stores=ordinary,touch=serial"
    assert serial in ids(stored("quick", make_machine(2, 1, 1, 2)))
    assert serial not in ids(stored("quick", make_machine(1, 1, 2, 2)))


def test_ids_are_readable_and_leave_computed_sizes_out(make_machine: MakeMachine) -> None:
    machine = make_machine(1, 8, 1, 2)
    plan = own(machine, Measure("stream", ("all:numa:0",), ("bind:3",)))
    assert ids(plan) == ["stream/all:numa:0/bind:3/stores=ordinary,touch=parallel"]
    (case, sentinel) = plan.cases
    assert case.params["elements"] == 4 * 8 * 2**20 // 8  # STREAM's rule: four times the last-level cache
    assert (sentinel.id, sentinel.role) == ("sentinel", "sentinel")


def test_a_size_that_the_user_gives_is_kept_and_named(make_machine: MakeMachine) -> None:
    plan = own(make_machine(cores=2), Measure("stream", ("all",), axes={"elements": ("1M", 5000)}))
    assert [(case.id, case.params["elements"]) for case in plan.cases[:2]] == [
        ("stream/all/first-touch/stores=ordinary,touch=parallel,elements=1048576", 2**20),
        ("stream/all/first-touch/stores=ordinary,touch=parallel,elements=5000", 5000),
    ]


def test_what_is_bound_to_a_node_fits_into_it(make_machine: MakeMachine) -> None:
    machine = make_machine(1, 2, 1, 2)
    small = msgspec.structs.replace(machine.topology.numa_nodes[1], memory_bytes=50 * 2**20)
    topology = msgspec.structs.replace(machine.topology, numa_nodes=(machine.topology.numa_nodes[0], small))
    plan = own(msgspec.structs.replace(machine, topology=topology), Measure("stream", ("all",), ("bind:*",)))
    assert plan.cases[0].memory_bytes == 3 * 4 * 16 * 2**20
    assert plan.cases[1].memory_bytes <= 50 * 2**20


def test_a_case_that_needs_more_memory_than_there_is_is_left_out_with_figures(make_machine: MakeMachine) -> None:
    wish = Measure("memcpy", ("one-core",), axes={"bytes": ("1M", "64M")})
    machine = msgspec.structs.replace(make_machine(cores=2), memory=Fact(value=100 * 2**20, unit="B"))
    plan = own(machine, wish)
    assert ids(plan) == ["memcpy/one-core/first-touch/bytes=1048576,buffers=hot,offset=0"]
    (left,) = plan.left_out
    assert left.request == "memcpy at one-core, bytes=67108864"
    assert left.reason == "it needs 128 MiB of memory; 100 MiB may be used, enough for bytes=33554432"


def test_several_toolchains_are_a_factor_and_one_is_not(make_machine: MakeMachine) -> None:
    wish = Measure("stream", ("all",))
    several = own(make_machine(cores=2), wish, options=Options(seed=1, toolchains=("gcc", "clang")))
    assert ids(several) == [
        "stream/all/first-touch/stores=ordinary,touch=parallel/toolchain=gcc",
        "stream/all/first-touch/stores=ordinary,touch=parallel/toolchain=clang",
    ]
    gcc, clang = ids(several)
    levels = {launch.cases[0]: launch.toolchain for launch in several.order}
    assert levels == {gcc: "gcc", clang: "clang", f"{gcc}/again": "gcc", "sentinel": "gcc"}
    one = own(make_machine(cores=2), wish, options=Options(seed=1, toolchains=("gcc",)))
    assert ids(one) == ["stream/all/first-touch/stores=ordinary,touch=parallel"]
    assert {launch.toolchain for launch in one.order} == {"gcc"}


def test_blocks_hold_every_case_once_between_sentinels(make_machine: MakeMachine) -> None:
    plan = stored("quick", make_machine(2, 4, 2, 4))
    for block in range(plan.launches):
        launches = [launch for launch in plan.order if launch.block == block]
        assert launches[0].cases == ("sentinel",)
        assert sorted(case for launch in launches[1:] for case in launch.cases) == sorted(ids(plan))
    assert plan.order[-1].cases == ("sentinel",)
    assert [launch.id for launch in plan.order] == sorted({launch.id for launch in plan.order})


def test_a_launch_holds_cases_of_one_program_placement_and_toolchain(make_machine: MakeMachine) -> None:
    plan = stored("memory", make_machine(2, 1, 1, 4, 2), Options(seed=3, toolchains=("gcc", "clang")))
    for launch in plan.order:
        cases = [plan.case(case) for case in launch.cases]
        assert len({(case.benchmark, case.placement, case.factors["toolchain"]) for case in cases}) == 1
        assert {case.factors["toolchain"] for case in cases} == {launch.toolchain}


def test_long_launches_are_split_so_that_their_bracket_means_something(make_machine: MakeMachine) -> None:
    plan = stored("quick", make_machine(cores=2))
    copies = [launch for launch in plan.order if launch.program == "memcpy" and launch.block == 0]
    assert len(copies) > 1
    for launch in copies:
        assert sum(plan.case(case).setup_s + plan.case(case).weight for case in launch.cases) <= 3.0


def beside_a_huge_cache(make_machine: MakeMachine, size_bytes: int = 480 * 2**20) -> Machine:
    """Two cores and 24 GiB: what a virtual machine on a large host reports."""
    machine = make_machine(cores=2)
    caches = tuple(msgspec.structs.replace(cache, size_bytes=size_bytes) for cache in machine.topology.caches)
    nodes = (msgspec.structs.replace(machine.topology.numa_nodes[0], memory_bytes=24 * 2**30),)
    return msgspec.structs.replace(
        machine, topology=msgspec.structs.replace(machine.topology, caches=caches, numa_nodes=nodes)
    )


def test_cases_that_hand_on_much_memory_share_a_launch_whatever_their_order(make_machine: MakeMachine) -> None:
    plan = stored("node", beside_a_huge_cache(make_machine))
    for program, size in (("loaded_latency", 5), ("himeno", 1)):
        launches = [launch for launch in plan.order if launch.program == program]
        assert {len(launch.cases) for launch in launches} == {size}
    copies = [launch.cases for launch in plan.order if launch.program == "memcpy"]
    cold = [cases for cases in copies if any("cold" in case for case in cases)]
    assert len(cold) == plan.launches  # 11 pools, touched once in each block
    assert all("buffers=cold" in case for cases in cold for case in cases)
    assert len({cases[0] for cases in cold}) > 1


def test_a_set_up_that_takes_over_touched_memory_is_foreseen_without_its_touch(make_machine: MakeMachine) -> None:
    plan = stored("node", beside_a_huge_cache(make_machine))
    delays = [case for case in plan.cases if case.benchmark == "loaded_latency"]
    declared = benchmarks.get("loaded_latency")
    alone = declared.setup_seconds(delays[0].params)
    touch = declared.touch_seconds(delays[0].params)
    assert touch > 0.5
    assert all(alone - touch <= case.setup_s <= alone for case in delays)
    # One of the five touches, in each block.
    assert sum(case.setup_s for case in delays) == pytest.approx(5 * alone - 4 * touch)


def test_serial_and_parallel_touch_hand_nothing_on_to_each_other(make_machine: MakeMachine) -> None:
    machine = beside_a_huge_cache(make_machine)
    plan = own(machine, Measure("stream", ("all",), axes={"touch": ("parallel", "serial")}))
    declared = benchmarks.get("stream")
    assert [case.setup_s for case in plan.cases if case.role == "measure"] == [
        declared.setup_seconds(case.params) for case in plan.cases if case.role == "measure"
    ]


def test_short_samples_end_sampling_before_its_time(make_machine: MakeMachine) -> None:
    machine = make_machine(cores=2)

    def estimate(weight: float, budget_s: float | None) -> float:
        measure = Measure("latency", ("one-core",), axes={"bytes": ("4K", "8K", "16K")}, weight=weight)
        wish = Study("T", "Q?", (measure,), launches=3)
        return make("own.toml", wish, machine, Options(seed=7, budget_s=budget_s)).estimate_s

    assert estimate(0.005, 60) < estimate(0.2, 60) == estimate(1.0, 60)
    assert estimate(0.005, None) == estimate(1.0, None)


def test_launches_are_in_another_order_in_each_block(make_machine: MakeMachine) -> None:
    plan = own(make_machine(1, 8, 1, 2), Measure("stream", ("all:numa:*",)))
    orders = {tuple(launch.cases for launch in plan.order if launch.block == block) for block in range(3)}
    assert len(orders) == 3


def test_cases_are_in_another_order_in_each_block(make_machine: MakeMachine) -> None:
    plan = own(make_machine(cores=2), Measure("memcpy", ("one-core",), axes={"bytes": "1:128"}, weight=0.1))
    orders = {launch.cases for launch in plan.order if launch.program == "memcpy"}
    assert len(orders) == 3


@given(st.integers(0, 2**32), st.integers(1, 5))
def test_the_same_seed_gives_the_same_plan_and_a_plan_survives_json(
    make_machine: MakeMachine, seed: int, launches: int
) -> None:
    options = Options(seed=seed, launches=launches)
    machine = make_machine(1, 2, 1, 2)
    plan = stored("quick", machine, options)
    assert plan == stored("quick", machine, options)
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan
    assert plan.seed == seed


def test_a_seed_that_is_not_given_is_drawn_and_recorded(make_machine: MakeMachine) -> None:
    machine = make_machine(1, 2, 1, 2)
    first, second = (stored("quick", machine, Options()) for _ in range(2))
    assert first.seed != second.seed
    assert stored("quick", machine, Options(seed=first.seed)) == first


def test_options_replace_what_the_study_says(make_machine: MakeMachine) -> None:
    options = Options(seed=1, launches=10, precision=0.005, budget_s=600)
    plan = stored("quick", make_machine(cores=2), options)
    assert (plan.launches, plan.precision, plan.budget_s) == (10, 0.005, 600)
    assert {launch.block for launch in plan.order} == set(range(11))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (Options(launches=0), "0 launches measure nothing"),
        (Options(precision=1.5), "1.5 is not a precision"),
        (Options(budget_s=0), "0 s is not a budget"),
    ],
)
def test_an_option_out_of_range_is_refused(options: Options, what: str, make_machine: MakeMachine) -> None:
    with pytest.raises(UsageError, match=what):
        stored("quick", make_machine(cores=2), options)


def test_a_thousand_like_hosts_need_as_many_launches_as_one(make_machine: MakeMachine) -> None:
    hosts = tuple(f"node{number:04d}" for number in range(1000))
    machine = make_machine(2, 4, 2, 4)
    plan = stored("memory", machine, Options(seed=1, hosts=hosts))
    assert plan.order == stored("memory", machine, Options(seed=1)).order
    assert all(case.placement.hosts == hosts for case in plan.cases)


@pytest.mark.parametrize(
    ("wish", "what"),
    [
        (Measure("streams", ("all",)), "there is no benchmark 'streams'"),
        (Measure("stream", ("al",)), "there is no placement 'al'"),
        (Measure("stream", ("all",), ("bound",)), "there is no memory policy 'bound'"),
        (Measure("stream", ("all",), axes={"store": "ordinary"}), "stream has no axis 'store'"),
        (Measure("stream", ("all",), axes={"stores": "temporal"}), "stream has no stores 'temporal'"),
        (Measure("memcpy", ("one-core",), axes={"bytes": "64:1"}), "'64:1' is not a range of sizes"),
        (Measure("stream", ("all:numa:7",)), "'all:numa:7' means nothing on this machine"),
        (Measure("stream", ("all",), ("bind:7",)), "'bind:7' means nothing on this machine"),
    ],
)
def test_a_wrong_wish_of_a_user_is_refused_by_name(wish: Measure, what: str, make_machine: MakeMachine) -> None:
    with pytest.raises(UsageError, match=what):
        own(make_machine(cores=2), wish)


def test_an_index_that_a_stored_study_names_in_vain_is_left_out(make_machine: MakeMachine) -> None:
    wishes = study_of(Measure("stream", ("all", "all:numa:7"), ("first-touch", "bind:7")))
    plan = make("quick", wishes, make_machine(cores=2), SEVEN)
    reasons = {left.request: left.reason for left in plan.left_out}
    assert reasons["stream at all:numa:7"] == "this machine has one NUMA node (0)"
    assert reasons["stream at all, bind:7"] == "this machine has one memory node (0)"


def test_more_cores_than_a_benchmark_uses_are_left_out(make_machine: MakeMachine) -> None:
    plan = own(make_machine(cores=4), Measure("memcpy", ("one-core", "all")))
    assert [left.reason for left in plan.left_out] == ["memcpy uses one cpu, all has 4"]


def test_nothing_to_measure_is_said_with_its_reasons(make_machine: MakeMachine) -> None:
    with pytest.raises(UnfitEnvironmentError) as caught:
        own(make_machine(), Measure("core_to_core", ("pair", "all")))
    assert "core_to_core at pair: this machine has one core" in caught.value.why
    assert "core_to_core needs 2 cpus, all has 1" in caught.value.why


def test_one_place_without_its_local_memory_leaves_the_others(make_machine: MakeMachine) -> None:
    machine = narrowed(make_machine(1, 3, 1, 2), tuple(range(6)), (0, 2))
    plan = own(machine, Measure("stream", ("all:numa:*",), ("bind:local",)))
    assert [case.placement.label for case in plan.cases if case.role == "measure"] == ["all:numa:0", "all:numa:2"]
    (left,) = plan.left_out
    assert left.request == "stream at all:numa:1, bind:local"
    assert left.reason == "all:numa:1 runs next to memory node 1, which is not allowed"
