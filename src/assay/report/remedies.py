"""Remedies as they are typed for this run: with the options that it was given."""

import shlex
from collections.abc import Container, Iterator, Sequence
from pathlib import PurePath

from assay.model import text as texts
from assay.model.run import Run
from assay.model.text import Joined, Phrase
from assay.model.units import typed_duration

#: Options of `assay run` by which nodes are reached: whatever is measured there needs them.
_WAY = ("--ssh-config", "--launcher")
#: Those that a repeat of the same measurement needs; the remedy has its own launches and seed.
_KEPT = (
    *("--toolchain", "--mpi", "--vary", "--network", "--messages", "-m", "--hosts", "--hostfile", "--nic-node"),
    *("--budget", "--precision", *_WAY),
)


def typed(text: str, run: Run) -> str:
    """The text; its `assay run STUDY` has the toolchains, factors, budget and precision of the run's command.

    A budget of its own replaces that of the run, which cut it. A study of the user's own is named by its path.
    """
    if isinstance(text, Joined):
        return texts.joined(text.separator, [typed(part, run) for part in text.parts])
    if isinstance(text, Phrase):
        said = {
            name: typed(value, run) if isinstance(value, str) else value for name, value in text.parameters.items()
        }
        return texts.text(text.template, **said)
    before, found, after = text.partition(f"assay run {run.info.study}")
    if not found or after[:1].isalnum():
        return text
    own = set(_KEPT) & set(after.split())
    kept = _WAY if own - {"--budget"} else _KEPT
    options = shlex.join(_given(run.info.command, [name for name in kept if name not in own]))
    retyped = f"{before}{' '.join(filter(None, ('assay run', _study(run), options)))}{after}"
    return text if retyped == text else retyped


def _study(run: Run) -> str:
    """The study as it was typed: its name, or the path of the file that has it."""
    ends = (run.info.study, f"{run.info.study}.toml")
    return shlex.quote(next((word for word in run.info.command[2:] if PurePath(word).name in ends), ends[0]))


def resumed(run: Run) -> str:
    """The words after `assay run --resume` that go on with it: with a budget that suffices if it was cut."""
    cut = run.ending is not None and run.ending.status == "cut" and run.plan.budget_s is not None
    needed_s = run.ending.needed_s if run.ending else None
    return f"{run.info.id} --budget {typed_duration(needed_s)}" if cut and needed_s else run.info.id


def _given(command: Sequence[str], kept: Container[str]) -> Iterator[str]:
    """The kept options of a command with their values, in their order."""
    words = iter(command)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in _KEPT:
            option = (word,) if equals else (word, next(words, ""))
            yield from option if name in kept else ()
