"""Results of the NAS Parallel Benchmarks as people published them: versions 2.3 to 3.4.2, MPI, OpenMP, zones."""

import pytest

from assay import importing
from assay.importing import ImportOptions, Text
from assay.model.errors import UsageError
from assay.model.imported import UNSTATED, Table
from assay.topics.kernels.sizes import CLASSES, demand

#: NPB 2.3 with MPI, as quoted in a letter to the users of Open MPI, 2007.
NPB_2_3 = """>  [qiang_at_compute-0-1 bin]$ mpirun -n 4 mg.B.4
>
>  NAS Parallel Benchmarks 2.3 -- MG Benchmark
>
>  No input file. Using compiled defaults
>  Size: 256x256x256  (class B)
>  Iterations:  20
>  Number of processes:     4
>
>  Initialization time:           6.783 seconds
>
>  Benchmark completed
>  VERIFICATION SUCCESSFUL
>  L2 Norm is   0.180056440136E-05
>  Error is     0.351679609371E-16
>
>
>  MG Benchmark Completed.
>  Class           =                        B
>  Size            =              256x256x256
>  Iterations      =                       20
>  Time in seconds =                    47.19
>  Total processes =                        4
>  Compiled procs  =                        4
>  Mop/s total     =                   412.43
>  Mop/s/process   =                   103.11
>  Operation type  =           floating point
>  Verification    =               SUCCESSFUL
>  Version         =                      2.3
>  Compile date    =              13 Dec 2007
>
>  Compile options:
>     MPIF77       = mpif77
>     FLINK        = mpif77
>     FFLAGS       = -O3
>     RAND         = (none)
"""
#: The same version, EP among the comments of a port to MATLAB, 2005.
COMMENTED = """% NAS Parallel Benchmarks 2.3 -- EP Benchmark
%
% EP Benchmark Completed.
% Class           =                        S
% Size            =                 33554432
% Iterations      =                        0
% Time in seconds =                     4.76
% Total processes =                        1
% Compiled procs  =                        1
% Mop/s total     =                     7.05
% Mop/s/process   =                     7.05
% Operation type  = Random numbers generated
% Verification    =               SUCCESSFUL
% Version         =                      2.3
"""
#: NPB 3.2 with MPI, from letters to the same list: the first has lost its verification, the second has a command
#: line of ours.
NPB_3_2 = """[jpummil_at_localhost bin]$ mpirun -np 1 cg.A.1
NAS Parallel Benchmarks 3.2 -- CG Benchmark
CG Benchmark Completed.
 Class           =                        A
 Size            =                    14000
 Iterations      =                       15
 Time in seconds =                     4.75
 Total processes =                        1
 Compiled procs  =                        1
 Mop/s total     =                   315.32
...and...
[hpc@n1 bin]$ mpirun -H n1,n2 -np 2 cg.A.2
 NAS Parallel Benchmarks 3.2 -- CG Benchmark

 Benchmark completed
 VERIFICATION SUCCESSFUL
 Zeta is      0.171302350540E+02
 Error is     0.522633719989E-13


 CG Benchmark Completed.
 Class           =                        A
 Size            =                    14000
 Iterations      =                       15
 Time in seconds =                     2.47
 Total processes =                        2
 Compiled procs  =                        2
 Mop/s total     =                   606.32
 Mop/s/process   =                   303.16
 Operation type  =           floating point
 Verification    =               SUCCESSFUL
 Version         =                      3.2
 Compile date    =              11 Jun 2007
"""
#: NPB 3.3.1 with OpenMP, 2017; two programs in one file.
NPB_3_3 = """ NAS Parallel Benchmarks (NPB3.3-OMP) - LU Benchmark

 Verification Successful


 LU Benchmark Completed.
 Class           =                        S
 Size            =             12x  12x  12
 Iterations      =                       50
 Time in seconds =                     1.33
 Total threads   =                        1
 Avail threads   =                        1
 Mop/s total     =                    77.16
 Mop/s/thread    =                    77.16
 Operation type  =           floating point
 Verification    =               SUCCESSFUL
 Version         =                    3.3.1
 Compile date    =              27 Jun 2017

 Compile options:
    F77          = gfortran
    FFLAGS       = -O -ff2c
    RAND         = (none)


 Please send all errors/feedbacks to:

 NPB Development Team
 npb@nas.nasa.gov


 SP Benchmark Completed.
 Class           =                        S
 Size            =             12x  12x  12
 Iterations      =                      100
 Time in seconds =                     1.50
 Total threads   =                        1
 Avail threads   =                        1
 Mop/s total     =                    64.48
 Mop/s/thread    =                    64.48
 Operation type  =           floating point
 Verification    =               SUCCESSFUL
 Version         =                    3.3.1
 Compile date    =              27 Jun 2017


 UA Benchmark Completed.
 Class           =                        S
 Size            =                        4
 Iterations      =                       50
 Time in seconds =                    25.31
 Total threads   =                        1
 Avail threads   =                        1
 Mop/s total     =                     0.49
 Mop/s/thread    =                     0.49
 Operation type  =     coll. point advanced
 Verification    =               SUCCESSFUL
 Version         =                    3.3.1
"""
#: NPB 3.3.1 in C with OpenMP, of a size that NPB knows no result of.
OF_UNKNOWN_CLASS = """    NAS Parallel Benchmarks (NPB3.3-OMP-C) - LU Benchmark

    Size:  162x 162x 162
    Unknown class
    No reference values provided
    No verification performed


    LU Benchmark Completed.
    Class           =                        U
    Size            =            162x 162x 162
    Iterations      =                       10
    Time in seconds =                     0.51
    Total threads   =                       64
    Avail threads   =                       64
    Mop/s total     =                160226.36
    Mop/s/thread    =                  2503.54
    Operation type  =           floating point
    Verification    =             UNSUCCESSFUL
    Version         =                    3.3.1
"""
#: NPB 3.4 with MPI, as it came through a page: blanks collapsed, marks and words of its author.
COLLAPSED = """$ mpirun -np 16 --hosts master,slave1 ./bin/bt.S.x
BT Benchmark Completed.

Class = S Size = 12x 12x 12

Iterations = 60

(!)Time in seconds = 8.22

(!)Total processes = 16

(!)Active procs = 16

(!)Mop/s total = 27.76 (mflops)

(!)Mop/s/process = 1.74

Operation type = floating point

Verification = SUCCESSFUL

Version = 3.4
"""
#: NPB 3.4.2: several zones, each process with threads, 2024; OpenMP, 2022.
NPB_3_4 = """ BT-MZ Benchmark Completed.
 Class           =                        C
 Size            =            480x  320x 28
 Iterations      =                      200
 Time in seconds =                     7.82
 Total processes =                       36
 Total threads   =                       72
 Mop/s total     =                310414.25
 Mop/s/thread    =                  4311.31
 Operation type  =           floating point
 Verification    =               SUCCESSFUL
 Version         =                    3.4.2
 Compile date    =              22 Apr 2024
[c.553@yoltla bin]$ OMP_NUM_THREADS=16 ./ft.C.x
(4)
FT Benchmark Completed.
Class           =                        C
Size            =            512x 512x 512
Iterations      =                       20
Time in seconds =                    19.07
Total threads   =                       16
Avail threads   =                       16
Mop/s total     =                 20785.44
Mop/s/thread    =                  1299.09
Operation type  =           floating point
Verification    =               SUCCESSFUL
Version         =                    3.4.2
Compile date    =              04 Sep 2022
"""


