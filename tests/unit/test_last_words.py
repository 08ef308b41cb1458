"""What launchers and MPIs say when they fail, and what is made of it."""

from assay.launch.command import Outcome
from assay.run.causes import cause_of
from assay.run.records import without_talk, words_of

HYDRA = b"""
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 41 RUNNING AT node02
=   EXIT CODE: 9
===================================================================================
"""
RECORD = b'{"type":"end","status":"complete"}\n'


def test_what_hydra_says_among_the_records_is_no_record() -> None:
    heard = without_talk(Outcome(RECORD + HYDRA + RECORD, b"before\n", 9))
    assert heard.stdout == RECORD + RECORD
    assert heard.stderr.startswith(b"before\n")
    assert b"RUNNING AT node02" in heard.stderr


def test_half_a_record_stays_one() -> None:
    half = Outcome(b'{"type":"se', b"", -9)
    assert without_talk(half) is half


def test_the_first_words_are_no_frame() -> None:
    assert words_of(HYDRA).splitlines()[0] == "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
    assert words_of(b"-------\nprocess rank 1 exited\n-------\n") == "process rank 1 exited"


def test_shared_memory_that_is_not_there_is_called_so() -> None:
    assert "shared memory" in cause_of("[node02:1:0:1] Caught signal 7 (Bus error: nonexistent physical address)")
    assert not cause_of("process rank 1 with PID 41 on node node02 exited on signal 9 (Killed)")
