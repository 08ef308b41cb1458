"""The study `scale:NAME`: one benchmark on increasing numbers of ranks, threads and nodes."""

import re
from collections.abc import Iterator, Sequence

from assay.catalogue import benchmarks
from assay.model.benchmark import INDEPENDENT, UNCOUPLED, Benchmark
from assay.model.declaration import ParamValue
from assay.model.errors import UsageError, hint
from assay.model.plan import Measure, Study

_NUMBERS = re.compile(r"\*|(?:[1-9]\d*|all)(?:,(?:[1-9]\d*|all))*")
_SWEPT = ("ranks", "threads", "nodes")
_NODES = "2,4,8,16,32,64,all"
#: Sizes of single messages, from which larger numbers of ranks are predicted.
_MESSAGES = (0, "8:4M")
#: Buffers of messages inside a node: beyond the caches of a core, from which other data displace them.
_POOL_BYTES = 32 * 1024 * 1024
#: Sizes of an operation that overlaps with computing.
_OVERLAPPED = (64 * 1024, 1024 * 1024)
_WEIGHT = 0.3
_Axes = dict[str, tuple[ParamValue, ...] | ParamValue]


def study(name: str, sweeps: Sequence[str] = ()) -> Study:
    """One benchmark at numbers of ranks per node, threads per rank, and nodes: `ranks=1,2,4`, `nodes=1,2,all`.

    Raises:
        UsageError: no such benchmark, or it does not have these numbers.
    """
    if not benchmarks.exists(name):
        why = hint(name, benchmarks.names())
        raise UsageError(f"there is no benchmark '{name}'", why=why, remedy="assay list benchmarks")
    benchmark, numbers = benchmarks.get(name), _numbers(sweeps)
    words = _of_ranks(benchmark, numbers) if benchmark.launcher == "mpi" else _of_threads(benchmark, numbers)
    growth = benchmark.growth
    problem: _Axes = dict(benchmark.scaled)
    # If the messages of its ranks are known, one number of cores is enough to predict the next.
    at_once = 1 if growth.counts_messages else 2
    measures = [
        Measure(
            name,
            words,
            axes=problem,
            weight=_WEIGHT,
            why="the same problem on more and more cores",
            at_once=at_once,
        )
    ]
    if benchmark.larger:
        why = "a problem that grows with the cores"
        measures.append(Measure(name, words, axes=problem, weight=_WEIGHT, why=why, grows=True, at_once=at_once))
    measures += _apart(benchmark, words)
    if benchmark.launcher == "mpi":
        measures += _messages()
        if growth.overlaps:
            measures.append(_overlap(growth.overlaps))
    if benchmark.launcher == "mpi" and numbers.keys() != {"nodes"}:
        measures.append(_clock())
    return Study(
        title=f"Scaling: {benchmark.title}",
        question=f"How much faster is {benchmark.title} on more cores, and how many are worth their cost?",
        measure=tuple(measures),
        precision=0.02,
        budget_s=900,
        grows=True,
        subject=name,
    )


def _apart(benchmark: Benchmark, words: tuple[str, ...]) -> Iterator[Measure]:
    """Yield the measures without messages: of the parts of a problem if the program can, else of copies."""
    copies = benchmark.axis("copies")
    if copies and UNCOUPLED in copies.values:
        axes = benchmark.scaled | {copies.name: UNCOUPLED}
        why = "the same parts on the same cores without any message: what cores, and nodes, cost"
        for grows in (False, True)[: 1 + (benchmark.larger is not None)]:
            yield Measure(benchmark.name, words, axes=axes, weight=_WEIGHT, why=why, grows=grows)
    elif copies:
        axes = benchmark.scaled | {copies.name: INDEPENDENT}
        why = "independent copies on the same cores: what cores, and nodes, cost without any message"
        yield Measure(benchmark.name, words, axes=axes, weight=_WEIGHT, why=why)


def _numbers(sweeps: Sequence[str]) -> dict[str, str]:
    """Swept quantity -> its numbers."""
    found: dict[str, str] = {}
    for sweep in sweeps:
        what, _, numbers = sweep.partition("=")
        if what not in _SWEPT or not _NUMBERS.fullmatch(numbers):
            raise UsageError(
                f"'{sweep}' is not a sweep",
                why=f"it is one of {', '.join(_SWEPT)}, then numbers, all, or * for 1, 2, 4 ... all",
                remedy="--sweep ranks=1,2,4,all",
            )
        if what in found:
            raise UsageError(
                f"'{what}' is swept twice", why="one --sweep names all numbers", remedy=f"--sweep {what}=1,2"
            )
        found[what] = numbers
    return found


