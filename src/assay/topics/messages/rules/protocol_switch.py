"""Sizes at which the message time jumps: a protocol changes, or a frame or buffer is full."""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.experiments import arm
from assay.analyse.messages import place
from assay.analyse.messages.curves import PATTERN
from assay.analyse.messages.steps import LEAST, SCATTERS, MessageLaw, Step, steps
from assay.model import roles
from assay.model.declaration import ParamValue
from assay.model.plan import UNSET, Effect, Experiment, Factor
from assay.model.result import Estimate, Finding
from assay.model.text import REMARK, Text, cli, filled, joined, text
from assay.model.units import format_quantity, format_size
from assay.topics.messages import axes, configured, link
from assay.topics.messages.causes import burst, causes, frames

#: Patterns that show a jump best; the others repeat it.
_PATTERNS = ("latency", "bandwidth")
#: The experiment moves the eager limit to this multiple of the size after the step.
_MOVED = 4
#: Socket buffers of the experiment; without them the system enlarges buffers to megabytes. Every kernel grants
#: this size (its default limit is 208 KiB); much smaller buffers wait for delayed acknowledgements.
_GIVEN_BUFFERS = 128 * 1024
_BUFFERS = ("send-buffer", "receive-buffer")
_SEGMENTS = range(88, 32768)  # that Linux accepts


class _Move(NamedTuple):
    """A setting that may move a step, and what this shows.

    Attributes:
        setting: in words.
        question: the question of the experiment; it and `fails` may name the setting.
        holds: what is true if the step moves.
        fails: what is true if it stays.
        params: axes of the benchmark that are set ...
        level: ... or the level of `factor` that is set.
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
    # A burst of a shaper explains its step alone: only of the others a protocol can be the cause.
    other = [each for each in found if not burst(evidence, model, each)]
    worst = max(other or found, key=lambda each: each.factor.value)
    adjacent = [point.estimate for point in model.points if point.at["bytes"] in (worst.before, worst.after)]
    jumps = [
        text(
            "at {after} a message takes {factor} times as long as sizes up to {before} lead to expect ({time} "
            "more)",
            factor=f"{each.factor.value:.2f}",
            before=format_size(each.before),
            after=format_size(each.after),
            time=format_quantity(each.seconds, "s"),
        )
        for each in found
    ]
    explained = [(each, cause) for each in other for cause in causes(evidence, estimate, each)]
    rivals = (text("at {size}: {cause}", size=format_size(each.after), cause=cause) for each, cause in explained)
    return rule.finding(
        model.id,
        claim=_claim(estimate, joined("; ", jumps), is_burst=not other),
        severity="advice",
        status="candidate",
        evidence=(model.id, *adjacent),
        numbers=numbers(worst.factor, 1 + LEAST),
        statistic=text(
            "lower end of the step {step}, scatter {scatter}",
            step=f"{min(worst.factor.value, worst.factor.lo):.3g}",
            scatter=f"{model.scatter:.2g}",
        ),
        rivals=tuple(dict.fromkeys(rivals)),
        next=_by_hand(evidence, estimate, worst) if other else _shaper(estimate),
        experiment=_experiment(evidence, estimate, model, worst) if other else None,
    )


def _claim(estimate: Estimate, steps: str, *, is_burst: bool) -> str:
    """Say where the time jumps, and what on the path of these messages can cause it."""
    if is_burst:
        claim = text(
            "The message time jumps with the size ({case}): {steps}. Smaller messages can be the burst that the "
            "traffic shaper lets pass at once; the burst ends there."
        )
    elif not roles.by_sockets(estimate):
        claim = text("The message time jumps with the size ({case}): {steps}. The protocol can change there.")
    elif place.between(estimate):
        claim = text(
            "The message time jumps with the size ({case}): {steps}. A frame or a socket buffer can be full there."
        )
    else:
        claim = text(
            "The message time jumps with the size ({case}): {steps}. There is no network on this path: a socket "
            "buffer or a cache can be full there."
        )
    return filled(claim, {"case": place.path_name(estimate), "steps": steps})


def _shaper(estimate: Estimate) -> str:
    """Tell how to read the burst of the shaper of the device that carried the messages."""
    device = link.carrier(estimate)
    command = f"tc -s qdisc show dev {device}" if device else "tc -s qdisc show"
    return joined(REMARK, (command, text("the burst of the traffic shaper")))


def _by_hand(evidence: Evidence, estimate: Estimate, step: Step) -> str:
    """Tell the user what to do: raise the eager limit of the MPI; vary segments or buffers of sockets."""
    if not roles.by_sockets(estimate):
        return text(
            "give the larger limit to programs that send many messages of these sizes: `{command}`",
            command=f"export {configured.eager_variable(evidence, estimate)}={_MOVED * step.after}",
        )
    varied, remark = (
        f"receive-buffer=0,{_GIVEN_BUFFERS}",
        text("a step that moves with the socket buffers comes from them (SO_SNDBUF, SO_RCVBUF)"),
    )
    if _is_of_frames(evidence, estimate, step):
        varied = f"{axes.SEGMENT}=0,{_shorter(step)}"
        remark = text("a step that moves with the TCP segment size comes from the frames of the network")
    command = cli("run", evidence.study(), "--vary", f"{estimate.benchmark}.{varied}")
    return joined(REMARK, (command, remark))


def _is_of_frames(evidence: Evidence, estimate: Estimate, step: Step) -> bool:
    """Whether a frame of the network is as long as the messages at the step."""
    return place.between(estimate) and bool(frames(evidence, estimate, step))


def _shorter(step: Step) -> int:
    """Return the bytes of a segment: the message before the step needs two of them, the one after it few more."""
    return 3 * step.before // 4


def _move(evidence: Evidence, estimate: Estimate, step: Step) -> _Move | None:
    """Return the setting that separates the causes; None where Assay can set none."""
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
    """Set another eager limit of the MPI."""
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
    """Measure whether the step appears again, and whether it moves with a setting, which then causes it."""
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
