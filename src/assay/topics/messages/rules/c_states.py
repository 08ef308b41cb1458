"""Whether idle states of cores slow down messages: at another level of a factor, or after a pause."""

from collections.abc import Iterable
from functools import partial

import msgspec

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.messages import place
from assay.analyse.paired import Claim, PairedRatio, Tested
from assay.model.result import Finding
from assay.model.role_words import USUAL_AXES
from assay.model.text import Rooted, cli, text
from assay.model.units import format_ratio_with_ends

#: A published effect of idle states is 2 to 9 % (AMD EPYC, 2018): it is reported if the run resolves it.
_LEAST = 1.02
#: From this factor on the finding is advice, not a fact (docs/findings.md).
_FACTOR = 1.2
_FACTOR_NAME, _GAP = "c-states", USUAL_AXES["idle-gap"]
_ASKS = text("Do idle states of the cores slow down messages?")
_MISSING = text(
    "No message was measured after a pause, nor at two levels of a factor '{factor}'", factor=_FACTOR_NAME
)
#: The sentence names the slower level: only the author of its command knows what it sets.
_CLAIM = text("{benchmark} ({kernel}) takes {ratio} times as long with {slow} as with {fast}.")
_REMEDY = text("keep the nodes of programs that wait for messages at {level}: `{command}`")


def _words(tested: Tested) -> dict[str, str]:
    slow, fast = tested.levels
    factor = next(each for each in tested.evidence.run.plan.factors if each.name == _FACTOR_NAME)
    return {
        "ratio": format_ratio_with_ends(tested.ratio),
        "slow": f"{_FACTOR_NAME}={slow}",
        "fast": f"{_FACTOR_NAME}={fast}",
        "level": f"{_FACTOR_NAME}={fast}",
        "command": factor.commands[fast],
    }


_ratio = partial(PairedRatio, name="c_states", asks=_ASKS, border=_LEAST, missing=_MISSING)
_levels = _ratio(
    threshold=text(
        "latency at one level of {factor} / at the other >= {ratio} and beyond the difference of two launches "
        "of a case",
        factor=_FACTOR_NAME,
        ratio=f"{_LEAST}",
    ),
    differ=_FACTOR_NAME,
    only=lambda _evidence, pair: pair.a.unit == "s",
    group=lambda tested: (tested.pair.a.benchmark, tested.pair.a.kernel, tested.levels),
    claims=(Claim("slower", _CLAIM, _REMEDY), Claim("faster", _CLAIM, _REMEDY)),
    rivals=(text("the clock rises late"),),
    words=_words,
)


def _after(tested: Tested) -> dict[str, str]:
    gap_us = int(tested.pair.comparison.level)
    return {
        "ratio": format_ratio_with_ends(tested.ratio),
        "gap": f"{gap_us / 1000:g} ms" if gap_us >= 1000 else f"{gap_us} µs",  # noqa: PLR2004 (a millisecond)
        "case": place.path_name(tested.pair.a),
    }


_gaps = _ratio(
    threshold=text(
        "time of a message after a pause / without one >= {ratio} and beyond the difference of two launches of a "
        "case",
        ratio=f"{_LEAST}",
    ),
    differ=_GAP,
    only=lambda _evidence, pair: pair.a.unit == "s" and pair.comparison.base == "0",
    group=lambda tested: (
        tested.pair.a.benchmark,
        tested.pair.a.placement.label,
        tuple(tested.pair.a.factors.values()),
    ),
    claims=(
        Claim(
            "slower",
            text(
                "After a pause of {gap} a message takes {ratio} times as long as right after the previous one "
                "({case})."
            ),
            text(
                "forbid deep idle states and measure again: `{command}`",
                command=Rooted("sudo cpupower idle-set -D 0"),
            ),
        ),
    ),
    rivals=(
        text("the clock rises late"),
        text("other programs used the caches"),
        text("the network card or its slot saves power, too"),
    ),
    words=_after,
)


def _assess(evidence: Evidence) -> Iterable[Finding]:
    if not _levels.pairs(evidence) and not _gaps.pairs(evidence):
        yield rule.not_assessed(_MISSING, cli("run", "network"))
    for each in (_levels, _gaps):
        for found in each.assess(evidence) if each.pairs(evidence) else ():
            small = found.numbers["statistic"].lo < _FACTOR
            yield msgspec.structs.replace(found, severity="fact") if small else found


rule = Rule(
    "c_states",
    _ASKS,
    _gaps.threshold,
    _assess,
    # Transfers between cores and loads show such states, too.
    applies=lambda evidence: place.passed(evidence) or _levels.pairs(evidence) or _gaps.pairs(evidence),
)
