"""A row with `nan` where it has a number is listed as not read, with its line; the others are kept."""

import pytest

from assay.importing import Text, tables_of
from assay.model.imported import Skipped, Table

#: Format -> a text with one row without a number: its line, and the number of figures of the others.
ROWS = {
    "mlc": (
        6,
        2,
        """Intel(R) Memory Latency Checker - v3.9
Measuring idle latencies (in ns)...
                Numa node
Numa node            0       1
       0          80.1   139.9
       1         -nan   80.0
""",
    ),
    "ior": (
        4,
        2,
        """IOR-3.3.0: MPI Coordinated Test of Parallel I/O
access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
write     1234.5     1024       1024       0.001      0.8        0.001      0.82       0
read      nan        1024       1024       0.001      0.8        0.001      0.82       0
""",
    ),
    "nccl": (
        4,
        6,
        """# nThread 1 nGpus 2 minBytes 8
# size count type redop root time algbw busbw #wrong time algbw busbw #wrong
     8     2  float  sum  -1  10.36    0.00    0.00      0  10.21    0.00    0.00      0
    16     4  float  sum  -1    inf    0.00    0.00      0  10.21    0.00    0.00      0
""",
    ),
    "babelstream": (
        4,
        2,
        """BabelStream
Function    MBytes/sec  Min (sec)   Max         Average
Copy        1234.5  0.00126     0.00127     0.00126
Mul         nan     0.00126     0.00127     0.00126
""",
    ),
    "hpcc": (3, 1, "Begin of Summary section.\nHPL_Tflops=0.5\nPTRANS_GBs=nan\n"),
    "sockperf": (
        2,
        2,
        """sockperf: Summary: Latency is 12.5 usec
sockperf: ---> percentile 99.0 = nan
sockperf: ---> percentile 50.0 =   12
""",
    ),
    "himeno": (
        2,
        1,
        "mimax = 129 mjmax = 65\nMFLOPS measured : NaN cpu : 1.2\nMFLOPS measured : 1200.5 cpu : 1.2\n",
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_without_a_number_is_listed_and_costs_only_itself(name: str) -> None:
    line, figures, content = ROWS[name]
    found = tables_of(Text.of("log.txt", content.encode()))
    (skipped,) = (each for each in found if isinstance(each, Skipped))
    assert (skipped.line, skipped.where) == (line, f"line {line}")
    assert content.splitlines()[line - 1].strip()[:20] in skipped.reason
    assert sum(len(each.figures) for each in found if isinstance(each, Table)) == figures


def test_the_word_in_prose_is_no_row() -> None:
    content = (
        "BabelStream\nFunction    MBytes/sec  Min (sec)   Max         Average\nCopy 1 2 3 4\nno nan was found\n"
    )
    assert not [each for each in tables_of(Text.of("log.txt", content.encode())) if isinstance(each, Skipped)]
