"""`assay` as typed in the lab: short studies, their runs, and what the tests look for in them."""

import html
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.cluster.lab_cluster import Lab
from tests.impatient import ASSAY

from assay import store, toolchain
from assay.model.run import CaseRecords, Run

PATIENCE_S = 240.0

SINGLE = """
title = "Single"
question = "Does it end?"
launches = 1
precision = 0.1

[[measure]]
benchmark = "pt2pt"
placements = ["pair:other-node"]
axes = { pattern = "bandwidth", bytes = "64K", window = 4 }
"""
#: Script of a launcher whose first measuring launch does not end by itself: it waits for a file of the test. Its
#: ranks yield their cores meanwhile.
HOLDING = """
case " $* " in *"/pt2pt "*" --case "*) mkdir "$0.holds" 2>/dev/null && endless=yes ;; esac
for word; do
    case ${{endless:+$before}} in
    --seconds) word=1000 ;;
    --precision) word=0.000001 ;;
    --max-samples) word=1M ;;
    mpi_yield_when_idle) word=1 ;;
    esac
    before=$word
    set -- "$@" "$word"
    shift
done
exec {launcher} "$@"
"""
#: Processes that nobody waits for come last: the process, and its session, which the kernel treats as a group.
_LAST = "for rank in $(pgrep -x pt2pt); do renice -n 19 $rank; echo 19 >/proc/$rank/autogroup; done"
#: A window of 4 MiB: 0.35 s on the slowest network.
RATES = """
title = "Rates"
question = "What do the networks carry?"
launches = 2
precision = 0.02

[[measure]]
benchmark = "pt2pt"
placements = ["pair:other-node"]
axes = { pattern = "bandwidth", bytes = "1M", window = 4 }
"""
#: A window of 128 MiB takes a second at 1 Gbit/s: waiting for a core hardly matters.
WIDE = RATES.replace("window = 4", "window = 128")
INSIDE = """
title = "Inside"
question = "How is it inside a node?"
launches = 1
budget_s = 10

[[measure]]
benchmark = "pt2pt"
placements = ["pair"]
axes = { pattern = "bandwidth", bytes = "1M" }
"""
#: Inside a node, which takes two cores, and between two nodes, which takes one of each.
BOTH = """
title = "Both"
question = "How is it inside a node, and between two?"
launches = 1
budget_s = 10

[[measure]]
benchmark = "pt2pt"
placements = ["pair", "pair:other-node"]
axes = { pattern = "latency", bytes = 8 }
"""
SOCKETS = """
title = "Sockets"
question = "Do sockets of both nodes connect?"
launches = 1
budget_s = 20

[[measure]]
benchmark = "pt2pt"
placements = ["pair:other-node"]
axes = { pattern = "latency", bytes = 8 }

[[measure]]
benchmark = "tcp"
placements = ["pair:other-node"]
axes = { pattern = "latency", bytes = 8 }
"""
#: Runs already shown, with their lengths at that time.
_SHOWN: set[tuple[Path, int]] = set()