def _of_ranks(benchmark: Benchmark, numbers: dict[str, str]) -> tuple[str, ...]:
    """Placement words of an MPI program."""
    if "threads" in numbers and benchmark.max_rank_cpus == 1:
        raise UsageError(
            f"a rank of {benchmark.name} has one thread",
            why="its program has no threads",
            remedy=f"assay plan scale:{benchmark.name} --sweep ranks=1,2,4,all",
        )
    if not numbers.get("threads", "1").replace(",", "").isdecimal():
        raise UsageError(
            f"threads={numbers['threads']} names no numbers",
            why="how many cores a rank can have depends on how many ranks there are",
            remedy=f"assay plan scale:{benchmark.name} --sweep threads=1,2,4",
        )
    if not numbers:
        return ("*x1", f"all@{_NODES}")
    if numbers.keys() == {"nodes"}:
        here: tuple[str, ...] = ("all",)
    else:
        # A word for each: a number that does not fit this machine is left out alone.
        ranks, threads = (numbers.get(what, "1").split(",") for what in ("ranks", "threads"))
        here = tuple(f"{each}x{of_each}" for of_each in threads for each in ranks)
    nodes = numbers.get("nodes", "").replace("*", f"1,{_NODES}")
    return tuple(f"{word}@{nodes}" for word in here) if nodes else here


def _of_threads(benchmark: Benchmark, numbers: dict[str, str]) -> tuple[str, ...]:
    """Placement words of a program with one process on each host."""
    if numbers.keys() - {"threads"}:
        raise UsageError(
            f"{benchmark.name} passes no messages",
            why="it is one process on each host, whose threads can be swept",
            remedy=f"assay plan scale:{benchmark.name} --sweep threads=1,2,4",
        )
    counts = numbers.get("threads", "*").split(",")
    return tuple("all" if count == "all" else f"cores:{count}" for count in counts)


def _clock() -> Measure:
    """Measure of the clock of one core and of all, with fused operations of every width, whose peak is a limit."""
    benchmark = benchmarks.measuring("loaded-clock")[0]
    mix, width = (next(a for a in benchmark.axes if a.role == r) for r in ("instruction-mix", "instruction-width"))
    fused = next(level for level, role in mix.level_roles.items() if role == "fused")
    axes: _Axes = {mix.name: fused, width.name: tuple(width.needs)}
    why = "the clock under load, and the peak in registers: what the clock explains of slower computing"
    return Measure(benchmark.name, ("one-core", "all"), axes=axes, weight=0.03, why=why)


def _messages() -> Iterator[Measure]:
    """Yield the measures of single messages inside a node and between two, by the first MPI benchmark of them.

    Those inside a node are not in the caches of a core: there a message is a copy, and ranks have other data, too.
    """
    name = next(each for each, by in benchmarks.message_curves().items() if by == "MPI")
    benchmark = benchmarks.get(name)
    pattern, size = benchmark.axis("message-pattern"), benchmark.message_size
    axes: _Axes = {size.name: _MESSAGES} if size else {}
    if pattern:
        ours = ((name, pattern.patterns[str(name)]) for name in pattern.values)
        axes[pattern.name] = next(
            name for name, own in ours if (own.figure, own.pairs, own.directions) == ("time", "one", 1)
        )
    why = "the time of messages, by which more ranks are predicted"
    reuse = next((axis for axis in benchmark.axes if "beyond-caches" in axis.level_roles.values()), None)
    cold: _Axes = {}
    if reuse:
        cold[reuse.name] = next(level for level, role in reuse.level_roles.items() if role == "beyond-caches")
        cold["pool"] = _POOL_BYTES
    for word, buffers in (("pair", cold), ("pair:other-node", {})):
        yield Measure(name, (word,), axes=axes | buffers, weight=0.03, why=why)


def _overlap(operation: str) -> Measure:
    """Measure of an operation between two nodes while both compute, with many calls of MPI meanwhile."""
    benchmark = benchmarks.measuring("overlap-time")[0]
    name, size, calls = (
        next(each for each in benchmark.axes if each.role == role)
        for role in ("operation-name", "message-size", "mpi-calls")
    )
    axes: _Axes = {name.name: operation, size.name: _OVERLAPPED, calls.name: calls.values[-1]}
    why = "how much of this operation is hidden behind computing, by which more nodes are predicted"
    return Measure(benchmark.name, ("pair:other-node",), axes=axes, weight=0.03, why=why)
