"""Collective operations of MPI: the time of the slowest rank, and of the ranks on average."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark
from assay.model.declaration import Params

_FILL_RATE = 1e9
#: Ranks assumed by plans where each rank has a block for every other one: the parameters do not give their number.
_RANKS = 64
_BLOCKS = {"gather": 1 + _RANKS, "scatter": 1 + _RANKS, "allgather": 1 + _RANKS, "alltoall": 2 * _RANKS}


def _memory_bytes(params: Params) -> int:
    return _BLOCKS.get(str(params["operation"]), 2) * int(params["bytes"])


benchmark = Benchmark(
    **declared("collective"),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    message_bytes=lambda params: int(params["bytes"]),
    setup_seconds=lambda params: 0.01 + _memory_bytes(params) / _FILL_RATE,
)
