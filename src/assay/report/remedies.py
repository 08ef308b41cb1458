"""Remedies as they are typed for this run: with the options that it was given."""

import shlex
from collections.abc import Container, Iterator, Sequence

from assay.model import text as texts
from assay.model.run import Run
from assay.model.text import Joined, Phrase
from assay.model.units import typed_duration

#: Options of `assay run` that a repeat of the same measurement needs; the remedy has its own launches and seed.
_KEPT = (
    *("--toolchain", "--mpi", "--vary", "--network", "--messages", "-m", "--hosts", "--nic-node"),
    *("--budget", "--precision"),
)


def typed(text: str, run: Run) -> str:
    """The text; its `assay run STUDY` has the toolchains, factors, budget and precision of the run's command.

    A budget of its own replaces that of the run, which cut it.
    """
    if isinstance(text, Joined):
        return texts.joined(text.separator, [typed(part, run) for part in text.parts])
    if isinstance(text, Phrase):
        said = {
            name: typed(value, run) if isinstance(value, str) else value for name, value in text.parameters.items()
        }
        return texts.text(text.template, **said)
    command = f"assay run {run.info.study}"
    before, found, after = text.partition(command)
    own = set(_KEPT) & set(after.split())
    options = shlex.join(_given(run.info.command, own))
    if not (found and options) or after[:1].isalnum() or own - {"--budget"}:
        return text
    return f"{before}{command} {options}{after}"


def resumed(run: Run) -> str:
    """The words after `assay run --resume` that go on with it: with a budget that suffices if it was cut."""
    cut = run.ending is not None and run.ending.status == "cut" and run.plan.budget_s is not None
    needed_s = run.ending.needed_s if run.ending else None
    return f"{run.info.id} --budget {typed_duration(needed_s)}" if cut and needed_s else run.info.id


def _given(command: Sequence[str], own: Container[str]) -> Iterator[str]:
    """The kept options of a command with their values, in their order, less those of the remedy's `own`."""
    words = iter(command)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in _KEPT:
            kept = (word,) if equals else (word, next(words, ""))
            yield from () if name in own else kept