ZONES = {"npb": "bt-mz", "npb-class": "C", "ranks": 36, "threads": 72}


def tables(text: str) -> tuple[Table, ...]:
    return importing.read("npb", [Text.of("out.txt", text.encode())], ImportOptions()).tables


def figures(table: Table) -> tuple[float, float]:
    """Rate in op/s, time in s."""
    values = {each.metric: each.value for each in table.figures}
    return values["rate"], values["time"]


def told(table: Table) -> tuple[object, ...]:
    """Benchmark, params, version, rate, time."""
    return table.benchmark, table.params, table.version, *figures(table)


def count(table: Table) -> float:
    """Operations of its problem."""
    return demand(str(table.params["npb"]), str(table.params["npb-class"])).operations


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NPB_2_3, [("nas", {"npb": "mg", "npb-class": "B", "ranks": 4}, "2.3", 412.43e6, 47.19)]),
        (COMMENTED, [("nas", {"npb": "ep", "npb-class": "S", "ranks": 1}, "2.3", 7.05e6, 4.76)]),
        (
            NPB_3_3,
            [
                ("npb", {"npb": "lu", "npb-class": "S", "threads": 1}, "3.3.1", 77.16e6, 1.33),
                ("npb", {"npb": "sp", "npb-class": "S", "threads": 1}, "3.3.1", 64.48e6, 1.50),
                ("npb", {"npb": "ua", "npb-class": "S", "threads": 1}, "3.3.1", 0.49e6, 25.31),
            ],
        ),
        (COLLAPSED, [("npb", {"npb": "bt", "npb-class": "S", "ranks": 16}, "3.4", 27.76e6, 8.22)]),
        (
            NPB_3_4,
            [
                ("npb", ZONES, "3.4.2", 310414.25e6, 7.82),
                ("nas", {"npb": "ft", "npb-class": "C", "threads": 16}, "3.4.2", 20785.44e6, 19.07),
            ],
        ),
    ],
)  # fmt: skip
def test_published_results_are_read_as_they_were_printed(text: str, found: list[tuple[object, ...]]) -> None:
    read = tables(text)
    assert [told(each) for each in read] == found
    assert not any(each.failed for each in read)


