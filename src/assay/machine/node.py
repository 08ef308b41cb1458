"""What a node tells of itself to any POSIX shell: no Assay is needed there, and one question is enough."""

import re
from collections.abc import Sequence

import msgspec

_LINES = (
    'echo "start $(date +%s.%N)"; echo "host $(uname -n)"; echo "kernel $(uname -r)";',
    'echo "boot $(cat /proc/sys/kernel/random/boot_id)"; echo "memlock $(ulimit -l)";',
    'echo "cpus $(unset OMP_NUM_THREADS OMP_THREAD_LIMIT; nproc 2>/dev/null)',
    '$(getconf _NPROCESSORS_ONLN 2>/dev/null)";',
    'echo "shm $(set -- $(df -Pk /dev/shm 2>/dev/null | tail -n 1); echo "$4")";',
    "for at in /sys/class/net/*; do [ -r $at/mtu ] && echo",
    '"interface ${at##*/} $(cat $at/mtu) $(cat $at/operstate) $(cat $at/speed 2>/dev/null)"; done;',
    "for at in /sys/class/infiniband/*/ports/*; do card=${at%/ports/*}; [ -r $at/rate ] && echo",
    '"port ${card##*/}:${at##*/} $(cut -d: -f1 $at/state) $(cut -d" " -f1 $at/rate)"; done;',
    'for at in /sys/class/cxi/*; do [ -d $at/device ] && echo "card ${at##*/}"; done;',
    "ucx_info -d 2>/dev/null | sed -nE 's/^# +(Transport|Device): +/ucx /p';",
    'echo "variable UCX_TLS $UCX_TLS"; echo "variable UCX_NET_DEVICES $UCX_NET_DEVICES";',
    'for at in /dev/infiniband/uverbs*; do [ -r $at ] && [ -w $at ] && echo "verbs $at"; done;',
    'for name in $2; do echo "address $name $(getent hosts "$name" | head -n 1)"; done;',
    'for file in $(grep -lF "ASSAY_RUN=" /proc/[0-9]*/environ 2>/dev/null); do at=${file%/environ};',
    r"""run=$(tr '\0' '\n' 2>/dev/null <"$file" | sed -n 's/^ASSAY_RUN=//p');""",
    r"""[ -n "$run" ] && echo "process ${at#/proc/} $run $(tr '\0' ' ' 2>/dev/null <"$at/cmdline")"; done;""",
    """sha256sum -- $3 2>/dev/null | sed 's/^/program /';""",
    'for name in $4; do said=$("$name" --describe 2>&1 >/dev/null) && echo "starts $name" ||',
    """echo "refuses $name $(echo "$said" | tail -n 1)"; done;""",
    'for name in $5; do [ -x "$name" ] && echo "file $name"; done;',
    'echo "assay $("$1" -P -m assay --version 2>&1 | tail -n 1)"; echo "end $(date +%s.%N)"',
)
#: One line, which every login shell passes on. It prints `KEY WORDS` lines.
SCRIPT = " ".join(_LINES)
_PLAIN = re.compile(r"[\w./+@~:-]+", re.ASCII)


class Interface(msgspec.Struct, frozen=True):
    """A network interface (`eth0`), a port (`mlx5_0:1`) or a card of Slingshot (`cxi0`) of a node.

    Attributes:
        up: whether it is in use.
        mtu: bytes; 0 for ports.
        rate: as the kernel gives it, Mbit/s of interfaces and Gbit/s of ports; 0 if it is not known.
    """

    up: bool
    mtu: int = 0
    rate: float = 0.0


