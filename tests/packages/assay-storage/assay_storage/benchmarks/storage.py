"""A file that is written, made durable, closed and read back."""

from assay.catalogue.declaration_files import declared
from assay.model.benchmark import Benchmark
from assay.model.declaration import Params

#: Bytes per second and seconds of a solution beside that, for plans only: assumptions.
_RATE, _FIXED_S = 3e8, 0.01


def _seconds(params: Params) -> float:
    return _FIXED_S + 2 * int(params["bytes"]) / _RATE


benchmark = Benchmark(
    **declared("storage"),
    memory_bytes=lambda params, _placement: 2 * int(params["bytes"]),
    folder_bytes=lambda params: int(params["bytes"]),
    setup_seconds=lambda params: int(params["bytes"]) / 1e9,
    iteration_seconds=_seconds,
)
