"""One boot for all tests of placement on a machine of several memory nodes; one lab for all tests on a cluster."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cluster import guest as machine
from tests.cluster import lab_cluster
from tests.cluster.guest import Guest, Parts
from tests.cluster.lab_cluster import Lab
from tests.cluster.launches import all_launches, declared

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"
UNPACKED = ROOT / "build" / "guest"
BUILT = ROOT / "build" / "cache" / "presets" / "static" / "tree" / "bin"
REMEDY = "next: python tools/test_packages.py"


@pytest.fixture(scope="session")
def parts() -> Parts:
    """The parts of a guest; a skip says what is missing."""
    if platform.machine() != "x86_64":
        pytest.skip("this machine is no x86-64: its programs would not run in the guest")
    absent = [program for program in ("qemu-system-x86_64", "setpriv") if not shutil.which(program)]
    absent += [str(UNPACKED / name) for name in ("vmlinuz", "busybox") if not (UNPACKED / name).exists()]
    if absent:
        pytest.skip(f"a guest needs {', '.join(absent)}; {REMEDY}")
    return Parts(UNPACKED / "vmlinuz", UNPACKED / "busybox")


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """The native programs, statically linked, by name."""
    own = str(Path(sys.prefix) / "bin")
    environment = {**os.environ, "PATH": f"{own}:{os.environ['PATH']}", "CMAKE_GENERATOR": "Ninja"}
    compiling = ["cmake", "--build", "--preset", "static", "--target", *{each.program for each in declared()}]
    for command in (["cmake", "--preset", "static"], compiling):
        done = subprocess.run(
            command, cwd=ROOT / "native", env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: path for path in BUILT.iterdir()}


@pytest.fixture(scope="session")
def guest(parts: Parts, programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Guest:
    """The guest after all launches."""
    return machine.run(parts, programs, all_launches(), tmp_path_factory.mktemp("guest"))


@pytest.fixture(scope="session")
def lab() -> Generator[Lab]:
    """A cluster of two nodes on one machine; a test must undo the faults that it makes."""
    folder = Path(f"/run/assay-lab-tests-{os.getpid()}")
    for left in folder.parent.glob("assay-lab-tests-*"):
        if not Path("/proc", left.name.split("-")[3]).exists():  # a killed test run has left it
            lab_cluster.tool(left, "down")
    try:
        done = lab_cluster.tool(folder, "up")
        if done.returncode == 4:
            pytest.skip(f"no lab: {done.stderr.strip()}")
        assert done.returncode == 0, done.stderr
        yield lab_cluster.read(folder)
    finally:
        lab_cluster.tool(folder, "down")
