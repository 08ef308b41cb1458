"""What a figure is of; metrology calls it the measurand. Two figures are compared by it."""

from collections.abc import Collection, Iterator
from functools import cached_property
from hashlib import sha256
from typing import Literal

import msgspec

from assay.model.declaration import ParamValue
from assay.model.imported import UNSTATED

#: A number, or that its source does not state it.
Count = int | Literal["not stated"]
#: How bytes pass; empty if none do.
Direction = Literal["", "one way", "both ways", "round trip", "out", "in", "not stated"]
#: What a factor varies, if figures of other systems have it under other names.
FactorRole = Literal["", "network", "mpi", "compiler", "blas", "system"]
#: Part of a layout: which share of the cores works.
SHARE = "share of cores"
ONE_WAY: Direction = "one way"
#: Parts without which two figures are of different quantities.
QUANTITY = ("program", "kernel", "metric", "unit", "direction")
#: Parts that say how many processes run, and where.
COUNTS = frozenset(("ranks", "ranks per node", "threads per rank"))
PLACES = frozenset(("part", "relation", "card", "folder", "device", SHARE))
#: All parts that a placement decides.
PLACEMENT = COUNTS | PLACES | {"nodes"}
_SEPARATOR = "\x1f"
#: Names of parts that are no axes. An axis of such a name is the part `axis NAME`: one must not hide the other.
NO_AXES = frozenset(
    (
        *("program", "version", *QUANTITY, "nodes", "ranks", "ranks per node", "threads per rank"),
        *("devices per rank", SHARE, "part", "relation", "card", "memory", "folder", "device"),
        *("network", "mpi", "compiler", "blas", "system"),
    )
)


