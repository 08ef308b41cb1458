"""What launchers and MPIs say when they fail, and what is made of it."""

import pytest

from assay.launch.command import Outcome
from assay.model.launch_errors import pick_cause
from assay.run.causes import cause_of, death_of, is_of_ending_job, lost_nodes
from assay.run.records import program_message, split_launcher_output

HYDRA = b"""
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 41 RUNNING AT node02
=   EXIT CODE: 9
===================================================================================
"""
RECORD = b'{"type":"end","status":"complete"}\n'


def test_what_hydra_says_among_the_records_is_no_record() -> None:
    heard = split_launcher_output(Outcome(RECORD + HYDRA + RECORD, b"before\n", 9))
    assert heard.stdout == RECORD + RECORD
    assert heard.stderr.startswith(b"before\n")
    assert b"RUNNING AT node02" in heard.stderr


def test_half_a_record_stays_one() -> None:
    half = Outcome(b'{"type":"se', b"", -9)
    assert split_launcher_output(half) is half


def test_the_first_words_are_no_frame() -> None:
    assert program_message(HYDRA).splitlines()[0] == "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
    assert program_message(b"-------\nprocess rank 1 exited\n-------\n") == "process rank 1 exited"


def test_shared_memory_that_is_not_there_is_called_so() -> None:
    assert "shared memory" in cause_of("[node02:1:0:1] Caught signal 7 (Bus error: nonexistent physical address)")
    assert not cause_of("process rank 1 with PID 41 on node node02 exited on signal 9 (Killed)")


RULE = "-" * 74
NOTICED = "mpiexec noticed that process rank 1 with PID 41 on node node02 exited on signal 9 (Killed)."
DETECTED = f"""{RULE}
prterun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

   Process name: [prterun-node01-31@1,1]
   Exit code:    17
{RULE}
"""
HYDRA_KILLED = """BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
PID 4113 RUNNING AT node02
EXIT CODE: 9
CLEANING UP REMAINING PROCESSES
YOU CAN IGNORE THE BELOW CLEANUP MESSAGES
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
"""
BINDING = "srun: cluster configuration lacks support for cpu binding"


def test_open_mpis_banner_is_told_only_where_nobody_else_says_a_word() -> None:
    assert pick_cause(f"{RULE}\n{NOTICED}\n{RULE}\n", "pt2pt") == NOTICED
    assert pick_cause(f"{RULE}\n{NOTICED}\n{RULE}\nout of memory\n", "pt2pt") == "out of memory"
    assert pick_cause(DETECTED).startswith("prterun detected that one or more processes")


def test_the_programs_own_line_is_told_before_what_launchers_say_of_its_end() -> None:
    own = "pt2pt: cannot bind to cpu 3: Invalid argument"
    assert pick_cause(f"{own}\n{DETECTED}", "/builds/a/pt2pt") == own
    assert pick_cause(f"{own}\nbye\n{DETECTED}", "/builds/a/pt2pt") == own
    assert pick_cause(f"{BINDING}\n{own}\nsrun: error: node02: task 1: Exited with exit code 17", "pt2pt") == own


def test_slurms_harmless_line_is_no_reason() -> None:
    assert not pick_cause(f"{BINDING}\n")
    error = "srun: error: Unable to create step for job 7: More processors requested than permitted"
    assert pick_cause(f"{BINDING}\n{error}\n", "pt2pt") == error


def test_an_error_is_told_before_the_chatter_around_it() -> None:
    assert pick_cause("loading\nucx: Error: no device\nleaving\n", "pt2pt") == "ucx: Error: no device"
    assert pick_cause("loading\nleaving\n") == "leaving"


def test_what_assay_found_out_goes_first_and_what_it_ended_afterwards_never() -> None:
    assert pick_cause("assay: line 3 of its output: not a valid record\nerror\n").startswith("assay: line 3")
    assert pick_cause("no route\nassay: 2 processes on node02 were ended\n") == "no route"
    assert not pick_cause(f"{RULE}\n\n")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (NOTICED, "rank 1 on node02 ended by signal 9"),
        (HYDRA_KILLED, "a rank on node02 ended by signal 9"),
        ("srun: error: node02: task 1: Killed", "rank 1 on node02: Killed"),
        ("srun: error: node[01-02]: tasks 0-3: Segmentation fault", "rank 0-3 on node[01-02]: Segmentation fault"),
        (DETECTED, ""),
        ("srun: error: node02: task 1: Exited with exit code 17", ""),
    ],
)
def test_a_rank_that_was_ended_is_told_with_its_host(words: str, reason: str) -> None:
    assert death_of(words) == reason
    assert not lost_nodes(words)


def test_a_node_that_slurm_gave_up_is_named_once() -> None:
    printed = "srun: error: Node failure on node02\nsrun: Job step aborted\nsrun: error: Node failure on node02\n"
    assert lost_nodes(printed) == ("node02",)


@pytest.mark.parametrize(
    "printed",
    [
        "slurmstepd: error: *** STEP 1.8 ON node01 CANCELLED AT 2026-11-27T08:13:40 DUE TO TIME LIMIT ***",
        "slurmstepd: error: *** STEP 1.8 ON node01 CANCELLED AT 2026-11-27T08:13:40 DUE TO PREEMPTION ***",
        "slurmstepd: error: *** JOB 7 ON node01 CANCELLED AT 2026-11-27T08:13:40 DUE TO JOB REQUEUE ***",
        "srun: error: Unable to create step for job 1: Job/step already completing or completed",
        "srun: error: Unable to create job step for job 1: Job/step already completing or completed",
    ],
)
def test_a_job_that_its_scheduler_ends_is_known(printed: str) -> None:
    assert is_of_ending_job(printed)


@pytest.mark.parametrize(
    "printed",
    [
        "slurmstepd: error: *** STEP 4.0 ON node01 CANCELLED AT 2026-11-27T08:13:40 ***",
        "scancel: error: Kill job error on job id 7: Job/step already completing or completed",
        "srun: error: Node failure on node02",
        (
            "srun: Cancelled pending job step with signal 15\n"
            "srun: error: Unable to create step for job 7: Job/step already completing or completed"
        ),
    ],
)
def test_a_rank_that_failed_and_a_lost_node_are_no_end_of_a_job(printed: str) -> None:
    assert not is_of_ending_job(printed)
