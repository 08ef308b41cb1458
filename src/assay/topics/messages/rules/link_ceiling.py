"""The share of the link rate that messages between nodes get."""

from collections.abc import Iterable

from assay.analyse.curves import machine_of
from assay.analyse.evidence import Evidence, Rule, numbers
from assay.analyse.experiments import arm, retest_single
from assay.analyse.messages import place
from assay.analyse.messages.curves import BYTES, PATTERN
from assay.model import roles
from assay.model.declaration import ParamValue
from assay.model.placement import Memory, Placement
from assay.model.plan import Arm, Effect, Experiment
from assay.model.result import Estimate, Finding, Limit
from assay.model.text import cli, text
from assay.model.units import format_quantity, format_size
from assay.topics.messages import axes, configured, ends

#: Pairs of cores that may saturate a link that one pair does not.
_MORE = 4
#: Twice as many frames take this factor longer if frames are two thirds of the time (and the link is not full).
_BY_FRAMES = 5 / 3
_TOGETHER: dict[str, ParamValue] = {PATTERN: "multi-bandwidth"}


def _assess(evidence: Evidence) -> Iterable[Finding]:
    sent = [each.estimate for each in evidence.measured if ends.tells(each.estimate)]
    bounded = [each for each in sent if each.limit]
    if not bounded:
        why = text("No fact gives the link rate" if sent else "No long messages were measured between nodes")
        yield rule.not_assessed(
            why, cli("report", "last", "--limit", "wire=117.7 MB/s") if sent else cli("run", "network")
        )
    best: dict[tuple[str, Limit | None], Estimate] = {}
    for each in bounded:
        key = each.benchmark, each.limit
        best[key] = max(best.get(key, each), each, key=lambda estimate: estimate.median or 0.0)
    frames = {each.id: ends.frames(each, evidence.run) for each in best.values()}
    reached = {frames[each.id][0] for each in best.values() if ends.most(each) >= ends.SHARE}
    for each in best.values():
        name, mtus = frames[each.id]
        if not ends.differ(mtus) or name in reached:  # else the rule `mtu` reports the shortfall
            yield from _finding(each, evidence)


def _finding(estimate: Estimate, evidence: Evidence) -> Iterable[Finding]:
    limit, median = estimate.limit, estimate.median or 0.0
    if limit is None:
        return
    most = ends.most(estimate)
    below = most < ends.SHARE
    figure, carried = (format_quantity(value, estimate.unit) for value in (median, limit.value))
    yield rule.finding(
        estimate.id,
        claim=text(
            "Messages between nodes get at most {figure} ({case}, {size}), {share} of {carried}, {of}: {verdict}.",
            figure=figure,
            case=place.path_name(estimate),
            size=format_size(int(estimate.params[BYTES])),
            share=f"{median / limit.value:.2f}",
            carried=carried,
            of=limit.of,
            verdict=text("something else limits them" if below else "the link limits them"),
        ),
        severity="problem" if below else "fact",
        status="candidate" if below and not estimate.confidence else "observed",
        evidence=(estimate.id,),
        numbers=numbers(estimate.value, ends.SHARE * limit.value, estimate.unit),
        statistic=text(
            "upper bound (95 %) of the share {share}" if estimate.confidence else "largest of the share {share}",
            share=f"{most:.3g}",
        ),
        rivals=_rivals(estimate) if below else (),
        experiment=_experiment(estimate, limit, evidence) if below else None,
        next=cli("run", "multi-pair", "--hosts", ",".join(estimate.placement.hosts)) if below else "",
    )


def _rivals(estimate: Estimate) -> tuple[str, ...]:
    limit = estimate.limit
    rivals: list[str] = [text("one pair of cores does not saturate the link")]
    if limit is None or limit.kind != "pcie":
        rivals.append(text("the slot of the card: too few lanes, or an older generation (PCI Express)"))
    if roles.by_sockets(estimate) or (limit is not None and limit.framed):
        rivals.append(text("interrupts and copies of the kernel, fewer with jumbo frames"))
    if estimate.params.get(PATTERN) == "bidirectional":
        rivals.append(text("directions that share a part of the path"))
    return (*rivals, text("a port of the switch that is slower"), text("cores on the socket far from the card"))


