"""Profile of each path of messages, from estimates, laws, limits and findings."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay.analyse import limits
from assay.analyse.curves import M, figure
from assay.analyse.evidence import Evidence
from assay.analyse.messages import curves
from assay.analyse.messages.steps import MessageLaw, steps
from assay.model import roles
from assay.model.grouping import grouped
from assay.model.profile import Profile, ProfileFigure
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Finding
from assay.report import messages
from assay.topics.messages import causes, limiting, link
from assay.topics.messages.ends import LONG_BYTES
from assay.topics.messages.models import max_rate, mpi_over_tcp
from assay.topics.messages.models.duplex import Duplex
from assay.topics.messages.models.max_rate import MaxRate
from assay.topics.messages.models.mpi_over_tcp import MpiOver
from assay.topics.messages.rules import delayed_ack

_LATENCY, _ONE, _MANY = "latency", "bandwidth", "multi-bandwidth"
#: The curve of a path with default axes counts; these axes may have any value.
_APART = frozenset({curves.PATTERN, curves.BYTES, "calls", "waiting"})


class _Key(NamedTuple):
    """Key of a path: the same partners and the same levels of factors."""

    hosts: tuple[str, ...]
    label: str
    factors: tuple[tuple[str, str], ...]
    state: str | None


class _Path(NamedTuple):
    """The curves of one path of one benchmark, by pattern, and the evidence of the run."""

    key: _Key
    by: str
    members: Mapping[str, tuple[Estimate, ...]]
    evidence: Evidence

    def of(self, pattern: str) -> tuple[Estimate, ...]:
        """Return the estimates of one pattern, by size."""
        return self.members.get(pattern, ())

    def has(self, estimate: Estimate) -> bool:
        """Whether an estimate has the same nodes and levels."""
        return (
            estimate.benchmark == self.by
            and estimate.placement.hosts == self.key.hosts
            and tuple(estimate.factors.items()) == self.key.factors
            and estimate.state in {None, self.key.state}
        )

    def model(self, law: type[M], pattern: str, holds: Callable[[M], object] = lambda _model: True) -> M | None:
        """Return the first model of estimates of this path and pattern that `holds`; None without one."""
        ids = {each.id for each in self.of(pattern)}
        found = (model for model in self.evidence.fitted(law) if ids & set(model.of) and holds(model))
        return next(found, None)

    def figure(self, model: M | None, quantity: Callable[[M], Quantity | None]) -> ProfileFigure | None:
        """Return a quantity of a model, with the fewest launches behind it; None where the model has none.

        The ends of a fit to a few launches may exclude its value: they are extended, as a range must hold it.
        """
        found = quantity(model) if model else None
        if model is None or found is None:
            return None
        launches = min(self.evidence.estimates[name].launches for name in model.of)
        value, lo, hi = found
        ends = Quantity(value, min(lo, value), max(hi, value), found.unit, found.basis)
        return ProfileFigure(ends, launches, (model.id,))


def profiles(evidence: Evidence, findings: Sequence[Finding]) -> tuple[Profile, ...]:
    """Make the profile of each path between two partners, those between nodes first; of MPI, else of TCP.

    Several pairs of nodes over the same network have a model of their own and no profile.
    """
    of_mpi, of_tcp = (_paths(evidence, by) for by in ("MPI", "TCP"))
    chosen = {**of_tcp, **of_mpi}
    similar = Counter(key[1:] for key in chosen if len(key.hosts) > 1)
    paths = [path for key, path in chosen.items() if similar[key[1:]] <= 1]
    ordered = sorted(paths, key=lambda path: len(path.key.hosts) == 1)
    return tuple(_profile(path, of_tcp.get(path.key), findings) for path in ordered)


def _paths(evidence: Evidence, by: str) -> dict[_Key, _Path]:
    """Return the paths between two partners by `MPI` or `TCP`, with their most usual curves."""
    found: dict[_Key, _Path] = {}
    for benchmark in (
        name for name, of in roles.message_curves(evidence.run.plan.declarations).items() if of == by
    ):
        every = curves.by_size(evidence, benchmark)
        members = [tuple(sorted((each.estimate for each in curve.members), key=curves.size)) for curve in every]
        between = [each for each in members if _pattern(each[0]) in {_LATENCY, _ONE}]
        between = [each for each in between if len(each[0].placement.hosts) <= 2]  # noqa: PLR2004 (two partners)
        for key, of_path in grouped(between, _key).items():
            patterns = grouped(of_path, lambda each: _pattern(each[0]))
            usual = {name: min(each, key=_unusual) for name, each in patterns.items()}
            found[key] = _Path(key, benchmark, usual, evidence)
    return found


def _key(members: Sequence[Estimate]) -> _Key:
    first, state = members[0], next((each.state for each in members if each.state), None)
    return _Key(first.placement.hosts, first.placement.label, tuple(first.factors.items()), state)


def _pattern(estimate: Estimate) -> str:
    """Return the pattern; for one pair that of one pair, since programs for many pairs measure the same."""
    pattern = roles.pattern_name(estimate)
    return roles.of_one_pair(estimate.declared, pattern) if max_rate.pairs_of(estimate) == 1 else pattern


def _unusual(members: Sequence[Estimate]) -> int:
    """Rank how unusual a curve is: by axes without their defaults, then by sockets that do not poll."""
    first = members[0]
    blocked = roles.by_sockets(first) and not mpi_over_tcp.is_polled(first)
    return 4 * curves.unusual(first, _APART) + 2 * blocked + (roles.pattern_name(first) != _pattern(first))


def _profile(path: _Path, sockets: _Path | None, findings: Sequence[Finding]) -> Profile:
    evidence, (hosts, label, factors, state) = path.evidence, path.key
    latency, one = path.of(_LATENCY), path.of(_ONE)
    any_, longest, small = (one or latency)[-1], _longest(one), _small(latency)
    rate, time = _stated(longest), _stated(small)
    top = limiting.ceiling(longest, evidence.bounds)
    most_pairs = _most_pairs(path)
    streamed = _at_once(path, small)
    jump, jump_bytes, jump_burst = _jump(path)
    single, single_bytes, single_share = _single(path)
    filled = (
        law for law in evidence.fitted(MaxRate) if all(path.has(evidence.estimates[each]) for each in law.of)
    )
    levels = [f"{name}={level}" for name, level in factors] + ([f"state={state}"] if state else [])
    found = Profile(
        id="/".join(["profile", path.by, label, *levels, *(f"host={host}" for host in hosts)]),
        by=path.by,
        label=label,
        hosts=hosts,
        factors=dict(factors),
        state=state,
        asked=link.asked(any_, evidence.run.plan) if len(hosts) > 1 else "",
        carried=link.carrier(any_) if len(hosts) > 1 else "",
        limited_by="not-measured",
        small_bytes=curves.size(small) if small else 0,
        small=time,
        alone=time.inverse("1/s") if time else None,
        streamed=_stated(streamed),
        window=int(streamed.params.get("window", 1)) if streamed else 1,
        solid_bytes=_solid(one),
        half=_half(path),
        jump=jump,
        jump_bytes=jump_bytes,
        jump_burst=jump_burst,
        rate=rate,
        rate_bytes=curves.size(longest) if longest else 0,
        single=single,
        single_bytes=single_bytes,
        single_share=single_share,
        both=path.figure(path.model(Duplex, _ONE), lambda each: each.long_messages),
        pairs=max_rate.pairs_of(most_pairs) if most_pairs else 0,
        pairs_rate=_stated(most_pairs),
        pairs_fill=path.figure(next(filled, None), lambda each: each.pairs_that_fill),
        over_tcp_small=_over_tcp(path, small),
        over_tcp=_over(path, mpi_over_tcp.TCP),
        over_copy=_over(path, mpi_over_tcp.MEMCPY),
        ceiling=top[1] if top else None,
        share=rate.over(top[1].value) if rate and top else None,
        tcp_share=_sockets(path, sockets, longest),
        stalled=_stalled(path, findings),
    )
    one_machine = len(hosts) > 1 and longest is not None and longest.placement.is_one_machine
    limit = limiting.limited_by(found, top[0] if top else None, one_machine=one_machine)
    return msgspec.structs.replace(found, limited_by=limit)


def _sockets(path: _Path, sockets: _Path | None, longest: Estimate | None) -> ProfileFigure | None:
    """Return the share of the limit of sockets with long messages, where they use the same device as MPI."""
    tcp = _longest(sockets.of(_ONE)) if sockets and path.by != sockets.by else None
    rate = _stated(tcp)
    if tcp is None or rate is None or tcp.limit is None or longest is None:
        return None
    return rate.over(tcp.limit.value) if link.carrier(tcp) == link.carrier(longest) else None


def _stated(estimate: Estimate | None) -> ProfileFigure | None:
    """Return the figure of an estimate; None without one."""
    return ProfileFigure(figure(estimate), estimate.launches, (estimate.id,)) if estimate else None


def _longest(one: Sequence[Estimate]) -> Estimate | None:
    return one[-1] if one and curves.size(one[-1]) >= LONG_BYTES else None


def _small(latency: Sequence[Estimate]) -> Estimate | None:
    """Return the small message of a curve; None if its smallest one is long."""
    found = messages.small(latency)
    return found if found and curves.size(found) < LONG_BYTES else None


def _at_once(path: _Path, small: Estimate | None) -> Estimate | None:
    """Return the message rate of small messages, with many in flight at once."""
    size = curves.size(small) if small else messages.SMALL_BYTES
    cases = {each.case for each in path.of(_ONE) if curves.size(each) == size}
    rates = (each for each in path.evidence.having("message-rate") if each.case in cases and each.median)
    return next((each for each in rates if each.state in {None, path.key.state}), None)


def _over(path: _Path, base: str) -> ProfileFigure | None:
    """Return how many times as fast MPI passes long messages as a base."""
    model = path.model(MpiOver, _ONE, lambda each: each.base == base)
    return path.figure(model, lambda each: each.long_messages)


def _over_tcp(path: _Path, small: Estimate | None) -> ProfileFigure | None:
    """Return how many times as fast MPI passes the small message as sockets: of the size whose time is stated."""
    model = path.model(MpiOver, _LATENCY, lambda each: each.base == mpi_over_tcp.TCP)
    if model is None or small is None:
        return None
    ratio = next((each.value for each in model.points if each.at[curves.BYTES] == curves.size(small)), None)
    return path.figure(model, lambda _model: ratio)


def _half(path: _Path) -> ProfileFigure | None:
    """Return the half-rate size; None where the smallest message reaches it already, or no law was fitted."""
    pattern = _ONE if _ONE in path.members else _LATENCY
    found = path.figure(path.model(MessageLaw, pattern), lambda each: each.half_rate_size_measured)
    sizes = [size for each in path.of(pattern) if (size := curves.size(each)) > 0]
    return found if found and found.value.value > min(sizes) else None


def _solid(one: Sequence[Estimate]) -> int:
    """Return the size from which on all get half of the highest rate (lower ends); 0 if all sizes do, or none."""
    some = [(curves.size(each), figure(each)) for each in one if curves.size(each) > 0]
    half = max((rate.value for _, rate in some), default=0.0) / 2
    below = [size for size, rate in some if rate.lo < half]
    return min((size for size, _ in some if size > max(below)), default=0) if below else 0


def _jump(path: _Path) -> tuple[ProfileFigure | None, tuple[int, int], bool]:
    """Return the largest step of the latency above the scatter, its sizes, and whether a burst ends there."""
    law = path.model(MessageLaw, _LATENCY, lambda each: any(steps(each)))
    if law is None:
        return None, (0, 0), False
    worst = max(steps(law), key=lambda each: each.factor.value)
    is_burst = bool(causes.burst(path.evidence, law, worst))
    return path.figure(law, lambda _law: worst.factor), (worst.before, worst.after), is_burst


def _single(path: _Path) -> tuple[ProfileFigure | None, int, ProfileFigure | None]:
    """Return the highest rate of single long messages that is no burst, their size, its share of the limit."""
    long = [each for each in path.of(_LATENCY) if curves.size(each) >= LONG_BYTES and each.exceeds is None]
    best = max(long, key=lambda each: curves.size(each) / (each.median or math.inf), default=None)
    time = _stated(best)
    if best is None or time is None or time.value.lo <= 0:
        return None, 0, None
    size = curves.size(best)
    rate = time.over(size).inverse("B/s")
    top = limits.limit("wire", best, path.evidence.bounds)
    return rate, size, rate.over(top.value) if top else None


def _most_pairs(path: _Path) -> Estimate | None:
    """Return the bandwidth of most pairs at once with the largest messages; None for a single pair."""
    many = (each for each in path.evidence.having("message-bandwidth") if path.has(each) and each.median)
    many = (each for each in many if each.params.get(curves.PATTERN) == _MANY and max_rate.pairs_of(each) > 1)
    return max(
        (each for each in many if curves.size(each) >= LONG_BYTES),
        key=lambda e: (max_rate.pairs_of(e), curves.size(e)),
        default=None,
    )


def _stalled(path: _Path, findings: Sequence[Finding]) -> float | None:
    """Return the seconds that messages of this path wait for a timer; None without such a finding."""
    ids = {each.id for each in (*path.of(_LATENCY), *path.of(_ONE))}
    found = (each for each in findings if each.rule == delayed_ack.rule.name and ids & set(each.evidence))
    return next((each.numbers[delayed_ack.WAIT].value for each in found), None)
