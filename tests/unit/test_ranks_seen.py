"""What is made of the ranks that a launch line starts: golden records of healthy ones, and of each fault."""

from collections.abc import Callable

import msgspec
import pytest

from assay.cli import audit
from assay.importing.command import parse_command
from assay.launch.command import Outcome
from assay.machine.ranks import LaunchLine, examine
from assay.model.ranks_seen import RankBegan, RankSeen, RanksSeen, RankStuck, read_ranks
from assay.model.toolchain import Mpi
from assay.run.trial import Answering, judge

OPEN_MPI = Mpi("openmpi-4.1.4", "openmpi", "4.1.4", "/opt/bin/mpicxx", "/opt/bin/mpiexec")
NODE = {
    "cpus": "0-7",
    "model": "EPYC",
    "kernel": "6.1",
    "ptrace scope": "0",
    "NUMA balancing": "0",
    "migrated pages": "0",
    "cpus of node0": "0-3",
    "cpus of node1": "4-7",
}
HOSTS = ("n1", "n2")


def rank(number: int, host: str, cpus: str = "", size: int = 4) -> RankSeen:
    """A healthy one: two threads on two cores of its own, its memory beside them."""
    cpus = cpus or ("0-1", "4-5")[number % 2]
    return RankSeen(
        rank=number,
        size=size,
        host=host,
        boot_id=host,
        numbers={"SLURM_NTASKS": "4", "SLURM_PROCID": f"{number}"},
        library={"library": "Open MPI v4.1.4"},
        launched_cpus=cpus,
        cpus=cpus,
        cores=2,
        threads={cpus: 2},
        memory_nodes="0-1",
        page_nodes={"0" if cpus == "0-1" else "1": 256},
        single_copy="ok",
        messages="ok" if number % 2 == 0 else "",
        sent={"hsn0": 2**20, "eth0": 200} if number % 2 == 0 else {},
        node=NODE,
    )


