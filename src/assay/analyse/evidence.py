"""The input of rules, and the form of their findings."""

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import Literal

import msgspec

from assay.analyse.bounds import Bounds
from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import Measured
from assay.analyse.trials import Trial
from assay.model import roles
from assay.model.compared import ComparedPair
from assay.model.comparison import Comparison
from assay.model.law import Prediction
from assay.model.noise import Noise
from assay.model.plan import Experiment
from assay.model.quantity import Quantity, exact
from assay.model.result import Effort, Estimate, Finding, Outcome, Severity
from assay.model.role_words import Role
from assay.model.run import Run
from assay.model.text import Text, cli, text
from assay.model.units import format_quantity, typed_duration

#: Minimum number of blocks of a ratio that rules test.
FEWEST_BLOCKS = 3
#: Minimum number of blocks of a ratio with an interval.
CONFIDENT = 6
#: See `Rule.concerns`.
Concern = Literal["figures", "noise", "paths", "missing"]


class Evidence(RunEstimates, frozen=True, kw_only=True):
    """All that is known of a run before rules are applied.

    `members`: figures of single members of a group, as pairs of nodes, with the id of the estimate of the group.
    `blocks`: of a level of whole runs: block -> the evidence of its run, in the order of time.
    """

    pairs: tuple[ComparedPair, ...]
    predictions: tuple[Prediction, ...]
    outcomes: tuple[Outcome, ...]
    noise: Noise
    trials: tuple[Trial, ...] = ()
    effort: Effort | None = None
    members: tuple[tuple[str, Measured], ...] = ()
    blocks: dict[int, "Evidence"] = msgspec.field(default_factory=dict)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The run; of a level, all its runs."""
        return tuple(each.run for each in self.blocks.values()) or (self.run,)

    @property
    def singly(self) -> list[Measured]:
        """Its figures; those of groups one by one: what becomes slower is often not what is slowest."""
        groups = {name for name, _ in self.members}
        return [
            *(each for each in self.measured if each.estimate.id not in groups),
            *(of for _, of in self.members),
        ]

    def having(self, *wanted: Role) -> list[Estimate]:
        """Return estimates of these roles with a figure, of any benchmark."""
        return [each for each in self.estimates.values() if each.median is not None and roles.role(each) in wanted]

    @cached_property
    def bounds(self) -> Bounds:
        """The best figures of the run."""
        return Bounds(self.run, (each.estimate for each in self.measured))

    def clocks(self) -> list[Estimate]:
        """Return the clock under load: for each set of cpus the first possible estimate."""
        found: dict[object, Estimate] = {}
        bounds = self.bounds
        for each in self.having("loaded-clock"):
            if not bounds.is_refused(each):
                found.setdefault((each.placement.cpus, each.placement.hosts, each.state), each)
        return list(found.values())

    def study(self) -> str:
        """Return the study that repeats the measurement, as it is typed; for an import, `network` or `node`."""
        if not self.run.imported:
            return self.run.plan.study
        by_mpi = any(measured.estimate.declared.launcher == "mpi" for measured in self.measured)
        return "network" if by_mpi else "node"

    def budget(self) -> tuple[str, ...]:
        """Return the budget for the whole plan as an option, `--budget 10m`, if a budget cut the run; else empty.

        The run records the time that it needs. For runs of older versions the estimate of the plan is used.
        """
        return sufficient_budget(self.run)

    def resolution(self, comparison: Comparison) -> float:
        """Return the smallest meaningful effect: of A against A, else of two launches of one case."""
        if comparison.resolution is not None:
            return comparison.resolution
        return self.noise.resolution or 0.0

    def differing(self, name: str, wanted: Collection[Role] = (), a: str | None = None) -> list[ComparedPair]:
        """Return pairs that differ in this word; `a`: level of the judged one.

        Pairs of fewer than three blocks are left out. If roles are wanted, so are pairs of other roles, and of
        other kernels than the main ones of their benchmarks.
        """
        return [
            pair
            for pair in self.pairs
            if pair.comparison.blocks >= FEWEST_BLOCKS
            and pair.comparison.differ == name
            and (not wanted or (roles.role(pair.a) in wanted and roles.is_main(pair.a)))
            and (a is None or pair.comparison.level == a)
        ]


class Question(msgspec.Struct, frozen=True):
    """The question of a rule. A topic's `rules/` has a file for each rule, which defines `rule`.

    Attributes:
        name: of the file.
        asks: the question that it answers, a text.
        threshold: of its statistic, a text.
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
        """Return a finding of this rule about a subject; see `Finding` for the fields."""
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
        """Return the finding that evidence for this rule is missing.

        Args:
            why: it is missing; begins a sentence and has no full stop.
            remedy: the command that measures it.
            cannot: why it cannot be measured here, in place of both; see assay.analyse.possible.
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
    """A rule with code of its own; see `assay.analyse.paired` for rules that test a ratio.

    Attributes:
        assess: yields findings; `not assessed` if evidence is missing; none if all is well.
        applies: whether a run can have evidence for it; else the rule is not asked.
        timed: whether it judges times or rates, which other processes change. They change neither counters of
            bytes nor settings.
        concerns: the place of its findings on a page, if they have one of their own: `figures`, before any figure,
            since the figures are not what they are called; `noise` of the machine; `paths` of messages, whose
            facts are on cards; `missing`, next to the reasons.
    """

    assess: Callable[[Evidence], Iterable[Finding]]
    applies: Callable[[Evidence], object] = lambda _evidence: True
    timed: bool = True
    concerns: Concern | None = None


def numbers(
    statistic: float | tuple[float, float, float] | Quantity | None, threshold: float | None = None, unit: str = ""
) -> dict[str, Quantity]:
    """Return the numbers of a finding: its statistic and the threshold in one unit; empty without a statistic."""
    if statistic is None:
        return {}
    if isinstance(statistic, tuple):
        statistic = Quantity(*statistic, unit, "derived")
    value = statistic if isinstance(statistic, Quantity) else exact(statistic, unit)
    return {"statistic": value} | ({} if threshold is None else {"threshold": exact(threshold, unit)})


def least(comparison: Comparison) -> Text:
    """Return the name of the lower end of a ratio."""
    if comparison.confidence:
        return text("lower bound (95 %)")
    blocks = text("{count} block|{count} blocks", count=comparison.blocks)
    return text("least ratio of {blocks}", blocks=blocks)


def paired(comparison: Comparison) -> Text:
    """Return a ratio in words: `x1.38, paired by block: 1.31 to 1.45, range of 3 blocks`."""
    return text(
        "x{ratio}, paired by block: {low} to {high}, {basis}",
        ratio=digits(comparison.ratio),
        low=digits(comparison.lo),
        high=digits(comparison.hi),
        basis=stands_on(comparison.value, comparison.blocks),
    )


def stands_on(figure: Quantity, blocks: int) -> Text:
    """Return the basis of the ends of a figure: `95 % interval of 12 blocks`, `range of 3 blocks`."""
    counted = text("{count} block|{count} blocks", count=blocks)
    if figure.confidence is None:
        return text("range of {blocks}", blocks=counted)
    return text("{confidence} % interval of {blocks}", confidence=f"{100 * figure.confidence:.0f}", blocks=counted)


def digits(ratio: float) -> str:
    """Return a ratio with three significant digits: `0.0812`, `1.38`, `37.9`."""
    return format_quantity(ratio, "")


def standing(comparison: Comparison) -> Literal["observed", "candidate"]:
    """Return the status of a ratio: `observed` with an interval, `candidate` with a range."""
    return "observed" if comparison.confidence else "candidate"


def decide(evidence: Evidence, comparison: Comparison) -> str:
    """Return the command that turns a range into an interval; empty if there is an interval."""
    return "" if comparison.confidence else more(evidence, CONFIDENT)


def more(evidence: Evidence, launches: int) -> str:
    """Return the command that repeats the measurement with so many launches, and with a sufficient budget."""
    return cli("run", evidence.study(), "--launches", str(launches), *budget_of_launches(evidence.run, launches))


def sufficient_budget(run: Run) -> tuple[str, ...]:
    """See `Evidence.budget`."""
    plan, ending = run.plan, run.ending
    if plan.budget_s is None or ending is None or ending.status != "cut":
        return ()
    foreseen_s = plan.estimate_s if plan.estimate_s > plan.budget_s else 2 * plan.budget_s
    return ("--budget", typed_duration(ending.needed_s or foreseen_s))


def budget_of_launches(run: Run, launches: int) -> tuple[str, ...]:
    """Return a budget for so many launches as an option; empty if the run had none."""
    plan, budget = run.plan, sufficient_budget(run)
    if plan.budget_s is None or launches <= plan.launches:
        return budget
    needed_s = run.ending.needed_s if budget and run.ending and run.ending.needed_s else plan.budget_s
    return ("--budget", typed_duration(needed_s * launches / plan.launches))
