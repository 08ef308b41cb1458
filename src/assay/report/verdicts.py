"""Claims of comparisons, and why others claim nothing, for the terminal and the page."""

import math
from collections.abc import Iterable, Iterator, Sequence

from msgspec import structs

from assay.model.compared import ComparedPair
from assay.model.comparison import Comparison, Lack, Obstacle
from assay.model.text import joined, text
from assay.report import formatting, selection
from assay.report.vocabulary import VERDICTS, known

CLAIMS = frozenset({"slower", "faster"})
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


def silent(comparisons: Iterable[Comparison]) -> dict[str, tuple[Comparison, ...]]:
    """Return the inconclusive ones by what they lack for a claim, in words for all of a group."""
    unclear = [each for each in comparisons if each.verdict == "inconclusive" and not has_no_samples(each)]
    return {missing(*of): of for of in selection.grouped(unclear, _obstacles).values()}


def unsure(comparisons: Iterable[Comparison]) -> str:
    """Return how many are inconclusive, and what they lack, in sentences; empty if none is."""
    return joined(
        " ",
        [
            text("{number} inconclusive: {missing}.", number=len(of), missing=why)
            for why, of in silent(comparisons).items()
        ],
    )


def _obstacles(comparison: Comparison) -> tuple[object, ...]:
    lack = comparison.lack or Lack(())
    made = comparison.launches if "launches" in lack.why else ()
    return lack.why, lack.disturbed > 0, lack.more is None, comparison.blocks > 0, made


def nearest(pairs: Sequence[ComparedPair]) -> list[ComparedPair]:
    """Return the largest differences that are seen: too few blocks for a test, or chance among all comparisons."""
    seen = [pair for pair in pairs if is_withdrawn(pair.comparison) or _is_apart(pair.comparison)]
    return sorted(seen, key=lambda pair: -abs(math.log(pair.comparison.ratio)))[:_NEAREST]


def _is_apart(comparison: Comparison) -> bool:
    """Whether a range, which is no interval, lies wholly beyond the margin."""
    return not comparison.confidence and max(comparison.lo, 1 / comparison.hi) > 1 + comparison.margin


def is_withdrawn(comparison: Comparison) -> bool:
    """Whether only the number of comparisons forbids the claim."""
    return comparison.lack is not None and comparison.lack.why == ("among",)


def missing(*comparisons: Comparison) -> str:
    """Return what comparisons with the same obstacles lack for a claim, and what decides; empty with a claim."""
    first, lacks = comparisons[0], [each.lack for each in comparisons if each.lack]
    if not lacks:
        return ""
    found = [text("disturbed launches have no quiet repeat")] if lacks[0].disturbed else []
    obstacles = [_obstacle(why, comparisons) for why in lacks[0].why]
    return joined("; ", (joined(", ", (*obstacles, *found)), *_deciding(lacks, paired=bool(first.blocks))))


def _obstacle(why: Obstacle, comparisons: Sequence[Comparison]) -> str:
    """Why there is no claim, in words."""
    if why == "among":
        among = _extent([each.among for each in comparisons], "{:,}")
        return text("it can be chance among {among} comparisons", among=among)
    if why == "margin":
        margins = sorted(each.margin for each in comparisons)
        ends = " to ".join(dict.fromkeys(map(formatting.percent, (margins[0], margins[-1]))))
        return text("the interval reaches into the margin of {margin}", margin=ends)
    if why == "runs":
        return text("runs vary as much")
    if why == "samples":
        return text("no samples")
    if comparisons[0].blocks:
        return text("{count} block gives no interval|{count} blocks give no interval", count=comparisons[0].blocks)
    return text(
        "{count} launch of a run gives no interval|{count} launches of a run give no interval",
        count=min(comparisons[0].launches),
    )


def _deciding(lacks: Sequence[Lack], *, paired: bool) -> Iterator[str]:
    """What decides whether there is a difference."""
    more = [each.more for each in lacks if each.more]
    if more:
        yield text(
            "{count} more block can decide|{number} more blocks can decide"
            if paired
            else "{count} more launch of each run can decide|{number} more launches of each run can decide",
            count=max(more),
            number=_extent(more, "{:,}"),
        )
    if any(each.runs for each in lacks):
        yield text(
            "{count} more runs of this machine, before or after these, would show how its runs vary",
            count=max(each.runs for each in lacks),
        )


def _extent(numbers: Sequence[int], form: str) -> str:
    """`6`, `6 to 12`."""
    ends = dict.fromkeys((min(numbers), max(numbers)))
    return " to ".join(map(form.format, ends))


def resolution(comparisons: Iterable[Comparison]) -> str:
    """Return the result of A against A, which is the floor of every claim; empty without controls."""
    found = sorted(each.resolution for each in comparisons if each.varied and each.resolution is not None)
    if not found:
        return ""
    middle, most = (formatting.percent(found[at]) for at in (len(found) // 2, -1))
    if len(found) == 1:
        return text(
            "A against A: two measurements of the same case differ by less than {middle}, 95 times of 100. No "
            "smaller difference of it is claimed.",
            middle=middle,
        )
    return text(
        "A against A: two measurements of the same case differ by less than {middle} in the median case and "
        "{most} in the worst, 95 times of 100. No case claims a difference smaller than its own.",
        middle=middle,
        most=most,
    )


def between_runs(comparisons: Iterable[Comparison]) -> str:
    """Return how the variance between runs widens the intervals, measured or assumed; empty if not."""
    widened = [each for each in comparisons if each.between_runs is not None]
    if not widened:
        return ""
    known = [each for each in widened if not each.is_assumed]
    found = sorted(each.between_runs or 0.0 for each in known or widened)
    if not known:
        return text(
            "Too few other runs of this machine show how its runs vary. Assay assumes that a figure varies by "
            "{least} from run to run, and more where its launches vary much: {most} at most (standard deviation).",
            least=formatting.percent(found[0]),
            most=formatting.percent(found[-1]),
        )
    return text(
        "Intervals include the variance between runs, from {runs} other runs of this machine: figures vary by "
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
