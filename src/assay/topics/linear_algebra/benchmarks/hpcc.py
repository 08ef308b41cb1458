"""HPL of the HPC Challenge benchmark: the installed program, measured through Assay's starter."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import ONE_RANK, Benchmark, ForeignProgram, Operations

_DOUBLE_BYTES = 8
#: Share of a core's peak with a possibly slow BLAS library, and seconds of the other tests of the program.
#: Assumptions for plans only.
_SHARE = 0.2
_OTHERS_S = 1.0
#: hpccinf.txt, line by line: value and what it is.
INPUT = """HPLinpack benchmark input file

HPL.out
8            device out
1            # of problems sizes (N)
{n}          Ns
1            # of NBs
{nb}         NBs
0            PMAP process mapping
1            # of process grids (P x Q)
1            Ps
1            Qs
16.0         threshold
1            # of panel fact
2            PFACTs
1            # of recursive stopping criterium
4            NBMINs
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs
1            # of broadcast
1            BCASTs
1            # of lookahead depth
1            DEPTHs
2            SWAP
64           swapping threshold
0            L1 in form
0            U  in form
1            Equilibration
8            memory alignment in double
##### This line (no. 32) is ignored. ######
0            Number of additional problem sizes for PTRANS
{n}          values of N
0            number of additional blocking sizes for PTRANS
{nb}         values of NB
"""


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
