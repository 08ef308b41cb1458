"""Remedies as commands with the options of a run."""

import shlex
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath

from assay import studies
from assay.catalogue import benchmarks
from assay.model import text as texts
from assay.model.run import Run
from assay.model.text import Command, Joined, Phrase
from assay.model.units import typed_duration

#: Options that reach nodes and runs; every command needs them.
_ACCESS = ("--ssh-config", "--launcher", "--runs")
#: Options of the measured nodes, and of their MPI and network: they stay if a remedy varies something else, or is
#: another study.
_NODES = ("--hosts", "--hostfile", *_ACCESS)
_PLACE = ("--mpi", "--network", "--nic-node", *_NODES)
#: Options for a repeat of the same measurement; the remedy has its own launches and seed.
_KEPT = (
    *("--toolchain", "--vary", "--level", "--blas", "--sweep", "--set", "--messages", "-m", "--folder"),
    *("--budget", "--precision", *_PLACE),
)
#: The folder of programs that the study measures beside Assay's.
_PEER = "--peer"
#: Options that are given once for each subject: those of a remedy replace those of the run for the same one.
_BY_SUBJECT = ("--set", "--level")
#: Option of a remedy -> options of the run that it replaces.
_REPLACED = {"--hosts": ("--hosts", "--hostfile"), "--network": ("--network", "--nic-node")}


def typed(text: str, run: Run, more: tuple[str, ...] = (), needed: Mapping[str, str] = {}) -> str:
    """Return the text with its command completed by the options of the run.

    A repeat of the study has its toolchains, factors, budget and precision; every measurement has its nodes,
    networks and MPIs; every command has its access to nodes. Options in the text replace those of the run, such as
    a budget the one that cut the run. A study of the user is named by its path. The nodes of an import are those
    that its source names.

    Args:
        text: with the command.
        run: whose options it gets.
        more: further options for commands that repeat the study.
        needed: axis of a benchmark, `hpl.n`, -> value to be measured, which no `--set` of the run may exclude;
            empty for several values.
    """
    if isinstance(text, Command):
        if text.verb in {"show", "report", "compare"}:
            return _shown(text, run)
        return _completed(text, run, more, needed)
    if isinstance(text, Joined):
        parts = [typed(part, run, more, needed) for part in text.parts]
        return texts.listed(parts) if text.separator is texts.AND else texts.joined(text.separator, parts)
    if isinstance(text, Phrase):
        parameters = {
            name: typed(value, run, more, needed) if isinstance(value, str) else value
            for name, value in text.parameters.items()
        }
        return texts.text(text.template, **parameters)
    return text


def _shown(asked: Command, run: Run) -> Command:
    """Commands that only read name a run in another folder by its path."""
    folder = "=".join(chain.from_iterable(_options(run.info.command, ("--runs",)))).removeprefix("--runs=")
    if not folder or asked.subject != run.info.id:
        return asked
    return texts.cli(asked.verb, f"{folder}/{asked.subject}", *asked.options)


def _completed(asked: Command, run: Run, more: tuple[str, ...], needed: Mapping[str, str]) -> Command:
    more = more if asked.verb == "run" and asked.subject == run.info.study else ()
    own = {*more, *asked.options}
    own |= {name for replaced, names in _REPLACED.items() if replaced in own for name in names}
    kept = [name for name in _kept(asked, own, run) if name in _BY_SUBJECT or name not in own]
    subject = _study(run) if asked.verb == "run" and asked.subject == run.info.study else asked.subject
    replaced = {_subject(option) for option in _options(asked.options, _BY_SUBJECT)}
    given = (
        option
        for option in _options(run.info.command, kept)
        if _subject(option) not in replaced and not _excludes(option, needed)
    )
    options = (*more, *chain.from_iterable(given), *_of_import(run, kept), *asked.options)
    return texts.cli(asked.verb, *((subject,) if subject else ()), *options)


def _subject(option: tuple[str, ...]) -> tuple[str, str] | None:
    """What an option that can be given several times is for: `--set` and `hpl.n`."""
    name, _, value = "=".join(option).partition("=")
    return (name, value.partition("=")[0]) if name in _BY_SUBJECT else None


def _excludes(option: tuple[str, ...], needed: Mapping[str, str]) -> bool:
    """Whether it chooses other values of an axis than the needed one."""
    name, _, value = "=".join(option).partition("=")
    axis, _, values = value.partition("=")
    wanted = {value for of, value in needed.items() if axis in {of, of.partition(".")[2]}}
    return name == "--set" and not wanted <= set(values.split(","))


def _of_import(run: Run, kept: Container[str]) -> tuple[str, ...]:
    """The nodes of imported messages; none for a published system, which a reader does not have."""
    hosts = run.plan.hosts
    return (
        ("--hosts", ",".join(hosts))
        if run.imported and run.info.command and hosts[1:] and "--hosts" in kept
        else ()
    )


def _kept(asked: Command, own: Collection[str], run: Run) -> tuple[str, ...]:
    """The options of the run that a command needs."""
    if asked.verb == "doctor":
        return ("--ssh-config",) if "--hosts" in own else ()
    if asked.verb == "resume":
        return _ACCESS if asked.subject == run.info.id else ()
    if asked.subject != run.info.study:
        return _PLACE if _passes_messages(asked.subject) else _NODES
    if any(name in own for name in _KEPT if name not in {"--budget", *_BY_SUBJECT, *_PLACE}):
        return (*_PLACE, _PEER)
    # A budget that was chosen for a few nodes, or for other problems, would cut the study.
    return tuple(name for name in (*_KEPT, _PEER) if name != "--budget" or not {"--hosts", "--set"} & {*own})


def _passes_messages(study: str) -> bool:
    """Whether a stored study passes messages."""
    return studies.fits_any(study) and any(
        benchmarks.get(measure.benchmark).launcher == "mpi" for measure in studies.get(study).measure
    )


def _study(run: Run) -> str:
    """The study as it was typed: its name, or the path of its file."""
    ends = (run.info.study, f"{run.info.study}.toml")
    return next((word for word in run.info.command[2:] if PurePath(word).name in ends), ends[0])


def resumed(run: Run) -> str:
    """Return the words after `assay run --resume` that continue the run, with a budget if one cut it."""
    cut = run.ending is not None and run.ending.status == "cut" and run.plan.budget_s is not None
    needed_s = run.ending.needed_s if run.ending else None
    budget = ("--budget", typed_duration(needed_s)) if cut and needed_s else ()
    return shlex.join((run.info.id, *budget, *chain.from_iterable(_options(run.info.command, _ACCESS))))


def _options(command: Sequence[str], kept: Container[str]) -> Iterator[tuple[str, ...]]:
    """The kept options of a command, each with its value, in their order."""
    words = iter(command)
    for word in words:
        name, equals, _ = word.partition("=")
        if name in {*_KEPT, _PEER}:
            option = (word,) if equals else (word, next(words, ""))
            if name in kept:
                yield option
