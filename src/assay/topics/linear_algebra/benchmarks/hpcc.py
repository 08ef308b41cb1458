"""HPL of the HPC Challenge benchmark: the installed program, measured through Assay's starter."""

from pathlib import Path

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import ONE_RANK, Benchmark, ForeignProgram, Operations

_DOUBLE_BYTES = 8
#: Share of a core's peak with a possibly slow BLAS library, and seconds of the other tests of the program.
#: Assumptions for plans only.
_SHARE = 0.2
_OTHERS_S = 1.0
#: Line by line: value and what it is.
INPUT = Path(__file__).with_name("hpccinf.txt").read_text("utf-8")

benchmark = Benchmark(
    **declared("hpcc"),
    memory_bytes=lambda params, _placement: _DOUBLE_BYTES * int(params["n"]) ** 2,
    setup_seconds=lambda _params: _OTHERS_S,
    operations=Operations(_SHARE, lambda params, _placement: 2 * int(params["n"]) ** 3 / 3),
    foreign=ForeignProgram(
        name="hpcc",
        install="as root: apt install hpcc",
        command=lambda _params, _placement, _prefix: (*ONE_RANK, "hpcc"),
        tool="hpl",
        inputs=lambda params, _placement, _prefix: {"hpccinf.txt": INPUT.format(n=params["n"], nb=params["nb"])},
        output="hpccoutf.txt",
    ),
)
