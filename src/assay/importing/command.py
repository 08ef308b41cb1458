"""Parse a command line: program, nodes, placement, and choices."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from operator import length_hint
from pathlib import Path, PurePosixPath

import msgspec

from assay.model.imported import UNSTATED, Table

_ASSIGNED = re.compile(r"[A-Za-z_]\w*=.*")


class _Words(msgspec.Struct, frozen=True):
    """What `launchers.toml` has: launcher -> meaning -> its options; kind -> programs."""

    options: dict[str, dict[str, tuple[str, ...]]]
    programs: dict[str, frozenset[str]]

    def meanings(self, *launchers: str) -> dict[str, str]:
        """Option -> its meaning; the last launcher decides."""
        tables = (self.options.get(each, {}) for each in launchers)
        return {name: meaning for table in tables for meaning, names in table.items() for name in names}


_WORDS = msgspec.toml.decode(Path(__file__).with_name("launchers.toml").read_bytes(), type=_Words)
_NUMACTL = _WORDS.meanings("numactl")
_EACH_NODE = re.compile(r"ppr:(\d{1,6}):node\b.*", re.ASCII)
_PAIR = 2


class CommandLine(msgspec.Struct, frozen=True):
    """A parsed command line: program, options and placement, as far as they are recognised.

    Attributes:
        line: the line without the prompt.
        program: name of the benchmark's executable, without folders; empty if none is recognised.
        options: options of the program.
        hosts: named nodes.
        placement: portable word, `not stated` if unknown.
        memory: policy.
        ranks: number of processes on all nodes; 0 if not stated.
        threads: threads of each process; 0 if not stated.
        factors: option -> level: of `-mca`, variables that are set, nodes to which ranks are bound.
        launcher_at: index of the launcher; -1 without a known one.
        wrapper_at: index of a program between it and the program that starts the program, `env`; -1 without one.
    """

    line: str = ""
    program: str = ""
    options: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    placement: str = UNSTATED
    memory: str = "first-touch"
    ranks: int = 0
    threads: int = 0
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
            ranks=self.ranks,
            threads=self.threads,
        )

    def option(self, name: str) -> str:
        """The value after an option of the program; empty without the option."""
        words = dict(zip(self.options, self.options[1:], strict=False))
        return words.get(name, "")


def parse_command(line: str, exported: Mapping[str, str] | None = None) -> CommandLine:
    """The parsed form of a command line; `exported` are variables that were set before it."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quote that is not closed
        words = line.split()
    found = _Parsed(chosen=dict(exported or {}))
    rest = iter(words)
    for word in rest:
        at = len(words) - length_hint(rest) - 1
        if not _option(word, rest, found):
            break
        if found.launcher and found.launcher_at < 0:
            found.launcher_at = at
        elif found.launcher_at >= 0 > found.wrapper_at and PurePosixPath(word).name in _WORDS.programs["starters"]:
            found.wrapper_at = at
    else:
        word = ""
    program = PurePosixPath(word).name
    return CommandLine(
        line=line,
        program=program,
        options=tuple(rest),
        hosts=found.hosts,
        placement=_placement(found),
        memory=_memory(found),
        ranks=_ranks(found)[0],
        threads=_digits(found.chosen.get("OMP_NUM_THREADS", "")),
        factors=_factors(found),
        launcher_at=found.launcher_at,
        wrapper_at=found.wrapper_at,
    )


