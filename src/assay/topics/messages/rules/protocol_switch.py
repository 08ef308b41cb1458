"""Sizes of messages from which on they take longer at once: a protocol changes, or something is full."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.experiments import arm
from assay.analyse.messages import configured, place
from assay.analyse.messages.curves import PATTERN
from assay.analyse.messages.steps import LEAST, SCATTERS, MessageLaw, Step, causes, frames, steps
from assay.model import roles
from assay.model.benchmark import ParamValue
from assay.model.plan import UNSET, Effect, Experiment, Factor
from assay.model.result import Estimate, Finding
from assay.model.text import REMARK, Text, cli, filled, joined, text
from assay.model.units import format_quantity, format_size
from assay.topics.messages import axes

#: Patterns that show it best; the others repeat it.
_PATTERNS = ("latency", "bandwidth")
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
        question: what the experiment answers; it may name the setting, as the next two.
        holds: what is true where the step moves.
        fails: where it stays.
        params: axes of the benchmark that are set in place of its own ...
        level: ... or the level of `factor`, that is varied.
        factor: None where axes are set.
    """

    setting: str
    question: Text
    holds: Text
    fails: Text = text("it stays with {setting}: they do not cause it")
    params: Mapping[str, ParamValue] = MappingProxyType({})
    level: str = ""
    factor: Factor | None = None


def _assess(evidence: Evidence) -> Iterable[Finding]:
    laws = evidence.fitted(MessageLaw)
    if not laws:
        yield rule.not_assessed(text("No curve of messages has 4 sizes or more"), cli("run", "network"))
    known = evidence.estimates
    for model in laws:
        estimate = known[model.of[0]]
        found = list(steps(model))
        if found and estimate.params.get(PATTERN) in _PATTERNS:
            yield _finding(evidence, model, estimate, found)


def _finding(evidence: Evidence, model: MessageLaw, estimate: Estimate, found: list[Step]) -> Finding:
    worst = max(found, key=lambda each: each.factor.value)
    beside = [point.estimate for point in model.points if point.at["bytes"] in (worst.before, worst.after)]
    told = [
        text(
            "{factor} between {before} and {after} ({time} more)",
            factor=f"x{each.factor.value:.2f}",
            before=format_size(each.before),
            after=format_size(each.after),
            time=format_quantity(each.seconds, "s"),
        )
        for each in found
    ]
    explained = [(each, cause) for each in found for cause in causes(evidence, estimate, each)]
    rivals = (text("at {size}: {cause}", size=format_size(each.after), cause=cause) for each, cause in explained)
    return rule.finding(
        model.id,
        claim=_claim(estimate, joined(", ", told)),
        severity="advice",
        status="candidate",
        evidence=(model.id, *beside),
        numbers=numbers(worst.factor, 1 + LEAST),
        statistic=text(
            "lower end of the step {step}, scatter {scatter}",
            step=f"{min(worst.factor.value, worst.factor.lo):.3g}",
            scatter=f"{model.scatter:.2g}",
        ),
        rivals=tuple(dict.fromkeys(rivals)),
        next=_by_hand(evidence, estimate, worst),
        experiment=_experiment(evidence, estimate, model, worst),
    )


def _claim(estimate: Estimate, steps: str) -> str:
    """What jumps where, and what is on the way of these messages that may do it."""
    if not roles.by_sockets(estimate):
        claim = text("The message time jumps with the size ({way}): {steps}. The protocol can change there.")
    elif place.between(estimate):
        claim = text(
            "The message time jumps with the size ({way}): {steps}. A frame or a socket buffer can be full there."
        )
    else:
        claim = text(
            "The message time jumps with the size ({way}): {steps}. There is no network on this path: a socket "
            "buffer or a cache can be full there."
        )
    return filled(claim, {"way": place.way(estimate), "steps": steps})


def _by_hand(evidence: Evidence, estimate: Estimate, step: Step) -> str:
    """What a user does: a larger limit of the MPI for programs; other segments or buffers of sockets."""
    if not roles.by_sockets(estimate):
        return text(
            "give the larger limit to programs that send many messages of these sizes: `{command}`",
            command=f"export {configured.eager_variable(evidence, estimate)}={_MOVED * step.after}",
        )
    varied, told = (
        f"receive-buffer=0,{_GIVEN_BUFFERS}",
        text("a step that moves with the socket buffers comes from them (SO_SNDBUF, SO_RCVBUF)"),
    )
    if _is_of_frames(evidence, estimate, step):
        varied = f"{axes.SEGMENT}=0,{_shorter(step)}"
        told = text("a step that moves with the TCP segment size comes from the frames of the network")
    typed = cli("run", evidence.study(), "--vary", f"{estimate.benchmark}.{varied}")
    return joined(REMARK, (typed, told))


