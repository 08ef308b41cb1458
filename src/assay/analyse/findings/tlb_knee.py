"""Where pages of 4 KiB begin to cost: the reach of the TLB."""

from collections.abc import Iterable, Sequence
from statistics import median

from assay.analyse.evidence import CONFIDENT, FEWEST_BLOCKS, Evidence, Rule, digits, more
from assay.analyse.models.latency_levels import LAW, TLB
from assay.model.result import Finding, Model
from assay.model.text import joined, text
from assay.model.units import format_quantity, format_size

_Twins = tuple[Model, Model]
_SMALL = "pages=small"


def _assess(evidence: Evidence) -> Iterable[Finding]:
    curves = {model.id: model for model in evidence.models if model.law == LAW and not model.reason}
    twins = [
        (model, curves[_huge(name)]) for name, model in curves.items() if _huge(name) in curves and _SMALL in name
    ]
    known = [each for each in twins if _launches(evidence, *each) >= FEWEST_BLOCKS]
    if not known:
        yield rule.not_assessed(
            text(
                "Latency was not measured by size with small and with huge pages in {launches} launches or more",
                launches=FEWEST_BLOCKS,
            ),
            f"assay run caches{evidence.budget()}",
        )
    curves_of: dict[str, list[_Twins]] = {}
    for small, huge in known:
        if _knees(small):
            curves_of.setdefault(small.id.partition("/state=")[0], []).append((small, huge))
    for name, states in curves_of.items():
        yield _finding(evidence, name, states)


def _huge(name: str) -> str:
    """Id of the curve of huge pages beside one of small pages."""
    return name.replace(_SMALL, "pages=huge")


def _launches(evidence: Evidence, small: Model, huge: Model) -> int:
    """The fewest that a point of both curves has."""
    of = {*small.of, *huge.of}
    return min((each.estimate.launches for each in evidence.measured if each.estimate.id in of), default=0)


def _knees(model: Model) -> list[str]:
    """Names of the boundaries that only small pages show."""
    return [name for name in model.parameters if name.startswith("boundary") and TLB in name]


def _finding(evidence: Evidence, name: str, states: Sequence[_Twins]) -> Finding:
    """Of one curve; several models where the states of the machine explain it."""
    told = [_knee(small, huge, boundary) for small, huge in states for boundary in _knees(small)]
    confident = min(_launches(evidence, *each) for each in states) >= CONFIDENT
    return Finding(
        id=f"{rule.name}:{name}",
        rule=rule.name,
        claim=text("Pages of 4 KiB exhaust the TLB: {knees}.", knees=joined("; ", [claim for claim, _ in told])),
        severity="fact",
        status="observed" if confident else "candidate",
        evidence=tuple(model.id for twins in states for model in twins),
        statistic=text("small / huge pages beyond {ratios}", ratios=", ".join(digits(ratio) for _, ratio in told)),
        threshold=rule.threshold,
        next=text(
            "try huge pages: `{command}`",
            command="echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled",
        )
        if confident
        else more(evidence, CONFIDENT),
    )


def _knee(small: Model, huge: Model, boundary: str) -> tuple[str, float]:
    """What a knee costs, in words, and as the ratio of both sizes of pages beyond it."""
    number = int(boundary.split()[1])
    before, after = (_latency(small, each) for each in (number, number + 1))
    sizes = {point.at["bytes"] for point in small.points if point.at["level"] == number + 1}
    beside = median(point.value[0] for point in huge.points if point.at["bytes"] in sizes)
    middle, low, high = (format_size(each) for each in small.parameters[boundary])
    state = small.id.partition("/state=")[2]
    claim = text(
        "beyond {size} ({low} to {high}) a random load takes {after} instead of {before}, and with huge pages "
        "{beside} at the same sizes",
        size=middle,
        low=low,
        high=high,
        after=format_quantity(after, "s"),
        before=format_quantity(before, "s"),
        beside=format_quantity(beside, "s"),
    )
    return (text("{claim} ({state})", claim=claim, state=state) if state else claim), after / beside


def _latency(model: Model, number: int) -> float:
    return next(value[0] for name, value in model.parameters.items() if name.startswith(f"latency {number} "))


rule = Rule(
    "tlb_knee",
    text("Where is the TLB exhausted?"),
    text(
        "a knee at which small pages take > 15 % longer than huge ones at the same sizes, beyond what they did "
        "before"
    ),
    _assess,
)