HEALTHY = RanksSeen(tuple(rank(number, HOSTS[number // 2]) for number in range(4)))
LINE = LaunchLine(("srun", "-n4", "-c", "1", "--mpi=none"), ("./app", "in put"), "srun", OPEN_MPI)


def test_a_healthy_launch_has_neither_warning_nor_problem() -> None:
    checks = {check.name: check for check in examine(HEALTHY, LINE)}
    assert {check.state for check in checks.values()} == {"ok"}
    assert checks["ranks"].found == "4 ranks: 2 on n1, 2 on n2"
    assert checks["transport"].found.endswith("left by: hsn0 2 MiB")


def changed(number: int, **fields: object) -> Callable[[RanksSeen], RanksSeen]:
    def change(seen: RanksSeen) -> RanksSeen:
        ranks = list(seen.ranks)
        ranks[number] = msgspec.structs.replace(ranks[number], **fields)
        return RanksSeen(tuple(ranks))

    return change


def of_node(number: int, **facts: str) -> Callable[[RanksSeen], RanksSeen]:
    return changed(number, node=NODE | {name.replace("_", " "): value for name, value in facts.items()})


def singletons(seen: RanksSeen) -> RanksSeen:
    return RanksSeen(tuple(msgspec.structs.replace(each, rank=0, size=1) for each in seen.ranks))


def crowded(seen: RanksSeen) -> RanksSeen:
    """Both ranks of n2 on one core."""
    return changed(3, cpus="0", cores=1, threads={"0": 1}, page_nodes={"0": 9})(
        changed(2, cpus="0", cores=1, threads={"0": 1}, page_nodes={"0": 9})(seen)
    )


def free(seen: RanksSeen) -> RanksSeen:
    return RanksSeen(tuple(msgspec.structs.replace(each, cpus="0-7", cores=8) for each in seen.ranks))


@pytest.mark.parametrize(
    ("plant", "check", "state", "found", "remedy"),
    [
        (singletons, "ranks", "problem", "4 programs, each of which is rank 0 of 1", "--mpi=pmix ./app 'in put'"),
        (
            changed(1, cpus="4", cores=1, threads={"4": 4}),
            "threads",
            "problem",
            "rank 1 on n1 has 4 threads on 1 core (cpus 4)",
            "srun -n4 --mpi=none --cpus-per-task=4 --cpu-bind=cores ./app 'in put'",
        ),
        (
            changed(1, cpus="1-2", page_nodes={"0": 9}),
            "binding",
            "problem",
            "ranks 0 and 1 on n1 share cpus 1",
            "--cpu-bind=cores",
        ),
        (crowded, "binding", "problem", "2 ranks on n2 have 1 core: they take turns", "at most 1 rank on a node"),
        (free, "binding", "warning", "the ranks of n1 are not bound", "--cpus-per-task=4"),
        (changed(1, page_nodes={"0": 256}), "memory", "warning", "its memory is of node 0", "--localalloc"),
        (
            changed(2, single_copy="Operation not permitted", node=NODE | {"ptrace scope": "1"}),
            "single copy",
            "warning",
            "refused on n2: Operation not permitted, ptrace_scope is 1",
            "kernel.yama.ptrace_scope=0",
        ),
        (
            of_node(2, NUMA_balancing="1", migrated_pages="77"),
            "NUMA balancing",
            "warning",
            "at work on n2: 77 pages moved",
            "sudo sysctl kernel.numa_balancing=0",
        ),
        (
            of_node(2, cpus_of_node1="4-6"),
            "nodes",
            "warning",
            "cpus of node1: 4-6 on n2, 4-7 on n1",
            "--constraint",
        ),
        (changed(0, messages="wrong"), "transport", "problem", "wrong bytes", "ask the site"),
    ],
)
def test_a_fault_is_found_and_no_other(
    plant: Callable[[RanksSeen], RanksSeen], check: str, state: str, found: str, remedy: str
) -> None:
    checks = {each.name: each for each in examine(plant(HEALTHY), LINE)}
    assert checks[check].state == state
    assert found in checks[check].found
    assert remedy in checks[check].remedy
    assert {name for name, each in checks.items() if each.state not in {"ok", "unknown"}} == {check}


@pytest.mark.parametrize(
    ("launcher", "words", "mended"),
    [
        (
            "openmpi",
            ("mpirun", "-np", "2", "--bind-to", "none"),
            "mpirun -np 2 --map-by slot:PE=4 --bind-to core a",
        ),
        ("mpich", ("mpiexec", "-n", "2", "-bind-to", "core"), "mpiexec -n 2 -bind-to core:4 a"),
        ("intel", ("mpiexec", "-n", "2"), "mpiexec -n 2 -genv I_MPI_PIN_DOMAIN 4:compact a"),
        ("flux", ("flux", "run", "-n2"), "flux run -n2 --cores-per-task=4 -ocpu-affinity=per-task a"),
        ("jsrun", ("jsrun", "-n2"), "jsrun -n2 -c4 -bpacked:4 a"),
        ("aprun", ("aprun", "-n2"), "aprun -n2 -d4 -cc depth a"),
        ("somewhere", ("start", "-n2"), ""),
    ],
)
def test_the_line_that_binds_has_the_words_of_its_launcher(
    launcher: str, words: tuple[str, ...], mended: str
) -> None:
    assert LaunchLine(words, ("a",), launcher, OPEN_MPI).bound(4) == mended


def test_options_stand_before_what_starts_the_program_and_a_launcher_is_replaced_where_it_stands() -> None:
    words = ("env", "A=1", "mpirun", "-np", "2", "-x", "B=2", "--bind-to", "none")
    line = LaunchLine(words, ("./a",), "openmpi", OPEN_MPI, ("env", "OMP_NUM_THREADS=4"), 2)
    mended = "env A=1 mpirun -np 2 -x B=2 --map-by slot:PE=4 --bind-to core env OMP_NUM_THREADS=4 ./a"
    assert line.bound(4) == mended
    told = "env A=1 /opt/bin/mpiexec -np 2 -x B=2 --bind-to none env OMP_NUM_THREADS=4 ./a"
    assert line.with_pmi() == told


@pytest.mark.parametrize(
    ("line", "launcher", "wrapper"),
    [
        ("srun -n4 ./app env", 0, -1),
        ("env A=1 mpirun -np 2 env B=2 numactl -l ./app", 2, 5),
        ("flux run -n2 time ./app", 0, 3),
        ("mpiexec -n 2 -genv env B numactl -N 0 ./app", 0, 6),
        ("OMP_NUM_THREADS=2 ./app", -1, -1),
    ],
)
def test_the_launcher_and_what_starts_the_program_are_found(line: str, launcher: int, wrapper: int) -> None:
    parsed = parse_command(line)
    assert (parsed.launcher_at, parsed.wrapper_at) == (launcher, wrapper)


def told(seen: RanksSeen) -> bytes:
    every = (*seen.began, *seen.ranks, *seen.stuck)
    return b"".join(b"[1,0]<stdout>:" + msgspec.json.encode(each) + b"\n" for each in every)


def test_ranks_are_read_whatever_a_launcher_prints_around_them() -> None:
    backwards = RanksSeen(HEALTHY.ranks[::-1], (RankStuck("n1", "messages", "n2"),), (RankBegan("n1"),))
    said = b"srun: job 7 queued\n"
    text = said + told(backwards) + b'{"type":"rank"}\n{"type":"nothing"}\n'
    assert read_ranks(text) == RanksSeen(HEALTHY.ranks, backwards.stuck, backwards.began, said)


def test_ranks_have_five_seconds_from_the_start_of_the_last_one_and_a_queue_as_long_as_it_takes() -> None:
    now_s = 0.0
    answering = Answering(audit._ANSWER_S, lambda: now_s)
    began = b"srun: job 7 queued\n" + told(RanksSeen(began=(RankBegan("n1"),)))
    for at_s, printed, is_over in (
        (0.0, b"", False),
        (400.0, b"srun: job 7 queued\n", False),
        (500.0, began, False),
        (503.0, 2 * began, False),
        (507.0, 2 * began, False),
        (503.0 + 5 - audit._GRACE_S, 2 * began, True),
    ):
        now_s = at_s
        assert answering.is_over(printed) is is_over


TRIED = RanksSeen(tuple(msgspec.structs.replace(rank(2 * n, HOSTS[n], size=2), rank=n) for n in range(2)))
LOADER = b"audit: error while loading shared libraries: libmpi.so.40: cannot open shared object file\n"


@pytest.mark.parametrize(
    ("seen", "outcome", "found"),
    [
        (TRIED, Outcome(b"", b"", 0), ""),
        (singletons(TRIED), Outcome(b"", b"", 0), "2 programs on n1, n2, each of which is rank 0 of 1"),
        (RanksSeen(), Outcome(b"", LOADER, 127), "a node lacks a shared library"),
        (RanksSeen(), Outcome(b"", b"", None), "no rank began on n1, n2 over eth0"),
        (RanksSeen((), (RankStuck("n1", "start", ""),)), Outcome(b"", b"", 1), "ranks on n1 wait for each other"),
        (RanksSeen(began=(RankBegan("n1"),)), Outcome(b"", b"", None), "ranks on n1 wait for each other"),
        (RanksSeen(began=(RankBegan("n1"),)), Outcome(b"", LOADER, 1), "a node lacks a shared library"),
        (
            RanksSeen((), (RankStuck("n1", "messages", "n2"),)),
            Outcome(b"", b"", None),
            "short messages pass over eth0, one of 1 MiB does not (n1 to n2)",
        ),
    ],
)
def test_a_trial_says_what_keeps_ranks_from_each_other(seen: RanksSeen, outcome: Outcome, found: str) -> None:
    verdict = judge(seen, outcome, HOSTS, "eth0")
    assert verdict.state == ("warning" if "short" in found else "problem" if found else "ok")
    assert found in verdict.found
    assert bool(verdict.remedy) == bool(found)
