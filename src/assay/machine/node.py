"""Query a node by a single command of any POSIX shell, without Assay on the node."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

#: The script in one line, so that every login shell passes it on. It prints `KEY WORDS` lines.
SCRIPT = " ".join(Path(__file__).with_suffix(".sh").read_text("utf-8").splitlines())
_PLAIN = re.compile(r"[\w./+@~:-]+", re.ASCII)


class Interface(msgspec.Struct, frozen=True):
    """A network interface (`eth0`), a port (`mlx5_0:1`) or a Slingshot card (`cxi0`) of a node.

    Attributes:
        up: whether it is in use.
        mtu: bytes; 0 for ports.
        rate: in the kernel's unit, Mbit/s for interfaces and Gbit/s for ports; 0 if unknown.
    """

    up: bool
    mtu: int = 0
    rate: float = 0.0


class Node(msgspec.Struct, frozen=True):
    """The answer of a node.

    Attributes:
        host: its own name.
        kernel: release of its kernel.
        boot_id: boot id of its kernel.
        cpus: number of cpus that may be used, and that are online; 0 if unknown.
        lockable: lockable memory in KiB, or `unlimited`.
        shm_bytes: free bytes in /dev/shm; None if there is none.
        clock_s: its clock at the start and at the end of the answer, Unix time.
        assay: output of `assay --version` there.
        interfaces: interfaces by name.
        transports: device, `mlx5_0:1` -> transports of UCX, `rc_mlx5`; empty: unknown.
        variables: variables of UCX that select transports.
        verbs: device files through which this user reaches RDMA adapters.
        addresses: other node -> address; empty if the name does not resolve.
        processes: processes of runs: id, run, command line.
        programs: path -> hash, for the existing ones of the queried programs.
        starts: MPI programs that start.
        refuses: MPI programs that do not start -> last line of the error message.
        files: executable ones of the queried files.
    """

    host: str = ""
    kernel: str = ""
    boot_id: str = ""
    cpus: tuple[int, int] = (0, 0)
    lockable: str = ""
    shm_bytes: int | None = None
    clock_s: tuple[float, float] = (0.0, 0.0)
    assay: str = ""
    interfaces: dict[str, Interface] = {}
    transports: dict[str, tuple[str, ...]] = {}
    variables: dict[str, str] = {}
    verbs: tuple[str, ...] = ()
    addresses: dict[str, str] = {}
    processes: tuple[tuple[int, str, str], ...] = ()
    programs: dict[str, str] = {}
    starts: tuple[str, ...] = ()
    refuses: dict[str, str] = {}
    files: tuple[str, ...] = ()


def query_command(
    python: str, others: Sequence[str], programs: Sequence[str], mpi: Sequence[str], files: Sequence[str]
) -> tuple[str, ...]:
    """The shell command that queries a node.

    Args:
        python: interpreter that would run Assay there.
        others: names of nodes to resolve.
        programs: programs to hash.
        mpi: programs to start.
        files: files that must be executable.
    """
    lists = (
        " ".join(word for word in words if _PLAIN.fullmatch(word)) for words in (others, programs, mpi, files)
    )
    return ("sh", "-c", SCRIPT, "node", python, *lists)


def read(answer: str) -> Node | None:
    """Parse the answer of a node; None if it is incomplete."""
    found: dict[str, list[list[str]]] = {}
    for line in answer.splitlines():
        key, *words = line.split()[:1] + line.split()[1:]
        found.setdefault(key, []).append(words)
    if "start" not in found or "end" not in found:
        return None

    def one(key: str) -> str:
        return " ".join(found.get(key, [[]])[0])

    shm = one("shm")
    return Node(
        host=one("host"),
        kernel=one("kernel"),
        boot_id=one("boot"),
        cpus=_counts(found.get("cpus", [[]])[0]),
        lockable=one("memlock"),
        shm_bytes=int(shm) * 1024 if shm.isdecimal() else None,
        clock_s=(_seconds(one("start")), _seconds(one("end"))),
        assay=one("assay"),
        interfaces={words[0]: _interface(words[1:]) for words in found.get("interface", []) if words[0] != "lo"}
        | {words[0]: _port(words[1:]) for words in found.get("port", [])}
        | {words[0]: Interface(up=True) for words in found.get("card", [])},
        transports=_transports([words[0] for words in found.get("ucx", []) if words]),
        variables={words[0]: words[1] for words in found.get("variable", []) if len(words) > 1},
        verbs=tuple(words[0] for words in found.get("verbs", [])),
        addresses={words[0]: (words[1] if len(words) > 1 else "") for words in found.get("address", [])},
        processes=tuple((int(words[0]), words[1], " ".join(words[2:])) for words in found.get("process", [])),
        programs={words[1]: words[0] for words in found.get("program", [])},
        starts=tuple(words[0] for words in found.get("starts", [])),
        refuses={words[0]: " ".join(words[1:]) for words in found.get("refuses", [])},
        files=tuple(words[0] for words in found.get("file", [])),
    )


def _transports(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Device -> transports; `ucx_info -d` prints each transport, then its device."""
    found: dict[str, tuple[str, ...]] = {}
    for transport, device in zip(words[::2], words[1::2], strict=False):
        found[device] = (*found.get(device, ()), transport)
    return found


def _counts(words: Sequence[str]) -> tuple[int, int]:
    numbers = [int(word) for word in words if word.isdecimal()]
    return (numbers[0], numbers[1]) if len(numbers) == len(words) == 2 else (0, 0)  # noqa: PLR2004 (those two)


def _seconds(text: str) -> float:
    """Seconds from `date`, which may not support fractions: `1700000000.%N`."""
    whole, _, part = text.partition(".")
    return float(f"{whole}.{part}" if part.isdecimal() else whole or 0)


def _interface(words: Sequence[str]) -> Interface:
    """An interface from MTU, state, and speed in Mbit/s, which is -1 or missing if unknown."""
    mtu, state, speed = (*words, "", "", "")[:3]
    rate = float(speed) if speed.isdecimal() else 0.0
    return Interface(state not in {"down", "lowerlayerdown"}, int(mtu) if mtu.isdecimal() else 0, rate)


def _port(words: Sequence[str]) -> Interface:
    """A port from its state, 4 for active, and its rate in Gbit/s."""
    state, rate = (*words, "", "")[:2]
    return Interface(state == "4", rate=float(rate) if re.fullmatch(r"[\d.]+", rate) else 0.0)
