"""What a heading or a command line states is part of what a figure is of: two experiments are no repeats."""

import json
from pathlib import Path

import pytest

from assay.analyse import analyse
from assay.importing import Text, read
from assay.model.imported import UNSTATED, Imported
from assay.model.result import Estimate
from assay.model.run import RunInfo
from assay.store.imported import as_run

_ALLREDUCE = """$ mpirun -np {ranks} ./osu_allreduce -m 8:{most}
# OSU MPI Allreduce Latency Test v{version}
# Size       Avg Latency(us)
8                       3.31
{more}"""
_SOCKPERF = """$ sockperf {mode} -i n2 -t 1
sockperf: == version #3.7-no.git ==
[ 0] IP = n2       PORT = 11111 # UDP
sockperf: Summary: Latency is {time} usec
"""
_DATATYPES = """$ mpirun -np 2 -H n1,n2 ./osu_latency -m 8:16 -T mpi_char,mpi_int
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
8                       1.44
16                      1.46
# Datatype: MPI_INT.
# Size       Avg Latency(us)
8                       1.52
16                      1.57
"""
_BOTH = {
    "start": {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "num_streams": 2, "reverse": 0}},
    "end": {
        "sum_sent": {"bits_per_second": 3200000000, "retransmits": 26},
        "sum_received": {"bits_per_second": 3100000000},
        "sum_sent_bidir_reverse": {"bits_per_second": 9500000000, "retransmits": 16},
        "sum_received_bidir_reverse": {"bits_per_second": 9400000000},
    },
}


def imported(*contents: str) -> Imported:
    return read("", [Text.of(f"{at}.txt", content.encode()) for at, content in enumerate(contents)])


def figures(*contents: str) -> list[Estimate]:
    found = imported(*contents)
    info = RunInfo(1, "import", "import", "", "", (), {}, {})
    return list(analyse(as_run(Path("import"), info, found)).estimates)


def allreduce(ranks: int, version: str = "7.3", more: str = "") -> str:
    return _ALLREDUCE.format(ranks=ranks, version=version, more=more, most=16 if more else 8)


def test_ranks_of_the_command_line() -> None:
    few, many = figures(allreduce(8) + allreduce(768, more="16                      27.45\n"))[:2]
    assert (few.params["ranks"], many.params["ranks"]) == (8, 768)
    assert (few.measurand.layout.ranks, many.measurand.layout.ranks) == (8, 768)
    assert few.measurand.layout.nodes == UNSTATED
    assert "repeat" not in few.params | many.params


def test_versions_of_the_tool() -> None:
    old, new = figures(allreduce(8), allreduce(8, "5.6"))
    assert {old.params["version"], new.params["version"]} == {
        "OSU Micro-Benchmarks 7.3",
        "OSU Micro-Benchmarks 5.6",
    }
    assert "repeat" not in old.params


def test_only_equal_measurands_are_repeats() -> None:
    first, second = figures(allreduce(8), allreduce(8))
    assert (first.params["repeat"], second.params["repeat"]) == (1, 2)
    assert "ranks" not in first.params
    assert first.measurand.layout.ranks == 8, "the layout states it although it tells nothing apart"


def test_modes_of_a_tool() -> None:
    texts = "".join(
        _SOCKPERF.format(mode=mode, time=time) for mode, time in (("ping-pong", "6.15"), ("under-load", "21.4"))
    )
    found = {each.params["mode"]: each.median for each in figures(texts)}
    assert found == {"ping-pong": pytest.approx(6.15e-6), "under-load": pytest.approx(21.4e-6)}


def test_datatypes_of_one_program() -> None:
    found = {(each.params["datatype"], each.params["bytes"]): each.median for each in figures(_DATATYPES)}
    assert len(found) == 4
    assert found["contiguous", 8] == pytest.approx(1.44e-6)
    assert found["mpi_int", 16] == pytest.approx(1.57e-6)


def test_both_directions_of_a_test() -> None:
    rates = {
        (e.measurand.direction, e.kernel): e.median
        for e in figures(json.dumps(_BOTH, indent=1))
        if e.metric == "bandwidth"
    }
    assert rates == {
        ("out", "sender"): 4e8,
        ("out", "receiver"): 3.875e8,
        ("in", "sender"): 1.1875e9,
        ("in", "receiver"): 1.175e9,
    }
    lost = {
        e.measurand.direction: e.median for e in figures(json.dumps(_BOTH, indent=1)) if e.metric == "retransmits"
    }
    assert lost == {"out": 26, "in": 16}
