"""What limits long messages, as far as the run shows it."""

from assay.analyse.bounds import Bounds
from assay.model.profile import Ceiling, LimitedBy, Profile, ProfileFigure
from assay.model.result import Estimate
from assay.topics.messages import link

#: Messages that get this share of a limit have reached it.
REACHED = 0.90
#: Several pairs get more than one if their rate is this many times that of one.
_MORE = 1.10


def ceiling(estimate: Estimate | None, bounds: Bounds) -> tuple[LimitedBy, Ceiling] | None:
    """Return the kind of limit of an estimate, and the limit; None without one."""
    if estimate is None or estimate.limit is None:
        return None
    limit = estimate.limit
    bare = Ceiling(limit.value, limit.of)
    if len(estimate.placement.hosts) == 1:
        return "memory", bare
    machine = bounds.machine(estimate)
    name = link.carrier(estimate) or link.asked(estimate, bounds.plan)
    found = link.device(machine, name, estimate) if machine else None
    if found is None or limit.kind == "user":
        return "given", bare
    if limit.kind == "shaper":
        return "shaper", Ceiling(limit.value, limit.of, found.name, link.held_bits(found))
    if limit.kind == "pcie":
        return "slot", Ceiling(limit.value, limit.of, found.name)
    return "wire", Ceiling(limit.value, limit.of, found.name, link.wire_bits(found))


def limited_by(profile: Profile, kind: LimitedBy | None, *, one_machine: bool) -> LimitedBy:
    """Name what limits its long messages: the limit that their upper end reaches, as in the rule `link_ceiling`.

    Else what is slower than another measurement of the path; else why it is unknown.

    Args:
        profile: of a path, complete but for `limited_by`.
        kind: kind of the ceiling; None without one.
        one_machine: whether the nodes are one machine.
    """
    rate, share, pairs = profile.rate, profile.share, profile.pairs_rate
    if rate is None:
        return "not-measured"
    causes: tuple[tuple[LimitedBy, bool], ...] = (
        (kind or "undecided", share is not None and share.value.hi >= REACHED),
        ("mpi", _reached(profile.tcp_share)),
        ("one-pair", pairs is not None and pairs.value.lo > _MORE * rate.value.hi),
        ("copy", _reached(profile.over_copy)),
        ("one-machine", one_machine and not kind),
        ("undecided", kind is not None),
    )
    return next((name for name, shows in causes if shows), "no-limit-known")


def _reached(share: ProfileFigure | None) -> bool:
    return share is not None and share.value.lo >= REACHED
