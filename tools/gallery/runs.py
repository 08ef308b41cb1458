"""Makes the packed runs: in the lab, on this machine, or on a simulated machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec
from tests.simulation import Recorder, builds_for, described, starter_for
from tools.gallery.table import ROOT, Entry, law

from assay import plan as planning
from assay import store, studies
from assay.cli.support import prepare
from assay.cli.support.options import RunOptions, packed
from assay.model.facts import Fact
from assay.model.machine import Machine
from assay.model.plan import Plan
from assay.run import execute
from assay.simulation import SimulatedMachine

LAB = Path("/run/assay-lab-gallery")
#: All nodes of the lab see this folder; they do not share /tmp.
RUNS = ROOT / "build" / "gallery"
_FIRST = "node01"
_UNSIMULATED = "no program of third parties is simulated"
_ASSAY = Path(sys.executable).with_name("assay")
_TOOL = ROOT / "tools" / "lab" / "lab"


def make(entries: Sequence[Entry]) -> None:
    """Make the run of each entry, and pack it without private data."""
    with _lab(wanted=any(each.where == "lab" for each in entries)):
        for each in entries:
            folder = RUNS / each.name
            shutil.rmtree(folder, ignore_errors=True)
            print(f"gallery: {each.name} ({each.where}): {each.command}", file=sys.stderr)
            run = simulated(each, folder) if each.where == "simulated" else _measured(each, folder)
            subprocess.run([_ASSAY, "pack", str(run), "--share", "-o", str(each.packed)], check=True)


def _measured(entry: Entry, folder: Path) -> Path:
    command = [str(_ASSAY), "run", *entry.words]
    if entry.where == "lab":
        command = [*_in_lab("enter", _FIRST), *command]
    variables = {**os.environ, "ASSAY_RUNS": str(folder)}
    subprocess.run(command, check=False, env=variables)  # exit 5: the budget cut it, and the run says so
    (run,) = (each for each in folder.iterdir() if (each / "run.json").is_file())
    return run


@contextmanager
def _lab(*, wanted: bool) -> Iterator[None]:
    if not wanted:
        yield
        return
    subprocess.run(_in_lab("up"), check=True)
    try:
        yield
    finally:
        subprocess.run(_in_lab("down"), check=False)


def _in_lab(*words: str) -> list[str]:
    return [str(_TOOL), "--folder", str(LAB), *words]


def simulated(entry: Entry, folder: Path) -> Path:
    """The plan of the command for the machine of the source, executed on a simulated machine of its shape."""
    name, options = _options(entry.words)
    machine = _model(described(entry.machine), entry)
    made = _planned(name, machine, options)
    machines = {host: msgspec.structs.replace(machine, host=host) for host in made.hosts}
    command = ("assay", "run", *entry.words)
    known = {host: (each, "") for host, each in machines.items()}
    directory = store.create(made, known, builds_for(made), command, folder)
    there = SimulatedMachine(machine.topology, law(entry), made.hosts)
    with directory:
        execute(made, directory, starter_for(made), there, builds_for(made), Recorder())
    return directory.path


def _planned(name: str, machine: Machine, options: RunOptions) -> Plan:
    """The plan of `assay plan --synthetic`, without programs of third parties: they are not simulated."""
    study = studies.get(name, options.sweeps)
    chosen = msgspec.structs.replace(
        prepare.options_of(options, options.nodes),
        factors=planning.parse(options.vary, study, {}),
        libraries={role: role for role in planning.needed_libraries(study)},
        absent={each.name: _UNSIMULATED for each in planning.applications(study)},
    )
    return planning.make(name, study, machine, chosen)


def _model(machine: Machine, entry: Entry) -> Machine:
    """The machine with a processor that says what it is."""
    model = Fact(entry.model, source="simulated")
    return msgspec.structs.replace(
        machine, facts=machine.facts | {"processor": machine.facts["processor"] | {"model": model}}
    )


def _options(words: Sequence[str]) -> tuple[str, RunOptions]:
    """The study and the options of a command line."""
    found: list[tuple[str, RunOptions]] = []

    @click.command()
    @click.argument("study")
    @packed("options", RunOptions)
    def parsed(study: str, options: RunOptions) -> None:
        found.append((study, options))

    parsed.main([*words], standalone_mode=False)
    return found[0]
