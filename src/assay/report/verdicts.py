"""Claims of comparisons, and why others claim nothing, for the terminal and the page."""

import math
from collections.abc import Iterable, Sequence

from msgspec import structs

from assay.analyse.comparisons.ranks import FEWEST_LAUNCHES
from assay.model.compared import ComparedPair
from assay.model.result import Comparison
from assay.model.text import text
from assay.report import formatting, selection
from assay.report.vocabulary import VERDICTS, known

CLAIMS = frozenset({"slower", "faster"})

_SIGNIFICANT = 0.05
_MOST_PAIRS = 40
#: Fewer pairs have no interval.
_PAIRS = 6
#: Maximum number of named differences without a claim.
_NEAREST = 5


def rank(comparison: Comparison) -> int:
    """Return the place of its verdict in `VERDICTS`."""
    return VERDICTS.index(comparison.verdict)


def word(comparison: Comparison) -> str:
    """Return its verdict in words: figures without samples cannot be tested."""
    if comparison.verdict == "inconclusive" and has_no_samples(comparison):
        return text("not testable without samples")
    return known(comparison.verdict)


def counted(comparisons: Iterable[Comparison]) -> str:
    """Return the number of each verdict: `24 slower and 49 equivalent`."""
    verdicts = selection.grouped(sorted(comparisons, key=rank), word)
    return formatting.listed(
        text("{number} {verdict}", number=len(members), verdict=verdict) for verdict, members in verdicts.items()
    )


def number(comparison: Comparison) -> str:
    """Return the number of pairs, or of launches of both runs: `12` or `6 and 5`."""
    if comparison.blocks:
        return str(comparison.blocks)
    a, b = comparison.launches
    return str(a) if a == b else text("{a} and {b}", a=a, b=b)


def ends(comparison: Comparison) -> str:
    """Return the interval or range of the ratio; one pair has neither."""
    return why_no_interval(comparison) or formatting.changes(
        comparison.ratio, comparison.lo, comparison.hi, sure=comparison.confidence is not None
    )


def speeds(comparison: Comparison, better: str) -> Comparison:
    """Return the comparison as a ratio of speeds: above 1 a is the better one, for rates and times."""
    value = comparison.value
    return comparison if better == "higher" else structs.replace(comparison, value=value.inverse(value.unit))


def plain_ends(comparison: Comparison) -> str:
    """Return the interval `[0.981, 1.01]` or range `0.981 to 1.01` of the bare ratio; one pair has neither."""
    lo, hi = map(formatting.factor, (comparison.lo, comparison.hi))
    return why_no_interval(comparison) or (f"[{lo}, {hi}]" if comparison.confidence else f"{lo} to {hi}")


def basis(comparison: Comparison) -> str:
    """Return the basis of the ends of a paired ratio: `95 % interval, 6 pairs`, `range of 3 pairs`."""
    pairs = formatting.count(comparison.blocks, "pair", "pairs")
    if comparison.confidence:
        return text(
            "{confidence} % interval, {pairs}", confidence=f"{100 * comparison.confidence:.0f}", pairs=pairs
        )
    return why_no_interval(comparison) or text("range of {pairs}", pairs=pairs)


def why_no_interval(comparison: Comparison) -> str:
    """Return why a ratio has neither interval nor range: one pair, or no samples; else empty."""
    if has_no_samples(comparison):
        return text("no samples, no interval")
    if comparison.blocks == 1:
        return text("one pair, no interval")
    return text("one launch each, no interval") if comparison.launches == (1, 1) else ""


def has_no_samples(comparison: Comparison) -> bool:
    """Whether a side is imported or published, so that no test is possible."""
    return not comparison.blocks and 0 in comparison.launches


def are_imported(pairs: Iterable[ComparedPair]) -> bool:
    """Whether each has a side without samples, so that none can claim anything."""
    return all("imported" in {pair.a.basis, pair.b.basis} for pair in pairs)


def silent(pairs: Sequence[ComparedPair]) -> dict[str, tuple[ComparedPair, ...]]:
    """Return the inconclusive figures by the reason, in words that follow a number of figures."""
    several = sum(pair.comparison.p is not None for pair in pairs)
    of = [pair for pair in pairs if not has_no_samples(pair.comparison)]
    unclear = [pair for pair in of if pair.comparison.verdict == "inconclusive"]
    return selection.grouped(unclear, lambda pair: _reason(pair, several))


def nearest(pairs: Sequence[ComparedPair]) -> list[ComparedPair]:
    """Return the largest differences that are significant alone but not among all comparisons."""
    withdrawn = [pair for pair in pairs if _is_withdrawn(pair.comparison)]
    return sorted(withdrawn, key=lambda pair: -abs(math.log(pair.comparison.ratio)))[:_NEAREST]


def _reason(pair: ComparedPair, several: int) -> str:
    each = pair.comparison
    return missing(each, several, disturbed=bool(pair.a.disturbed or pair.b.disturbed))