@dataclass(frozen=True)
class Desk:
    """A folder shared by all nodes, to type commands in.

    Attributes:
        lab: what they are about.
        folder: with the studies; runs go into `runs`.
        variables: of each command.
    """

    lab: Lab
    folder: Path
    variables: Mapping[str, str]

    def words(self, *words: str) -> list[str]:
        """A command that reaches the nodes by ssh."""
        return [*ASSAY, *words, "--hosts", ",".join(self.lab.nodes), "--ssh-config", str(self.lab.ssh_config)]

    def typed(self, words: Sequence[str], patience_s: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
        """The output of a command and its exit code; it never contains a traceback."""
        done = subprocess.run(
            words,
            cwd=self.folder,
            env={**os.environ, **self.variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience_s,
        )
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr, done.stderr
        return done

    def started(self, words: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command as a shell does, in its own process group."""
        return subprocess.Popen(
            words,
            cwd=self.folder,
            env={**os.environ, **self.variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, runs: str = "runs") -> Run:
        """The only run of a folder of this desk; it loads, and `assay show` shows it."""
        (path,) = [path for path in (self.folder / runs).iterdir() if (path / "run.json").is_file()]
        state = path, (path / "records.jsonl").stat().st_size
        if state not in _SHOWN:
            shown = self.typed([*ASSAY, "show", str(path)])
            assert shown.returncode == 0, shown.stderr
            _SHOWN.add(state)
        run = store.load(path)
        assert run.damage == ()
        return run

    def is_clean(self) -> None:
        """No node runs anything but the lab's own daemons. Connections that ssh keeps open do not count."""
        until(lambda: not any(self.lab.foreign_processes(node) for node in self.lab.nodes), 15.0)
        assert {node: self.lab.foreign_processes(node) for node in self.lab.nodes} == {
            node: [] for node in self.lab.nodes
        }

    def ranks(self, node: str) -> list[str]:
        """Process ids of pt2pt in a node, as numbered there."""
        return self.lab.run(node, ["pgrep", "-x", "pt2pt"]).stdout.split()

    def stand_in(self, name: str, launcher: str, script: str = HOLDING) -> Path:
        """A program that claims to be a launcher, and otherwise does what a script does."""
        path = self.folder / name
        said = f'#!/bin/sh\n[ "$1" = --version ] && exec {launcher} --version\n'
        path.write_text(said + script.format(launcher=launcher))
        path.chmod(0o755)
        return path

    def held(self) -> None:
        """Wait until ranks of the held launch measure on every node.

        Who is still being connected has used no second of a cpu; what a launcher says and does of it then differs.
        """
        until(lambda: any(self.folder.glob("*.holds")) and all(map(self._measures, self.lab.nodes)))
        for node in self.lab.nodes:
            self.lab.run(node, ["sh", "-c", _LAST])

    def _measures(self, node: str) -> bool:
        used_s = self.lab.run(node, ["ps", "-C", "pt2pt", "-o", "cputimes="]).stdout.split()
        return any(map(int, used_s))


def desk_in(lab: Lab) -> Desk:
    """A new desk; ssh keeps its own connections for it."""
    folder = Path(tempfile.mkdtemp(dir=lab.shared))
    studies = {"single": SINGLE, "rates": RATES, "wide": WIDE, "inside": INSIDE, "both": BOTH, "sockets": SOCKETS}
    for name, text in studies.items():
        (folder / f"{name}.toml").write_text(text)
    sockets = tempfile.mkdtemp(prefix="a-", dir="/tmp")
    variables = {"ASSAY_RUNS": str(folder / "runs"), "XDG_RUNTIME_DIR": sockets, "SLURM_CONF": str(lab.slurm_conf)}
    return Desk(lab, folder, variables)


def leave(desk: Desk) -> None:
    """Close the connections that ssh keeps open."""
    sockets = Path(desk.variables["XDG_RUNTIME_DIR"])
    for socket in sockets.glob("*/*"):
        subprocess.run(
            ["ssh", "-o", f"ControlPath={socket}", "-O", "exit", "all"], capture_output=True, check=False
        )
    shutil.rmtree(sockets, ignore_errors=True)  # a connection that ends removes its own socket


def first_page(run: Run) -> str:
    """The report's text before its first topic, as plain words."""
    page = Path(run.path, "report.html").read_text(encoding="utf-8")
    summary = page[page.index('<section id="summary"') : page.index('<section id="machine"')]
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", summary)).split())


def until(true: Callable[[], bool], patience_s: float = 180.0) -> None:
    """Wait until the condition is true."""
    deadline = time.monotonic() + patience_s
    while not true() and time.monotonic() < deadline:
        time.sleep(0.4)  # most questions start several processes


def mpi_of(kind: str) -> str:
    """The name of this machine's MPI of a kind; skips the test if there is none."""
    found = [one.name for one in toolchain.find_mpis() if one.kind == kind]
    if not found:
        pytest.skip(f"no {kind}; next: sudo apt install libopenmpi-dev openmpi-bin libmpich-dev mpich")
    return found[0]


def between(run: Run) -> dict[str, list[CaseRecords]]:
    """Requested interface -> complete records of messages of 64 KiB and more between nodes."""
    networks = {name: device for factor in run.plan.factors for name, device in factor.devices.items()}
    found: dict[str, list[CaseRecords]] = {}
    for launch in run.launches:
        for records in launch.cases:
            case = run.plan.case(records.header.case)
            if len(case.placement.hosts) > 1 and int(records.header.params.get("bytes", 0)) >= 2**16:
                assert records.end is not None
                asked = networks.get(case.factors.get("network", ""), run.plan.network)
                found.setdefault(asked, []).append(records)
    return found


def went_by(records: CaseRecords, interface: str) -> None:
    """More than 90 % of the bytes of all messages left by this interface, and nearly none by another."""
    assert records.traffic
    sent: dict[str, float] = {}
    for host in records.traffic.hosts:
        for name, counter in host.interfaces.items():
            sent[name] = sent.get(name, 0.0) + counter.sent
    payload = records.traffic.payload
    others = sum(count for name, count in sent.items() if name != interface)
    assert sent[interface] > 0.9 * payload, (sent, payload)
    assert others < 0.1 * payload, (sent, payload)
