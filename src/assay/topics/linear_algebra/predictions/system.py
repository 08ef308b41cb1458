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
#: A figure is held against a law of orders that are smaller by so much at least.
_STEP = 2
#: A law may be wrong by so much where no solution on as many nodes, or over that network, has tried it. Assumed.
_ELSEWHERE = 0.05
#: Of what look-ahead hides by the law, the share that stays where no panel has passed between nodes yet: how well
#: messages get on while a processor computes depends on the MPI. Assumed.
_UNHIDDEN = 0.25


class _Said(NamedTuple):
    """What a law says of a case.

    Attributes:
        by: from what, in words.
        of: solutions that it was fitted to.
        law: their law.
        work: of the case.
    """

    by: Text
    of: Solutions
    law: Fitted
    work: Work

    @property
    def rate(self) -> Quantity:
        """Of the case, flop/s."""
        return self.law.rate(self.work)


def expect(known: RunEstimates, cases: Sequence[Case]) -> Iterable[record.Prediction]:
    """The rate of each case of which smaller orders are known, else fewer nodes or another network.

    From all states of the machine where these differ.
    """
    curves = list(solutions.found(known))
    for case in cases:
        if case.benchmark != solutions.NAME:
            continue
        smaller = (each.up_to(int(case.params["n"]) - 1) for each in curves if _goes_on(known, each, case))
        said = [*_by_orders(known, case, smaller)] or [*_by_nodes(known, case)]
        if said:
            rates = [each.rate for each in said]
            low, high = min(rate.lo for rate in rates), max(rate.hi for rate in rates)
            yield record.Prediction(
                rates[0].value if len(rates) == 1 else (low + high) / 2,
                low,
                high,
                "flop/s",
                "derived",
                of=case.id,
                metric=_METRIC,
                models=tuple(named(LAW, case.benchmark, each.of.marks) for each in said),
                law=LAW,
            )


def _goes_on(known: RunEstimates, curve: Solutions, case: Case) -> bool:
    """Whether a case is of a curve, at another order."""
    id_ = curve.members[0].rate.estimate.case
    one = next((each for each in known.run.plan.cases if each.id == id_), None)
    return (
        one is not None
        and (one.benchmark, one.placement, one.factors) == (case.benchmark, case.placement, case.factors)
        and one.params | {"n": 0} == case.params | {"n": 0}
    )


def _by_orders(known: RunEstimates, case: Case, curves: Iterable[Solutions]) -> Iterator[_Said]:
    """From smaller orders on the same ranks, a state after the other."""
    for of in curves:
        if len(of.orders) >= orders.FEWEST:
            work = solutions.Network(known, of.state).work(case) or without_messages(case.params)
            yield _Said(text("smaller systems"), of, orders.fitted(of), work)


def _by_nodes(known: RunEstimates, case: Case, before: float = math.inf) -> Iterator[_Said]:
    """From fewer ranks, or another network, and the law of messages between nodes, a state after the other."""
    for of, work in solutions.elsewhere(known, case, before):
        law = orders.fitted(of)
        tried = any(each.steps.passed.any() for each in of.members)
        law = law._replace(margin=max(law.margin, _ELSEWHERE), unhidden=0.0 if tried else _UNHIDDEN)
        yield _Said(text("fewer nodes or another network, and messages"), of, law, work)


def predict(known: RunEstimates) -> Iterable[Prediction]:
    """For each solution what was stated before its launch, else what half of its order or fewer nodes say."""
    own = (each for each in known.run.predictions if each.law in {"", LAW})
    stated = {each.of: each for each in own if each.metric == _METRIC}
    cases = {case.id: case for case in known.run.plan.cases}
    first = solutions.first_blocks(known)
    told: set[str] = set()  # what was given no state is of the curve of each
    for curve in solutions.found(known):
        for each in curve.members:
            estimate, case = each.rate.estimate, cases[each.rate.estimate.case]
            if estimate.id in told:
                continue
            before = stated.get(case.id)
            smaller = curve.up_to(each.order - 1 if before else each.order / _STEP)
            by_nodes = before is not None and named(LAW, solutions.NAME, curve.marks) not in before.models
            said = [] if by_nodes else [*_by_orders(known, case, [smaller])]
            block = first[case.id] if before else math.inf
            said = said or [one for one in _by_nodes(known, case, block) if one.of.state in {None, estimate.state}]
            if said:
                told.add(estimate.id)
                yield _held(said[0], estimate, before)


def _held(said: _Said, estimate: Estimate, before: record.Prediction | None) -> Prediction:
    rate = said.rate
    if before:
        rate = Quantity(*before.parts, before.unit, before.basis)
    value = figure(estimate)
    g, f, b = said.law.coefficients(said.work.typical)
    derivation = text(
        "T = sum of max(U + F / Q, U first + F + B) + S over the steps + b n^2 (3 P + Q) / (2 P Q), fitted to n = "
        "{orders}{product}: 1 / g = {rate}, f = {panel}, b = {number}",
        orders=joined(", ", [str(order) for order in said.of.orders]),
        product=text(" and to the library's product") if said.of.product else "",
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
        by=said.by,
        predicted=rate,
        of=said.of.sources,
        states=(said.of.state, estimate.state),
        derivation=derivation,
        measured=estimate.id,
        value=value,
        deviation=value.value / rate.value - 1,
        error=distance(value, rate),
        before=before is not None,
    )
