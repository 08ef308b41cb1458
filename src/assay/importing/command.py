"""What a pasted command line says: which program, on which nodes, placed how, with which choices."""

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from assay.model.imported import UNSTATED, Table

#: `[hpc@hpc01 pt2pt]$ `, `user@n1:~$ `, `$ `, `% `; or a program that such files begin with.
_PROMPT = re.compile(r"\s*(?:\[[^\]]*\]\s*[$#%>]|[\w.@:~/-]*[$%])\s+(\S.*)")
_STARTS = re.compile(r"\s*((?:[A-Z_]+=\S+\s+)*(?:(?:mpirun|mpiexec|srun|prun|orterun|numactl)\b|\.{0,2}/)\S*.*)")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*")
_LAUNCHERS = {"mpirun", "mpiexec", "srun", "prun", "orterun"}
_HOSTS = {"-H", "-host", "--host", "-hosts", "--hosts", "-w", "--nodelist"}
_RANKS = {"-np", "--np", "-n", "--ntasks", "-c"}
#: Of srun; of others -N is ranks a node.
_NODES = {"-N", "--nodes"}
_CHOSEN = {"-mca", "--mca", "-genv", "-env", "-gmca", "--gmca", "--prtemca", "-prtemca"}
_NUMBERED = {
    **dict.fromkeys(("-npersocket", "--npersocket"), "per_socket"),
    **dict.fromkeys(("-npernode", "--npernode", "-ppn", "-perhost", "--ntasks-per-node", "-N"), "per_node"),
}
#: Where ranks go: so many a node.
_MAPPED = {"--map-by", "-map-by"}
_EACH_NODE = re.compile(r"ppr:(\d{1,6}):node\b.*", re.ASCII)
#: Options with a value that says nothing about where or what.
_SKIPPED = {
    *("-num-sockets", "--num-sockets", "--bind-to", "-bind-to", "--hostfile", "-hostfile"),
    *("-machinefile", "--machinefile", "-f", "-rf", "--rankfile", "--report-bindings-to", "-wdir", "--wdir"),
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
        program: name of the benchmark's executable, without folders; empty where none is recognised.
        options: of the program.
        hosts: nodes named.
        placement: portable word, `not stated` where it says too little.
        memory: policy.
        factors: option -> level: of `-mca`, variables that are set, nodes that ranks are bound to.
    """

    line: str = ""
    program: str = ""
    options: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    placement: str = UNSTATED
    memory: str = "first-touch"
    factors: dict[str, str] = {}

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


def command_of(line: str) -> str:
    """The command line in a line of a terminal's text; empty where it holds none."""
    match = _PROMPT.fullmatch(line) or _STARTS.fullmatch(line)
    return match[1].strip() if match else ""


def parse_command(line: str) -> CommandLine:
    """The parsed form of a command line."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed
        words = line.split()
    said = _Words()
    rest = iter(words)
    for word in rest:
        if not _option(word, rest, said):
            break
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
    )


class _Words(msgspec.Struct):
    """What the words before the program say."""

    hosts: tuple[str, ...] = ()
    numbers: dict[str, int] = {}
    chosen: dict[str, str] = {}
    numactl: dict[str, str] = {}
    launcher: str = ""
    within: bool = False


def _option(word: str, rest: Iterator[str], said: _Words) -> bool:
    """Take a word and its values from a command line; False where it is the program."""
    name = PurePosixPath(word).name.partition(".")[0]
    if name == "numactl":
        said.within = True
    elif name in _LAUNCHERS:
        said.launcher = name
    elif said.within:
        return _numactl_option(word, rest, said)
    elif _ASSIGNED.fullmatch(word):
        _assign(word, said)
    elif said.launcher and word.startswith("-"):
        _launcher_option(word, rest, said)
    else:
        return word.startswith("-")
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
    if name in _MAPPED:
        each = _EACH_NODE.fullmatch(value if equals else next(rest, ""))
        said.numbers |= {"per_node": int(each[1])} if each else {}
    elif said.launcher == "srun" and name in _NODES:
        number = (value if equals else next(rest, "")).partition("-")[0]
        said.numbers |= {"nodes": int(number)} if re.fullmatch(r"\d{1,6}", number, re.ASCII) else {}
    elif name in _HOSTS:
        listed = (value if equals else next(rest, "")).split(",")
        said.hosts = tuple(dict.fromkeys(each.partition(":")[0] for each in listed if each))
    elif name in _RANKS or name in _NUMBERED:
        number = value if equals else next(rest, "")
        if re.fullmatch(r"\d{1,6}", number, re.ASCII):
            said.numbers[_NUMBERED.get(name, "ranks")] = int(number)
    elif name in _CHOSEN:
        key = next(rest, "")
        said.chosen[key] = next(rest, "")
    elif name == "-x":
        _assign(next(rest, ""), said)
    elif word in _SKIPPED:
        next(rest, None)


def _assign(word: str, said: _Words) -> None:
    name, _, value = word.partition("=")
    said.chosen[name] = value


def _placement(said: _Words) -> str:
    ranks, each = said.numbers.get("ranks", 0), said.numbers.get("per_node", 0)
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
