"""Find the command lines in the text of a terminal, a script or a page."""

import re
from collections.abc import Sequence

import msgspec

from assay.importing.command import CommandLine, parse_command

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
#: Commands that start no benchmark and print nothing of interest.
_SILENT = frozenset(
    (
        *(
            "cd",
            "export",
            "unset",
            "set",
            "source",
            ".",
            "module",
            "ml",
            "make",
            "cmake",
            "ls",
            "mkdir",
            "cp",
            "mv",
        ),
        *("rm", "vi", "vim", "nano", "gcc", "g++", "gfortran", "icc", "ifort", "icx", "mpicc", "mpicxx", "mpif90"),
        *("scp", "rsync", "sbatch", "squeue", "sleep", "pwd", "echo", "ulimit", "wget", "curl", "git", "tar"),
        *("chmod", "alias", "numactl", "lscpu"),
    )
)
#: Commands that print the output of another, unknown command.
_SHOWS = frozenset(("cat", "less", "more", "head", "tail", "grep", "egrep", "zcat", "bat", "awk", "sed"))
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
        parsed = CommandLine() if first in _SHOWS else parse_command(command, exported)
        found[number] = Command(last, parsed, silent=first in _SILENT and parsed.program in {"", first})
    return found


def command_of(line: str) -> str:
    """The command line in a line of a terminal; empty if there is none."""
    match = _PROMPT.fullmatch(line) or _STARTS.fullmatch(line)
    return match[1].strip() if match else ""
