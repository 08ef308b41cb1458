"""What a command line says: which program, on which nodes, placed how, with which choices."""

import re
import shlex
from collections.abc import Iterator, Mapping
from operator import length_hint
from pathlib import PurePosixPath

import msgspec

from assay.model.imported import UNSTATED, Table

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*")
#: `mpiexec.hydra` and the like count as what stands before the dot; `flux run` is two words.
_LAUNCHERS = {"mpirun", "mpiexec", "srun", "prun", "orterun", "mpirun_rsh", "flux", "jsrun", "aprun"}
#: They start what follows and say nothing of it.
_WRAPPERS = {"sudo", "time", "nohup", "env", "exec", "run", "stdbuf", "chrt", "nice"}
#: Of a rank: `flux run` is one launcher.
_STARTERS = (_WRAPPERS - {"run"}) | {"numactl", "taskset"}
_HOSTS = {"-H", "-host", "--host", "-hosts", "--hosts", "-w", "--nodelist"}
_RANKS = {"-np", "--np", "-n", "--ntasks", "-c"}
#: Of those that count nodes; of others -N is ranks a node.
_COUNTS_NODES = {"srun", "flux"}
_NODES = {"-N", "--nodes"}
#: Resource sets of jsrun: their number, ranks of each, sets a host.
_SETS = {
    **dict.fromkeys(("-n", "--nrs"), "sets"),
    **dict.fromkeys(("-a", "--tasks_per_rs"), "each"),
    **dict.fromkeys(("-r", "--rs_per_host"), "per_host"),
    **dict.fromkeys(("-p", "--np"), "ranks"),
}
_CHOSEN = {"-mca", "--mca", "-genv", "-env", "-gmca", "--gmca", "--prtemca", "-prtemca"}
_NUMBERED = {
    **dict.fromkeys(("-npersocket", "--npersocket"), "per_socket"),
    **dict.fromkeys(
        ("-npernode", "--npernode", "-ppn", "--ppn", "-perhost", "--ntasks-per-node", "--tasks-per-node", "-N"),
        "per_node",
    ),
}
#: Options that give the ranks per node.
_MAPPED = {"--map-by", "-map-by"}
_EACH_NODE = re.compile(r"ppr:(\d{1,6}):node\b.*", re.ASCII)
#: Options with a value that says nothing about where or what.
_SKIPPED = {
    *("-num-sockets", "--num-sockets", "--bind-to", "-bind-to", "--cpu-bind", "--hostfile", "-hostfile"),
    *("-machinefile", "--machinefile", "-f", "-rf", "--rankfile", "--report-bindings-to", "-wdir", "--wdir"),
}
_SKIPPED_OF = {
    "srun": {"-c", "--cpus-per-task", "-p", "--partition", "-t", "--time", "-A", "--account", "-J", "-q", "-m"},
    "flux": {"-c", "--cores-per-task", "-g", "--gpus-per-task", "-t", "-q", "-o"},
    "jsrun": {"-c", "--cpu_per_rs", "-g", "--gpu_per_rs", "-b", "--bind", "-d", "--launch_distribution", "-l"},
    "aprun": {"-d", "-S", "-cc", "-j"},
}
_NUMACTL = {
    **dict.fromkeys(("-N", "--cpunodebind"), "node"),
    **dict.fromkeys(("-m", "--membind"), "bind"),
    **dict.fromkeys(("-i", "--interleave"), "interleave"),
    **dict.fromkeys(("-C", "--physcpubind"), "cpus"),
}
_PAIR = 2


