"""Remedies as they are typed for this run: with the options that it was given."""

import re
import shlex
from collections.abc import Container, Iterator, Sequence
from pathlib import PurePath

from assay import benchmarks, studies
from assay.model import text as texts
from assay.model.run import Run
from assay.model.text import Joined, Phrase
from assay.model.units import typed_duration

#: Options by which nodes are reached: whatever is done there needs them.
_WAY = ("--ssh-config", "--launcher")
#: Options that say which nodes are measured, and by what they pass messages: a remedy that varies something else,
#: or is another study, is about the same ones.
_NODES = ("--hosts", "--hostfile", *_WAY)
_PLACE = ("--mpi", "--network", "--nic-node", *_NODES)
#: Those that a repeat of the same measurement needs; the remedy has its own launches and seed.
_KEPT = ("--toolchain", "--vary", "--messages", "-m", "--budget", "--precision", *_PLACE)
#: What a remedy has itself takes the place of these.
_REPLACED = {"--hosts": ("--hosts", "--hostfile"), "--network": ("--network", "--nic-node")}
#: What is typed besides the run's own study: another study, the rest of a run, a look at nodes.
_COMMANDS = (
    r"assay (?:(?P<rest>run --resume [^\s`;]+)|run (?P<study>%s(?![\w.-])|[^\s`;-][^\s`;]*)|(?P<look>doctor))"
)


def typed(text: str, run: Run) -> str:
    """The text with the options of the run's command in its own: nothing that was chosen has to be typed again.

    A repeat of the study has its toolchains, factors, budget and precision; whatever is measured, nodes, networks
    and MPIs; whatever is done, the way to the nodes. What the text has itself replaces that of the run: a budget
    the one that cut it. A study of the user's own is named by its path. Of an import the nodes are those that its
    source names.
    """
    if isinstance(text, Joined):
        return texts.joined(text.separator, [typed(part, run) for part in text.parts])
    if isinstance(text, Phrase):
        said = {
            name: typed(value, run) if isinstance(value, str) else value for name, value in text.parameters.items()
        }
        return texts.text(text.template, **said)
    found = re.search(_COMMANDS % re.escape(run.info.study), text)
    if not found:
        return text
    own = set(text[found.end() :].split())
    own |= {name for replaced, names in _REPLACED.items() if replaced in own for name in names}
    kept = [name for name in _kept(found, own, run) if name not in own]
    options = shlex.join([*_given(run.info.command, kept), *_of_import(run, kept)])
    command = f"assay run {_study(run)}" if found["study"] == run.info.study else found[0]
    retyped = f"{text[: found.start()]}{' '.join(filter(None, (command, options)))}{text[found.end() :]}"
    return text if retyped == text else retyped


def _of_import(run: Run, kept: Container[str]) -> tuple[str, ...]:
    """The nodes between which imported messages passed; of a published system a reader has none."""
    hosts = run.plan.hosts
    return (
        ("--hosts", ",".join(hosts))
        if run.imported and run.info.command and hosts[1:] and "--hosts" in kept
        else ()
    )


def _kept(found: re.Match[str], own: Container[str], run: Run) -> tuple[str, ...]:
    """Options of the run that belong to a command."""
    if found["look"]:
        return ("--ssh-config",) if "--hosts" in own else ()
    if found["rest"]:
        return _WAY if run.info.id in found["rest"] else ()
    if found["study"] != run.info.study:
        return _PLACE if _passes_messages(found["study"]) else _NODES
    return _PLACE if any(name in own for name in _KEPT if name not in {"--budget", *_PLACE}) else _KEPT


def _passes_messages(study: str) -> bool:
    """Whether a stored study does."""
    stored = study in studies.names()
    return stored and any(benchmarks.get(measure.benchmark).joint for measure in studies.get(study).measure)


def _study(run: Run) -> str:
    """The study as it was typed: its name, or the path of the file that has it."""
    ends = (run.info.study, f"{run.info.study}.toml")
    return shlex.quote(next((word for word in run.info.command[2:] if PurePath(word).name in ends), ends[0]))


def resumed(run: Run) -> str:
    """The words after `assay run --resume` that go on with it: with a budget that suffices if it was cut."""
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
