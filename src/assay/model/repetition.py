"""A published study that a run repeats: each of its figures beside the run's own, and its conclusions, judged."""

from typing import Literal

import msgspec

from assay.model.agreement import Agreement
from assay.model.conclusion import Judged
from assay.model.declaration import ParamValue
from assay.model.derivation import Printed
from assay.model.flaw import Flaw
from assay.model.quantity import Quantity

#: How a figure compares with a published one: its whole interval is within 5 % of it, better, or worse; a place on
#: an axis is in the published range, or elsewhere; or it is partly within; or it has no interval; empty without a
#: figure.
Standing = Literal["", "as published", "better", "worse", "elsewhere", "open", "few"]
#: Our assumption: a machine of the same parts differs by a few percent; published figures have no uncertainty.
#: What is printed in percent may be 0: then 2 percentage points are as published.
AS_PUBLISHED, AS_PUBLISHED_POINTS = 0.05, 0.02


class RepeatedRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A published figure, or both ends of a published range, and the figure of the run.

    Attributes:
        benchmark: that measured it, or measures the same.
        kernel: name.
        metric: name.
        better: direction.
        params: axes of the published figure.
        placement: portable word, as published.
        memory: policy.
        factors: factor -> level, as published.
        where: table and paragraph of the publication.
        figures: number of published figures: 2 of a range.
        printed: the value as printed, with its unit: `3.4 GB/s`; of a range both ends: `750 to 800 Mbps`.
        unit: of it, as printed.
        remark: of the source: `about`, `less than`.
        form: whether a ratio is printed as it is, as a loss or as a gain.
        is_ratio: whether it is a ratio of two figures.
        theirs: the same in SI units, of a loss or gain the ratio; of a range the middle, with both ends.
        own: id of the estimate of the run; empty if the figure follows from several, or there is none.
        ours: the figure of the run; None without one.
        launches: of the figure of the run, the fewest of those that it follows from.
        agreement: how both compare.
        standing: see Standing.
        reason: why the run has no such figure; empty if it has one.
        conclusions: positions of the conclusions whose quantity is this figure, or begins with it.
        flaw: why the figure of the run is not to be used.
    """

    benchmark: str
    kernel: str
    metric: str
    better: Literal["higher", "lower"]
    params: dict[str, ParamValue]
    placement: str
    memory: str
    factors: dict[str, str]
    where: str
    figures: int = 1
    printed: str
    unit: str = ""
    remark: str = ""
    form: Printed = "ratio"
    is_ratio: bool = False
    theirs: Quantity
    own: str = ""
    ours: Quantity | None = None
    launches: int = 0
    agreement: Agreement | None = None
    standing: Standing = ""
    reason: str = ""
    conclusions: tuple[int, ...] = ()
    flaw: Flaw = ""


class Repetition(msgspec.Struct, frozen=True):
    """What a run repeats of a published study; of the study itself, its own conclusions.

    Attributes:
        reference: name of the published system.
        label: its short name in headings.
        rows: a row for each published figure; none for the publication itself.
        conclusions: in the order of the publication.
        networks: network as published -> the one of this run that is taken for it.
    """

    reference: str
    label: str
    rows: tuple[RepeatedRow, ...] = ()
    conclusions: tuple[Judged, ...] = ()
    networks: dict[str, str] = {}
