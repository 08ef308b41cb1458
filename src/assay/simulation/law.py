"""How a simulated machine behaves: every figure is known, so results can be compared with it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FaultKind = Literal[
    "crash", "hang", "garbage", "refuses", "wrong-result", "misplaced", "interrupt", "cannot-start",
    "uneven", "swapped", "other-device", "unreported",
]  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong on purpose.

    Attributes:
        kind: `crash` ends the program by a signal in the case, `hang` never ends, `garbage` breaks a line of its
            output, `refuses` exits 4 without records, `cannot-start` ends the case without a header,
            `wrong-result` fails the verdict, `misplaced` runs on other cpus, `interrupt` is the user's Ctrl-C. For
            ranks that pass messages: `uneven` lets them record different numbers of samples, `swapped` starts them
            on each other's hosts, with each other's devices. With `other-device` the first rank opens another
            device, `unreported` leaves out what ranks opened.
        case: part of the case's id; every case where empty.
        starts: numbers of the starts of such a case, from 0; all of them where empty.
    """

    kind: FaultKind
    case: str = ""
    starts: tuple[int, ...] = ()


@dataclass(frozen=True)
class SlowPart:
    """One node does one thing slower than the others.

    Attributes:
        host: the node.
        factor: on the rate of the kernel there.
        kernel: name; every kernel where empty.
        case: part of the case's id; every case where empty.
    """

    host: str
    factor: float
    kernel: str = ""
    case: str = ""


@dataclass(frozen=True)
class Burst:
    """Other processes use `share` of all cpus from `start_s` to `end_s` on the machine's clock."""

    start_s: float
    end_s: float
    share: float


@dataclass(frozen=True)
class Link:
    """The law of a network or shared-memory link.

    Attributes:
        latency_s: of an empty message, one way.
        rate: bytes per second of one pair, one direction.
        most: bytes per second of all pairs together, one direction.
        duplex: rate of both directions together over one.
        gap_s: cost of each message of a window in addition to its bytes.
        eager_bytes: larger messages are announced first ...
        rendezvous_s: ... which takes this time.
    """

    latency_s: float
    rate: float
    most: float
    duplex: float = 2.0
    gap_s: float = 1e-7
    eager_bytes: int = 2**62
    rendezvous_s: float = 0.0


#: What two ranks do not share -> the link between them; `host` for all networks without a link of their own.
_LINKS = {
    "core": Link(2.5e-7, 10e9, 40e9, duplex=1.8),
    "l3": Link(4e-7, 8e9, 40e9, duplex=1.8),
    "numa": Link(5e-7, 7e9, 40e9, duplex=1.8),
    "package": Link(8e-7, 6e9, 40e9, duplex=1.8),
    "host": Link(1.6e-6, 12e9, 12.3e9),
}


