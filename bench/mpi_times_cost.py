"""Cost of counting MPI calls: a program that does nothing else, with and without the library, in pairs.

    python bench/mpi_times_cost.py PATH/OF/libmpi_times.so [--pairs 10] [--calls 200000]

The library is in `tree/interposed` of the folder in which `assay build` puts the programs of one process. Each
pair starts two ranks twice, in random order. Prints the additional seconds of a call: median and range of the
pairs. The worst case is an application with so many small messages that this is part of its time.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import tempfile
from pathlib import Path

_PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** words) {
    int rank = 0, flag = 0, calls = 0;
    MPI_Init(&count, &words);
    calls = atoi(words[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < calls; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (rank == 0) printf("%.12f\\n", (MPI_Wtime() - begin) / calls);
    MPI_Finalize();
}
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--calls", type=int, default=200_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "calls.c", Path(folder) / "calls"
        source.write_text(_PROGRAM)
        subprocess.run(["mpicc", "-O2", "-o", program, source], check=True)
        more = []
        for _ in range(asked.pairs):
            taken = {}
            for library in random.sample(("", str(asked.library.resolve())), 2):
                taken[bool(library)] = _seconds(program, asked.calls, library)
            more.append(taken[True] - taken[False])
    ends = f"{min(more):.2e} to {max(more):.2e}, {len(more)} pairs"
    print(f"a call costs {statistics.median(more):.2e} s more ({ends})")


def _seconds(program: Path, calls: int, library: str) -> float:
    """Seconds of a call, as rank 0 times them."""
    preloaded = {"LD_PRELOAD": library} if library else {}
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["mpirun", "--oversubscribe", "-n", "2", str(program), str(calls)]
    done = subprocess.run(command, env=os.environ | root | preloaded, check=True, capture_output=True, text=True)
    return float(done.stdout)


if __name__ == "__main__":
    main()
