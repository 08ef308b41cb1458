"""The working set from which on pages of 4 KiB cost time: the reach of the TLB."""

from collections.abc import Hashable, Iterable, Sequence
from statistics import median

from assay.analyse.evidence import CONFIDENT, FEWEST_BLOCKS, Evidence, Rule, digits, more, numbers
from assay.model.grouping import grouped
from assay.model.result import Finding
from assay.model.text import Rooted, cli, joined, text
from assay.model.units import format_quantity, format_size
from assay.topics.memory.models.latency_levels import TLB, LatencyLevels

_Twins = tuple[LatencyLevels, LatencyLevels]
#: See assay.topics.memory.models.latency_levels.
_COSTS = 1.15


def _assess(evidence: Evidence) -> Iterable[Finding]:
    curves = {model.id: model for model in evidence.fitted(LatencyLevels)}
    twins = [(model, curves[model.huge_twin]) for model in curves.values() if model.huge_twin]
    known = [each for each in twins if _launches(evidence, *each) >= FEWEST_BLOCKS]
    if not known:
        yield rule.not_assessed(
            text(
                "Latency by size was not measured with both small and huge pages in {launches} or more launches",
                launches=FEWEST_BLOCKS,
            ),
            cli("run", "caches", *evidence.budget()),
        )

    def walk(twins: _Twins) -> Hashable:
        first = evidence.estimates[twins[0].of[0]]
        return first.case, first.placement.hosts

    for states in grouped((each for each in known if _knees(each[0])), walk).values():
        yield _finding(evidence, states)


def _launches(evidence: Evidence, small: LatencyLevels, huge: LatencyLevels) -> int:
    """Return the fewest launches of any point of both curves."""
    return min(evidence.estimates[name].launches for name in (*small.of, *huge.of))


def _knees(model: LatencyLevels) -> list[int]:
    """Return the levels, counted from 0, that end at the reach of the TLB; only small pages show it."""
    return [at for at, level in enumerate(model.levels) if level.end and level.end.cause == TLB]


def _finding(evidence: Evidence, states: Sequence[_Twins]) -> Finding:
    """Make the finding of one walk; it has several models where the states of the machine explain it."""
    knees = [_knee(small, huge, at) for small, huge in states for at in _knees(small)]
    ratios = [ratio for _, ratio in knees]
    confident = min(_launches(evidence, *each) for each in states) >= CONFIDENT
    return rule.finding(
        states[0][0].id,
        claim=text("4 KiB pages exhaust the TLB: {knees}.", knees=joined("; ", [claim for claim, _ in knees])),
        status="observed" if confident else "candidate",
        evidence=tuple(model.id for twins in states for model in twins),
        numbers=numbers(max(ratios), _COSTS),
        statistic=text("small / huge pages beyond {ratios}", ratios=", ".join(map(digits, ratios))),
        next=text(
            "try huge pages: `{command}`",
            command=Rooted("echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
        )
        if confident
        else more(evidence, CONFIDENT),
    )


def _knee(small: LatencyLevels, huge: LatencyLevels, at: int) -> tuple[str, float]:
    """Return the cost of the knee after a level, in words, and as the ratio of small over huge pages beyond it."""
    before, after = (level.latency.value for level in small.levels[at : at + 2])
    sizes = {point.at["bytes"] for point in small.points if point.at["level"] == at + 2}
    with_huge = median(point.value.value for point in huge.points if point.at["bytes"] in sizes)
    end = small.levels[at].end
    middle, low, high = (format_size(each) for each in end.size) if end else ("", "", "")
    state = small.state
    claim = text(
        "beyond {size} ({low} to {high}) a random load takes {after} instead of {before}; with huge pages it "
        "takes {huge} at the same sizes",
        size=middle,
        low=low,
        high=high,
        after=format_quantity(after, "s"),
        before=format_quantity(before, "s"),
        huge=format_quantity(with_huge, "s"),
    )
    return (text("{claim} ({state})", claim=claim, state=state) if state else claim), after / with_huge


rule = Rule(
    "tlb_knee",
    text("At which working set is the TLB exhausted?"),
    text(
        "a knee: beyond it small pages take > 15 % longer than huge pages at the same sizes, compared with "
        "below it"
    ),
    _assess,
)
