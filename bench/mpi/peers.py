"""What the comparisons with plain MPI programs share: how both are built and started, how ratios are printed."""

import json
import math
import os
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay import plan as planning
from assay import toolchain
from assay.analyse.statistics import hodges_lehmann
from assay.model.toolchain import Mpi

_BENCH = Path(__file__).parent.parent
#: Seed of the order of launches in a block.
SEED = 20_261_121
#: Environment of MPI launches, also as root.
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "ASSAY_PARENT": "",
}


def output(command: Sequence[str]) -> str:
    """The output of a command; CalledProcessError if it fails."""
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ENVIRONMENT).stdout


def blas_file(name: str) -> str:
    """The file of a BLAS by its name in `assay list blas`, or the given path."""
    return planning.library_files("blas", [name], toolchain.find_libraries("blas"))[name]


def program(mpi: Mpi, name: str) -> Path:
    """Our program, built for an MPI."""
    return Path(toolchain.build(toolchain.get(f"{toolchain.get().name}/{mpi.name}")).programs[name])


def reference(mpi: Mpi, source: str, folder: Path) -> Path:
    """The peer `source`, a file of bench/, compiled into `folder` with the MPI's own compiler."""
    made = folder / Path(source).stem
    output([mpi.compiler.replace("mpicxx", "mpicc"), "-O3", str(_BENCH / source), "-o", str(made)])
    return made


def records(text: str) -> Iterator[dict[str, Any]]:
    """The records that one of our programs writes."""
    yield from map(json.loads, text.splitlines())


def placed(cpus: Sequence[int]) -> list[str]:
    """Options of our programs: a rank on each of these cpus."""
    return ["--cpus", "/".join(map(str, cpus)), "--expect-ranks", str(len(cpus))]


def print_ratios(name: str, ratios: Sequence[float], remark: str = "") -> None:
    """Print median and range of the ratios of launches of one block."""
    print(f"  {name:28} {statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]{remark}")


def print_rates(name: str, ours: Sequence[float], theirs: Sequence[float], unit: str = "GFLOP/s") -> None:
    """Print the ratio of rates (`unit`: of 1e9), a pair for each block: Hodges-Lehmann with its 95 % interval."""
    ratio = hodges_lehmann([math.log(a / b) for a, b in zip(ours, theirs, strict=True)])
    middle, low, high = map(math.exp, (ratio.value, ratio.lo, ratio.hi))
    basis = "95 % interval" if ratio.confidence else "range: an interval takes six blocks"
    best = f"best {max(ours) / 1e9:.4g} and {max(theirs) / 1e9:.4g} {unit}"
    print(f"  ours / {name:24} {middle:.3f} [{low:.3f}, {high:.3f}] ({basis}; {best})", flush=True)
