"""Sizes of messages from which on they take longer at once: a protocol changes, or something is full."""

import math
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import msgspec

from assay.analyse.evidence import Evidence, Rule
from assay.analyse.experiments import arm
from assay.analyse.messages import configured, link, place
from assay.analyse.messages.curves import PATTERN
from assay.analyse.models.message_law import LAW
from assay.model.benchmark import ParamValue
from assay.model.imported import UNSTATED
from assay.model.plan import UNSET, Effect, Experiment, Factor
from assay.model.result import Estimate, Finding, Model
from assay.model.text import REMARK, joined, text
from assay.model.units import format_quantity, format_size

_STEP = 0.05
_SCATTERS = 3
#: Patterns that show it best; the others repeat it.
_PATTERNS = ("latency", "bandwidth")
#: A configured size explains a break within this factor of it.
_NEAR = 2
#: Where no device is known; of InfiniBand more in later generations.
_USUAL_MTUS = {"Ethernet": 1500, "InfiniBand": 2048}
#: Beyond this a step is no work of the processor: a timer or the card waited.
_TIMER_S = 20e-6
_INLINE_BYTES = 1024
#: The experiment moves the eager limit to this multiple of the size after the step.
_MOVED = 4
#: Buffers that the experiment gives sockets, which the system makes grow to megabytes else. Every kernel grants
#: them (208 KiB unless it is told otherwise); much smaller ones wait for acknowledgements that are held back.
_GIVEN_BUFFERS = 128 * 1024
_BUFFERS = ("send-buffer", "receive-buffer")
_SEGMENTS = range(88, 32768)  # that Linux takes


class _Move(NamedTuple):
    """What may move a step, and what it shows where it does.

    Attributes:
        setting: in words.
        level: of `factor`, or empty ...
        params: ... where axes of the benchmark are set in place of its own.
        factor: that is varied.
        question: what the experiment answers.
        holds: what is true where the step moves.
        fails: where it stays.
    """

    setting: str
    level: str
    params: dict[str, ParamValue]
    factor: Factor | None
    question: str
    holds: str
    fails: str


class Step(NamedTuple):
    """One break: last size before it, first after, factor on the time with its ends, seconds it adds."""

    before: int
    after: int
    factor: tuple[float, float, float]
    seconds: float


def _assess(evidence: Evidence) -> Iterable[Finding]:
    laws = [each for each in evidence.models if each.law == LAW]
    if not any(not each.reason for each in laws) and place.passed(evidence):
        yield rule.not_assessed(text("No curve of messages has 4 sizes or more"), "assay run network")
    known = place.by_id(evidence)
    for model in laws:
        estimate = known[model.of[0]]
        found = list(steps(model))
        if found and estimate.params.get(PATTERN) in _PATTERNS:
            yield _finding(evidence, model, estimate, found)


def steps(model: Model) -> Iterator[Step]:
    """Those that are more than scatter."""
    least = 1 + max(_STEP, _SCATTERS * model.parameters["scatter"][0]) if model.parameters else 0.0
    for name, factor in model.parameters.items():
        if name.startswith("step ") and min(factor[0], factor[1]) > least:
            _, before, after = model.parameters[f"break {name.removeprefix('step ')}"]
            time = next(point.value[0] for point in model.points if point.at["bytes"] == after)
            yield Step(int(before), int(after), factor, time * (1 - 1 / factor[0]))


def _finding(evidence: Evidence, model: Model, estimate: Estimate, found: list[Step]) -> Finding:
    worst = max(found, key=lambda each: each.factor[0])
    beside = [point.estimate for point in model.points if point.at["bytes"] in (worst.before, worst.after)]
    told = joined(
        ", ",
        [
            text(
                "{factor} between {before} and {after} ({time} more)",
                factor=f"x{each.factor[0]:.2f}",
                before=format_size(each.before),
                after=format_size(each.after),
                time=format_quantity(each.seconds, "s"),
            )
            for each in found
        ],
    )
    return Finding(
        id=f"{rule.name}:{model.id}",
        rule=rule.name,
        claim=_claim(estimate, told),
        severity="advice",
        status="candidate",
        evidence=(model.id, *beside),
        statistic=text(
            "lower end of the step {step}, scatter {scatter}",
            step=f"{min(worst.factor[:2]):.3g}",
            scatter=f"{model.parameters['scatter'][0]:.2g}",
        ),
        threshold=rule.threshold,
        rivals=tuple(
            dict.fromkeys(
                text("at {size}: {cause}", size=format_size(each.after), cause=cause)
                for each in found
                for cause in causes(evidence, estimate, each)
            )
        ),
        next=_by_hand(evidence, estimate, worst),
        experiment=_experiment(evidence, estimate, model, worst),
    )


