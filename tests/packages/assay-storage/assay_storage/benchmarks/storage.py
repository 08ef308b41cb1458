"""A file that is written, made durable, closed and read back."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Axis, Metric, Params

#: Bytes per second and seconds of a solution beside that, for plans only: assumptions.
_RATE, _FIXED_S = 3e8, 0.01


def _seconds(params: Params) -> float:
    return _FIXED_S + 2 * int(params["bytes"]) / _RATE


benchmark = Benchmark(
    name="storage",
    title="A file written, made durable and read back",
    measures="how fast one process writes a file that survives a power cut, and reads it back",
    source="POSIX.1-2024, write, fsync, read",
    program="storage",
    kernels=("stored", "write", "fsync", "close", "read"),
    axes=(
        Axis("bytes", "size of the file", (2**20, 2**24, 2**26), 2**26, "B", swept=True),
        Axis("block", "bytes of each call of write and read", (2**12, 2**20), 2**20, "B"),
    ),
    metrics=(
        Metric(
            "rate",
            "B/s",
            "higher",
            "bytes",
            "bytes of the file over the time of write, fsync and close together",
            limit="storage",
            kernels=("stored",),
            role="storage-write-rate",
        ),
        Metric(
            "read-rate",
            "B/s",
            "higher",
            "bytes",
            "bytes read back, after the kernel was asked to drop them from its cache",
            limit="storage",
            kernels=("read",),
            role="storage-read-rate",
        ),
        Metric(
            "seconds",
            "s",
            "lower",
            "",
            "duration of the phase",
            kernels=("write", "fsync", "close"),
            role="phase-time",
        ),
    ),
    memory_bytes=lambda params, _placement: 2 * int(params["bytes"]),
    max_cpus=1,
    folder=True,
    folder_bytes=lambda params: int(params["bytes"]),
    setup_seconds=lambda params: int(params["bytes"]) / 1e9,
    iteration_seconds=_seconds,
)
