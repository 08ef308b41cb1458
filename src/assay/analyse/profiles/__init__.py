"""What each way of messages is good for and what limits it: from estimates, laws, limits and findings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assay.analyse.bounds import Bounds
from assay.analyse.curves import Known, axes
from assay.analyse.evidence import Evidence
from assay.analyse.findings import delayed_ack, protocol_switch
from assay.analyse.messages import curves, link
from assay.analyse.models import duplex, max_rate, message_law, mpi_over_tcp
from assay.analyse.profiles import limiting, stated
from assay.analyse.profiles.limiting import Long
from assay.model.profile import Profile, Stated
from assay.model.result import Estimate, Finding, Model

_LATENCY, _ONE, _MANY = "latency", "bandwidth", "multi-bandwidth"
_PROGRAMS = ("pt2pt", "tcp")
#: The message that small ones are judged by, and the least that long ones have.
_SMALL_BYTES, _LONG_BYTES = 8, 65536
#: Of curves of one way those whose axes have their defaults are told; these axes tell patterns and sizes apart.
_APART = frozenset({curves.PATTERN, curves.BYTES, "calls", "waiting"})


class _Key(NamedTuple):
    """One way: between the same partners, by the same levels of factors."""

    hosts: tuple[str, ...]
    label: str
    factors: tuple[tuple[str, str], ...]
    state: str | None


class _Way(NamedTuple):
    """The curves of one way, by pattern, of one benchmark."""

    key: _Key
    by: str
    members: Mapping[str, tuple[Estimate, ...]]

    def ids(self, pattern: str) -> frozenset[str]:
        """Of the estimates of one pattern."""
        return frozenset(each.id for each in self.members.get(pattern, ()))


def profiles(evidence: Evidence, findings: Sequence[Finding]) -> tuple[Profile, ...]:
    """Of each way between two partners: those between nodes first. Of MPI, where it passed messages, else of TCP.

    Many pairs of nodes, each over the same network, have a model of their own and no profile.
    """
    known = Known(evidence.run, evidence.measured)
    of_mpi, of_tcp = (_ways(known, name) for name in _PROGRAMS)
    chosen = {**of_tcp, **of_mpi}
    alike: dict[tuple[object, ...], int] = {}
    for key in chosen:
        alike[key[1:]] = alike.get(key[1:], 0) + (len(key.hosts) > 1)
    ways = [way for key, way in chosen.items() if alike[key[1:]] <= 1]
    ordered = sorted(ways, key=lambda way: len(way.key.hosts) == 1)
    bounds = evidence.bounds
    return tuple(_profile(way, of_tcp.get(way.key), evidence, bounds, findings) for way in ordered)


def _ways(known: Known, benchmark: str) -> dict[_Key, _Way]:
    found: dict[_Key, dict[str, tuple[int, tuple[Estimate, ...]]]] = {}
    for curve in curves.by_size(known, benchmark):
        members = tuple(sorted((each.estimate for each in curve.members), key=curves.size))
        first = members[0]
        pattern = _pattern(first)
        if pattern not in {_LATENCY, _ONE} or len(first.placement.hosts) > 2:  # noqa: PLR2004 (two partners)
            continue
        state = next((each.state for each in members if each.state), None)
        key = _Key(first.placement.hosts, first.placement.label, tuple(first.factors.items()), state)
        unusual = _unusual(first) + (first.params[curves.PATTERN] != pattern)
        of_key = found.setdefault(key, {})
        if pattern not in of_key or unusual < of_key[pattern][0]:
            of_key[pattern] = unusual, members
    return {
        key: _Way(key, benchmark, {name: members for name, (_, members) in patterns.items()})
        for key, patterns in found.items()
    }


def _pattern(estimate: Estimate) -> str:
    """That of one pair, whose programs for many pairs measure the same."""
    pattern = str(estimate.params[curves.PATTERN])
    return pattern.removeprefix("multi-") if max_rate.pairs_of(estimate) == 1 else pattern


def _unusual(estimate: Estimate) -> int:
    """Axes that have not their defaults; of sockets polling ones are the like of MPI."""
    differing = sum(
        estimate.params.get(axis.name, axis.default) != axis.default
        for axis in axes(estimate)
        if axis.name not in _APART and axis.default is not None
    )
    return 4 * differing + 2 * (estimate.benchmark == "tcp" and not mpi_over_tcp.is_polled(estimate))


def _profile(
    way: _Way, sockets: _Way | None, evidence: Evidence, bounds: Bounds, findings: Sequence[Finding]
) -> Profile:
    latency, one = way.members.get(_LATENCY, ()), way.members.get(_ONE, ())
    any_ = (one or latency)[-1]
    longest = _longest(one)
    rate = stated.of_estimate(longest) if longest else None
    top = limiting.ceiling(longest, bounds)
    share = stated.over(rate, top[1].value) if rate and top else None
    tcp_share = _sockets(way, sockets, longest)
    small = _small(latency)
    time = stated.of_estimate(small) if small else None
    pairs, pairs_rate = _pairs(way, evidence)
    over_copy = _parameter(evidence, way, (mpi_over_tcp.LAW, mpi_over_tcp.MEMCPY), "long messages", _ONE)
    long = Long(longest, rate, share, tcp_share, pairs_rate, over_copy)
    beside = _at_once(evidence, way, small)
    jump, jump_bytes = _jump(evidence, way)
    tcp_law = (mpi_over_tcp.LAW, mpi_over_tcp.TCP)
    return Profile(
        id=_id(way),
        by=way.by,
        label=way.key.label,
        hosts=way.key.hosts,
        factors=dict(way.key.factors),
        state=way.key.state,
        asked=link.asked(any_, evidence.run.plan) if len(way.key.hosts) > 1 else "",
        carried=link.carrier(any_) if len(way.key.hosts) > 1 else "",
        limited_by=limiting.limited_by(long, top[0] if top else None),
        small_bytes=curves.size(small) if small else 0,
        small=time,
        alone=stated.inverse(time, "1/s") if time else None,
        streamed=stated.of_estimate(beside) if beside else None,
        window=int(beside.params.get("window", 1)) if beside else 1,
        solid_bytes=_solid(one),
        half=_half(evidence, way),
        jump=jump,
        jump_bytes=jump_bytes,
        rate=rate,
        rate_bytes=curves.size(longest) if longest else 0,
        both=_parameter(evidence, way, (duplex.LAW,), "long messages", _ONE),
        pairs=pairs,
        pairs_rate=pairs_rate,
        pairs_fill=_fill(evidence, way),
        over_tcp_small=_parameter(evidence, way, tcp_law, "smallest size", _LATENCY),
        over_tcp=_parameter(evidence, way, tcp_law, "long messages", _ONE),
        over_copy=over_copy,
        ceiling=top[1] if top else None,
        share=share,
        tcp_share=tcp_share,
        stalled=_stalled(way, findings),
    )


def _id(way: _Way) -> str:
    levels = [f"{name}={level}" for name, level in way.key.factors]
    state = [f"state={way.key.state}"] if way.key.state else []
    return "/".join(
        ["profile", way.by, way.key.label, *levels, *state, *(f"host={host}" for host in way.key.hosts)]
    )


def _sockets(way: _Way, sockets: _Way | None, longest: Estimate | None) -> Stated | None:
    """What sockets get of the limit with long messages, where they took the same device as MPI."""
    tcp = _longest(sockets.members.get(_ONE, ())) if sockets and way.by != sockets.by else None
    if tcp is None or tcp.limit is None or longest is None or link.carrier(tcp) != link.carrier(longest):
        return None
    return stated.over(stated.of_estimate(tcp), tcp.limit.value)


def _longest(one: Sequence[Estimate]) -> Estimate | None:
    return one[-1] if one and curves.size(one[-1]) >= _LONG_BYTES else None


def _small(latency: Sequence[Estimate]) -> Estimate | None:
    """8 B, else the smallest that is not empty, else the empty one; none that is long."""
    ordered = sorted(latency, key=lambda e: (curves.size(e) == 0, curves.size(e) != _SMALL_BYTES, curves.size(e)))
    return ordered[0] if ordered and curves.size(ordered[0]) < _LONG_BYTES else None


def _at_once(evidence: Evidence, way: _Way, small: Estimate | None) -> Estimate | None:
    """Messages a second of the size that small ones are judged by, many on the way at once."""
    size = curves.size(small) if small else _SMALL_BYTES
    cases = {each.case for each in way.members.get(_ONE, ()) if curves.size(each) == size}
    rates = (each.estimate for each in evidence.measured if each.estimate.metric == "message-rate")
    alike = (each for each in rates if each.case in cases and each.state in {None, way.key.state})
    return next((each for each in alike if each.median), None)


def _of(evidence: Evidence, law: Iterable[str], ids: frozenset[str]) -> Iterable[Model]:
    """Models of a law that rest on one of these."""
    first, *words = law
    for model in evidence.models:
        named = not words or words[0] in model.id.split("/")
        if named and model.law == first and model.parameters and ids & set(model.of):
            yield model


def _parameter(evidence: Evidence, way: _Way, law: Iterable[str], name: str, pattern: str) -> Stated | None:
    for model in _of(evidence, law, way.ids(pattern)):
        return stated.of_model(model, name, _behind(evidence, model))
    return None


def _behind(evidence: Evidence, model: Model) -> list[Estimate]:
    of = set(model.of)
    return [each.estimate for each in evidence.measured if each.estimate.id in of]


def _half(evidence: Evidence, way: _Way) -> Stated | None:
    """None where the smallest message reaches half of the rate already, or no law was fitted."""
    pattern = _ONE if _ONE in way.members else _LATENCY
    for model in _of(evidence, (message_law.LAW,), way.ids(pattern)):
        found = stated.of_model(model, "half-rate size measured", _behind(evidence, model), "B")
        sizes = [size for each in way.members[pattern] if (size := curves.size(each)) > 0]
        return found if found and found.value > min(sizes) else None
    return None


def _solid(one: Sequence[Estimate]) -> int:
    """The size from which on all get half of the highest rate, by lower ends; 0 where all sizes do, or none."""
    some = [(curves.size(each), stated.of_estimate(each)) for each in one if curves.size(each) > 0]
    half = max((figure.value for _, figure in some), default=0.0) / 2
    below = [size for size, figure in some if figure.least < half]
    return min((size for size, _ in some if size > max(below)), default=0) if below else 0


def _jump(evidence: Evidence, way: _Way) -> tuple[Stated | None, tuple[int, int]]:
    """The largest step of the latency that is more than scatter."""
    for model in _of(evidence, (message_law.LAW,), way.ids(_LATENCY)):
        found = list(protocol_switch.steps(model))
        if found:
            worst = max(found, key=lambda each: each.factor[0])
            name = next(
                n for n, value in model.parameters.items() if n.startswith("step ") and value == worst.factor
            )
            return stated.of_model(model, name, _behind(evidence, model)), (worst.before, worst.after)
    return None, (0, 0)


def _alike(way: _Way, estimate: Estimate) -> bool:
    """Whether the same nodes passed messages by the same levels."""
    return (
        estimate.benchmark == way.by
        and estimate.placement.hosts == way.key.hosts
        and tuple(estimate.factors.items()) == way.key.factors
        and estimate.state in {None, way.key.state}
    )


def _pairs(way: _Way, evidence: Evidence) -> tuple[int, Stated | None]:
    """Of the most pairs that passed the largest messages at once; none where there was one pair."""
    many = [
        each.estimate
        for each in evidence.measured
        if _alike(way, each.estimate)
        and each.estimate.params.get(curves.PATTERN) == _MANY
        and each.estimate.metric == _ONE
        and each.estimate.median
        and max_rate.pairs_of(each.estimate) > 1
        and curves.size(each.estimate) >= _LONG_BYTES
    ]
    most = max(many, key=lambda e: (max_rate.pairs_of(e), curves.size(e)), default=None)
    return (max_rate.pairs_of(most), stated.of_estimate(most)) if most else (0, None)


def _fill(evidence: Evidence, way: _Way) -> Stated | None:
    for model in evidence.models:
        if model.law == max_rate.LAW and model.parameters:
            behind = _behind(evidence, model)
            if behind and all(_alike(way, each) for each in behind):
                return stated.of_model(model, "pairs that fill", behind)
    return None


def _stalled(way: _Way, findings: Sequence[Finding]) -> float | None:
    """Seconds that messages of this way were found to wait for a timer."""
    ids = way.ids(_LATENCY) | way.ids(_ONE)
    for finding in findings:
        if finding.rule == delayed_ack.rule.name and ids & set(finding.evidence):
            return float(finding.id.split(":")[1].removesuffix("ms")) / 1000
    return None
