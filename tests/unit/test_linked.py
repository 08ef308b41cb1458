"""The MPI of a program, by the libraries with which it is linked."""

import shutil
from typing import Any

import pytest

from assay import toolchain
from assay.model.toolchain import Mpi
from assay.toolchain import mpis

HERE = (
    Mpi("openmpi-5.0", "openmpi", "5.0", "/opt/a/bin/mpicxx", "/opt/a/bin/mpiexec"),
    Mpi("openmpi-4.1", "openmpi", "4.1", "/usr/bin/mpicxx.openmpi", "/usr/bin/mpiexec.openmpi"),
    Mpi("mpich-4.0", "mpich", "4.0", "/usr/bin/mpicxx.mpich", "/usr/bin/mpiexec.mpich"),
    Mpi("intel-2021", "intel", "2021", "/opt/i/bin/mpiicpx", "/opt/i/bin/mpiexec.hydra"),
)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4", "openmpi-4.1"),
        ("/opt/a/lib/libmpi.so.40.40.1", "openmpi-5.0"),
        ("/usr/lib/x86_64-linux-gnu/libmpich.so.12.2.1", "mpich-4.0"),
        ("/opt/i/lib/libmpi.so.12.0.0", "intel-2021"),
        ("/usr/lib/libm.so.6", ""),
    ],
)
def test_the_mpi_of_a_program_is_the_nearest_of_its_family(
    monkeypatch: pytest.MonkeyPatch, file: str, name: str
) -> None:
    def known(_declared: Any = None) -> tuple[Mpi, ...]:  # noqa: ANN401 (as the function)
        return HERE

    monkeypatch.setattr(mpis, "find_mpis", known)
    assert mpis.mpi_of(("/lib/libc.so.6", file)) == name


def test_libraries_of_a_program_are_files_and_a_script_has_none() -> None:
    shell = shutil.which("sh")
    assert shell
    assert any("libc" in each for each in toolchain.linked.libraries(shell))
    assert toolchain.linked.libraries("/etc/passwd") == ()