class Node(msgspec.Struct, frozen=True):
    """What a node told.

    Attributes:
        host: its own name.
        kernel: release.
        boot_id: of the kernel that it runs on now.
        cpus: that may be used there, and that are in use by the kernel; 0 if not known.
        lockable: KiB, or `unlimited`.
        shm_bytes: free in /dev/shm; None if there is none.
        clock_s: its clock when it began and when it ended to answer, Unix time.
        assay: what `assay --version` says there.
        interfaces: by name.
        transports: device, `mlx5_0:1` -> what UCX passes messages by there, `rc_mlx5`; empty: not known.
        variables: of UCX, that choose among them.
        verbs: devices by which this user reaches RDMA adapters.
        addresses: other node -> address there; empty if the name does not resolve.
        processes: of runs: number, run, command line.
        programs: path -> hash, of those asked for that are there.
        starts: programs of MPIs that start.
        refuses: programs of MPIs that do not -> last line of the complaint.
        files: of those asked for, the ones that may be executed.
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
        python: that would run Assay there.
        others: names that shall resolve.
        programs: whose hashes are wanted.
        mpi: programs that shall start.
        files: that shall be executable.
    """
    lists = (
        " ".join(word for word in words if _PLAIN.fullmatch(word)) for words in (others, programs, mpi, files)
    )
    return ("sh", "-c", SCRIPT, "node", python, *lists)


def read(answer: str) -> Node | None:
    """What a node told; None if it broke off."""
    told: dict[str, list[list[str]]] = {}
    for line in answer.splitlines():
        key, *words = line.split()[:1] + line.split()[1:]
        told.setdefault(key, []).append(words)
    if "start" not in told or "end" not in told:
        return None

    def one(key: str) -> str:
        return " ".join(told.get(key, [[]])[0])

    shm = one("shm")
    return Node(
        host=one("host"),
        kernel=one("kernel"),
        boot_id=one("boot"),
        cpus=_counts(told.get("cpus", [[]])[0]),
        lockable=one("memlock"),
        shm_bytes=int(shm) * 1024 if shm.isdecimal() else None,
        clock_s=(_seconds(one("start")), _seconds(one("end"))),
        assay=one("assay"),
        interfaces={words[0]: _interface(words[1:]) for words in told.get("interface", []) if words[0] != "lo"}
        | {words[0]: _port(words[1:]) for words in told.get("port", [])}
        | {words[0]: Interface(up=True) for words in told.get("card", [])},
        transports=_transports([words[0] for words in told.get("ucx", []) if words]),
        variables={words[0]: words[1] for words in told.get("variable", []) if len(words) > 1},
        verbs=tuple(words[0] for words in told.get("verbs", [])),
        addresses={words[0]: (words[1] if len(words) > 1 else "") for words in told.get("address", [])},
        processes=tuple((int(words[0]), words[1], " ".join(words[2:])) for words in told.get("process", [])),
        programs={words[1]: words[0] for words in told.get("program", [])},
        starts=tuple(words[0] for words in told.get("starts", [])),
        refuses={words[0]: " ".join(words[1:]) for words in told.get("refuses", [])},
        files=tuple(words[0] for words in told.get("file", [])),
    )


def _transports(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """By device: `ucx_info -d` names each transport, then its device."""
    found: dict[str, tuple[str, ...]] = {}
    for transport, device in zip(words[::2], words[1::2], strict=False):
        found[device] = (*found.get(device, ()), transport)
    return found


def _counts(words: Sequence[str]) -> tuple[int, int]:
    numbers = [int(word) for word in words if word.isdecimal()]
    return (numbers[0], numbers[1]) if len(numbers) == len(words) == 2 else (0, 0)  # noqa: PLR2004 (those two)


def _seconds(text: str) -> float:
    """Of a `date` that may not know parts of seconds: `1700000000.%N`."""
    whole, _, part = text.partition(".")
    return float(f"{whole}.{part}" if part.isdecimal() else whole or 0)


def _interface(words: Sequence[str]) -> Interface:
    """MTU, state, and speed in Mbit/s, -1 or nothing where the driver gives none."""
    mtu, state, speed = (*words, "", "", "")[:3]
    rate = float(speed) if speed.isdecimal() else 0.0
    return Interface(state not in {"down", "lowerlayerdown"}, int(mtu) if mtu.isdecimal() else 0, rate)


def _port(words: Sequence[str]) -> Interface:
    """State, 4 for active, and rate in Gbit/s."""
    state, rate = (*words, "", "")[:2]
    return Interface(state == "4", rate=float(rate) if re.fullmatch(r"[\d.]+", rate) else 0.0)
