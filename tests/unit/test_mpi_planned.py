"""The MPI is a factor of what passes messages, and of nothing else."""

from collections.abc import Callable

import msgspec
import pytest

from assay import plan as planning
from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark
from assay.model.errors import UsageError
from assay.model.machine import Machine
from assay.model.plan import Measure, Plan, Study
from assay.plan import factors

MakeMachine = Callable[..., Machine]

MIXED = Study(
    "t", "q?", (Measure("stream", ("one-core",)), Measure("memcpy", ("one-core",), axes={"bytes": 64})), launches=1
)
ALONE = Study("t", "q?", (Measure("stream", ("one-core",)),), launches=1)


@pytest.fixture(autouse=True)
def by_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    """A benchmark that passes messages, in place of one that does not."""
    known = benchmarks.get

    def get(name: str) -> Benchmark:
        if name != "memcpy":
            return msgspec.structs.replace(known(name), launcher="direct")
        return msgspec.structs.replace(known(name), launcher="mpi")

    monkeypatch.setattr(benchmarks, "get", get)


def planned(machine: Machine, *mpis: str, study: Study = MIXED, **options: object) -> Plan:
    wanted = msgspec.structs.replace(planning.Options(seed=1, mpis=mpis, launches=1), **options)
    return planning.make("own", study, machine, wanted)


def toolchains(plan: Plan) -> dict[str, set[str]]:
    used: dict[str, set[str]] = {}
    for launch in plan.order:
        used.setdefault(launch.program, set()).add(launch.toolchain)
    return used


def test_one_mpi_is_no_factor_and_is_in_the_toolchain_of_what_passes_messages(make_machine: MakeMachine) -> None:
    plan = planned(make_machine(cores=4), "mpich-4.0.2", toolchains=("gcc",))
    assert toolchains(plan) == {"stream": {"gcc"}, "memcpy": {"gcc/mpich-4.0.2"}}
    assert plan.factors == ()


def test_several_are_a_factor_by_which_only_what_passes_messages_is_multiplied(make_machine: MakeMachine) -> None:
    plan = planned(make_machine(cores=4), "openmpi", "mpich", toolchains=("gcc",))
    assert toolchains(plan) == {"stream": {"gcc"}, "memcpy": {"gcc/openmpi", "gcc/mpich"}}
    measured = [case for case in plan.cases if case.role == "measure"]
    assert [case.factors for case in measured if case.benchmark == "stream"] == [{}]
    assert [case.factors["mpi"] for case in measured if case.benchmark == "memcpy"] == ["openmpi", "mpich"]


def test_it_is_the_same_when_it_is_said_by_vary(make_machine: MakeMachine) -> None:
    varied = planned(make_machine(cores=4), factors=planning.parse(["mpi=openmpi,mpich"], MIXED, {}))
    assert varied == planned(make_machine(cores=4), "openmpi", "mpich")
    assert toolchains(varied)["memcpy"] == {"default/openmpi", "default/mpich"}


def test_compilers_flags_and_mpis_multiply(make_machine: MakeMachine) -> None:
    flags = planning.parse(["flags=-O3|-O2"], MIXED, {})
    plan = planned(make_machine(cores=4), "openmpi", "mpich", toolchains=("gcc", "clang"), factors=flags)
    assert len(toolchains(plan)["memcpy"]) == 8
    assert "clang/mpich -O2" in toolchains(plan)["memcpy"]
    assert toolchains(plan)["stream"] == {"gcc -O3", "gcc -O2", "clang -O3", "clang -O2"}


def test_it_cannot_be_varied_twice(make_machine: MakeMachine) -> None:
    twice = planning.parse(["mpi=openmpi,mpich"], MIXED, {})
    with pytest.raises(UsageError, match="the mpi is varied twice"):
        planned(make_machine(cores=4), "openmpi", "mpich", factors=twice)


def test_a_study_that_passes_no_messages_refuses_one(make_machine: MakeMachine) -> None:
    assert planning.passes_messages(MIXED)
    assert not planning.passes_messages(ALONE)
    with pytest.raises(UsageError, match="needs no MPI"):
        planned(make_machine(cores=4), "mpich", study=ALONE)


def test_a_toolchain_that_names_its_mpi_keeps_it() -> None:
    assert factors.toolchain({}, "gcc/openmpi", "mpich") == "gcc/openmpi"
    assert factors.toolchain({"mpi": "mpich", "flags": "-O2"}, "gcc") == "gcc/mpich -O2"
