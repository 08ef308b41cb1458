"""The time of one load, by working set and by size of pages."""

from collections.abc import Iterable

from assay.model.benchmark import Benchmark, Resources
from assay.model.declaration import Axis, Metric, Params

#: Cache line of a machine that does not state its size.
LINE_BYTES = 64
SEED = 1
SEEDS = Axis("seed", "of the random cycle", (SEED,), None)
_HUGE_PAGE_BYTES = 2 * 2**20
#: The order of the lines, 4 bytes each, is needed until they are linked.
ORDER_BYTES = 4
#: Set-up: time to link a line and to visit it on a first lap that checks all lines and fills the caches; first
#: touch, bytes per second; time of a load from memory. Assumptions for plans only.
_LINK_S = 45e-9
TOUCH_RATE = 3e9
_LOAD_S = 200e-9


def pages(of: str) -> Axis:
    """Return the axis of the page size of some memory."""
    return Axis(
        "pages",
        f"size of the pages of {of}",
        ("small", "huge"),
        "small",
        needs={"huge": ("always", "madvise")},
        needs_of=("memory", "transparent huge pages"),
    )


def _points(resources: Resources, _params: Params) -> Iterable[Params]:
    used = set(resources.placement.cpus)
    caches = (cache for cache in resources.topology.caches if used & set(cache.cpus))
    lines = [cache.line_bytes for cache in caches if cache.line_bytes]
    yield {"line": max(lines, default=LINE_BYTES), "seed": SEED}


def _memory_bytes(params: Params) -> int:
    size = int(params["bytes"])
    rounded = -(-size // _HUGE_PAGE_BYTES) * _HUGE_PAGE_BYTES if params["pages"] == "huge" else size
    return rounded + ORDER_BYTES * size // int(params["line"])


def _touch_seconds(params: Params) -> float:
    return int(params["bytes"]) / TOUCH_RATE


def _setup_seconds(params: Params) -> float:
    lines = int(params["bytes"]) / int(params["line"])
    return 0.003 + _LINK_S * lines + _touch_seconds(params)


benchmark = Benchmark(
    name="latency",
    title="Memory latency (pointer chase)",
    measures="the time of a load that depends on the previous one, by working set",
    source="pointer chase along a random cycle: S. Sattolo, An algorithm to generate a random cyclic permutation, "
    "Information Processing Letters 22, 1986; L. McVoy, C. Staelin, lmbench (lat_mem_rd), 1996",
    program="latency",
    kernels=("chase",),
    axes=(
        Axis(
            "bytes",
            "working set of the pointer chase",
            tuple(2**power for power in range(12, 29)),
            2**28,
            "B",
            swept=True,
            role="working-set",
        ),
        pages("the working set"),
        Axis("line", "distance between the loaded addresses", (64, 128, 256), None, "B"),
        SEEDS,
    ),
    metrics=(
        Metric("latency", "s", "lower", "loads", "one load that depends on the previous one", role="load-latency"),
    ),
    memory_bytes=lambda params, _placement: _memory_bytes(params),
    points=_points,
    max_cpus=1,
    setup_seconds=_setup_seconds,
    touch_seconds=_touch_seconds,
    touch_axes=("pages",),
    iteration_seconds=lambda _params: _LOAD_S,
)
