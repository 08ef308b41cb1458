"""What rules look at, and how they say what they found."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Literal

import msgspec

from assay.analyse.bounds import Bounds
from assay.analyse.comparisons import Pair
from assay.analyse.curves import RunEstimates
from assay.analyse.trials import Trial
from assay.model import benchmarks, roles
from assay.model.effort import Effort
from assay.model.law import Prediction
from assay.model.noise import Noise
from assay.model.plan import Experiment
from assay.model.quantity import Quantity, exact
from assay.model.result import Comparison, Estimate, Finding, Outcome, Severity
from assay.model.role_words import Role
from assay.model.text import Text, cli, text
from assay.model.units import format_quantity, typed_duration

#: Rules look at a ratio from so many blocks on.
FEWEST_BLOCKS = 3
#: A ratio of so many blocks has an interval.
CONFIDENT = 6
#: See `Rule.concerns`.
Concern = Literal["figures", "noise", "paths", "missing"]


class Evidence(RunEstimates, frozen=True, kw_only=True):
    """Everything that is known of a run before rules are applied."""

    pairs: tuple[Pair, ...]
    predictions: tuple[Prediction, ...]
    outcomes: tuple[Outcome, ...]
    noise: Noise
    trials: tuple[Trial, ...] = ()
    effort: Effort | None = None

    def having(self, *wanted: Role) -> list[Estimate]:
        """Estimates of these roles with a figure, of whatever benchmark."""
        return [each for each in self.estimates.values() if each.median is not None and roles.role(each) in wanted]

    @cached_property
    def bounds(self) -> Bounds:
        """The best figures of the run."""
        return Bounds(self.run, (each.estimate for each in self.measured))

    def clocks(self) -> list[Estimate]:
        """The clock under load: of each set of cpus the first estimate that can be one."""
        found: dict[object, Estimate] = {}
        bounds = self.bounds
        for each in self.having("loaded-clock"):
            if not bounds.is_refused(each):
                found.setdefault((each.placement.cpus, each.placement.hosts, each.state), each)
        return list(found.values())

    def study(self) -> str:
        """The study that measures such a thing again, as it is typed: nothing imported has one of its own."""
        if not self.run.imported:
            return self.run.plan.study
        known = {each.estimate.benchmark for each in self.measured} & set(benchmarks.names())
        by_mpi = any(benchmarks.get(name).launcher == "mpi" for name in known)
        return "network" if by_mpi else "node"

    def budget(self) -> tuple[str, ...]:
        """What all of the plan takes where a budget cut the run, as an option: `--budget 10m`; else empty.

        By what the run made of it; runs of older versions did not say, theirs is foreseen.
        """
        plan, ending = self.run.plan, self.run.ending
        if plan.budget_s is None or ending is None or ending.status != "cut":
            return ()
        foreseen_s = plan.estimate_s if plan.estimate_s > plan.budget_s else 2 * plan.budget_s
        return ("--budget", typed_duration(ending.needed_s or foreseen_s))

    def resolution(self, comparison: Comparison) -> float:
        """What cannot be told from nothing: what A against A showed, else what launches of one case differ by."""
        if comparison.resolution is not None:
            return comparison.resolution
        return self.noise.resolution or 0.0

    def differing(self, name: str, kernel: str = "", a: str | None = None) -> list[Pair]:
        """Pairs of one kernel (any where empty) that differ in this word, `a` being the level of the judged one.

        Only those of three blocks or more: with fewer, a ratio is one chance.
        """
        return [
            pair
            for pair in self.pairs
            if pair.comparison.blocks >= FEWEST_BLOCKS
            and pair.differ == name
            and (not kernel or pair.a.kernel == kernel)
            and (a is None or pair.level == a)
        ]


class Question(msgspec.Struct, frozen=True):
    """What a rule asks. A topic's `rules/` has a file for each rule, which defines `rule`.

    Attributes:
        name: of the file.
        asks: the question that it answers, a text.
        threshold: what its statistic is tested against, a text.
    """

    name: str
    asks: str
    threshold: str

    def finding(  # noqa: PLR0913 (what a finding says)
        self,
        subject: str,
        *,
        claim: str,
        evidence: tuple[str, ...] = (),
        statistic: str,
        numbers: dict[str, Quantity],
        severity: Severity = "fact",
        status: Literal["observed", "candidate"] = "observed",
        threshold: str = "",
        rivals: tuple[str, ...] = (),
        experiment: Experiment | None = None,
        next: str = "",  # noqa: A002 (the field's name)
    ) -> Finding:
        """A finding of this rule about a subject; see `Finding` for what it says."""
        return Finding(
            id=f"{self.name}:{subject}",
            rule=self.name,
            claim=claim,
            severity=severity,
            status=status,
            evidence=evidence,
            statistic=statistic,
            threshold=threshold or self.threshold,
            rivals=rivals,
            next=next,
            experiment=experiment,
            numbers=numbers,
        )

    def not_assessed(self, why: str, remedy: str = "", cannot: str = "") -> Finding:
        """That the evidence for this rule is missing.

        Args:
            why: it is; begins a sentence and has no full stop.
            remedy: the command that measures it.
            cannot: why nothing measures it here, in place of both; see assay.analyse.possible.
        """
        if cannot:
            why, remedy = cannot, ""
        return Finding(
            id=f"{self.name}:not-assessed",
            rule=self.name,
            claim=text("Not assessed: {question} {why}.", question=self.asks, why=why),
            severity="fact",
            status="not assessed",
            evidence=(),
            statistic="",
            threshold=self.threshold,
            next=remedy,
        )


class Rule(Question, frozen=True):
    """One rule with code of its own; see `assay.analyse.paired` for those that test a ratio.

    Attributes:
        assess: what it finds; a finding `not assessed` where evidence is missing; nothing where all is well.
        applies: whether a run can have evidence for it at all; else it is not asked.
        timed: whether it judges times or rates, which other processes change. They change no counter of bytes,
            and no setting.
        concerns: what its findings are about where a page has a place of their own for them: what the `figures`
            are of, before any of them; `noise`, whether the machine was quiet; `paths` of messages, of which cards
            tell the facts; what is `missing`, beside the reasons.
    """

    assess: Callable[[Evidence], Iterable[Finding]]
    applies: Callable[[Evidence], object] = lambda _evidence: True
    timed: bool = True
    concerns: Concern | None = None


def numbers(
    statistic: float | tuple[float, float, float] | Quantity | None, threshold: float | None = None, unit: str = ""
) -> dict[str, Quantity]:
    """The numbers of a finding: its statistic, and what that was tested against, in one unit; empty without it."""
    if statistic is None:
        return {}
    if isinstance(statistic, tuple):
        statistic = Quantity(*statistic, unit, "derived")
    value = statistic if isinstance(statistic, Quantity) else exact(statistic, unit)
    return {"statistic": value} | ({} if threshold is None else {"threshold": exact(threshold, unit)})


def least(comparison: Comparison) -> Text:
    """What the lower end of a ratio is, which follows."""
    if comparison.confidence:
        return text("lower bound (95 %)")
    blocks = text("{count} block|{count} blocks", count=comparison.blocks)
    return text("least ratio of {blocks}", blocks=blocks)


def paired(comparison: Comparison) -> Text:
    """A ratio as what it is: `x1.38, paired by block: 1.31 to 1.45, range of 3 blocks`."""
    return text(
        "x{ratio}, paired by block: {low} to {high}, {basis}",
        ratio=digits(comparison.ratio),
        low=digits(comparison.lo),
        high=digits(comparison.hi),
        basis=stands_on(comparison.value, comparison.blocks),
    )


def stands_on(figure: Quantity, blocks: int) -> Text:
    """What the ends of a figure are: `95 % interval of 12 blocks`, `range of 3 blocks`."""
    counted = text("{count} block|{count} blocks", count=blocks)
    if figure.confidence is None:
        return text("range of {blocks}", blocks=counted)
    return text("{confidence} % interval of {blocks}", confidence=f"{100 * figure.confidence:.0f}", blocks=counted)


def digits(ratio: float) -> str:
    """A ratio with three significant digits: `0.0812`, `1.38`, `37.9`."""
    return format_quantity(ratio, "")


def standing(comparison: Comparison) -> Literal["observed", "candidate"]:
    """A ratio with an interval is observed; a mere range makes a candidate."""
    return "observed" if comparison.confidence else "candidate"


def decide(evidence: Evidence, comparison: Comparison) -> str:
    """The command that turns a range into an interval; empty where there is one."""
    return "" if comparison.confidence else more(evidence, CONFIDENT)


def more(evidence: Evidence, launches: int) -> str:
    """The command that measures again with so many launches, and with time for them where a budget cut the run."""
    return cli("run", evidence.study(), "--launches", str(launches), *evidence.budget())
