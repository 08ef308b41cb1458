"""The rate of a system of equations before it is solved: from smaller systems, fewer nodes or another network."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.analyse.curves import RunEstimates, figure
from assay.analyse.messages.curves import named
from assay.model import record
from assay.model.law import Prediction
from assay.model.plan import Case
from assay.model.quantity import Quantity, distance
from assay.model.result import Estimate
from assay.model.text import Text, joined, text
from assay.model.units import format_quantity
from assay.topics.linear_algebra import orders, solutions
from assay.topics.linear_algebra.models.system_time import LAW
from assay.topics.linear_algebra.orders import Fitted, Solutions, Work, without_messages

_METRIC = "rate"
#: Without a prediction, a figure is compared with the law of orders smaller by at least this factor.
_STEP = 2
#: Error of a law on a number of nodes, or over a network, where no solution was measured. Assumed.
_ELSEWHERE = 0.05


class _Expected(NamedTuple):
    """The expectation of a law for a case.

    Attributes:
        by: its sources, in words.
        solutions: solutions that the law was fitted to.
        law: their law.
        work: work of the case.
    """

    by: Text
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
            yield _Expected(text("smaller systems"), curve, orders.fitted(curve), work)


def _by_nodes(known: RunEstimates, case: Case, before: float = math.inf) -> Iterator[_Expected]:
    """Yield the expectation from fewer ranks or another network, and from the message law, for each state."""
    inside = len(case.placement.hosts) == 1
    by = text("fewer cores or nodes") if inside else text("fewer nodes or another network, and messages")
    for others, work in solutions.predictors(known, case, before):
        law = orders.fitted(others)
        # How much look-ahead hides depends on what messages leave of the processor, and on ranks that wait.
        several = (each for each in others.members if each.steps.p * each.steps.q > 1)
        hides = work.overlap or any(solutions.have_same_messages(known, each, case) for each in several)
        yield _Expected(by, others, law._replace(margin=max(law.margin, _ELSEWHERE), hides=hides), work)


def predict(known: RunEstimates) -> Iterable[Prediction]:
    """Compare each solution with its prediction before the launch, else with half of its order or fewer nodes."""
    own = (each for each in known.run.predictions if each.law in {"", LAW})
    stated = {each.of: each for each in own if each.metric == _METRIC}
    cases = {case.id: case for case in known.run.plan.cases}
    first = solutions.first_blocks(known)
    done: set[str] = set()  # an estimate without a state is on the curve of each state
    for curve in solutions.by_order(known):
        for each in curve.members:
            estimate, case = each.rate.estimate, cases[each.rate.estimate.case]
            if estimate.id in done:
                continue
            before = stated.get(case.id)
            smaller = curve.up_to(each.order - 1 if before else each.order / _STEP)
            by_nodes = before is not None and named(LAW, curve.declared, curve.marks) not in before.models
            expected = [] if by_nodes else [*_by_orders(known, case, [smaller])]
            block = first[case.id] if before else math.inf
            expected = expected or [
                one for one in _by_nodes(known, case, block) if one.solutions.state in {None, estimate.state}
            ]
            if expected:
                done.add(estimate.id)
                yield _compared(expected[0], estimate, before)


def _compared(expected: _Expected, estimate: Estimate, before: record.Prediction | None) -> Prediction:
    rate = expected.rate
    if before:
        rate = Quantity(*before.parts, before.unit, before.basis)
    value = figure(estimate)
    g, f, b = expected.law.coefficients(expected.work.typical)
    derivation = text(
        "T = sum of max(U + C + F / Q, U first + F + B) + S over the steps + b n^2 (3 P + Q) / (2 P Q), fitted to "
        "n = {orders}{product}: 1 / g = {rate}, f = {panel}, b = {number}",
        orders=joined(", ", [str(order) for order in expected.solutions.orders]),
        product=text(" and to the library's product") if expected.solutions.product else "",
        rate=format_quantity(1 / g.value, "flop/s") if g.value else "-",
        panel=format_quantity(f.value, "s"),
        number=format_quantity(b.value, "s"),
    )
    return Prediction(
        id=f"{LAW}:{estimate.id}",
        law=LAW,
        what=text(
            "rate of a system of n = {n}, {label}", n=int(estimate.params["n"]), label=estimate.placement.label
        ),
        by=expected.by,
        predicted=rate,
        of=expected.solutions.sources,
        states=(expected.solutions.state, estimate.state),
        derivation=derivation,
        measured=estimate.id,
        value=value,
        deviation=value.value / rate.value - 1,
        error=distance(value, rate),
        before=before is not None,
    )
