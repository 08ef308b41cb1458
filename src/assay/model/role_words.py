"""Names of the roles that declarations give to figures and axes."""

from collections.abc import Mapping

#: Words of declarations. The sets are open: a package may add its own, for its own limits, models and rules.
Role = str
AxisRole = str
LevelRole = str

#: Role of a metric -> what it says about a machine: limits, laws and rules use it, never the name of a benchmark.
ROLES: Mapping[str, str] = {
    "memory-rate": "bytes that the source code names, between cores and memory",
    "memory-traffic": "bytes that memory must move for that, including write-allocate",
    "copy-rate": "bytes that one core copies, counted once",
    "copy-time": "of one copy",
    "flop-rate": "operations in registers: what units and clock allow",
    "loop-rate": "operations of loops that a compiler generates",
    "matrix-rate": "operations of a library's matrix product",
    "system-rate": "operations of a dense system of equations, solved whole",
    "mixed-system-rate": "the same, if lower precision may be used",
    "sparse-rate": "operations of a sparse system of equations, limited by memory",
    "stencil-rate": "operations of a stencil, limited by memory",
    "solution-rate": "work of a whole problem, as its program counts it",
    "solution-flop-rate": "floating-point operations of a whole problem",
    "clock": "of a core that works alone",
    "loaded-clock": "of cores that all work",
    "load-latency": "of a load that waits for the one before",
    "loaded-latency": "the same, while other cores read from memory",
    "hand-over-time": "of a cache line, from core to core, one way",
    "storage-write-rate": "bytes of files, durable at the end",
    "storage-read-rate": "bytes of files that are read",
    "device-memory-rate": "bytes between a device and its own memory",
    "message-time": "one way",
    "message-bandwidth": "bytes of messages",
    "message-rate": "messages",
    "collective-time": "of a collective operation, for its slowest rank",
    "collective-mean-time": "the same, mean over the ranks",
    "overlap-time": "of a collective operation, of computing, and of both at once",
    "solution-time": "of one solution of a whole program, by its own clock",
    "step-time": "of one time step of a solution",
    "phase-time": "of a part of a solution, mean over its ranks",
    "program-time": "from the start of a whole program to its end",
}
#: Role of an axis -> what it varies, if code outside its benchmark needs to know.
AXIS_ROLES: Mapping[str, str] = {
    "message-size": "bytes of a message",
    "block-size": "bytes that are copied",
    "working-set": "bytes that are accessed repeatedly",
    "size-offset": "bytes that are added to the size",
    "idle-gap": "time asleep before a message",
    "message-pattern": "how messages pass between ranks",
    "operation-name": "the operation",
    "mpi-calls": "calls of MPI during computing, by which messages progress",
    "buffer-reuse": "whether buffers are reused in cache",
    "pause": "iterations of an empty loop between loads: the rate is then below that of memory",
    "precision": "of the numbers",
    "instruction-width": "bits of an instruction",
    "instruction-mix": "which operations",
    "segment-size": "maximum segment size of sockets",
    "order": "of a system: memory grows by its square, work by its cube",
    "address-family": "of sockets",
    "copies": "whether ranks share a problem (`sharing`), or pass no messages, each with its own "
    "(`independent`) or with its part of one (`uncoupled`)",
}
#: Role of a level -> its meaning, if code outside its benchmark needs to know.
LEVEL_ROLES: Mapping[str, str] = {
    "fused": "operations that count twice: a core's highest rate",
    "beyond-caches": "buffers larger than all caches",
    "out": "bytes leave the rank that starts the transfer",
    "in": "bytes come to it",
}
#: A rate -> rates of problems that do most of their work at it, which are shown first.
WORK_OF: Mapping[Role, frozenset[Role]] = {"matrix-rate": frozenset(("system-rate", "mixed-system-rate"))}
#: Rates of work for which cores share memory or messages. Operations in registers share nothing.
WORK_RATES: frozenset[Role] = frozenset(
    (
        "memory-rate",
        "matrix-rate",
        "system-rate",
        "mixed-system-rate",
        "stencil-rate",
        "sparse-rate",
        "solution-rate",
    )
)
#: Axes that figures of other tools have, too, under the names of our own declarations.
USUAL_AXES: Mapping[AxisRole, str] = {
    "message-size": "bytes",
    "size-offset": "offset",
    "idle-gap": "gap",
    "message-pattern": "pattern",
    "operation-name": "operation",
}

#: The usual names of the axes that make a size together.
SIZE_AXES = (USUAL_AXES["message-size"], USUAL_AXES["size-offset"])


def usual_axes(*roles: AxisRole) -> tuple[str, ...]:
    """The usual names of the axes of these roles."""
    return tuple(USUAL_AXES[role] for role in roles)
