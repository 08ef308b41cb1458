"""A machine of two sockets and four memory nodes: Debian's kernel under qemu's emulation, neither root nor KVM."""

import shlex
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import initramfs
from tests.native_programs import ProgramOutput, valid_records

CPUS = tuple(range(8))
NODES = tuple(range(4))
#: Node k has these cpus; nodes 0 and 1 are in the first socket.
CPUS_OF = {node: (2 * node, 2 * node + 1) for node in NODES}
#: As a server with two sockets of two dies may report: same node, same socket, and one or two links away.
DISTANCES = ((10, 16, 22, 28), (16, 10, 28, 22), (22, 28, 10, 16), (28, 22, 16, 10))
NODE_MIB = 256
#: Its own name.
HOST = "guest"
#: Boot and all launches take a minute on two slow cores, and longer next to other work.
LIMIT_S = 600.0

_INIT = Path(__file__).with_name("init.sh")
_CONSOLE_LINES = 25


@dataclass(frozen=True)
class Parts:
    """The parts of a guest: a kernel image for x86-64, and a statically linked busybox."""

    kernel: Path
    busybox: Path


@dataclass(frozen=True)
class Guest:
    """What came out of the guest.

    Attributes:
        outputs: name of a launch -> exit code, records and messages of its program.
        root: folder with the files of /proc and /sys that describe the machine.
    """

    outputs: Mapping[str, ProgramOutput]
    root: Path


class GuestError(Exception):
    """The guest did not finish; the message ends with the last lines of its console."""


def run(
    parts: Parts,
    programs: Mapping[str, Path],
    launches: Mapping[str, Sequence[str]],
    work: Path,
    others: Sequence[Path] = (),
) -> Guest:
    """Boot once, run every launch inside, power off; GuestError if that fails or takes too long.

    Args:
        parts: of the guest.
        programs: found inside by their names; statically linked where `others` do not hold their libraries.
        launches: name -> words of a command line; also the functions of `init.sh`.
        work: an empty folder.
        others: files that are inside, too, under the same paths as here.
    """
    script = [shlex.join(("launch", name, *command)) for name, command in launches.items()]
    files = {
        "init": _INIT.read_bytes(),
        "bin/busybox": parts.busybox.read_bytes(),
        "launches": "\n".join(("PATH=/bin:/programs", *script, "")).encode(),
        **{f"programs/{name}": path.read_bytes() for name, path in programs.items()},
        **{str(path).removeprefix("/"): path.read_bytes() for path in others},
    }
    (work / "initramfs").write_bytes(initramfs.archive(files))
    _boot(parts.kernel, work)
    (work / "out").mkdir()
    subprocess.run(["tar", "-xzf", str(work / "sent"), "-C", str(work / "out")], check=True)
    return Guest({name: _output(work / "out/launches" / name) for name in launches}, work / "out/machine")


def linked(*programs: Path) -> tuple[Path, ...]:
    """The shared libraries of programs, and their loader, by `ldd`."""
    found: dict[Path, None] = {}
    for program in programs:
        result = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=True)
        words = (word for line in result.stdout.splitlines() for word in line.split() if word.startswith("/"))
        found |= dict.fromkeys(map(Path, words))
    return tuple(found)


def _boot(kernel: Path, work: Path) -> None:
    """From power on to power off. If this process ends, the guest ends too (PDEATHSIG)."""
    command = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", *_machine(), "-kernel", str(kernel)]
    command += ["-initrd", str(work / "initramfs")]
    # Kernel features that are not tested here are off: moving pages by itself, ciphers, watchdogs, and the test of
    # the timer, which fails where the guest gets too little of a busy machine.
    off = "numa_balancing=disable nowatchdog no_timer_check mitigations=off cryptomgr.notests"
    command += ["-append", f"console=ttyS0 panic=-1 {off}"]
    command += ["-serial", f"file:{work / 'console'}", "-serial", f"file:{work / 'sent'}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        raise GuestError(f"the guest was not done after {LIMIT_S:.0f} s\n{_last_words(work)}") from None
    if done.returncode or not tarfile.is_tarfile(work / "sent"):
        raise GuestError(f"qemu ended with {done.returncode}: {done.stderr}\n{_last_words(work)}")


def _machine() -> list[str]:
    # One thread emulates all cpus in turn: a spinning cpu yields its turn, and no other test waits for it.
    options = ["-machine", "pc", "-accel", "tcg,thread=single", "-cpu", "max"]
    options += ["-nodefaults", "-display", "none", "-no-reboot"]
    options += ["-m", f"{NODE_MIB * len(NODES)}M", "-smp", f"{len(CPUS)},sockets=2,cores=4,threads=1"]
    for node, (first, last) in CPUS_OF.items():
        options += ["-object", f"memory-backend-ram,id=memory{node},size={NODE_MIB}M"]
        options += ["-numa", f"node,nodeid={node},cpus={first}-{last},memdev=memory{node}"]
    for here, row in enumerate(DISTANCES):
        for there, distance in enumerate(row):
            options += ["-numa", f"dist,src={here},dst={there},val={distance}"]
    return options


def _last_words(work: Path) -> str:
    console = work / "console"
    lines = console.read_text(errors="replace").splitlines() if console.exists() else []
    return "\n".join(("its console ends:", *lines[-_CONSOLE_LINES:]))


def _output(folder: Path) -> ProgramOutput:
    stdout, stderr, code = ((folder / name).read_text() for name in ("stdout", "stderr", "exit"))
    return ProgramOutput(int(code), valid_records(stdout), stderr)