@dataclass(frozen=True)
class Law:
    """What is true of a simulated machine, in SI units.

    Attributes:
        core_traffic: bytes per second that one core can draw from its own node's memory.
        node_traffic: bytes per second of the memory of one NUMA node.
        remote: share of these rates that is left for memory of another node.
        contention: share of a node's rate that is lost when all of its cores draw at once.
        kernels: factor on its rate in memory; 1 where absent.
        held: cache level -> bytes that this guest gets of each such cache, whatever size it claims; all if absent.
        cache_rates: cache level -> bytes per second that one core copies while everything lies in that cache.
        copy_rate: bytes per second that one core copies in memory.
        call_s: cost of one call of a copy.
        load_s: cache level -> time of a dependent load.
        memory_load_s: the same for memory of the own node.
        remote_load: factor on it for memory of another node.
        tlb_bytes: working set in small pages from which on a load walks the page table ...
        tlb_s: ... which takes this additional time.
        clock_hz: clock of a core while few cores work.
        loaded_clock_hz: clock while all cores work.
        fma_units: number of units of a core.
        blas_share: share of the peak of its cores that a BLAS library reaches.
        vector_bits: width of such a unit.
        load_queue: factor on the latency of memory when all of its bandwidth is drawn.
        smt: factor on the bandwidth of a core when all of its threads work.
        handover: state -> time of a cache-line transfer between two cores.
        handover_far: what two cpus do not share (`core`, `l3` ...) -> factor on it; the last one counts.
        slow_pairs: pair of cpus -> factor on their transfer.
        speed: state -> factor on every rate.
        flips: (time, state): the state from this time on; at the start it is the first one of `handover`.
        eager_variable: environment variable that sets `eager_bytes` of every link of an MPI; empty for none.
        links: what two ranks do not share (`core`, `l3`, `numa`, `package`, `host`), or the device of a requested
            network -> the link of their messages.
        cards: device of a network -> NUMA node of its card on every host; empty where all cores are equally near.
        card_near: what cores share with a card that are near it: its NUMA node, or its package.
        far_card: additional seconds of a message for each end that is not near its card, and the share of the link
            rate that is left if one end is not.
        wake: after this number of seconds asleep a message takes this much longer, in seconds.
        slow_paths: pair of hosts, in the order of the launch -> factor on the time of messages between them.
        fabric: bytes per second of all links between nodes together, in one direction.
        overlapped: share of a collective operation that is hidden behind computing without calls of MPI, and with
            calls.
        longest_frame: of TCP, bytes as MTUs count; longer frames are lost on every link.
        frames: MTU in bytes of every link of TCP, and seconds that the kernel spends on each frame.
        segments: TCP segments set the `eager_bytes` of every link.
        socket_buffers: the socket buffers of a program set the `eager_bytes` of TCP on every link.
        tcp: factors for sockets in place of MPI, on the latency and on the time per byte of every link.
        interfaces: of every host; the first one carries messages without a requested network.
        detours: requested network, or `inside` for messages of one host -> interface that carries them instead.
        one_kernel: whether all hosts are one machine, by their boot ids.
        crowded: share of the rate of products that is left on each host while several hosts work.
        nanoseconds: whether its clock counts whole nanoseconds, as real clocks do; else it is exact.
        noise: sigma of the lognormal noise of a sample.
        launch_noise: sigma of the noise that all samples of one case in one launch share.
        drift: relative slowing per second of the machine's clock.
        slow_cores: cpu -> factor on its rate.
        slow_hosts: host -> factor on every rate.
        slow_parts: further factors, on the rates of single kernels or cases of a host.
        jitter: sigma of the lognormal factor on each piece of work of a rank that others wait for.
        steal: share of the cpu time that a hypervisor takes.
        bursts: foreign load.
        sampled_s: least seconds of sampling of a kernel, 20 ms in the native programs. With 0 samples are few and
            short, so records are small and runs take less time than real ones.
        spawn_s: time to start and end a process.
        touch_rate: first touch of fresh pages, bytes per second.
        faults: planted faults.
        commands: command line that sets a level of a factor -> factor on every rate of its hosts from then on,
            until another command of the same program; 0 where it fails.
    """

    core_traffic: float = 12e9
    node_traffic: float = 30e9
    remote: float = 0.6
    contention: float = 0.0
    kernels: Mapping[str, float] = field(default_factory=dict)
    held: Mapping[int, int] = field(default_factory=dict)
    cache_rates: Mapping[int, float] = field(default_factory=lambda: {1: 60e9, 2: 35e9, 3: 18e9, 4: 12e9})
    copy_rate: float = 6e9
    call_s: float = 4e-9
    load_s: Mapping[int, float] = field(default_factory=lambda: {1: 1.2e-9, 2: 4e-9, 3: 14e-9, 4: 40e-9})
    memory_load_s: float = 90e-9
    remote_load: float = 1.2
    tlb_bytes: int = 2**62
    tlb_s: float = 0.0
    clock_hz: float = 3e9
    loaded_clock_hz: float = 3e9
    fma_units: int = 2
    blas_share: float = 0.9
    vector_bits: int = 512
    load_queue: float = 2.5
    smt: float = 1.0
    handover: Mapping[str, float] = field(default_factory=lambda: {"near": 28e-9, "far": 125e-9})
    handover_far: Mapping[str, float] = field(
        default_factory=lambda: {"core": 1.0, "l3": 2.0, "numa": 3.0, "package": 5.0}
    )
    slow_pairs: Mapping[tuple[int, int], float] = field(default_factory=dict)
    speed: Mapping[str, float] = field(default_factory=lambda: {"near": 1.0, "far": 0.6})
    flips: tuple[tuple[float, str], ...] = ()
    links: Mapping[str, Link] = field(default_factory=lambda: dict(_LINKS))
    eager_variable: str = ""
    cards: Mapping[str, int] = field(default_factory=dict)
    card_near: Literal["numa", "package"] = "numa"
    far_card: tuple[float, float] = (0.0, 1.0)
    wake: tuple[float, float] = (math.inf, 0.0)
    slow_paths: Mapping[tuple[str, str], float] = field(default_factory=dict)
    fabric: float = math.inf
    overlapped: tuple[float, float] = (0.1, 0.7)
    longest_frame: int = 2**62
    frames: tuple[int, float] = (1500, 0.0)
    segments: bool = False
    socket_buffers: bool = False
    tcp: tuple[float, float] = (8.0, 2.0)
    interfaces: tuple[str, ...] = ("eth0", "eth1")
    detours: Mapping[str, str] = field(default_factory=dict)
    one_kernel: bool = False
    crowded: float = 1.0
    nanoseconds: bool = False
    noise: float = 0.004
    launch_noise: float = 0.003
    drift: float = 0.0
    slow_cores: Mapping[int, float] = field(default_factory=dict)
    slow_hosts: Mapping[str, float] = field(default_factory=dict)
    slow_parts: tuple[SlowPart, ...] = ()
    jitter: float = 0.0
    steal: float = 0.0
    bursts: tuple[Burst, ...] = ()
    sampled_s: float = 0.0
    spawn_s: float = 0.01
    touch_rate: float = 4e9
    faults: tuple[Fault, ...] = ()
    commands: Mapping[str, float] = field(default_factory=dict)
