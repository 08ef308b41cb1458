"""What the cases of a run would do over another network, or on more nodes, by the laws that predict cases."""

from collections.abc import Iterable, Sequence

import msgspec

from assay.analyse.curves import RunEstimates
from assay.analyse.estimates import Measured
from assay.analyse.messages.steps import MessageLaw, Piece
from assay.analyse.predictions import expectations
from assay.model import benchmarks, roles
from assay.model.plan import Case, Factor
from assay.model.quantity import Quantity, exact
from assay.model.result import Estimate

#: The factor where a run has none, and its levels: what was measured, what is asked about, messages without time.
_NETWORK, _MEASURED, _ASKED, _IDEAL = "network", "measured", "asked about", "without message time"


class WhatIf(msgspec.Struct, frozen=True):
    """What is expected of a case.

    Attributes:
        case: id of the measured one.
        benchmark: name.
        label: placement that is asked about.
        metric: of the figure.
        measured: the figure of the run, of as many nodes as it has; None without one.
        predicted: what is asked about.
        messages_before: share of the measured time that would go without any time of messages; None where unknown.
        messages_after: the same of the predicted time.
    """

    case: str
    benchmark: str
    label: str
    metric: str
    measured: Quantity | None
    predicted: Quantity
    messages_before: float | None = None
    messages_after: float | None = None


def network_laws(known: RunEstimates) -> dict[str, MessageLaw]:
    """Network of a run (empty where it chose none) -> the law of single messages between its nodes."""
    networks = [factor.name for factor in known.run.plan.factors if factor.kind == "network"]
    found: dict[str, MessageLaw] = {}
    for law in known.fitted(MessageLaw):
        first = known.estimates.get(law.of[0])
        if first and _is_alone(first):
            found.setdefault(",".join(first.factors[each] for each in networks if each in first.factors), law)
    return found


def stated_law(latency_s: float, rate: float) -> MessageLaw:
    """A network that is known by its latency, s, and its rate, B/s."""
    piece = Piece(exact(latency_s, "s"), exact(1 / rate, "s/B"), None)
    start = piece.start
    return MessageLaw(
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


def over_network(known: RunEstimates, law: MessageLaw) -> tuple[WhatIf, ...]:
    """Each case on several nodes, over a network with this law; none where the run knows no law of its own."""
    own = next(iter(network_laws(known).values()), None)
    if own is None:
        return ()
    labelled, name = _labelled(known)
    ideal = stated_law(0.0, float("inf"))
    with_both = _with_law(_with_law(labelled, own, law, {name: _ASKED}), own, ideal, {name: _IDEAL})
    several = [case for case in labelled.run.plan.studied if _counts(case)]
    bases = list({_but(case, name): case for case in reversed(several)}.values())[::-1]
    return tuple(_told(with_both, bases, [(_at(case, name, _ASKED), _at(case, name, _IDEAL)) for case in bases]))


def on_cases(known: RunEstimates, larger: Sequence[tuple[Case, Case]]) -> tuple[WhatIf, ...]:
    """Cases on more nodes, each beside the measured one with the most nodes."""
    return tuple(_told(known, [base for base, _ in larger], [(case, None) for _, case in larger]))


def _told(
    known: RunEstimates, bases: Sequence[Case], asked: Sequence[tuple[Case, Case | None]]
) -> Iterable[WhatIf]:
    cases = [each for pair in asked for each in pair if each]
    expected = {each.of: each for each in expectations(known, cases)}
    for base, (case, ideal) in zip(bases, asked, strict=True):
        said = expected.get(case.id)
        if said is None:
            continue
        figures = (
            each.estimate.value
            for each in known.measured
            if (each.estimate.case, each.estimate.metric) == (base.id, said.metric)
        )
        measured = next(filter(None, figures), None)
        none = expected.get(ideal.id) if ideal else None
        faster = benchmarks.get(base.benchmark).metrics[0].better == "higher"

        def share(value: float, best: float | None, *, faster: bool = faster) -> float | None:
            """Of the time, what is gone in the best one."""
            if best is None:
                return None
            return max(0.0, 1 - (value / best if faster else best / value))

        yield WhatIf(
            case=base.id,
            benchmark=base.benchmark,
            label=case.placement.label,
            metric=said.metric,
            measured=measured,
            predicted=Quantity(*said.parts, said.unit, said.basis),
            messages_before=share(measured.value, none.value if none else None) if measured else None,
            messages_after=share(said.value, none.value if none else None),
        )


def _is_alone(estimate: Estimate) -> bool:
    """Whether it is of one message after the other between two nodes, by an MPI."""
    pattern = roles.pattern(estimate)
    return (
        estimate.placement.nodes > 1
        and roles.between_two(estimate.benchmark)
        and not roles.by_sockets(estimate)
        and pattern is not None
        and (pattern.figure, pattern.directions, pattern.pairs) == ("time", 1, "one")
    )


def _counts(case: Case) -> bool:
    return len(case.placement.hosts) > 1 and not roles.between_two(case.benchmark)


def _but(case: Case, network: str) -> object:
    """What tells cases apart beside the network."""
    factors = frozenset((name, level) for name, level in case.factors.items() if name != network)
    return case.benchmark, tuple(case.params.items()), case.placement, factors


def _at(case: Case, network: str, level: str) -> Case:
    return msgspec.structs.replace(case, id=f"{case.id} ({level})", factors=case.factors | {network: level})


def _labelled(known: RunEstimates) -> tuple[RunEstimates, str]:
    """The run with a level of a network in all that passes between nodes, and the name of that factor."""
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


def _with_law(known: RunEstimates, own: MessageLaw, law: MessageLaw, level: dict[str, str]) -> RunEstimates:
    """The run with a law of messages at one more level of its network, as if it had been measured."""
    (name,) = level.values()
    first = known.estimates[own.of[0]]
    estimate = msgspec.structs.replace(first, id=f"{first.id} ({name})", factors=first.factors | level)
    there = msgspec.structs.replace(law, id=f"{own.id} ({name})", of=(estimate.id,), state=None)
    measured = (*known.measured, Measured(estimate, ()))
    return RunEstimates(known.run, measured, (*known.models, there), known.farthest)