def test_a_result_counts_with_its_own_verification_alone() -> None:
    torn, whole = tables(NPB_3_2)
    assert (figures(torn), torn.failed) == ((315.32e6, 4.75), "NPB's own verification does not stand there")
    assert (figures(whole), whole.failed) == ((606.32e6, 2.47), "")
    (unknown,) = tables(OF_UNKNOWN_CLASS)
    assert unknown.failed == "NPB's own verification failed in line 19"
    (unasked,) = tables(OF_UNKNOWN_CLASS.replace("UNSUCCESSFUL", "NOT PERFORMED"))
    assert unasked.failed == "NPB had nothing to verify this result by (line 19)"


def test_the_command_line_says_where_it_ran() -> None:
    torn, whole = tables(NPB_3_2)
    assert (torn.placement, whole.placement, whole.hosts) == (UNSTATED, "one-core@2", ("n1", "n2"))
    assert tables(COLLAPSED)[0].placement == "cores:8@2"
    assert tables(NPB_3_4)[1].placement == "cores:16"


def test_a_result_says_in_which_lines_it_stood() -> None:
    (found,) = tables(NPB_2_3)
    assert (found.where, [each.line for each in found.figures]) == ("lines 18 to 29", [25, 22])
    assert [each.printed for each in found.figures] == ["412.43 Mop/s", "47.19 s"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CG Benchmark Completed.\nClass = E\nTime in seconds = XXX.XX\nMop/s total = 1\n", "line 3: 'XXX.XX' is"),
        ("CG Benchmark Completed.\n Class = E\n Time in seconds = 1.0\n", "line 1: no 'Mop/s total' belongs to"),
        ("CG Benchmark Completed.\n LU Benchmark Completed.\n", "line 1: no 'Class' belongs to this result"),
        ("it solved a system\n", "it holds no output of npb"),
    ],
)
def test_a_result_that_cannot_be_read_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        tables(text)
    assert reason in (caught.value.why or "")


@pytest.mark.parametrize(("text", "at"), [(NPB_3_3, 0), (NPB_3_3, 1), (COLLAPSED, 0)])
def test_operations_are_counted_as_published_results_count_them(text: str, at: int) -> None:
    """Rate x time of a printed result, to what the two decimals of both leave open."""
    table = tables(text)[at]
    rate, time = figures(table)
    half = 0.005
    assert count(table) == pytest.approx(rate * time, rel=half / time + half / (rate / 1e6))


@pytest.mark.parametrize(("text", "at"), [(NPB_2_3, 0), (NPB_3_2, 1), (NPB_3_4, 1)])
def test_kernels_count_what_npb_counts(text: str, at: int) -> None:
    """MG of class B, CG of class A and FT of class C, as Assay's own programs count them."""
    table = tables(text)[at]
    rate, time = figures(table)
    assert count(table) == pytest.approx(rate * time, rel=0.002)


@pytest.mark.parametrize("problem", sorted({"bt", "lu", "sp", "cg", "ep", "ft", "is", "mg"}))
def test_each_class_that_is_offered_has_its_operations(problem: str) -> None:
    counts = [demand(problem, size).operations for size in CLASSES]
    assert counts == sorted(counts)
    assert counts[-1] > 8 * counts[-2]  # 16 times the points, or 2.5 times a side
