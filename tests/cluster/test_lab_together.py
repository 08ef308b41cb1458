"""Nodes that cannot be measured together, and launch lines that start something else, are named at once."""

import re
import shlex
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cluster.lab_cluster import Lab
from tests.cluster.lab_runs import Desk, desk_in, leave, mpi_of
from tests.impatient import ASSAY

from assay import toolchain

pytestmark = pytest.mark.cluster


@pytest.fixture
def desk(lab: Lab) -> Generator[Desk]:
    made = desk_in(lab)
    yield made
    leave(made)


@contextmanager
def hidden(lab: Lab, node: str, folder: Path) -> Generator[None]:
    """A node that sees nothing in a folder."""
    lab.output(node, "mount", "-t", "tmpfs", "none", folder)
    try:
        yield
    finally:
        lab.output(node, "umount", folder)


def test_programs_that_a_node_lacks_are_named_with_the_command_that_brings_them(desk: Desk) -> None:
    words = desk.words("run", "single.toml", "--network", "gbe0", "--mpi", mpi_of("openmpi"))
    toolchain.builds_folder().mkdir(parents=True, exist_ok=True)
    with hidden(desk.lab, "node02", toolchain.builds_folder()):
        done = desk.typed(words)
    assert done.returncode == 4, done.stderr
    assert "programs on node02: lacks audit, pt2pt" in done.stderr
    assert f"next: assay build --mpi {mpi_of('openmpi')} --deploy --hosts node02" in done.stderr
    assert not (desk.folder / "runs").exists()
    desk.is_clean()


def test_an_mpi_whose_modules_a_node_does_not_see_is_named(desk: Desk) -> None:
    found = toolchain.get_mpi("openmpi")
    modules = Path(found.compiler).resolve().parents[1] / "lib" / "x86_64-linux-gnu" / "openmpi"
    if not modules.is_dir():
        pytest.skip(f"the modules of {found.name} are not in {modules}")
    with hidden(desk.lab, "node02", modules):
        done = desk.typed(desk.words("run", "single.toml", "--network", "gbe0", "--mpi", found.name))
    assert done.returncode == 4, done.stderr
    assert f"{found.name} on node02: the MPI of a node is not whole" in done.stderr
    assert "load its module there" in done.stderr
    desk.is_clean()


def test_ranks_that_do_not_find_each_other_are_found_and_the_line_mends_it(desk: Desk) -> None:
    allocated = ["salloc", "-Q", "-N2", "--exclusive"]
    audit = [*ASSAY, "audit", "--mpi", mpi_of("mpich"), "--"]
    silent = desk.typed([*allocated, *audit, "srun", "-n2", "--mpi=none", "true"])
    assert silent.returncode == 4, silent.stderr
    assert "2 programs, each of which is rank 0 of 1" in silent.stderr
    mended = re.findall(r"next: (srun .*)", silent.stderr)[-1]
    assert mended == "srun -n2 --mpi=pmi2 true"
    sound = desk.typed([*allocated, *audit, *shlex.split(mended)])
    assert sound.returncode == 0, sound.stderr
    assert "2 ranks: 1 on node01, 1 on node02" in sound.stdout
