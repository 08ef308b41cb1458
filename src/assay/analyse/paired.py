"""A rule with parameters: it tests the ratio of two estimates that differ in one word against a border."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Literal, NamedTuple

from assay.analyse.evidence import Evidence, Question, least, numbers, paired, standing
from assay.analyse.experiments import retest_range
from assay.model import places
from assay.model.compared import ComparedPair
from assay.model.quantity import Quantity
from assay.model.result import Finding
from assay.model.role_words import Role
from assay.model.run import Run
from assay.model.text import Text, filled, text

#: The judged figure must be the larger one, the smaller, the better, or the worse.
Direction = Literal["more", "less", "faster", "slower"]


class Tested(NamedTuple):
    """A pair, tested in one direction.

    Attributes:
        evidence: of the run.
        pair: the two estimates; their comparison is a / b.
        claim: on the pair.
        floor: factor above 1 that the whole interval must exceed.
    """

    evidence: Evidence
    pair: ComparedPair
    claim: "Claim"
    floor: float

    @property
    def inverse(self) -> bool:
        """Whether b / a is tested."""
        above = {"faster": self.pair.a.better == "higher", "slower": self.pair.a.better == "lower"}
        return not above.get(self.claim.direction, self.claim.direction == "more")

    @property
    def ratio(self) -> Quantity:
        """The tested ratio."""
        ratio = self.pair.comparison.value
        return ratio.inverse("") if self.inverse else ratio

    @property
    def levels(self) -> tuple[str, str]:
        """The levels of numerator and denominator of the tested ratio."""
        levels = (self.pair.comparison.level, self.pair.comparison.base)
        return levels[::-1] if self.inverse else levels


Sentence = Text | Callable[[Tested], Text]


class Claim(NamedTuple):
    """The claim if the ratio is beyond the border.

    Attributes:
        direction: in which the ratio must exceed the border.
        sentence: template; see `PairedRatio`.
        remedy: template.
    """

    direction: Direction
    sentence: Sentence
    remedy: Text


class PairedRatio(Question, frozen=True, kw_only=True):
    """Finds pairs whose whole interval (or range) is beyond a border, and groups them to findings.

    The ratio must also exceed the difference of two launches of one case.

    Templates may name `benchmark`, `kernel`, `label` and `whole` (placements of a and b), `memory` (of a), `cores`
    and `all` (cpus of a and b), `ratio` (paired, with its ends), `change` (percent), and what `words` gives.

    Attributes:
        differ: dimension, axis or factor in which pairs differ.
        level: of the judged estimate; any if None.
        roles: of the pairs, which are then of main kernels; all pairs if empty.
        only: selects among these pairs.
        border: factor above 1.
        claims: to test, each in its direction.
        group: pairs of one finding.
        clearest: key of the pairs of a group; the finding names the pair with the largest one.
        problem_from: lower end from which an observed ratio is a problem; never if None.
        rivals: other causes.
        words: more words for the templates.
        missing: what was not measured, if there are no pairs.
        measure: the command that measures it.
        cannot: why this machine has no such pairs; empty if it may.
    """

    differ: str
    missing: Text
    claims: tuple[Claim, ...]
    border: float
    level: str | None = None
    roles: tuple[Role, ...] = ()
    only: Callable[[Evidence, ComparedPair], bool] = lambda _evidence, _pair: True
    group: Callable[[Tested], Hashable] = lambda tested: tested.pair.comparison.id
    clearest: Callable[[Tested], float | tuple[float, ...]] = lambda tested: tested.ratio.lo
    problem_from: float | None = None
    rivals: tuple[str, ...] | Callable[[Tested], tuple[str, ...]] = ()
    words: Callable[[Tested], Mapping[str, str | int]] = lambda _tested: {}
    measure: str = ""
    cannot: Callable[[Run], str] = lambda _run: ""

    def assess(self, evidence: Evidence) -> Iterable[Finding]:
        """Yield one finding for each group; `not assessed` without pairs."""
        pairs = self.pairs(evidence)
        if not pairs:
            yield self.not_assessed(self.missing, self.measure, self.cannot(evidence.run))
        groups: dict[Hashable, list[Tested]] = {}
        for pair in pairs:
            resolution = evidence.resolution(pair.comparison)
            for claim in self.claims:
                tested = Tested(evidence, pair, claim, max(self.border, 1 + resolution))
                if tested.ratio.lo >= tested.floor:
                    groups.setdefault(self.group(tested), []).append(tested)
        for group in groups.values():
            yield self._finding(max(group, key=self.clearest), group)

    def pairs(self, evidence: Evidence) -> list[ComparedPair]:
        """Return the pairs that the rule tests."""
        found = evidence.differing(self.differ, self.roles, self.level)
        return [pair for pair in found if self.only(evidence, pair)]

    def _finding(self, tested: Tested, group: list[Tested]) -> Finding:
        pair, comparison = tested.pair, tested.pair.comparison
        others = (each.pair.comparison.id for each in group if each is not tested)
        status = standing(comparison)
        beyond = self.problem_from is not None and tested.ratio.lo > self.problem_from
        words = {**_words(tested), **self.words(tested)}
        sentence, (top, bottom) = tested.claim.sentence, tested.levels
        return self.finding(
            pair.a.id,
            claim=filled(sentence(tested) if callable(sentence) else sentence, words),
            severity="problem" if beyond and status == "observed" else "advice",
            status=status,
            evidence=(comparison.id, pair.a.id, pair.b.id, *others),
            numbers=numbers(tested.ratio, tested.floor),
            statistic=text(
                "{least} of {a} / {b} {ratio}",
                least=least(comparison),
                a=top,
                b=bottom,
                ratio=f"{tested.ratio.lo:.3g}",
            ),
            threshold=self._threshold(tested),
            rivals=self.rivals(tested) if callable(self.rivals) else self.rivals,
            experiment=retest_range(comparison, (pair.a, pair.b), tested.floor),
            next=filled(tested.claim.remedy, words),
        )

    def _threshold(self, tested: Tested) -> str:
        return text(
            "{threshold}; two launches of a case differ by {resolution} % here",
            threshold=self.threshold,
            resolution=f"{100 * tested.evidence.resolution(tested.pair.comparison):.1f}",
        )


def _words(tested: Tested) -> dict[str, str | int]:
    pair = tested.pair
    return {
        "benchmark": pair.a.benchmark,
        "kernel": pair.a.kernel,
        "label": places.cores(pair.a.placement.label),
        "whole": places.cores(pair.b.placement.label),
        "memory": places.memory(pair.a.placement.policy),
        "cores": len(pair.a.placement.cpus[0]),
        "all": len(pair.b.placement.cpus[0]),
        "ratio": paired(pair.comparison),
        "change": f"{abs(100 * (pair.comparison.ratio - 1)):.0f}",
    }
