"""What is varied on purpose: how it is said, planned, and set by commands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.simulation import begin, builds_for, carry_on, described, plan_for, starter_for

from assay import plan as planning
from assay import store, studies
from assay.launch.command import Sampling, Site
from assay.launch.starter import Starter
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.machine import Machine
from assay.model.plan import Measure, Plan, Study
from assay.model.toolchain import Mpi
from assay.plan import Options, make, parse
from assay.run.levels import commands as commands_of
from assay.simulation import Fault, Law, SimulatedMachine

MakeMachine = Callable[..., Machine]

STUDY = Study("t", "q?", (Measure("stream", ("one-core",)), Measure("memcpy", ("one-core",), axes={"bytes": 64})))
STREAM = Study("t", "q?", (Measure("stream", ("one-core",)),))
SLEEP = {"sleep": {"levels": {"on": "idle --on", "off": "idle --off 0"}}}
BOX = {"box": {"prefix": {"bare": "", "image": "apptainer exec 'my image.sif'"}}}


def varied(
    machine: Machine,
    *wishes: str,
    study: Study = STREAM,
    options: Options = Options(),  # noqa: B008 (frozen)
) -> Plan:
    factors = parse(wishes, study, {})
    return make("own", study, machine, msgspec.structs.replace(options, seed=1, factors=factors))


def ids(plan: Plan, role: str = "measure") -> list[str]:
    return [case.id for case in plan.cases if case.role == role]


@pytest.mark.parametrize(
    ("wish", "levels"),
    [
        ("memory=first-touch,interleave", ("first-touch", "interleave")),
        ("flags=-O3 -march=native|-O2", ("-O3 -march=native", "-O2")),
        ("flags=-Wl,-z,now -O3|-O2", ("-Wl,-z,now -O3", "-O2")),
        ("toolchain=gcc,clang", ("gcc", "clang")),
        ("stores=non-temporal,ordinary", ("non-temporal", "ordinary")),
        ("bytes=64,4K", ("64", "4096")),
        ("offset=-3,0", ("-3", "0")),
        ("UCX_RNDV_THRESH=default,32768", ("default", "32768")),
        ("sleep", ("on", "off")),
        ("sleep=off,on", ("off", "on")),
    ],
)
def test_levels_are_parted_by_commas_or_by_bars(wish: str, levels: tuple[str, ...]) -> None:
    (factor,) = parse([wish], STUDY, SLEEP)
    assert factor.levels == levels


@pytest.mark.parametrize(
    ("wish", "what", "why"),
    [
        ("memoryx=a,b", "'memoryx'", "did you mean 'memory'?"),
        ("memory=first-touch", "two levels", "two things"),
        ("memory", "two levels", ""),
        ("memory=first-touch,first-touch", "given twice", "A against A"),
        ("memory=bind:0,bind:*", "'bind:*'", "each node"),
        ("stores=ordinary,cached", "no stores 'cached'", "known: ordinary, non-temporal"),
        ("himeno.touch=serial,parallel", "'himeno.touch'", "known:"),
        ("flags='-O2|-O3", "cannot split", "quotation"),
        ("sleep=on,deep", "no level 'deep'", "known: on, off"),
        ("bytes=64,many", "not a size", ""),
    ],
)
def test_what_cannot_be_varied_is_refused_by_name(wish: str, what: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse([wish], STUDY, SLEEP)
    assert what in caught.value.what
    assert why in caught.value.why


@pytest.mark.parametrize(
    ("table", "what"),
    [
        ({"sleep": {"level": {}}}, "unknown key 'level'"),
        ({"sleep": {"levels": {"on": "idle"}}}, "needs levels"),
        ({"sleep": {"levels": {"on": "idle", "off": " "}}}, "level 'off'"),
        ({"sleep": {"levels": {"on": "idle", "off": "'"}}}, "cannot split"),
        ({"sleep": "idle"}, "not a table"),
        ({"memory": {"levels": {"on": "a", "off": "b"}}}, "taken"),
        ({"box": {"prefix": {"bare": ""}}}, "needs levels"),
        ({"box": {"prefix": {"bare": "", "image": "'"}}}, "cannot split"),
        ({"box": {"prefix": {"bare": "", "image": "x"}, "levels": {"a": "x", "b": "y"}}}, "needs levels"),
    ],
)
def test_a_table_that_is_no_factor_is_refused(table: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(["memory=first-touch,interleave"], STUDY, table)
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("echo 1; echo 2", ";"),
        ("echo 1 >/tmp/f", ">"),
        ("idle --on&&idle --off", "&&"),
        ("idle --on 2>&1", ">&"),
        ("idle $HOME", "$HOME"),
        ('idle "a $HOME"', "$"),
        ("idle `x`", "`x"),
        ("rm -f /tmp/x*", "*"),
    ],
)
def test_a_command_for_a_shell_is_refused_with_what_is_for_the_shell(command: str, found: str) -> None:
    for wish, table in ((f"x=a:{command}|b:idle --off", {}), ("x", levels_of(command))):
        with pytest.raises(UsageError) as caught:
            parse([wish], STUDY, table)
        assert caught.value.what.startswith(f"'{found}' in the command '{command}'")
    assert parse(["memory=first-touch,interleave"], STUDY, levels_of(command))  # the table is not used


@pytest.mark.parametrize(
    "command",
    [
        "/bin/echo '>' b",
        r"find /opt -exec true {} \;",
        "sh -c 'a >b; c $d'",
        r'idle "a;b \" >" \$x',
        "idle 'it;' \"x's\"",
    ],
)
def test_quoted_characters_of_a_shell_are_arguments(command: str) -> None:
    for wish, table in ((f"x=a:{command}|b:idle --off", {}), ("x", levels_of(command))):
        (factor,) = parse([wish], STUDY, table)
        assert factor.commands["a"] == command


def levels_of(command: str) -> dict[str, Any]:
    return {"x": {"levels": {"a": command, "b": "idle --off"}}}


def test_one_word_is_told_as_no_command_and_a_pipe_as_no_separator() -> None:
    with pytest.raises(UsageError) as caught:
        parse(["x=a:true|b:true"], STUDY, {})
    assert "'true'" in caught.value.why
    assert "--vary 'x=A:/PATH/true|B:/PATH/true'" in caught.value.remedy
    with pytest.raises(UsageError) as caught:
        parse(["x=a:sh -c 'echo 1 | tee /f'|b:sh -c 'echo 2 | tee /f'"], STUDY, {})
    assert "cannot split" in caught.value.what
    assert "script" in caught.value.remedy


def test_a_name_that_is_axis_and_factor_has_to_be_qualified() -> None:
    table = {"stores": {"levels": {"a": "x", "b": "y"}}}
    with pytest.raises(UsageError, match="axis of stream and a factor"):
        parse(["stores=ordinary,non-temporal"], STUDY, table)
    (factor,) = parse(["stream.stores=ordinary,non-temporal"], STUDY, table)
    assert (factor.name, factor.benchmark, factor.kind) == ("stores", "stream", "axis")


def test_several_factors_make_every_combination_and_the_first_is_measured_twice(make_machine: MakeMachine) -> None:
    plan = varied(make_machine(nodes=2, cores=2), "memory=first-touch,interleave", "stores=ordinary,non-temporal")
    assert ids(plan) == [
        f"stream/one-core/touch=parallel/memory={memory},stores={stores}"
        for memory, stores in [
            ("first-touch", "ordinary"),
            ("first-touch", "non-temporal"),
            ("interleave", "ordinary"),
            ("interleave", "non-temporal"),
        ]
    ]
    assert ids(plan, "control") == [f"{ids(plan)[0]}/again"]
    assert {case.subject for case in plan.cases if case.role != "sentinel"} == {"stream/one-core/touch=parallel"}
    policies = {case.factors["memory"]: str(case.placement.memory) for case in plan.cases if case.factors}
    assert policies == {"first-touch": "first-touch", "interleave": "interleave:0,1"}


def test_levels_of_memory_are_measured_though_one_node_makes_them_the_same(make_machine: MakeMachine) -> None:
    plan = varied(make_machine(cores=2), "memory=first-touch,interleave")
    assert [case.factors["memory"] for case in plan.cases if case.role == "measure"] == [
        "first-touch",
        "interleave",
    ]


def test_a_benchmark_without_the_axis_is_measured_once(make_machine: MakeMachine) -> None:
    plan = varied(make_machine(cores=2), "stores=ordinary,non-temporal", study=STUDY)
    copies = [case for case in plan.cases if case.benchmark == "memcpy"]
    assert [(case.factors, case.role) for case in copies] == [({}, "measure")]


def test_each_block_has_all_levels_side_by_side_in_an_order_that_changes(make_machine: MakeMachine) -> None:
    plan = varied(
        make_machine(nodes=2, cores=2), "memory=first-touch,interleave", study=STUDY, options=Options(launches=8)
    )
    orders = set()
    for block in range(8):
        launches = [launch for launch in plan.order if launch.block == block][1:]
        assert sorted(case for launch in launches for case in launch.cases) == sorted(
            [*ids(plan), *ids(plan, "control")]
        )
        subjects = [plan.case(launch.cases[0]).subject for launch in launches]
        assert [subjects[at] for at in (0, 3)] == [subjects[at] for at in (2, 5)]
        orders.add(tuple(plan.case(launch.cases[0]).id for launch in launches))
    assert len(orders) > 4


def test_flags_are_levels_of_the_toolchain(make_machine: MakeMachine) -> None:
    plan = varied(make_machine(cores=2), "flags=-O3|-O2", options=Options(toolchains=("clang",)))
    assert {launch.toolchain for launch in plan.order} == {"clang -O3", "clang -O2"}
    both = varied(make_machine(cores=2), "toolchain=gcc,clang", "flags=-O3|-O2")
    assert {launch.toolchain for launch in both.order} == {"gcc -O3", "gcc -O2", "clang -O3", "clang -O2"}


def test_a_toolchain_varied_in_two_ways_is_refused(make_machine: MakeMachine) -> None:
    with pytest.raises(UsageError, match="varied twice"):
        varied(make_machine(cores=2), "toolchain=gcc,clang", options=Options(toolchains=("gcc", "clang")))
    with pytest.raises(UsageError, match="varied twice"):
        parse(["memory=first-touch,interleave", "memory=bind:0,bind:1"], STREAM, {})


def test_a_level_that_this_machine_lacks_is_exit_4(make_machine: MakeMachine) -> None:
    study = studies.get("quick")
    factors = parse(["memory=first-touch,bind:7"], study, {})
    with pytest.raises(UnfitEnvironmentError) as caught:
        make("quick", study, make_machine(cores=2), Options(factors=factors))
    assert "memory=bind:7" in caught.value.what
    assert "one memory node" in caught.value.why


def test_blocks_are_enough_to_show_one_effect_among_all(make_machine: MakeMachine) -> None:
    # 6 decide; 2 lg 4 more for the critical value among the comparisons of 4 kernels.
    assert varied(make_machine(cores=2), "stores=ordinary,non-temporal").launches == 8
    single = Study("t", "q?", (Measure("memcpy", ("one-core",), axes={"bytes": 64}),))
    assert varied(make_machine(cores=2), "buffers=hot,cold", study=single).launches == 6
    assert varied(make_machine(cores=2), "stores=ordinary,non-temporal", options=Options(launches=3)).launches == 3
    many = varied(make_machine(cores=2), "memory=first-touch,interleave", study=studies.get("quick"))
    assert many.launches == 10


def test_a_studys_budget_grows_with_what_is_varied_and_the_users_does_not(make_machine: MakeMachine) -> None:
    study = Study("t", "q?", STREAM.measure, launches=3, budget_s=60)
    plan = varied(make_machine(cores=2), "stores=ordinary,non-temporal", study=study)
    assert plan.budget_s == 60 * 3 * plan.launches / 3
    own = varied(make_machine(cores=2), "stores=ordinary,non-temporal", study=study, options=Options(budget_s=30))
    assert own.budget_s == 30


def sleeping() -> Plan:
    factors = parse(["sleep"], STREAM, SLEEP)
    return plan_for(study=STREAM, options=planning.Options(launches=2, factors=factors))


def simulated(law: Law) -> SimulatedMachine:
    return SimulatedMachine(described().topology, law)


def settings(machine: SimulatedMachine) -> list[str]:
    return [" ".join(command.argv) for command in machine.commands if command.argv[0] == "idle"]


LEVELS = {"idle --on": 1.0, "idle --off 0": 0.9}


def test_the_command_of_a_level_runs_before_each_launch_and_is_recorded_and_logged(tmp_path: Path) -> None:
    plan = sleeping()
    directory, machine = begin(tmp_path, plan), simulated(Law(commands=LEVELS))
    carry_on(directory, plan, machine)
    launches = [records.launch for records in store.load(directory.path).launches]
    cases = {case.id: case for case in plan.cases}
    expected = {"on": ("idle", "--on"), "off": ("idle", "--off", "0")}
    assert [launch.prepared for launch in launches] == [
        {"sleep": expected[cases[launch.cases[0]].factors["sleep"]]} for launch in launches
    ]
    assert settings(machine) == [" ".join(launch.prepared["sleep"]) for launch in launches] + ["idle --on"]
    log = (directory.path / "logs" / f"{launches[0].id}.sleep.out").read_text()
    assert log == "simulated: $ idle --on\nexit 0\n"
    assert (directory.path / "logs" / "restore.sleep.out").is_file()


def test_the_usual_state_is_the_first_of_the_table_whatever_is_the_base(tmp_path: Path) -> None:
    factors = parse(["sleep=off,on"], STREAM, SLEEP)
    plan = plan_for(study=STREAM, options=planning.Options(launches=1, factors=factors))
    machine = simulated(Law(commands=LEVELS))
    carry_on(begin(tmp_path, plan), plan, machine)
    assert settings(machine)[0] == "idle --off 0"
    assert settings(machine)[-1] == "idle --on"


def test_after_ctrl_c_the_usual_state_is_restored(tmp_path: Path) -> None:
    plan = sleeping()
    machine = simulated(Law(commands=LEVELS, faults=(Fault("interrupt", "sleep=off"),)))
    ending = carry_on(begin(tmp_path, plan), plan, machine)
    assert ending.status == "interrupted"
    assert settings(machine)[-2:] == ["idle --off 0", "idle --on"]


def test_a_command_that_fails_ends_the_run_with_exit_4_after_restoring(tmp_path: Path) -> None:
    plan = sleeping()
    directory, machine = begin(tmp_path, plan), simulated(Law(commands={**LEVELS, "idle --off 0": 0}))
    with pytest.raises(UnfitEnvironmentError) as caught:
        carry_on(directory, plan, machine)
    assert "not permitted" in caught.value.why
    assert "idle --off 0" in caught.value.remedy
    assert settings(machine)[-1] == "idle --on"
    assert all(
        records.launch.prepared["sleep"] == ("idle", "--on") for records in store.load(directory.path).launches
    )


def test_a_restoring_command_that_fails_is_told(tmp_path: Path) -> None:
    declared = {"sleep": {"levels": {"usual": "idle --usual", **SLEEP["sleep"]["levels"]}}}
    factors = parse(["sleep=on,off"], STREAM, declared)
    plan = plan_for(study=STREAM, options=planning.Options(launches=1, factors=factors))
    directory = begin(tmp_path, plan)
    with pytest.raises(UnfitEnvironmentError, match="'sleep' was not put back"):
        carry_on(directory, plan, simulated(Law(commands={**LEVELS, "idle --usual": 0})))
    ending = store.load(directory.path).ending
    assert ending is not None
    assert ending.status == "complete"


def test_an_environment_variable_is_set_at_its_levels_and_left_alone_at_default(make_machine: MakeMachine) -> None:
    messages = Study("t", "q?", (Measure("pt2pt", ("pair",), axes={"bytes": 8}), Measure("stream", ("one-core",))))
    plan = varied(make_machine(cores=2), "UCX_RNDV_THRESH=default,64", study=messages)
    sampling = Sampling(0.01, 1, 1, {case.id: 1.0 for case in plan.cases})
    set_to: dict[str, set[str | None]] = {}
    for case in plan.cases:
        build = builds_for(plan)[plan.order[0].toolchain]
        commands = starter_for(plan).commands(plan, (case,), build, next(iter(build.programs)), sampling)
        level = case.factors.get("UCX_RNDV_THRESH", "none")
        set_to.setdefault(level, set()).update(each.environment.get("UCX_RNDV_THRESH") for each in commands)
    # `none`: stream passes no messages and is measured once.
    assert set_to == {"default": {None}, "64": {"64"}, "none": {None}}


def test_words_before_the_program_stand_behind_the_launcher_and_are_no_commands(
    make_machine: MakeMachine,
) -> None:
    study = Study("t", "q?", (Measure("pt2pt", ("pair",), axes={"bytes": 8}), Measure("stream", ("one-core",))))
    factors = parse(["box"], study, BOX)
    plan = make("own", study, make_machine(cores=2), Options(seed=1, factors=factors))
    sampling = Sampling(0.01, 1, 1, {case.id: 1.0 for case in plan.cases})
    build = builds_for(plan)[plan.order[0].toolchain]
    mpi = Mpi("mpich-4.0.2", "mpich", "4.0.2", "/opt/mpicxx", "/opt/mpiexec")
    passing = msgspec.structs.replace(build, toolchain=msgspec.structs.replace(build.toolchain, mpi=mpi))
    site = Starter(Site(plan.hosts[0], run="r1"))
    started: dict[str, set[bool]] = {"bare": set(), "image": set()}
    for case in plan.cases:
        (command,) = site.commands(plan, (case,), passing, case.benchmark, sampling)
        words, level = command.argv, case.factors["box"]
        at = words.index(build.programs[case.benchmark])
        assert (words[at - 3 : at] == ("apptainer", "exec", "my image.sif")) == (level == "image")
        assert ("/opt/mpiexec" in words) == (case.benchmark == "pt2pt")
        # Between Assay and the program may stand a process of the prefix: the run's id finds it.
        started[level].add(command.environment.get("ASSAY_PARENT") == "" and "ASSAY_RUN" in command.environment)
        assert commands_of(plan, (case,)) == {}
    assert started["image"] == {True}
    assert {case.factors["box"] for case in plan.cases if case.role == "sentinel"} == {"bare"}


def test_what_is_no_name_of_a_variable_is_told_as_unknown() -> None:
    with pytest.raises(UsageError, match="nothing is called 'ucx_rndv'"):
        parse(["ucx_rndv=1,2"], STUDY, {})
