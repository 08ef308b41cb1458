"""Published sentences as rules: a quantity of figures, and the region in which it lies if the sentence is true."""

from typing import Final, Literal

import msgspec

from assay.model.agreement import Agreement
from assay.model.declaration import ParamValue
from assay.model.derivation import Derivation
from assay.model.flaw import Flaw
from assay.model.quantity import Quantity

#: Why a region has its ends; see `REGIONS` for those that follow from the printed value. `rounded`: half of the
#: last digit that is printed; `bound`: the ends are printed themselves; `order`: one of two is the larger.
Assumption = Literal["figure", "about", "fraction", "same", "rounded", "bound", "order", "greatly"]
#: Assumption -> relative width of the region on each side of the printed value. Authors state no uncertainty, so
#: these widths are ours: a figure of another machine of the same parts differs by a few percent; `about` is said
#: of a number of one or two digits; `a third` and `half` are said of what is nearer to this than to the next
#: simple fraction; what `hardly differs` differs by less than 2 %.
REGIONS: Final[dict[str, float]] = {"figure": 0.05, "about": 0.1, "fraction": 0.2, "same": 0.02}
#: Factor by which the larger of two exceeds the smaller one, if only their order is published.
ORDER: Final = 1.01
#: The same if it is published that they differ greatly or much; a source calls 1.56 so.
GREATLY: Final = 1.5
#: What the judgement of a conclusion may say.
Truth = Literal["holds", "does not hold", "cannot be told"]
#: Why a conclusion cannot be told: its interval is partly in the region; there are too few launches for an
#: interval; an operand has no figure in the run; the run has no second network, too few nodes, or no such level of
#: a factor; it needs another machine; Assay has no program for it; the source prints no figure for it.
Doubt = Literal[
    "", "straddles", "launches", "unmeasured", "network", "nodes", "level", "machine", "program", "unprinted"
]


class Region(msgspec.Struct, frozen=True):
    """Where a quantity lies; None for an end that is open."""

    least: float | None = None
    most: float | None = None

    def holds(self, found: Quantity) -> bool | None:
        """Whether the quantity lies inside with both ends; None if it is partly inside."""
        above = self.least is None or found.lo >= self.least
        below = self.most is None or found.hi <= self.most
        outside = (self.least is not None and found.hi < self.least) or (
            self.most is not None and found.lo > self.most
        )
        return True if above and below else False if outside else None


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """A published sentence as a rule.

    Attributes:
        says: the sentence, translated.
        where: place in the publication.
        quantity: what it is about, of the figures of a run.
        stated: the number that the authors print, with its unit; empty if they print none.
        value: the same in SI units, of a range its middle with both ends; None if they print none.
        region: in which the quantity lies if the sentence is true, in SI units.
        assumes: why the region has these ends.
        unit: as printed.
        printed: the same quantity of the figures of publications, if they have other words for its operands.
    """

    says: str
    where: str
    quantity: Derivation
    region: Region
    assumes: Assumption
    stated: str = ""
    value: Quantity | None = None
    unit: str = ""
    printed: Derivation | None = None

    @property
    def of_source(self) -> Derivation:
        """The quantity of the printed figures."""
        return self.printed or self.quantity


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Of several figures that an operand describes, the one that was taken: where it is unlike the others.

    Attributes:
        benchmark: that measured it.
        params: axis -> value, of the axes in which they differ; `nodes` or `processors`, if a rule is along these.
        placement: portable word, if they differ in it.
        memory: policy, likewise.
        factors: factor -> level, likewise.
        hosts: of a figure of one node, if there are others of other nodes.
    """

    benchmark: str = ""
    params: dict[str, ParamValue] = {}
    placement: str = ""
    memory: str = ""
    factors: dict[str, str] = {}
    hosts: tuple[str, ...] = ()


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A conclusion, judged by figures.

    Attributes:
        conclusion: the rule.
        truth: `holds` if the whole interval of its quantity lies in the region, `does not hold` if outside.
        quantity: the quantity; None if an operand has no figure.
        of: ids of the estimates of its operands.
        choices: of each operand, which of several figures was taken, as the best or the largest; empty if none had
            several.
        printed: the quantity of the printed figures; None if the source does not print them.
        agreement: how the quantity compares with what is published; None without either.
        holds_printed: whether that lies in the region.
        is_stated: whether the source prints the quantity itself, without the figures from which it follows.
        blocks: blocks that both operands share, of which the ratio is paired; 0 if it is not.
        doubt: why it cannot be told.
        detail: what is missing, as text.
        command: command that would decide it; empty without one.
        flaw: why the figures that it rests on are not to be used; the verdict stands beside it.
    """

    conclusion: Conclusion
    truth: Truth
    quantity: Quantity | None = None
    of: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    printed: Quantity | None = None
    agreement: Agreement | None = None
    holds_printed: bool | None = None
    is_stated: bool = False
    blocks: int = 0
    doubt: Doubt = ""
    detail: str = ""
    command: str = ""
    flaw: Flaw = ""

    @property
    def fails(self) -> bool:
        """Whether it is certain that the sentence is not true of the system."""
        return self.truth == "does not hold"
