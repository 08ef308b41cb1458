"""A rank that its MPI does not let go: all is said by then, and it ends all the same."""

import subprocess
from pathlib import Path

import pytest
from tests.mpi_ranks import build_with, command, environment, mpi
from tests.native_programs import start

from assay.model.record import End

pytestmark = pytest.mark.native

#: An MPI_Finalize that lets the last rank wait for ever, as MPICH's over UCX and TCP was seen to.
WAITING = """
#include <mpi.h>
#include <unistd.h>
int MPI_Finalize(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (rank == 1) pause();
    return PMPI_Finalize();
}
"""


def test_a_rank_that_mpich_does_not_let_go_ends_all_the_same(tmp_path: Path) -> None:
    built = build_with("mpich")
    source, library = tmp_path / "waiting.c", tmp_path / "waiting.so"
    source.write_text(WAITING)
    subprocess.run([mpi(built).compiler, "-xc++", "-shared", "-fPIC", "-o", library, source], check=True)
    words = command(built, "pt2pt", 2, "--seconds", "0.05", "--max-samples", "12")
    at = words.index(built.programs["pt2pt"])
    result = start(*words[:at], "env", f"LD_PRELOAD={library}", *words[at:], environment=environment())
    assert result.ends == [End("complete")]
    assert result.exit_code == 0
