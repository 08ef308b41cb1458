"""The rate of a system of equations before it is solved: from smaller systems, fewer nodes or another network."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.analyse.curves import RunEstimates, figure
from assay.analyse.messages.curves import named
from assay.model import record
from assay.model.law import Prediction
from assay.model.plan import Case
from assay.model.quantity import Quantity, distance
from assay.model.result import Estimate
from assay.model.text import text
from assay.topics.linear_algebra import orders, solutions
from assay.topics.linear_algebra.models.system_time import LAW, SystemTime
from assay.topics.linear_algebra.orders import Fitted, Solutions, Work, without_messages

_METRIC = "rate"
#: Error of a law on a number of nodes, or over a network, where no solution was measured. Assumed.
_ELSEWHERE = 0.05


class _Expected(NamedTuple):
    """The expectation of a law for a case.

    Attributes:
        solutions: solutions that the law was fitted to.
        law: their law.
        work: work of the case.
    """

    solutions: Solutions
    law: Fitted
    work: Work

    @property
    def rate(self) -> Quantity:
        """Rate of the case, flop/s."""
        return self.law.rate(self.work)


def expect(known: RunEstimates, cases: Sequence[Case]) -> Iterable[record.Prediction]:
    """Predict the rate of each case from smaller orders, else from fewer nodes or another network.

    The ends are those of all states of the machine.
    """
    curves = list(solutions.by_order(known))
    for case in cases:
        if case.benchmark != solutions.NAME:
            continue
        smaller = (each.up_to(int(case.params["n"]) - 1) for each in curves if _is_on(known, each, case))
        expected = [*_by_orders(known, case, smaller)] or [*_by_nodes(known, case)]
        if expected:
            rates = [each.rate for each in expected]
            low, high = min(rate.lo for rate in rates), max(rate.hi for rate in rates)
            yield record.Prediction(
                rates[0].value if len(rates) == 1 else (low + high) / 2,
                low,
                high,
                "flop/s",
                "derived",
                of=case.id,
                metric=_METRIC,
                models=tuple(source for each in expected for source in _sources(known, each.solutions)),
                law=LAW,
            )


def _sources(known: RunEstimates, sources: Solutions) -> tuple[str, ...]:
    """Return the id of the model of these solutions, or the ids of their estimates where it is not fitted."""
    name = named(LAW, sources.declared, sources.marks)
    return (name,) if any(each.id == name for each in known.models) else sources.sources


def _is_on(known: RunEstimates, curve: Solutions, case: Case) -> bool:
    """Whether a case is on a curve, at another order."""
    id_ = curve.members[0].rate.estimate.case
    one = next((each for each in known.run.plan.cases if each.id == id_), None)
    return (
        one is not None
        and (one.benchmark, one.placement, one.factors) == (case.benchmark, case.placement, case.factors)
        and one.params | {"n": 0} == case.params | {"n": 0}
    )


def _by_orders(known: RunEstimates, case: Case, curves: Iterable[Solutions]) -> Iterator[_Expected]:
    """Yield the expectation from smaller orders on the same ranks, for each curve."""
    for curve in curves:
        if len(curve.orders) >= orders.FEWEST:
            work = solutions.Network(known, curve.state).work(case) or without_messages(case.params)
            yield _Expected(curve, orders.fitted(curve), work)


def _by_nodes(known: RunEstimates, case: Case) -> Iterator[_Expected]:
    """Yield the expectation from fewer ranks or another network, and from the message law, for each state."""
    for others, work in solutions.predictors(known, case):
        law = orders.fitted(others)
        # How much look-ahead hides depends on what messages leave of the processor, and on ranks that wait.
        several = (each for each in others.members if each.steps.p * each.steps.q > 1)
        hides = work.overlap or any(solutions.have_same_messages(known, each, case) for each in several)
        yield _Expected(others, law._replace(margin=max(law.margin, _ELSEWHERE), hides=hides), work)


def predict(known: RunEstimates) -> Iterable[Prediction]:
    """Compare each prediction that stands in the records with the solution, in each state of the machine."""
    own = (each for each in known.run.predictions if each.law in {"", LAW} and each.metric == _METRIC)
    stated = {each.of: each for each in own}
    for rate in known.of(solutions.NAME, "rate", "rate"):
        before = stated.get(rate.estimate.case)
        if before and rate.estimate.value:
            yield _compared(known, before, rate.estimate)


def _compared(known: RunEstimates, before: record.Prediction, estimate: Estimate) -> Prediction:
    rate, value = Quantity(*before.parts, before.unit, before.basis), figure(estimate)
    laws = [each for each in known.models if isinstance(each, SystemTime) and each.id in before.models]
    law = next((each for each in laws if each.state in {None, estimate.state}), None)
    several = law is None or law.several
    return Prediction(
        id=f"{LAW}:{estimate.id}",
        law=LAW,
        what=text(
            "rate of a system of n = {n}, {label}", n=int(estimate.params["n"]), label=estimate.placement.label
        ),
        by=text("fewer ranks or nodes, and messages") if several else text("smaller systems"),
        predicted=rate,
        of=_before(known, law, estimate) or tuple(each for each in before.models if each in known.estimates),
        states=(law.state if law else None, estimate.state),
        derivation=text(
            "By the law of the time of a solution: when the last column of the process grid is done, and the rest"
        ),
        measured=estimate.id,
        value=value,
        deviation=value.value / rate.value - 1,
        error=distance(value, rate),
        before=True,
    )


def _before(known: RunEstimates, law: SystemTime | None, estimate: Estimate) -> tuple[str, ...]:
    """Return the sources of a law that were measured before a case was launched; later ones have joined it."""
    launches = reversed(known.run.plan.order)
    first = {case: launch.block for launch in launches for case in launch.cases}
    sources = [known.estimates[each] for each in law.of if each in known.estimates] if law else []
    return tuple(each.id for each in sources if first[each.case] < first[estimate.case])
