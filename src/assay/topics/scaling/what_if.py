"""Predictions for the cases of a run over another network, or on more nodes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse.curves import M, RunEstimates
from assay.analyse.estimates import Measured
from assay.analyse.messages import place
from assay.analyse.messages.steps import MessageLaw, Piece
from assay.analyse.overlap import Overlap
from assay.analyse.predictions import expectations
from assay.model.plan import Case, Factor
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate

#: The factor where a run has none, and its levels: the measured network, the asked one, messages without time.
_NETWORK, _MEASURED, _ASKED, _IDEAL = "network", "measured", "asked about", "without message time"


class WhatIf(msgspec.Struct, frozen=True):
    """The prediction for a case.

    Attributes:
        case: id of the measured case.
        benchmark: name of its benchmark.
        label: word of the predicted placement.
        metric: metric of the figures.
        measured: figure of the measured case; None without one.
        predicted: figure of the predicted case.
        messages_before: share of the measured time that messages without time would save; None where unknown.
        messages_after: the same share of the predicted time.
    """

    case: str
    benchmark: str
    label: str
    metric: str
    measured: Quantity | None
    predicted: Quantity
    messages_before: float | None = None
    messages_after: float | None = None


class Network(NamedTuple):
    """What is known of a network.

    Attributes:
        law: law of single messages between two nodes.
        overlaps: hidden shares of operations between two nodes, each with the first of its estimates.
    """

    law: MessageLaw
    overlaps: tuple[tuple[Overlap, Estimate], ...] = ()


def measured_networks(known: RunEstimates) -> dict[str, Network]:
    """Return each network of a run with single messages between nodes; the key is empty without network factor."""
    names = [factor.name for factor in known.run.plan.factors if factor.kind == "network"]

    def between_nodes(kind: type[M]) -> Iterator[tuple[str, M, Estimate]]:
        for model in known.fitted(kind):
            first = known.estimates.get(model.of[0])
            if first and place.between(first):
                yield ",".join(first.factors[each] for each in names if each in first.factors), model, first

    overlaps = [*between_nodes(Overlap)]
    found: dict[str, Network] = {}
    for name, law, first in between_nodes(MessageLaw):
        if place.is_single(first):
            same = tuple(
                (model, estimate)
                for _, model, estimate in overlaps
                if estimate.factors == first.factors and model.state in {None, law.state}
            )
            found.setdefault(name, Network(law, same))
    return found


def stated_network(latency_s: float, rate: float) -> Network:
    """Return a network by its latency, s, and its rate, B/s."""
    piece = Piece(exact(latency_s, "s"), exact(1 / rate, "s/B"), None)
    start = piece.start
    law = MessageLaw(
        id=_ASKED,
        of=(),
        start=start,
        start_measured=start,
        rate=exact(rate, "B/s"),
        half_rate_size=None,
        half_rate_size_measured=None,
        saturation=None,
        scatter=0.0,
        pieces=(piece,),
    )
    return Network(law)


def over_network(known: RunEstimates, network: Network) -> tuple[WhatIf, ...]:
    """Predict each case on several nodes over a network; none where the run has no law of messages of its own."""
    own = next(iter(measured_networks(known).values()), None)
    if own is None:
        return ()
    own_level, name = _with_network_factor(known)
    ideal = stated_network(0.0, float("inf"))
    first = known.estimates[own.law.of[0]]
    with_both = _with_network(
        _with_network(own_level, first, network, {name: _ASKED}), first, ideal, {name: _IDEAL}
    )
    studied = own_level.run.plan.studied
    several = [
        case
        for case in studied
        if len(case.placement.hosts) > 1 and not known.run.plan.declared(case.benchmark).between_two
    ]
    bases = list({_key_without(case, name): case for case in reversed(several)}.values())[::-1]
    asked = [(_with_level(case, name, _ASKED), _with_level(case, name, _IDEAL)) for case in bases]
    return tuple(_answers(with_both, bases, asked))


def on_cases(known: RunEstimates, larger: Sequence[tuple[Case, Case]]) -> tuple[WhatIf, ...]:
    """Predict cases on more nodes, each paired with the measured one on the most nodes."""
    return tuple(_answers(known, [base for base, _ in larger], [(case, None) for _, case in larger]))


def _answers(
    known: RunEstimates, bases: Sequence[Case], asked: Sequence[tuple[Case, Case | None]]
) -> Iterable[WhatIf]:
    cases = [each for pair in asked for each in pair if each]
    expected = {each.of: each for each in expectations(known, cases)}
    for base, (case, ideal) in zip(bases, asked, strict=True):
        prediction = expected.get(case.id)
        if prediction is None:
            continue
        figures = (
            each.estimate.value
            for each in known.measured
            if (each.estimate.case, each.estimate.metric) == (base.id, prediction.metric)
        )
        measured = next(filter(None, figures), None)
        free = expected.get(ideal.id) if ideal else None
        metrics = known.run.plan.declared(base.benchmark).metrics
        faster = any(each.name == prediction.metric and each.better == "higher" for each in metrics)

        def share(value: float, best: float | None, *, faster: bool = faster) -> float | None:
            """Return the share of the time that the best figure saves."""
            if best is None:
                return None
            return max(0.0, 1 - (value / best if faster else best / value))

        yield WhatIf(
            case=base.id,
            benchmark=base.benchmark,
            label=case.placement.label,
            metric=prediction.metric,
            measured=measured,
            predicted=Quantity(*prediction.parts, prediction.unit, prediction.basis),
            messages_before=share(measured.value, free.value if free else None) if measured else None,
            messages_after=share(prediction.value, free.value if free else None),
        )


def _key_without(case: Case, network: str) -> object:
    """Return a key that is equal for cases that differ only in the network."""
    factors = frozenset((name, level) for name, level in case.factors.items() if name != network)
    return case.benchmark, tuple(case.params.items()), case.placement, factors


def _with_level(case: Case, network: str, level: str) -> Case:
    return msgspec.structs.replace(case, id=f"{case.id} ({level})", factors=case.factors | {network: level})


def _with_network_factor(known: RunEstimates) -> tuple[RunEstimates, str]:
    """Return the run with a network factor in all cases on several nodes, and the name of that factor."""
    plan = known.run.plan
    varied = next((factor.name for factor in plan.factors if factor.kind == "network"), None)
    if varied:
        return known, varied
    level = {_NETWORK: _MEASURED}
    cases = tuple(
        msgspec.structs.replace(case, factors=case.factors | level) if len(case.placement.hosts) > 1 else case
        for case in plan.cases
    )
    factor = Factor(_NETWORK, (_MEASURED, _ASKED), "network")
    plan = msgspec.structs.replace(plan, cases=cases, factors=(*plan.factors, factor))
    measured = tuple(
        msgspec.structs.replace(
            each, estimate=msgspec.structs.replace(each.estimate, factors=each.estimate.factors | level)
        )
        if each.estimate.placement.nodes > 1
        else each
        for each in known.measured
    )
    run = msgspec.structs.replace(known.run, plan=plan)
    return RunEstimates(run, measured, known.models, known.farthest), _NETWORK


def _with_network(known: RunEstimates, first: Estimate, network: Network, level: dict[str, str]) -> RunEstimates:
    """Return the run with one more level of its network, as if that had been measured where `first` was."""
    factors, (name,) = first.factors | level, level.values()
    measured, models = [], []
    for model, estimate in ((network.law, first), *network.overlaps):
        there = msgspec.structs.replace(estimate, id=f"{estimate.id} ({name})", factors=factors)
        measured.append(Measured(there, ()))
        models.append(msgspec.structs.replace(model, id=f"{model.id} ({name})", of=(there.id,), state=None))
    return RunEstimates(known.run, (*known.measured, *measured), (*known.models, *models), known.farthest)
