"""The `[[conclusion]]` entries of a reference: published sentences, each with the region that makes it true."""

from collections.abc import Mapping

import msgspec

from assay.model.conclusion import GREATLY, ORDER, REGIONS, Assumption, Conclusion, Region
from assay.model.derivation import Derivation
from assay.model.quantity import Quantity


class Sentence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry; see Conclusion.

    Attributes:
        says: see Conclusion.
        where: see Conclusion.
        quantity: see Conclusion.
        assumes: why the region has its ends. `figure`, `about` and `fraction` make them of the value as printed,
            `same` of 1.
        value: as printed; two values for a range.
        least: lower end as printed, if it does not follow from the value.
        most: upper end as printed.
        unit: of these three.
        printed: see Conclusion.
    """

    says: str
    where: str
    quantity: Derivation
    assumes: Assumption
    value: float | tuple[float, float] | None = None
    least: float | None = None
    most: float | None = None
    unit: str = ""
    printed: Derivation | None = None


def conclusion(read: Sentence, units: Mapping[str, tuple[str, float]]) -> Conclusion:
    """Return the rule, in SI units; a printed loss or gain becomes the ratio that it states.

    Args:
        read: the entry.
        units: unit as printed -> SI unit and factor.
    """
    ends = () if read.value is None else read.value if isinstance(read.value, tuple) else (read.value,)
    form, factor = read.quantity.printed, units[read.unit][1]

    def ratio(printed: float) -> float:
        value = float(f"{printed * factor:.15g}")
        return 1 - value if form == "loss" else 1 + value if form == "gain" else value

    values = sorted(map(ratio, ends))
    given = (read.most, read.least) if form == "loss" else (read.least, read.most)
    least, most = (None if each is None else ratio(each) for each in given)
    width = REGIONS.get(read.assumes, 0.0)
    if read.assumes in {"order", "greatly"}:
        least = ORDER if read.assumes == "order" else GREATLY
    elif read.assumes == "same" and least is None and most is None:
        least, most = 1 - width, 1 + width
    elif ends and least is None and most is None:
        least, most = sorted((ratio(min(ends) * (1 - width)), ratio(max(ends) * (1 + width))))
    stated = f"{' to '.join(f'{end:g}' for end in ends)} {read.unit}".strip() if ends else ""
    return Conclusion(
        says=read.says,
        where=read.where,
        quantity=read.quantity,
        stated=stated,
        value=Quantity(sum(values) / len(values), values[0], values[-1], basis="imported") if values else None,
        region=Region(least, most),
        assumes=read.assumes,
        unit=read.unit,
        printed=read.printed,
    )
