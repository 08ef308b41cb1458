"""The words by which declarations say what figures and axes mean."""

from collections.abc import Mapping
from typing import Literal

#: What a metric says of a machine: limits, laws and rules ask for it, never for a benchmark by name.
Role = Literal[
    "memory-rate",  # bytes that the source code names, between cores and memory
    "memory-traffic",  # bytes that memory must move for that, write-allocate included
    "copy-rate",  # bytes that one core copies, counted once
    "copy-time",  # of one copy
    "flop-rate",  # operations in registers: what units and clock allow
    "loop-rate",  # operations of loops as a compiler makes them
    "matrix-rate",  # operations of a library's matrix product
    "system-rate",  # operations of a dense system of equations, solved whole
    "mixed-system-rate",  # the same, of one that low precision may help to solve
    "sparse-rate",  # operations of a sparse system of equations, which memory decides
    "stencil-rate",  # operations of a stencil, which memory decides
    "solution-rate",  # work of a whole problem, as its program counts it
    "solution-flop-rate",  # floating-point operations of a whole problem
    "clock",  # of a core that works alone
    "loaded-clock",  # of cores that all work
    "load-latency",  # of a load that waits for the one before
    "loaded-latency",  # the same, while other cores read from memory
    "hand-over-time",  # of a cache line, from core to core, one way
    "message-time",  # one way
    "message-bandwidth",  # bytes of messages
    "message-rate",  # messages
    "collective-time",  # of a collective operation, for its slowest rank
    "collective-mean-time",  # the same, mean over the ranks
    "overlap-time",  # of a collective operation, of computing, and of both at once
    "solution-time",  # of one solution of a whole program, by its own clock
    "step-time",  # of one step of a solution that goes on in time
    "phase-time",  # of a part of a solution, mean over its ranks
    "program-time",  # from the start of a whole program to its end
]
#: What an axis varies, where more than its own benchmark asks for it.
AxisRole = Literal[
    "message-size",  # bytes of a message
    "block-size",  # bytes that are copied
    "working-set",  # bytes that are met again and again
    "size-offset",  # bytes that are added to the size
    "idle-gap",  # time asleep before a message
    "message-pattern",  # how messages pass between ranks
    "operation-name",  # what is done at all
    "buffer-reuse",  # whether buffers are met again in cache
    "pause",  # turns of an empty loop between loads: what is drawn then is not all that memory gives
    "precision",  # of the numbers
    "instruction-width",  # bits of an instruction
    "instruction-mix",  # which operations
    "segment-size",  # most bytes of a segment of sockets
    "order",  # of a system: memory grows by its square, work by its cube
    "address-family",  # of sockets
    "copies",  # whether ranks share a problem (`sharing`), or each has one of its own (`independent`)
]
#: What a level of an axis means, where more than its own benchmark asks for it.
LevelRole = Literal[
    "fused",  # operations that count twice: with them a core does most
    "beyond-caches",  # buffers that no cache holds
]
#: A rate -> those of problems that do most of their work at it: theirs come first.
WORK_OF: Mapping[Role, frozenset[Role]] = {"matrix-rate": frozenset(("system-rate", "mixed-system-rate"))}
#: Rates of work that cores share something for: memory, or messages. Operations in registers share nothing.
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