def _claim(estimate: Estimate, steps: str) -> str:
    """What jumps where, and what is on the way of these messages that may do it."""
    way = place.way(estimate)
    if estimate.benchmark != "tcp":
        return text(
            "The time of a message jumps with its size ({way}): {steps}. The protocol may change there.",
            way=way,
            steps=steps,
        )
    if place.between(estimate):
        return text(
            "The time of a message jumps with its size ({way}): {steps}. A frame or a buffer of the sockets may "
            "be full there.",
            way=way,
            steps=steps,
        )
    return text(
        "The time of a message jumps with its size ({way}): {steps}. No network is on this way: a buffer of the "
        "sockets or a cache may be full there.",
        way=way,
        steps=steps,
    )


def causes(evidence: Evidence, estimate: Estimate, step: Step) -> Iterator[str]:
    """What fits this break, what is configured near it first."""
    for name, value in configured.settings(evidence, estimate).items():
        if name[0].isupper() and value.isdecimal() and _near(int(value), step):
            yield text("{setting} of the MPI", setting=f"{name}={value}")
    if _has_frames(estimate) and (frames := _frames(evidence, estimate, step)):
        yield text("messages of more than one frame ({frames})", frames=frames)
    if estimate.benchmark == "tcp":
        yield text("buffers of the sockets")
    else:
        yield text("the MPI's change from eager messages to a rendezvous")
    if _may_be_between(estimate) and step.seconds >= _TIMER_S:
        yield text("interrupts that the network card gathers before it tells them (rx-usecs)")
    if _may_be_between(estimate) and step.after <= _INLINE_BYTES and not configured.is_tcp(evidence, estimate):
        yield text("the card takes small messages with the command itself and fetches larger ones (inline)")
    if not place.between(estimate):
        yield text("buffers that leave a cache")


def _has_frames(estimate: Estimate) -> bool:
    """Whether an interface carries them: sockets of one node pass by that of loopback, whose frames are large."""
    return _may_be_between(estimate) or estimate.benchmark == "tcp"


def _may_be_between(estimate: Estimate) -> bool:
    """Whether messages pass between nodes, or nobody says where."""
    return place.between(estimate) or estimate.placement.label == UNSTATED


def _frames(evidence: Evidence, estimate: Estimate, step: Step) -> str:
    """The MTU near this break, in words; empty where none is near it."""
    known = configured.mtu(evidence, estimate)
    if known is not None:
        return f"MTU {known} B" if _near(known, step) else ""
    usual: list[str] = [
        text("{size} of {network}", size=f"{mtu} B", network=network)
        for network, mtu in _USUAL_MTUS.items()
        if _near(mtu, step)
        and _may_be_between(estimate)
        and not (network == "InfiniBand" and configured.is_ethernet(evidence))
    ]
    return text("if the MTU is the usual {sizes}", sizes=joined(", ", usual)) if usual else ""


def _near(size: int, step: Step) -> bool:
    return step.before <= _NEAR * size and size <= _NEAR * step.after


def _by_hand(evidence: Evidence, estimate: Estimate, step: Step) -> str:
    """What a user does: a larger limit of the MPI for programs; other segments or buffers of sockets."""
    if estimate.benchmark != "tcp":
        return text(
            "give programs that send many messages of such sizes the larger limit: `{command}`",
            command=f"export {configured.eager_variable(evidence, estimate)}={_MOVED * step.after}",
        )
    if _is_of_frames(evidence, estimate, step):
        told = text("a step that moves with the segments of TCP is of the network's frames")
        return joined(REMARK, (f"assay run {evidence.study()} --vary tcp.{link.SEGMENT}=0,{_shorter(step)}", told))
    told = text("a step that moves with them is of the sockets' buffers (SO_SNDBUF, SO_RCVBUF)")
    return joined(REMARK, (f"assay run {evidence.study()} --vary tcp.receive-buffer=0,{_GIVEN_BUFFERS}", told))


def _is_of_frames(evidence: Evidence, estimate: Estimate, step: Step) -> bool:
    """Whether a frame of the network is as long as the messages at the step."""
    return place.between(estimate) and bool(_frames(evidence, estimate, step))