class CommandLine(msgspec.Struct, frozen=True):
    """A parsed command line: program, options and placement, as far as they are recognised.

    Attributes:
        line: as it stood there, without the prompt.
        program: name of the benchmark's executable, without folders; empty if none is recognised.
        options: of the program.
        hosts: nodes named.
        placement: portable word, `not stated` where it says too little.
        memory: policy.
        factors: option -> level: of `-mca`, variables that are set, nodes that ranks are bound to.
        launcher_at: number of the word that starts the ranks, from 0; -1 without one that is known.
        wrapper_at: of the word between it and the program that starts the program, `env`; -1 without.
    """

    line: str = ""
    program: str = ""
    options: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    placement: str = UNSTATED
    memory: str = "first-touch"
    factors: dict[str, str] = {}
    launcher_at: int = -1
    wrapper_at: int = -1

    def annotate(self, table: Table) -> Table:
        """The table with the command, placement and factors that this command line states."""
        return msgspec.structs.replace(
            table,
            command=self.line,
            factors=self.factors,
            placement=self.placement,
            hosts=self.hosts,
            memory=self.memory,
        )

    def option(self, name: str) -> str:
        """The value behind an option of the program; empty without."""
        words = dict(zip(self.options, self.options[1:], strict=False))
        return words.get(name, "")


