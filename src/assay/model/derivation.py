"""How a figure follows from others, as data: a share, a loss, a speed-up, of figures that are described."""

from typing import Literal

import msgspec

from assay.model.declaration import ParamValue
from assay.model.quantity import Quantity

#: What is taken of a figure, or of the machine: see `assay.analyse.quantities`.
Aspect = str
#: Aspects of the machine alone, which nothing needs to be measured for.
OF_MACHINE = frozenset(("nominal clock", "memory nodes", "node memory", "node distance"))
#: Aspects of the slowest thread of a figure: its work over the mean of all threads, and over the time of all.
OVER_MEAN, OF_ITERATION = "slowest thread", "share of the slowest thread"
#: How the printed number states a ratio: as it is, as `30 % lower`, or as `3 % higher`.
Printed = Literal["ratio", "loss", "gain"]


class Operand(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A description of figures, in words of a study. What it does not say may be any.

    Attributes:
        benchmark: name; in a file of a reference that of its table if empty, as kernel and params.
        kernel: name; empty: the main one.
        metric: name; empty: the first one of the kernel.
        placement: placement word.
        memory: memory word; `bind:*` for each node.
        params: axis -> value.
        factors: factor -> level. Networks of two systems meet by role, whatever their names; `fastest` and
            `slowest` are those of any system that has two; of other factors `any`, `largest` and `smallest` level
            that was varied.
        where: how far the memory is from the cores: `same node`, `same socket`, `other socket`.
        take: which of several: the `best`, the `worst`, the best of the `worst node`, or the one at the largest
            value of the axis of this name.
        aspect: what is taken of it, or of the machine: its `value`, the `nominal peak` of its cores ...
        at: coordinates of the aspect: `node`, `to`.
        per: `processor` or `node`: it is divided by their number.
        reference: name of the reference that has it; empty: the system itself.
    """

    benchmark: str = ""
    kernel: str = ""
    metric: str = ""
    placement: str = ""
    memory: str = ""
    params: dict[str, ParamValue] = {}
    factors: dict[str, str] = {}
    where: str = ""
    take: str = "best"
    aspect: Aspect = "value"
    at: dict[str, ParamValue] = {}
    per: Literal["", "processor", "node"] = ""
    reference: str = ""

    @property
    def is_of_each_node(self) -> bool:
        """Whether its memory may be on any node."""
        return self.memory.endswith("*")


class Derivation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a figure follows from others.

    Attributes:
        operation: `value` of a; `ratio` a / b; `difference` a - b; `best at`: the value of the axis `along` at
            which a is best; `lowest`, `highest`: the extreme ratio a / b over all values of `along`.
        a: what is judged.
        b: what it is compared with; None for `value` and `best at`.
        along: axis, or `nodes`, for `best at`, `lowest` and `highest`.
        printed: how the number states the ratio.
    """

    operation: Literal["value", "ratio", "difference", "best at", "lowest", "highest"]
    a: Operand
    b: Operand | None = None
    along: str = ""
    printed: Printed = "ratio"

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Its operands."""
        return (self.a, self.b) if self.b else (self.a,)

    @property
    def is_ratio(self) -> bool:
        """Whether it is a ratio of its operands, of which a source may say `28 times`."""
        return self.operation in {"ratio", "lowest", "highest"}


def as_printed(figure: Quantity, form: Printed) -> Quantity:
    """Return a ratio as a source states it: .7 as a loss of .3, 1.03 as a gain of .03."""
    value, low, high = figure.parts
    if form == "loss":
        return Quantity(1 - value, 1 - high, 1 - low, figure.unit, figure.basis)
    return Quantity(value - 1, low - 1, high - 1, figure.unit, figure.basis) if form == "gain" else figure
