"""Run a program of others, and read its output."""

import os
import subprocess
from collections.abc import Sequence

_PATIENCE_S = 60.0


def outcome(
    command: Sequence[str], patience_s: float = _PATIENCE_S, **environment: str
) -> "subprocess.CompletedProcess[str] | None":
    """The outcome of a command that reads nothing; None if it cannot be started or does not end in time.

    Args:
        command: program and arguments.
        patience_s: time limit.
        environment: further variables; its messages are in English.
    """
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=patience_s,
            env={**os.environ, "LC_ALL": "C", **environment},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def output(command: Sequence[str], patience_s: float = _PATIENCE_S, **environment: str) -> str:
    """Its standard output; empty if it fails."""
    done = outcome(command, patience_s, **environment)
    return done.stdout if done and not done.returncode else ""
