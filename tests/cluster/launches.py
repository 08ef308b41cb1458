"""Every launch inside the guest, by name: one boot runs them all."""

from collections.abc import Iterable, Mapping

from tests.cluster.guest import CPUS, CPUS_OF, NODES

from assay.catalogue import benchmarks
from assay.model.benchmark import Benchmark

#: Three arrays without gaps between their touched pages: they end inside a page, and less than a page separates
#: them.
ELEMENTS = 33024
PAGES = 196
#: Twelve huge pages, four in each array.
LARGE_ELEMENTS = 2**20
SMALL = 65536
QUICK = ("--seconds", "0.02", "--max-samples", "10")

_STREAM = ("stream", *QUICK, "--elements", str(ELEMENTS))
_LARGE = ("stream", *QUICK, "--elements", str(LARGE_ELEMENTS))
#: Long enough for a change of its group while it measures; it ends as soon as the samples are taken.
_LONG = ("stream", "--elements", str(ELEMENTS), "--seconds", "5", "--precision", "1e-9", "--max-samples", "1M")


def matrix_name(benchmark: str, cpu_node: int, memory_node: int) -> str:
    """The launch of one cell."""
    return f"{benchmark}-cpu-{cpu_node}-memory-{memory_node}"


def cpus_from(node: int, count: int) -> tuple[int, ...]:
    """So many cpus, those of the node first."""
    first = CPUS_OF[node][0]
    return (CPUS[first:] + CPUS[:first])[:count]


def smallest(benchmark: Benchmark) -> tuple[str, ...]:
    """The program with its axes at their first values, or at a small size."""
    axes = {axis.name: axis.values[0] if axis.values else SMALL for axis in benchmark.axes}
    return (
        benchmark.program,
        *QUICK,
        *(word for name, value in axes.items() for word in (f"--{name}", str(value))),
    )


def declared() -> tuple[Benchmark, ...]:
    """Every benchmark of a single process without further needs: the machine has no MPI and no libraries."""
    every = map(benchmarks.get, benchmarks.names())
    return tuple(each for each in every if each.launcher == "direct" and not each.needs and not each.foreign)


def all_launches() -> dict[str, tuple[str, ...]]:
    """Name -> command line; `within` and `moved` are functions of `init.sh`."""
    return {
        **_bound(),
        **_touched(),
        **_matrix(declared()),
        "absent-cpu": (*_STREAM, "--cpus", "8"),
        "absent-node": (*_STREAM, "--cpus", "0", "--memory", "bind:4"),
        **_grouped(),
    }


def _bound() -> dict[str, tuple[str, ...]]:
    far = {0: "6", 1: "4", 2: "1", 3: "0"}
    return {
        **{f"bind-{node}": (*_LARGE, "--cpus", cpu, "--memory", f"bind:{node}") for node, cpu in far.items()},
        "bind-two": (*_STREAM, "--cpus", "0,6", "--memory", "bind:1,2"),
        "interleave": (*_STREAM, "--cpus", "5", "--memory", "interleave:0-3"),
        "interleave-huge": (*_LARGE, "--cpus", "5", "--memory", "interleave:0-3"),
        "interleave-two": (*_STREAM, "--cpus", "0", "--memory", "interleave:1,3"),
    }


def _touched() -> dict[str, tuple[str, ...]]:
    places = {**{f"on-{node}": str(CPUS_OF[node][1]) for node in NODES}, "one-each": "0,2,4,6", "uneven": "7,2,6"}
    orders = {"forward": "0-7", "reversed": "7,6,5,4,3,2,1,0", "two-sockets": "6,1,4,3"}
    return {
        **{f"touch-{name}": (*_STREAM, "--cpus", cpus) for name, cpus in places.items()},
        "touch-serial": (*_STREAM, "--cpus", "6,0,2,4", "--touch", "serial"),
        **{f"order-{name}": (*_STREAM, "--cpus", cpus) for name, cpus in orders.items()},
    }


def cells(benchmark: Benchmark) -> tuple[tuple[int, int], ...]:
    """Cpu node and memory node of its launches: each with each for one program; all bind by the same code."""
    if benchmark.name == "stream":
        return tuple((here, there) for here in NODES for there in NODES)
    return tuple(zip(NODES, reversed(NODES), strict=True))


def _matrix(measured: Iterable[Benchmark]) -> Mapping[str, tuple[str, ...]]:
    """Cpu node x memory node, of each benchmark."""
    return {
        matrix_name(benchmark.name, here, there): (
            *smallest(benchmark),
            *("--cpus", ",".join(map(str, cpus_from(here, benchmark.min_cpus))), "--memory", f"bind:{there}"),
        )
        for benchmark in measured
        for here, there in cells(benchmark)
    }


def _grouped() -> dict[str, tuple[str, ...]]:
    """In the group `narrow`: cpus 0 to 3 and memory node 1. The other groups change while a program measures."""
    narrow = ("within", "narrow", *_STREAM, "--cpus")
    return {
        "narrow-default": (*narrow, "0"),
        "narrow-bind-1": (*narrow, "0", "--memory", "bind:1"),
        "narrow-bind-0": (*narrow, "0", "--memory", "bind:0"),
        "narrow-bind-0-1": (*narrow, "0", "--memory", "bind:0,1"),
        "narrow-interleave": (*narrow, "0", "--memory", "interleave:0-3"),
        "narrow-cpu": (*narrow, "4"),
        "moved-cpus": ("moved", "cpus", "cpuset.cpus", "3", "Cpus_allowed_list:.0$", *_LONG, "--cpus", "0"),
        "moved-nodes": (
            "moved",
            "nodes",
            "cpuset.mems",
            "1",
            "bind:0",
            *_LONG,
            "--cpus",
            "0",
            "--memory",
            "bind:0",
        ),
    }
