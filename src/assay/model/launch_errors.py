"""Find the cause of a failed launch: one line of the output of the program and its launcher."""

import re
from collections.abc import Iterable
from pathlib import PurePath

#: Slurm prints this at every step where it binds nothing. The programs bind themselves, and read it back.
CPU_BINDING = "cluster configuration lacks support for cpu binding"
#: Harmless lines, and the sentences that Open MPI and Hydra print around every end.
_HARMLESS = re.compile(
    CPU_BINDING + r"|^Primary job +terminated normally|^a non-zero exit code\.|^Per user-direction"
    r"|^the job to be terminated\. The first process|^\s*(Process name|Exit code|PID|CLEANUP)\b.*\d"
    r"|^NOTE: invoking MPI_ABORT|^You may or may not see output|^exactly when Open MPI"
    r"|^This typically refers to a problem|^Please see the FAQ|^YOU CAN IGNORE THE BELOW",
    re.IGNORECASE,
)
#: A launcher prints these when a process ends: they seldom say why.
_PROCESS_ENDED = re.compile(
    r"\b(mpiexec|mpirun|prterun|prun|orterun)(\.\w+)? +(has +)?(noticed|detected|exited)|MPI_ABORT was invoked"
    r"|BAD TERMINATION OF ONE|TERMINATED WITH THE EXIT STRING|^srun: (error: .*\btasks?\b|Job step aborted)"
    r"|^slurmstepd: error: \*\*\*",
    re.IGNORECASE,
)
#: Start of the engine's own lines, before and after the output of the program.
_ENGINE_PREFIX = "assay: "
_ERROR = re.compile(r"\berror\b", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")


def pick_cause(message: str, program: str = "") -> str:
    """The line of a message that states why a launch failed; empty if there is none.

    The order of preference: Assay's own line, an error, a line that begins with the program's name, the last line,
    and what a launcher prints for every process that ends.

    Args:
        message: stderr of the launch.
        program: executable or its path; its own lines begin with its name.
    """
    stripped = (line.strip() for line in message.splitlines())
    lines = [line for line in stripped if _LETTER.search(line) and not _HARMLESS.search(line)]
    words = [line for line in lines if not _PROCESS_ENDED.search(line) and not line.startswith(_ENGINE_PREFIX)]
    own = f"{PurePath(program).name}: "
    return (
        _first(line for line in lines[:1] if line.startswith(_ENGINE_PREFIX))
        or _first(line for line in words if _ERROR.search(line))
        or _first(line for line in words if program and line.startswith(own))
        or _first(reversed(words))
        or _first(lines)
    )


def _first(lines: Iterable[str]) -> str:
    return next(iter(lines), "")