def _experiment(estimate: Estimate, limit: Limit, evidence: Evidence) -> Experiment | None:
    """Test for chance, where launches are few, and for a cause: frames of sockets, or one pair of cores."""
    border = ends.SHARE * limit.value
    effects = [] if estimate.confidence else [retest_single(estimate, border)]
    if frames := _shorter_frames(estimate, evidence):
        effects.append(frames)
        return Experiment(text("whether the number of frames determines the rate"), tuple(effects))
    more = _more_pairs(estimate, evidence)
    if more:
        many = text("{count} pair of cores|{count} pairs of cores", count=len(more.ranks))
        arm = Arm(estimate.case, estimate.kernel, estimate.metric, 1, params=_TOGETHER, placement=more)
        effects.append(
            Effect(
                what=text("the bandwidth of {pairs}", pairs=many),
                arms=(arm,),
                border=border,
                side="below",
                holds=text("{pairs} do not saturate the link either", pairs=many),
                fails=text(
                    "{pairs} together saturate the link: the link is fine, one pair is not enough", pairs=many
                ),
                unit=estimate.unit,
            )
        )
    return Experiment(text("whether more pairs of cores saturate the link"), tuple(effects)) if effects else None


def _shorter_frames(estimate: Estimate, evidence: Evidence) -> Effect | None:
    """Test sockets with twice as many frames for the same bytes, which needs no other MTU.

    If frames take all the time, half of the rate is left; if they take none, all of it but their headers. The
    border is where they take two thirds of the time.
    """
    segment = configured.segment(evidence, estimate.case) // 2
    if not segment or estimate.params.get(axes.SEGMENT):
        return None
    shorter = text("segments of {size}", size=f"{segment} B")
    bounded = Arm(estimate.case, estimate.kernel, estimate.metric, -1, params={axes.SEGMENT: segment})
    return Effect(
        what=text("the bandwidth / the bandwidth with {setting}", setting=shorter),
        arms=(arm(estimate, 1), bounded),
        border=_BY_FRAMES,
        side="above",
        holds=text(
            "the number of frames determines the rate: the work of kernel and card for each frame is the limit, "
            "and a larger MTU on all nodes helps"
        ),
        fails=text(
            "the number of frames does not determine the rate: the work for each frame is a small part of the time"
        ),
        refutes=False,
        excludes=True,
    )


def _more_pairs(estimate: Estimate, evidence: Evidence) -> Placement | None:
    """Place up to four cores of each node, each with a partner; None unless one pair sent in one direction."""
    machine = machine_of(estimate, evidence.run.machines)
    one_pair = len(estimate.placement.cpus[0]) == 1 and roles.is_curve_by(estimate.declared, "MPI")
    one_way = estimate.params.get(PATTERN) == "bandwidth"
    if machine is None or not (one_pair and one_way) or estimate.placement.is_one_machine:
        return None
    (own,) = estimate.placement.cpus[0]
    allowed = set(machine.topology.allowed_cpus)
    others = [core.cpus[0] for core in machine.topology.cores if own not in core.cpus and core.cpus[0] in allowed]
    cpus = (own, *others[: _MORE - 1])
    if len(cpus) == 1:
        return None
    ranks = tuple((cpu,) for cpu in cpus)
    meaning = f"{len(cpus)} cores of each node"
    return Placement(f"cores:{len(cpus)}", meaning, cpus, Memory(), estimate.placement.hosts, ranks)


rule = Rule(
    "link_ceiling",
    text("Do messages between nodes reach the link rate?"),
    text("best / payload rate of wire or slot < {share} (upper end)", share=f"{ends.SHARE}"),
    _assess,
    applies=place.passed,
    concerns="paths",
)