def _move(evidence: Evidence, estimate: Estimate, step: Step) -> _Move | None:
    """What tells the causes apart; None where nothing does that Assay may set."""
    if estimate.benchmark == "tcp":
        frames = _is_of_frames(evidence, estimate, step)
        return _of_frames(evidence, estimate, step) if frames else _of_buffers(estimate)
    return _of_eager_limit(evidence, estimate, step)


def _of_frames(evidence: Evidence, estimate: Estimate, step: Step) -> _Move | None:
    """Segments of TCP that make more than one frame of the size before the step, too."""
    segment, agreed = _shorter(step), configured.segment(evidence, estimate)
    if estimate.params.get(link.SEGMENT) or segment not in _SEGMENTS or segment >= agreed:
        return None
    setting = text("segments of {size}", size=format_size(segment))
    return _Move(
        setting,
        "",
        {link.SEGMENT: segment},
        None,
        text("whether the jump is there again, and moves with {setting}: then frames make it", setting=setting),
        text("it moves with the segments of TCP: the frames of the network make it"),
        text("it stays with {setting}, which have no part in it", setting=setting),
    )


def _shorter(step: Step) -> int:
    """Bytes of a segment, of which the message before the step needs two, and that after it few more."""
    return 3 * step.before // 4


def _of_buffers(estimate: Estimate) -> _Move | None:
    """Buffers of the sockets that are not the system's."""
    if any(estimate.params.get(axis) for axis in _BUFFERS):
        return None
    setting = text("socket buffers of {size}", size=format_size(_GIVEN_BUFFERS))
    return _Move(
        setting,
        "",
        dict.fromkeys(_BUFFERS, _GIVEN_BUFFERS),
        None,
        text("whether the jump is there again, and moves with {setting}: then these make it", setting=setting),
        text("it moves with the buffers of the sockets: they make it"),
        text("it stays with {setting}, which have no part in it", setting=setting),
    )


def _of_eager_limit(evidence: Evidence, estimate: Estimate, step: Step) -> _Move | None:
    """Another eager limit of the MPI."""
    variable = configured.eager_variable(evidence, estimate)
    if variable in estimate.factors:
        return None
    moved = str(_MOVED * step.after)
    setting = f"{variable}={moved}"
    return _Move(
        setting,
        moved,
        {},
        Factor(variable, (UNSET, moved), "variable"),
        text(
            "whether the jump is there again, and moves with {setting}: then it is the MPI's own", setting=setting
        ),
        text("it moves with {variable}: the MPI's change of protocol makes it", variable=variable),
        text("it stays with {setting}, which this MPI does not heed or which has no part in it", setting=setting),
    )


def _experiment(evidence: Evidence, estimate: Estimate, model: Model, step: Step) -> Experiment | None:
    """What tells the causes apart: the step is there again, and what moves it with a setting is that setting's."""
    move = _move(evidence, estimate, step)
    if move is None:
        return None
    known = place.by_id(evidence)
    points = {int(point.at["bytes"]): point for point in model.points}
    before, after = (points[size] for size in (step.before, step.after))
    longer: Literal[1, -1] = 1 if estimate.unit == "s" else -1
    pair = [(known[after.estimate], longer), (known[before.estimate], -longer)]
    half = math.sqrt(step.factor[0])
    smooth = after.value[0] / before.value[0] / step.factor[0]
    beyond = 1.0 if estimate.unit == "s" else step.before / step.after  # rates are seconds by their bytes
    jump = text(
        "the jump between {before} and {after}", before=format_size(step.before), after=format_size(step.after)
    )
    usual = UNSET if move.factor else ""
    as_is = tuple(arm(each, power, usual) for each, power in pair)
    moved = tuple(
        msgspec.structs.replace(arm(each, -power, move.level), params=move.params) for each, power in pair
    )
    return Experiment(
        move.question,
        (
            Effect(
                what=jump,
                arms=as_is,
                border=smooth * half * beyond,
                side="above",
                holds=text("measured anew, the jump is there again"),
                fails=text("measured anew, the jump is not there; it was chance"),
            ),
            Effect(
                what=text("{jump} over what is there with {setting}", jump=jump, setting=move.setting),
                arms=(*as_is, *moved),
                border=half,
                side="above",
                holds=move.holds,
                fails=move.fails,
                refutes=False,
                excludes=True,
            ),
        ),
        move.factor,
    )


rule = Rule(
    "protocol_switch",
    text("Does the time of messages jump at some size?"),
    text(
        "a step of a break, less 1, above {step} and {scatters} times the scatter of the curve (lower end)",
        step=f"{_STEP}",
        scatters=_SCATTERS,
    ),
    _assess,
)