class _Parsed(msgspec.Struct):
    """Data from the words before the program.

    Attributes:
        unlisted: number of hosts, one per rank, that still follow in a command line of mpirun_rsh.
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


def _option(word: str, rest: Iterator[str], found: _Parsed) -> bool:
    """Read a word and its values; False if it is the program."""
    name = PurePosixPath(word).name.partition(".")[0]
    if name == "numactl":
        found.within = True
    elif name in _WORDS.programs["launchers"]:
        found.launcher = name
    elif name == "taskset":
        found.numactl["cpus"] = next(rest, "") if (first := next(rest, "")) in {"-c", "--cpu-list"} else first
    elif found.within and word.startswith("-"):
        return _numactl_option(word, rest, found)
    elif _ASSIGNED.fullmatch(word):
        _assign(word, found)
    elif found.launcher and word.startswith("-"):
        _launcher_option(word, rest, found)
    elif found.unlisted:
        found.hosts, found.unlisted = tuple(dict.fromkeys((*found.hosts, word))), found.unlisted - 1
    else:
        return word.startswith("-") or name in _WORDS.programs["wrappers"]
    return True


def _numactl_option(word: str, rest: Iterator[str], found: _Parsed) -> bool:
    name, equals, value = word.partition("=")
    if name in _NUMACTL:
        found.numactl[_NUMACTL[name]] = value if equals else next(rest, "")
    elif re.fullmatch(r"-[NmiC](\d[\d,-]*|all)", word, re.ASCII):
        found.numactl[_NUMACTL[word[:2]]] = word[2:]
    else:
        return word.startswith("-")
    return True


def _launcher_option(word: str, rest: Iterator[str], found: _Parsed) -> None:
    name, equals, value = word.partition("=")
    if glued := re.fullmatch(r"-([Nn])(\d{1,6})", word, re.ASCII):  # srun -N2 -n8
        name, equals, value = f"-{glued[1]}", "=", glued[2]
    counting = () if found.launcher == "jsrun" else ("counting",)
    meaning = _WORDS.meanings("every", *counting, found.launcher).get(name, "")
    if meaning == "mapped":
        each = _EACH_NODE.fullmatch(value if equals else next(rest, ""))
        found.numbers |= {"per_node": int(each[1])} if each else {}
    elif meaning == "hosts":
        listed = (value if equals else next(rest, "")).split(",")
        found.hosts = tuple(dict.fromkeys(each.partition(":")[0] for each in listed if each))
    elif meaning == "chosen":
        chosen = next(rest, "")
        _assign(chosen if "=" in chosen else f"{chosen}={next(rest, '')}", found)
    elif meaning == "variable":
        _assign(next(rest, ""), found)
    elif meaning == "skipped" and not equals:
        found.unlisted = 0 if "hostfile" in word else found.unlisted
        next(rest, None)
    elif meaning and meaning != "skipped":
        digits = (value if equals else next(rest, "")).partition("-")[0]
        if re.fullmatch(r"\d{1,6}", digits, re.ASCII):
            found.numbers[meaning] = int(digits)
            listed_each = found.launcher == "mpirun_rsh" and meaning == "ranks"
            found.unlisted = int(digits) if listed_each else found.unlisted


def _assign(word: str, found: _Parsed) -> None:
    name, _, value = word.partition("=")
    found.chosen[name] = value


def _placement(found: _Parsed) -> str:
    ranks, each = _ranks(found)
    hosts = (
        len(found.hosts) or found.numbers.get("nodes", 0) or (ranks // each if each and not ranks % each else 0)
    )
    ranks = ranks or each * hosts
    if not found.launcher:
        return _threads(found)
    if not hosts or not ranks or ranks % hosts:
        return UNSTATED
    each = ranks // hosts
    if hosts == 1 and each == _PAIR:
        pairs = {1: "pair:other-socket", _PAIR: "pair:same-socket"}
        return pairs.get(found.numbers.get("per_socket", 0), UNSTATED)
    word = f"cores:{each}"
    if each == 1:
        word = f"one-core:numa:{found.numactl['node']}" if _is_node(found) else "one-core"
    return f"{word}@{hosts}" if hosts > 1 else word


def _ranks(found: _Parsed) -> tuple[int, int]:
    """Number of ranks, and of ranks per node; 0 if unknown."""
    number = found.numbers.get
    if "sets" in found.numbers:
        of_set = number("each", 1)
        return number("sets", 0) * of_set, number("per_host", 0) * of_set
    return number("ranks", 0), number("per_node", 0)


def _threads(found: _Parsed) -> str:
    """The placement of a program without a launcher."""
    if threads := _digits(found.chosen.get("OMP_NUM_THREADS", "")):
        word = "one-core" if threads == 1 else f"cores:{threads}"
        return f"{word}:numa:{found.numactl['node']}" if word == "one-core" and _is_node(found) else word
    return f"all:numa:{found.numactl['node']}" if _is_node(found) else UNSTATED


def _digits(word: str) -> int:
    """The number that a word is; 0 if it is none."""
    return int(word[:6]) if word.isascii() and word.isdigit() else 0


def _is_node(found: _Parsed) -> bool:
    """Whether it is bound to one memory node."""
    return bool(re.fullmatch(r"\d{1,4}", found.numactl.get("node", ""), re.ASCII))


def _memory(found: _Parsed) -> str:
    for policy in ("bind", "interleave"):
        nodes = found.numactl.get(policy, "")
        if re.fullmatch(r"\d{1,4}(,\d{1,4})*", nodes, re.ASCII):
            return f"{policy}:{nodes}"
        if nodes:
            return policy
    return "first-touch"


def _factors(found: _Parsed) -> dict[str, str]:
    """Choices by name; also a binding that is not part of the placement word."""
    named = {name: level for name, level in found.chosen.items() if name and level}
    node = found.numactl.get("node", "")
    if node and f":numa:{node}" not in _placement(found):
        named["cpunodebind"] = node
    if found.numactl.get("cpus"):
        named["physcpubind"] = found.numactl["cpus"]
    return named


#: `[hpc@hpc01 pt2pt]$ `, `user@n1:~$ `, `(base) root@n1:/# `, `$ `, `+ ` of `set -x`; or a typical first program
#: of a command; `/opt/osu_bw: ` begins a message.
_PROMPT = re.compile(
    r"\s*(?:\([\w.-]{1,40}\)\s*)?"
    r"(?:\[[^\]]*\]\s*[$#%>]|[\w.-]+@[\w.:@~/-]{1,200}[#$%>]|[\w.@:~/-]*\$|[\w.@:~/-]+%|\++)\s+(\S.*)"
)
_STARTS = re.compile(
    r"\s*((?:[A-Z_]+=\S+\s+)*"
    r"(?:(?:mpirun(?:_rsh)?|mpiexec(?:\.\w+)?|srun|prun|orterun|numactl|jsrun|aprun|flux run)(?=\s)"
    r"(?!\s+(?:noticed|detected|has|was|is|does|could|failed)\b)|\.{0,2}/\S*[^\s:](?=\s|$)).*)"
)
_CONTINUES = "\\"
#: Maximum lines of a command.
_LONGEST = 40
_EXPORTS = re.compile(r"(?:export|setenv)\s+([A-Za-z_]\w*)[=\s](\S+)", re.ASCII)


class Command(msgspec.Struct, frozen=True):
    """A command line in a text.

    Attributes:
        last: its last line.
        parsed: the parsed command; empty if it prints the output of another one.
        silent: whether it starts no benchmark.
    """

    last: int
    parsed: CommandLine
    silent: bool = False


def commands_of(lines: Sequence[str]) -> dict[int, Command]:
    """Line number -> the command that begins there; exported variables apply to later commands."""
    found: dict[int, Command] = {}
    exported: dict[str, str] = {}
    last = 0
    for number, line in enumerate(lines, 1):
        if number <= last or not (command := command_of(line)):
            continue
        last = number
        while command.endswith(_CONTINUES) and last < len(lines) and last - number < _LONGEST:
            command = f"{command[:-1].rstrip()} {lines[last].strip()}"
            last += 1
        if assigned := _EXPORTS.match(command):
            exported[assigned[1]] = assigned[2].strip("'\"")
        first = command.split(maxsplit=1)[0]
        parsed = CommandLine() if first in _WORDS.programs["shows"] else parse_command(command, exported)
        found[number] = Command(
            last, parsed, silent=first in _WORDS.programs["silent"] and parsed.program in {"", first}
        )
    return found


def command_of(line: str) -> str:
    """The command line in a line of a terminal; empty if there is none."""
    match = _PROMPT.fullmatch(line) or _STARTS.fullmatch(line)
    return match[1].strip() if match else ""
