"""Remedies as they are typed for this run: with the options that it was given."""

import shlex
from collections.abc import Container, Iterator, Sequence

from assay.model.run import Run

#: Options of `assay run` that a repeat of the same measurement needs; the remedy has its own launches and seed.
_KEPT = (
    *("--toolchain", "--mpi", "--vary", "--network", "--messages", "-m", "--hosts", "--nic-node"),
    *("--budget", "--precision"),
)


def typed(text: str, run: Run) -> str:
    """The text; its `assay run STUDY` has the toolchains, factors, budget and precision of the run's command.

    A budget of its own replaces that of the run, which cut it.
    """
    command = f"assay run {run.info.study}"
    before, found, after = text.partition(command)
    own = set(_KEPT) & set(after.split())
    options = shlex.join(_given(run.info.command, own))
    if not (found and options) or after[:1].isalnum() or own - {"--budget"}:
        return text
    return f"{before}{command} {options}{after}"


def _given(command: Sequence[str], own: Container[str]) -> Iterator[str]:
    """The kept options of a command with their values, in their order, less those of the remedy's `own`."""
    words = iter(command)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in _KEPT:
            kept = (word,) if equals else (word, next(words, ""))
            yield from () if name in own else kept