def missing(comparison: Comparison, several: int = 1, *, disturbed: bool = False) -> str:
    """Return what an inconclusive comparison lacks for a claim.

    Args:
        comparison: without a claim.
        several: number of comparisons in its family.
        disturbed: whether launches were disturbed and had no quiet repeat.
    """
    paired = bool(comparison.blocks)
    if comparison.confidence is None:
        fewest = _PAIRS if paired else FEWEST_LAUNCHES
        return text(
            "{number} of the {fewest} pairs that an interval needs"
            if paired
            else "{number} of the {fewest} launches in each run that an interval needs",
            number=number(comparison),
            fewest=fewest,
        )
    if _is_withdrawn(comparison):
        return text(
            "among {several} comparisons it can be chance; {fewest} pairs or more can decide"
            if paired
            else "among {several} comparisons it can be chance; {fewest} launches of each run or more can decide",
            several=several,
            fewest=_fewest(comparison, several),
        )
    noise = text("the interval reaches into the margin of {margin}", margin=formatting.percent(comparison.margin))
    return text("{noise}, on disturbed launches without a quiet repeat", noise=noise) if disturbed else noise


def withdrawn(comparisons: Sequence[Comparison], among: int) -> str:
    """Return how many lost their claim by the number of comparisons, and how many pairs decide; else empty."""
    lost = [each for each in comparisons if _is_withdrawn(each)]
    if not lost:
        return ""
    return text(
        "{count} inconclusive figure would be significant alone, but not among {among} comparisons. {pairs} or "
        "more can decide.|{count} inconclusive figures would be significant alone, but not among {among} "
        "comparisons. {pairs} or more can decide.",
        count=len(lost),
        among=among,
        pairs=formatting.count(_fewest(lost[0], among), "pair", "pairs"),
    )


def _is_withdrawn(comparison: Comparison) -> bool:
    """Whether the interval is beyond the margin, and only the number of comparisons forbids the claim."""
    beyond = comparison.lo > 1 + comparison.margin or comparison.hi < 1 / (1 + comparison.margin)
    unclear = comparison.verdict == "inconclusive" and comparison.confidence is not None
    return unclear and beyond and (comparison.adjusted_p or 0.0) > _SIGNIFICANT


def _fewest(comparison: Comparison, several: int) -> int:
    """The fewest pairs, or launches, whose least p survives among `several` comparisons with the same p.

    The least two-sided p of n pairs is 2^(1-n), that of n launches in each run 2 / C(2n, n); Benjamini and
    Yekutieli multiply it by 1 + 1/2 + ... + 1/several if all are as small.
    """
    penalty = sum(1 / at for at in range(1, several + 1))
    paired = bool(comparison.blocks)
    return next(
        n
        for n in range(2, _MOST_PAIRS)
        if penalty * (2.0 ** (1 - n) if paired else 2 / math.comb(2 * n, n)) <= _SIGNIFICANT
    )


def resolution(comparisons: Iterable[Comparison]) -> str:
    """Return the result of A against A, which is the floor of every claim; empty without controls."""
    found = sorted(each.resolution for each in comparisons if each.varied and each.resolution is not None)
    if not found:
        return ""
    if found[len(found) // 2] > 1:
        return text(
            "A against A: two measurements of the same case differ by more than a factor of 2. No difference is "
            "claimed."
        )
    middle, most = (formatting.percent(found[at]) for at in (len(found) // 2, -1))
    if len(found) == 1:
        return text(
            "A against A: this machine cannot resolve differences below {middle} (the median case). No smaller "
            "difference is claimed.",
            middle=middle,
        )
    return text(
        "A against A: this machine cannot resolve differences below {middle} (the median case; {most} in the "
        "worst case). No smaller difference is claimed.",
        middle=middle,
        most=most,
    )


def between_runs(comparisons: Iterable[Comparison]) -> str:
    """Return how the variance between runs widens the intervals; empty if it does not."""
    known = [each for each in comparisons if each.between_runs is not None]
    if not known:
        return ""
    found = sorted(each.between_runs or 0.0 for each in known)
    return text(
        "Intervals include the variance between runs, from {runs} earlier runs of this machine: figures vary by "
        "{middle} from run to run in the median case, {least} to {most} (standard deviation).",
        runs=max(each.history for each in known),
        middle=formatting.percent(found[len(found) // 2]),
        least=formatting.percent(found[0]),
        most=formatting.percent(found[-1]),
    )


def detectable(comparisons: Iterable[Comparison]) -> str:
    """Return the smallest detectable differences; empty if no comparison can detect any."""
    found = sorted(each.detectable for each in comparisons if each.detectable is not None)
    if not found:
        return ""
    least, middle, most = (formatting.percent(found[at]) for at in (0, len(found) // 2, -1))
    return text(
        "Smallest detectable difference (power 80 %, before the correction for many comparisons): {middle} in "
        "the median case, {least} to {most}.",
        middle=middle,
        least=least,
        most=most,
    )
