"""Errors that a user reads: what went wrong, why, and the next command to type."""

from collections.abc import Iterable


def hint(word: str, known: Iterable[str]) -> str:
    """What a wrong word may have meant, as the cause in an error: `did you mean 'hpl'?`, else all known words."""
    import difflib  # noqa: PLC0415 (seldom needed)

    words = list(known)
    near = difflib.get_close_matches(word, words, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known: {', '.join(words)}"


class AssayError(Exception):
    """A failure that a user can act on. It reaches them as three lines and an exit code, never a traceback.

    Args:
        what: what went wrong, one sentence without a full stop.
        why: the cause, as far as it is known.
        remedy: the next command to type or thing to do.
    """

    exit_code = 1

    def __init__(self, what: str, *, why: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.remedy = remedy


class MeasurementError(AssayError):
    """A measurement failed."""

    exit_code = 1


class UsageError(AssayError):
    """The request cannot be understood: a name, a value or a file is wrong."""

    exit_code = 2


class ThresholdError(AssayError):
    """A figure passed the threshold that the user set."""

    exit_code = 3


class UnfitEnvironmentError(AssayError):
    """The request is right, but this environment cannot do it."""

    exit_code = 4


class PartialRunError(AssayError):
    """The run ended with part of its plan not measured."""

    exit_code = 5


class InterruptedRunError(AssayError):
    """The user stopped the run; what was measured is kept."""

    exit_code = 130
