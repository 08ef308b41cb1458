"""Remedies as commands for this run, with its options."""

import shlex
from collections.abc import Container, Iterator, Sequence
from pathlib import PurePath

from assay import studies
from assay.model import benchmarks
from assay.model import text as texts
from assay.model.run import Run
from assay.model.text import Command, Joined, Phrase
from assay.model.units import typed_duration

#: Options by which nodes and runs are reached: whatever is done there needs them.
_WAY = ("--ssh-config", "--launcher", "--runs")
#: Options that say which nodes are measured, and by what they pass messages: a remedy that varies something else,
#: or is another study, is about the same ones.
_NODES = ("--hosts", "--hostfile", *_WAY)
_PLACE = ("--mpi", "--network", "--nic-node", *_NODES)
#: Those that a repeat of the same measurement needs; the remedy has its own launches and seed.
_KEPT = ("--toolchain", "--vary", "--sweep", "--messages", "-m", "--budget", "--precision", *_PLACE)
#: What a remedy has itself takes the place of these.
_REPLACED = {"--hosts": ("--hosts", "--hostfile"), "--network": ("--network", "--nic-node")}


def typed(text: str, run: Run, more: tuple[str, ...] = ()) -> str:
    """The text, its command completed with the options of the run, so that nothing has to be typed again.

    A repeat of the study has its toolchains, factors, budget and precision; whatever is measured, nodes, networks
    and MPIs; whatever is done, the way to the nodes. What the text has itself replaces that of the run: a budget
    the one that cut it. A study of the user's own is named by its path. Of an import the nodes are those that its
    source names. `more`: options that its own study gets, too.
    """
    if isinstance(text, Command):
        return _shown(text, run) if text.verb in {"show", "report"} else _completed(text, run, more)
    if isinstance(text, Joined):
        return texts.joined(text.separator, [typed(part, run, more) for part in text.parts])
    if isinstance(text, Phrase):
        said = {
            name: typed(value, run, more) if isinstance(value, str) else value
            for name, value in text.parameters.items()
        }
        return texts.text(text.template, **said)
    return text


def _shown(asked: Command, run: Run) -> Command:
    """Commands that only read find a run of another folder by its path."""
    folder = "=".join(_given(run.info.command, ("--runs",))).removeprefix("--runs=")
    if not folder or asked.subject != run.info.id:
        return asked
    return texts.cli(asked.verb, f"{folder}/{asked.subject}", *asked.options)


def _completed(asked: Command, run: Run, more: tuple[str, ...]) -> Command:
    more = more if asked.verb == "run" and asked.subject == run.info.study else ()
    own = {*more, *asked.options}
    own |= {name for replaced, names in _REPLACED.items() if replaced in own for name in names}
    kept = [name for name in _kept(asked, own, run) if name not in own]
    subject = _study(run) if asked.verb == "run" and asked.subject == run.info.study else asked.subject
    options = (*more, *_given(run.info.command, kept), *_of_import(run, kept), *asked.options)
    return texts.cli(asked.verb, *((subject,) if subject else ()), *options)


def _of_import(run: Run, kept: Container[str]) -> tuple[str, ...]:
    """The nodes between which imported messages passed; of a published system a reader has none."""
    hosts = run.plan.hosts
    return (
        ("--hosts", ",".join(hosts))
        if run.imported and run.info.command and hosts[1:] and "--hosts" in kept
        else ()
    )


def _kept(asked: Command, own: Container[str], run: Run) -> tuple[str, ...]:
    """Options of the run that belong to a command."""
    if asked.verb == "doctor":
        return ("--ssh-config",) if "--hosts" in own else ()
    if asked.verb == "resume":
        return _WAY if asked.subject == run.info.id else ()
    if asked.subject != run.info.study:
        return _PLACE if _passes_messages(asked.subject) else _NODES
    return _PLACE if any(name in own for name in _KEPT if name not in {"--budget", *_PLACE}) else _KEPT


def _passes_messages(study: str) -> bool:
    """Whether a stored study does."""
    return studies.fits_any(study) and any(
        benchmarks.get(measure.benchmark).launcher == "mpi" for measure in studies.get(study).measure
    )


def _study(run: Run) -> str:
    """The study as it was typed: its name, or the path of the file that has it."""
    ends = (run.info.study, f"{run.info.study}.toml")
    return next((word for word in run.info.command[2:] if PurePath(word).name in ends), ends[0])


def resumed(run: Run) -> str:
    """The words after `assay run --resume` that continue the run, with a sufficient budget if a budget cut it."""
    cut = run.ending is not None and run.ending.status == "cut" and run.plan.budget_s is not None
    needed_s = run.ending.needed_s if run.ending else None
    budget = ("--budget", typed_duration(needed_s)) if cut and needed_s else ()
    return shlex.join((run.info.id, *budget, *_given(run.info.command, _WAY)))


def _given(command: Sequence[str], kept: Container[str]) -> Iterator[str]:
    """The kept options of a command with their values, in their order."""
    words = iter(command)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in _KEPT:
            option = (word,) if equals else (word, next(words, ""))
            yield from option if name in kept else ()