class AxisValue(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of one axis of the program.

    Attributes:
        name: of the axis.
        value: on it, or `not stated`.
        role: see Axis; empty without one.
        unit: of numbers.
        basis: `chosen`; the program's `default`; or `derived` from the machine and the placement, which
            distinguishes no measurands.
    """

    name: str
    value: ParamValue
    role: str = ""
    unit: str = ""
    basis: Literal["chosen", "default", "derived"] = "chosen"

    @property
    def part(self) -> str:
        """Its name among the parts of a measurand."""
        return f"axis {self.name}" if self.name in NO_AXES else self.name


class Level(msgspec.Struct, frozen=True, omit_defaults=True):
    """The level of a factor, or of a part of the system that may be varied as one.

    Attributes:
        factor: name.
        level: as the run or the source names it.
        role: what it varies.
        kind: of a level with a role: `Ethernet`, `openmpi`, `gcc`, `openblas`, `Linux`.
        rate: of a network, in B/s; 0 if unknown.
        named: whether only its name distinguishes it from another level in the same run.
        varied: whether it is a level of a factor; else it is what all figures of the run used.
    """

    factor: str
    level: str
    role: FactorRole = ""
    kind: str = ""
    rate: float = 0.0
    named: bool = False
    varied: bool = True

    @property
    def identity(self) -> str:
        """What counts: kind and rate, of levels without a kind the name."""
        if not self.kind:
            return self.level
        rate = f" {8e-9 * self.rate:g} Gbit/s" if self.rate else ""
        return f"{self.kind}{rate}{f' ({self.level})' if self.named else ''}"


class Layout(msgspec.Struct, frozen=True):
    """How many processes run, and on how much.

    Attributes:
        nodes: number of nodes.
        ranks: processes on all of them.
        ranks_per_node: processes of a node.
        threads_per_rank: cpus of a process.
        devices_per_rank: devices of a process.
        share: of a node's cores: `all cores`, `half of the cores`, `all threads`; empty if the counts say it.
    """

    nodes: Count = UNSTATED
    ranks: Count = UNSTATED
    ranks_per_node: Count = UNSTATED
    threads_per_rank: Count = UNSTATED
    devices_per_rank: Count = 0
    share: str = ""


class Places(msgspec.Struct, frozen=True):
    """Where the processes are, in relation to each other and to what they use.

    Attributes:
        part: part of each node, `numa 3`; empty for no special part.
        relation: the largest step between two of its cpus: `one cpu`, `same core`, `same L3`, `same NUMA node`,
            `same socket`, `other socket`, `other node`.
        card: `near` or `far` from the network card; empty if no card is used.
        memory: memory policy.
        folder: type of the file system of its folder, `ext4`; empty if it uses none.
        device: model of its devices, or the profile of a partition; empty if it uses none.
    """

    part: str = ""
    relation: str = UNSTATED
    card: str = ""
    memory: str = "first-touch"
    folder: str = ""
    device: str = ""

    @property
    def kind(self) -> str:
        """The kind of the part, `numa`; empty for no special part."""
        return self.part.partition(" ")[0]


class Part(msgspec.Struct, frozen=True):
    """A part in which two measurands differ; a value may be `not stated`."""

    name: str
    a: str
    b: str

    @property
    def is_contradiction(self) -> bool:
        """Whether both state it."""
        return UNSTATED not in {self.a, self.b}


class Match(msgspec.Struct, frozen=True):
    """How two measurands compare.

    Attributes:
        kind: `equal`; `comparable`, they differ in `parts` only; or `different`, not comparable.
        parts: in which they differ.
    """

    kind: Literal["equal", "comparable", "different"]
    parts: tuple[Part, ...] = ()


class Measurand(msgspec.Struct, frozen=True, dict=True, kw_only=True):
    """What a figure is of. Every part has a value or is `not stated`.

    Attributes:
        program: name of the definition: Assay's benchmark, or the tool of others.
        version: of the definition: a number of the declaration, or the tool and its version. Where it changes,
            figures are of another measurand.
        kernel: name.
        metric: name.
        role: what the metric says about a machine; empty without a role.
        unit: SI base unit.
        better: direction in which the figure is better.
        direction: how bytes pass.
        axes: values of all axes, sorted by name.
        layout: processes and cpus.
        places: where they are.
        levels: levels of factors, and of parts of the system with a role, sorted by factor.
    """

    program: str
    version: str
    kernel: str
    metric: str
    role: str = ""
    unit: str = ""
    better: Literal["higher", "lower"] = "higher"
    direction: Direction = ""
    axes: tuple[AxisValue, ...] = ()
    layout: Layout = Layout()
    places: Places = Places()
    levels: tuple[Level, ...] = ()

    @cached_property
    def parts(self) -> dict[str, str]:
        """Name -> value of every part that distinguishes measurands, in the order of reading.

        Axes at the program's default are left out, as are derived ones: a later version may add an axis. Names of
        parts are unique: a factor named as an axis replaces it.
        """
        layout, places = self.layout, self.places
        found = {
            "program": self.program,
            "version": self.version,
            "kernel": self.kernel,
            "metric": self.metric,
            "unit": self.unit,
            "direction": self.direction,
            **{axis.part: str(axis.value) for axis in self.axes if axis.basis == "chosen"},
            "nodes": str(layout.nodes),
            "ranks": str(layout.ranks),
            "ranks per node": str(layout.ranks_per_node),
            "threads per rank": str(layout.threads_per_rank),
            "devices per rank": str(layout.devices_per_rank or ""),
            SHARE: layout.share,
            "part": places.part,
            "relation": places.relation,
            "card": places.card,
            "memory": places.memory,
            "folder": places.folder,
            "device": places.device,
            **{level.role or level.factor: level.identity for level in self.levels},
        }
        return {name: value for name, value in found.items() if value}

    @cached_property
    def key(self) -> str:
        """`stream/triad/bandwidth@` and a hash of `parts`: stable from one version of Assay to the next."""
        words = sorted(_SEPARATOR.join(part) for part in self.parts.items())
        digest = sha256("\n".join(words).encode()).hexdigest()[:16]
        return f"{self.program}/{self.kernel}/{self.metric}@{digest}"

    def but(self, names: Collection[str]) -> frozenset[tuple[str, str]]:
        """Its parts without those of these names."""
        return frozenset(part for part in self.parts.items() if part[0] not in names)

    def stated(self, but: Collection[str]) -> frozenset[tuple[str, str]]:
        """The same without parts that are not stated: figures of one source share what it leaves unsaid."""
        return frozenset(part for part in self.but(but) if part[1] != UNSTATED)

    @cached_property
    def usual(self) -> dict[str, str]:
        """Axis -> value, of axes at the default and of derived ones, which `parts` leaves out."""
        return {axis.part: str(axis.value) for axis in self.axes if axis.basis != "chosen"}


def matches(a: Measurand, b: Measurand) -> Match:
    """Say whether two figures are of one measurand, or in which named parts they differ.

    An axis that one of them lacks is at its default there: that version of the program had no such axis. What is
    `not stated` equals nothing, not even itself: two sources may leave unsaid what differs.
    """
    parts = tuple(_differing(a, b))
    if any(part.name in QUANTITY and part.is_contradiction for part in parts):
        return Match("different", parts)
    return Match("comparable", parts) if parts else Match("equal")


def _differing(a: Measurand, b: Measurand) -> Iterator[Part]:
    of_a, of_b = b.usual | a.usual | a.parts, a.usual | b.usual | b.parts
    for name in dict.fromkeys((*a.parts, *b.parts)):
        one, other = of_a.get(name, ""), of_b.get(name, "")
        if one != other or one == UNSTATED:
            yield Part(name, one, other)