def _is_of_frames(evidence: Evidence, estimate: Estimate, step: Step) -> bool:
    """Whether a frame of the network is as long as the messages at the step."""
    return place.between(estimate) and bool(frames(evidence, estimate, step))


def _shorter(step: Step) -> int:
    """Bytes of a segment, of which the message before the step needs two, and that after it few more."""
    return 3 * step.before // 4


def _move(evidence: Evidence, estimate: Estimate, step: Step) -> _Move | None:
    """What tells the causes apart; None where nothing does that Assay may set."""
    if not roles.by_sockets(estimate):
        return _of_eager_limit(evidence, estimate, step)
    if not _is_of_frames(evidence, estimate, step):
        return None if any(map(estimate.params.get, _BUFFERS)) else _OF_BUFFERS
    segment, agreed = _shorter(step), configured.segment(evidence, estimate.case)
    if estimate.params.get(axes.SEGMENT) or segment not in _SEGMENTS or segment >= agreed:
        return None
    return _Move(
        text("segments of {size}", size=format_size(segment)),
        text("whether the jump appears again and moves with {setting}: then frames cause it"),
        text("it moves with the TCP segment size: the frames of the network cause it"),
        params={axes.SEGMENT: segment},
    )


_OF_BUFFERS = _Move(
    text("socket buffers of {size}", size=format_size(_GIVEN_BUFFERS)),
    text("whether the jump appears again and moves with {setting}: then these cause it"),
    text("it moves with the socket buffers: they cause it"),
    params=dict.fromkeys(_BUFFERS, _GIVEN_BUFFERS),
)


def _of_eager_limit(evidence: Evidence, estimate: Estimate, step: Step) -> _Move | None:
    """Another eager limit of the MPI."""
    variable, moved = configured.eager_variable(evidence, estimate), str(_MOVED * step.after)
    if variable in estimate.factors:
        return None
    return _Move(
        f"{variable}={moved}",
        text("whether the jump appears again and moves with {setting}: then the MPI causes it"),
        text("it moves with {variable}: the protocol switch of the MPI causes it", variable=variable),
        text("it stays with {setting}: this MPI ignores the setting, or the setting does not cause it"),
        level=moved,
        factor=Factor(variable, (UNSET, moved), "variable"),
    )


def _experiment(evidence: Evidence, estimate: Estimate, model: MessageLaw, step: Step) -> Experiment | None:
    """What tells the causes apart: the step is there again, and what moves it with a setting is that setting's."""
    move = _move(evidence, estimate, step)
    if move is None:
        return None
    points = {int(point.at["bytes"]): point for point in model.points}
    before, after = (points[size] for size in (step.before, step.after))
    longer: Literal[1, -1] = 1 if estimate.unit == "s" else -1
    pair = [(evidence.estimates[after.estimate], longer), (evidence.estimates[before.estimate], -longer)]
    half = math.sqrt(step.factor.value)
    smooth = after.value.value / before.value.value / step.factor.value
    beyond = 1.0 if estimate.unit == "s" else step.before / step.after  # rates are seconds by their bytes
    jump = text(
        "the jump between {before} and {after}", before=format_size(step.before), after=format_size(step.after)
    )
    usual = UNSET if move.factor else ""
    as_is = tuple(arm(each, power, usual) for each, power in pair)
    moved = tuple(
        msgspec.structs.replace(arm(each, -power, move.level), params=dict(move.params)) for each, power in pair
    )
    again = Effect(
        what=jump,
        arms=as_is,
        border=smooth * half * beyond,
        side="above",
        holds=text("a new measurement shows the jump again"),
        fails=text("a new measurement does not show the jump: it was chance"),
    )
    moves = Effect(
        what=text("{jump} / the same jump with {setting}", jump=jump, setting=move.setting),
        arms=(*as_is, *moved),
        border=half,
        side="above",
        holds=move.holds,
        fails=filled(move.fails, {"setting": move.setting}),
        refutes=False,
        excludes=True,
    )
    return Experiment(filled(move.question, {"setting": move.setting}), (again, moves), move.factor)


rule = Rule(
    "protocol_switch",
    text("Does the message time jump at some size?"),
    text(
        "step factor - 1 > {step} and > {scatters} times the scatter of the curve (lower end)",
        step=f"{LEAST}",
        scatters=SCATTERS,
    ),
    _assess,
    applies=place.passed,
)
