"""What of a machine a job may use: the cpus that its scheduler counts, and those of all its nodes."""

import msgspec
import pytest
from tests.simulation import EPYC_7601, described

from assay.machine.job_limits import common_to_all, is_restricted, limit_to_job, of_each_kind
from assay.model.machine import Machine

#: Two sockets of 8 cores with two threads each; `described` numbers the threads of a core one after the other.
SMT = "pack:2 l3:1 core:8 pu:2"


def allowing(machine: Machine, *cpus: int) -> Machine:
    return msgspec.structs.replace(
        machine, topology=msgspec.structs.replace(machine.topology, allowed_cpus=tuple(cpus))
    )


@pytest.mark.parametrize(("given", "cpus"), [(1, (0,)), (2, (0, 1)), (5, (0, 1, 2, 3, 4))])
def test_a_job_has_the_first_cpus_the_threads_of_a_core_together(given: int, cpus: tuple[int, ...]) -> None:
    found = limit_to_job(described(SMT), given)
    assert found.topology.allowed_cpus == cpus
    assert is_restricted(found)


@pytest.mark.parametrize("given", [0, 16, 32, 64])
def test_so_many_cpus_as_there_are_cores_are_the_whole_machine(given: int) -> None:
    found = limit_to_job(described(SMT), given)
    assert found == described(SMT)
    assert not is_restricted(found)


def test_what_the_kernel_keeps_a_job_to_is_not_narrowed_further() -> None:
    kept = allowing(described(SMT), 6, 7, 9)
    assert limit_to_job(kept, 3) == kept
    assert limit_to_job(kept, 1).topology.allowed_cpus == (6,)


def test_a_plan_for_several_nodes_has_the_cpus_that_all_of_them_allow() -> None:
    first, second = allowing(described(SMT), 0, 1, 2, 3), allowing(described(SMT), 2, 3, 4)
    assert common_to_all([first, second]).topology.allowed_cpus == (2, 3)
    assert common_to_all([first, allowing(described(SMT), 8)]).topology.allowed_cpus == ()
    assert common_to_all([first, described(EPYC_7601)]) == first  # it is unlike, and told so


def test_nodes_that_have_no_cpu_in_common_are_placed_each_by_its_own() -> None:
    granted = {"n1": (0, 1), "n2": (2, 3), "n3": (0, 1)}
    machines = {host: allowing(described(SMT), *cpus) for host, cpus in granted.items()}
    found = of_each_kind(machines)
    assert {host: each.topology.allowed_cpus for host, each in found.items()} == granted
    assert found["n1"] is found["n3"]