def parse_command(line: str, exported: Mapping[str, str] | None = None) -> CommandLine:
    """The parsed form of a command line; `exported` are variables that were set before it."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed
        words = line.split()
    said = _Words(chosen=dict(exported or {}))
    rest = iter(words)
    for word in rest:
        at = len(words) - length_hint(rest) - 1
        if not _option(word, rest, said):
            break
        if said.launcher and said.launcher_at < 0:
            said.launcher_at = at
        elif said.launcher_at >= 0 > said.wrapper_at and PurePosixPath(word).name in _STARTERS:
            said.wrapper_at = at
    else:
        word = ""
    program = PurePosixPath(word).name
    return CommandLine(
        line=line,
        program=program,
        options=tuple(rest),
        hosts=said.hosts,
        placement=_placement(said),
        memory=_memory(said),
        factors=_factors(said),
        launcher_at=said.launcher_at,
        wrapper_at=said.wrapper_at,
    )


class _Words(msgspec.Struct):
    """What the words before the program say.

    Attributes:
        unlisted: hosts that mpirun_rsh still names, one a rank, before the program.
    """

    hosts: tuple[str, ...] = ()
    numbers: dict[str, int] = {}
    chosen: dict[str, str] = {}
    numactl: dict[str, str] = {}
    launcher: str = ""
    unlisted: int = 0
    within: bool = False
    launcher_at: int = -1
    wrapper_at: int = -1


def _option(word: str, rest: Iterator[str], said: _Words) -> bool:
    """Take a word and its values from a command line; False if it is the program."""
    name = PurePosixPath(word).name.partition(".")[0]
    if name == "numactl":
        said.within = True
    elif name in _LAUNCHERS:
        said.launcher = name
    elif name == "taskset":
        said.numactl["cpus"] = next(rest, "") if (first := next(rest, "")) in {"-c", "--cpu-list"} else first
    elif said.within and word.startswith("-"):
        return _numactl_option(word, rest, said)
    elif _ASSIGNED.fullmatch(word):
        _assign(word, said)
    elif said.launcher and word.startswith("-"):
        _launcher_option(word, rest, said)
    elif said.unlisted:
        said.hosts, said.unlisted = tuple(dict.fromkeys((*said.hosts, word))), said.unlisted - 1
    else:
        return word.startswith("-") or name in _WRAPPERS
    return True


def _numactl_option(word: str, rest: Iterator[str], said: _Words) -> bool:
    name, equals, value = word.partition("=")
    if name in _NUMACTL:
        said.numactl[_NUMACTL[name]] = value if equals else next(rest, "")
    elif re.fullmatch(r"-[NmiC](\d[\d,-]*|all)", word, re.ASCII):
        said.numactl[_NUMACTL[word[:2]]] = word[2:]
    else:
        return word.startswith("-")
    return True


def _launcher_option(word: str, rest: Iterator[str], said: _Words) -> None:
    name, equals, value = word.partition("=")
    if glued := re.fullmatch(r"-([Nn])(\d{1,6})", word, re.ASCII):  # srun -N2 -n8
        name, equals, value = f"-{glued[1]}", "=", glued[2]
    if number := _number_of(name, said.launcher):
        told = (value if equals else next(rest, "")).partition("-")[0]
        if re.fullmatch(r"\d{1,6}", told, re.ASCII):
            said.numbers[number] = int(told)
            said.unlisted = int(told) if said.launcher == "mpirun_rsh" and number == "ranks" else said.unlisted
    elif name in _MAPPED:
        each = _EACH_NODE.fullmatch(value if equals else next(rest, ""))
        said.numbers |= {"per_node": int(each[1])} if each else {}
    elif name in _HOSTS:
        listed = (value if equals else next(rest, "")).split(",")
        said.hosts = tuple(dict.fromkeys(each.partition(":")[0] for each in listed if each))
    elif name in _CHOSEN:
        chosen = next(rest, "")
        _assign(chosen if "=" in chosen else f"{chosen}={next(rest, '')}", said)
    elif name == "-x":
        _assign(next(rest, ""), said)
    elif word in _SKIPPED or word in _SKIPPED_OF.get(said.launcher, ()):
        said.unlisted = 0 if "hostfile" in word else said.unlisted
        next(rest, None)


def _number_of(option: str, launcher: str) -> str:
    """What an option with a number counts, `ranks`; empty for others."""
    if launcher == "jsrun":
        return _SETS.get(option, "")
    if option in _SKIPPED_OF.get(launcher, ()):
        return ""
    if launcher in _COUNTS_NODES and option in _NODES:
        return "nodes"
    return "ranks" if option in _RANKS else _NUMBERED.get(option, "")


def _assign(word: str, said: _Words) -> None:
    name, _, value = word.partition("=")
    said.chosen[name] = value


def _placement(said: _Words) -> str:
    ranks, each = _ranks(said)
    hosts = len(said.hosts) or said.numbers.get("nodes", 0) or (ranks // each if each and not ranks % each else 0)
    ranks = ranks or each * hosts
    if not said.launcher:
        return _threads(said)
    if not hosts or not ranks or ranks % hosts:
        return UNSTATED
    each = ranks // hosts
    if hosts == 1 and each == _PAIR:
        beside = {1: "pair:other-socket", _PAIR: "pair:same-socket"}
        return beside.get(said.numbers.get("per_socket", 0), UNSTATED)
    word = f"cores:{each}"
    if each == 1:
        word = f"one-core:numa:{said.numactl['node']}" if _is_node(said) else "one-core"
    return f"{word}@{hosts}" if hosts > 1 else word


def _ranks(said: _Words) -> tuple[int, int]:
    """Ranks in all and of each node; 0 if nothing says it."""
    number = said.numbers.get
    if "sets" in said.numbers:
        of_set = number("each", 1)
        return number("sets", 0) * of_set, number("per_host", 0) * of_set
    return number("ranks", 0), number("per_node", 0)


def _threads(said: _Words) -> str:
    """Of a program without a launcher."""
    threads = said.chosen.get("OMP_NUM_THREADS", "")
    if threads.isascii() and threads.isdigit():
        word = "one-core" if int(threads[:6]) == 1 else f"cores:{int(threads[:6])}"
        return f"{word}:numa:{said.numactl['node']}" if word == "one-core" and _is_node(said) else word
    return f"all:numa:{said.numactl['node']}" if _is_node(said) else UNSTATED


def _is_node(said: _Words) -> bool:
    """Whether it is bound to one memory node."""
    return bool(re.fullmatch(r"\d{1,4}", said.numactl.get("node", ""), re.ASCII))


def _memory(said: _Words) -> str:
    for policy in ("bind", "interleave"):
        nodes = said.numactl.get(policy, "")
        if re.fullmatch(r"\d{1,4}(,\d{1,4})*", nodes, re.ASCII):
            return f"{policy}:{nodes}"
        if nodes:
            return policy
    return "first-touch"


def _factors(said: _Words) -> dict[str, str]:
    """Choices by name; a binding that the word of the placement does not hold."""
    named = {name: level for name, level in said.chosen.items() if name and level}
    node = said.numactl.get("node", "")
    if node and f":numa:{node}" not in _placement(said):
        named["cpunodebind"] = node
    if said.numactl.get("cpus"):
        named["physcpubind"] = said.numactl["cpus"]
    return named
