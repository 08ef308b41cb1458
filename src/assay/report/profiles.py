"""In words what each network, and each way inside a node, is good for and what limits it: for the first page."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from assay.model.profile import Profile, Stated
from assay.model.result import Analysis
from assay.model.text import joined, text
from assay.report import choose, messages, words
from assay.report.vocabulary import known

#: More ways than these are told by the sections alone.
MOST = 6
#: Both directions over one: from here on each goes as if alone; up to here they share.
_FREE, _SHARED = 1.8, 1.2
#: Who gets so much of a limit stands at it; limits that shares are of.
_REACHED = 0.90
_STANDING = frozenset({"wire", "shaper", "slot", "given", "memory"})
#: A wire that needs no more than this share of a message's time does not limit it.
_HARDLY = 0.1

GOOD, LIMITED = text("Good for"), text("Limited by")
LONG, SMALL, MANY, TCP = text("Long messages"), text("Small messages"), text("Many pairs"), text("Against TCP")


@dataclass(frozen=True)
class Row:
    """A heading, and its sentences."""

    name: str
    told: str


@dataclass(frozen=True)
class Card:
    """One way: by which levels, between whom, and what is said of it."""

    name: str
    where: str
    rows: tuple[Row, ...]


def cards(analysis: Analysis) -> tuple[Card, ...]:
    """Those between nodes first; the first few of many."""
    return tuple(map(_card, analysis.profiles[:MOST]))


def contrast(analysis: Analysis) -> tuple[str, ...]:
    """Of networks that differ in nothing else, which is the slower one, by how much, and what limits it."""
    between = [each for each in analysis.profiles if each.between and "network" in each.factors]
    groups = choose.grouped(between, lambda each: (each.hosts, each.label, _others(each), each.state))
    told = [_slowest(members) for members in groups.values() if len(members) > 1]
    return tuple(filter(None, told))


def _others(profile: Profile) -> tuple[tuple[str, str], ...]:
    return tuple(each for each in profile.factors.items() if each[0] != "network")


def _slowest(members: tuple[Profile, ...]) -> str:
    """Empty where no long messages were measured over two networks."""
    having = sorted(((each.rate, each) for each in members if each.rate), key=lambda each: each[0].value)
    if len(having) < 2:  # noqa: PLR2004 (one against another)
        return ""
    (low, slow), (high, fast) = having[0], having[-1]
    by = ", ".join(level for _, level in _others(slow))
    names = {
        "slow": slow.factors["network"],
        "fast": fast.factors["network"],
        "low": shown(low),
        "high": shown(high),
    }
    if low.most >= high.least:
        told = text(
            "Which network is slower for long messages is not certain: {slow} gets {low}, {fast} {high}.", **names
        )
    else:
        told = text("The slower network for long messages is {slow}: it gets {low}, {fast} gets {high}.", **names)
    context = text("By {levels}:", levels=by) if by else ""
    return joined(" ", (context, told, _limit(slow)))


def _card(profile: Profile) -> Card:
    several = (
        (GOOD, _good(profile)),
        (LIMITED, _limits(profile)),
        (LONG, _long(profile)),
        (SMALL, _small(profile)),
        (MANY, _many(profile)),
        (TCP, _tcp(profile)),
    )
    rows = ((name, joined(" ", sentences)) for name, sentences in several)
    return Card(_name(profile), _where(profile), tuple(Row(name, told) for name, told in rows if told))


def _name(profile: Profile) -> str:
    """`gbe, openmpi-4.1.4`; MPI or TCP where nothing is varied, and TCP wherever no MPI passed these messages."""
    levels = [
        level if name in {"network", "mpi"} else f"{name}={level}" for name, level in profile.factors.items()
    ]
    return joined(", ", [*levels, messages.BY[profile.by] if profile.by == "tcp" or not levels else ""])


def _where(profile: Profile) -> str:
    """`two nodes, gbe0`."""
    state = known(f"{profile.state} cores") if profile.state else ""
    between = messages.between(profile.label, profile.hosts)
    return joined(", ", [between, profile.carried or profile.asked, state])


def _good(profile: Profile) -> Iterable[str]:
    if profile.solid_bytes:
        size = words.param(profile.solid_bytes, "B")
        yield text("Messages of {size} and more: each size gets at least half of the highest rate.", size=size)
    both = profile.both
    if both and both.least >= _FREE:
        yield text(
            "Both directions at once: together they carry {factor} times what one does.", factor=shown(both)
        )
    pairs, rate = profile.pairs_rate, profile.rate
    if pairs and rate and pairs.least > rate.most:
        yield text("Many pairs at once: together they get more than one.")


def _limits(profile: Profile) -> Iterable[str]:
    if _strayed(profile):
        yield text(
            "Messages were to go over {asked} and went over {carried}: all of this is of {carried}.",
            asked=profile.asked,
            carried=profile.carried,
        )
    yield _limit(profile)
    both = profile.both
    if both and both.most <= _SHARED:
        yield text(
            "Both directions share the way: together they carry {factor} times what one does.", factor=shown(both)
        )
    elif both and both.most < _FREE and both.least > _SHARED:
        yield text(
            "Both directions hinder each other in part: together they carry {factor} times what one does.",
            factor=shown(both),
        )
    if profile.jump:
        before, after = (words.param(size, "B") for size in profile.jump_bytes)
        yield text(
            "Between {before} and {after} the time of a message steps up by a factor of {factor}.",
            before=before,
            after=after,
            factor=shown(profile.jump),
        )
    if profile.stalled:
        yield text(
            "Messages wait {time} at times, as long as a timer of TCP.", time=words.quantity(profile.stalled, "s")
        )


def _strayed(profile: Profile) -> bool:
    """Whether the counters of another device than the one that was asked for moved; `mlx5_0` is its first port."""
    asked, carried = profile.asked, profile.carried
    return bool(asked and carried and carried != asked and not carried.startswith(f"{asked}:"))


def _limit(profile: Profile) -> str:
    """What long messages stand at, or why that is not known."""
    told = _LIMITS[profile.limited_by](profile)
    share = profile.share
    if profile.limited_by not in _STANDING or share is None or share.least >= _REACHED:
        return told
    return joined(
        " ", (told, text("Not always: its lower end is {share} of that.", share=words.percent(share.least)))
    )


def _wire(profile: Profile) -> str:
    return text("Long messages stand at the wire rate of {device}, {rate}.", **_of_wire(profile))


def _shaper(profile: Profile) -> str:
    return text(
        "Long messages stand at the wire rate of {device}: {rate}, to which the kernel holds it.",
        **_of_wire(profile),
    )


def _of_wire(profile: Profile) -> dict[str, str]:
    top = profile.ceiling
    bits = words.quantity(top.bits, "bit/s") if top and top.bits else _ceiling(profile)
    return {"device": top.device if top else "", "rate": bits}


def _slot(profile: Profile) -> str:
    device = profile.ceiling.device if profile.ceiling else ""
    return text("Long messages stand at the slot of {device}, {rate}.", device=device, rate=_ceiling(profile))


def _given(profile: Profile) -> str:
    return text("Long messages stand at the rate that was given for the link, {rate}.", rate=_ceiling(profile))


def _memory(_profile: Profile) -> str:
    return text("Long messages stand at the rate of memory, which reads and writes each of their bytes.")


def _copy(_profile: Profile) -> str:
    return text("Long messages stand at what one core copies.")


def _mpi(profile: Profile) -> str:
    share = shown(profile.tcp_share, of_hundred=True) if profile.tcp_share else ""
    return text("The MPI, not the link: plain TCP sockets get {share} of what the link carries.", share=share)


def _one_pair(profile: Profile) -> str:
    return text(
        "One pair of cores, not the link: {count} pair gets {rate}."
        "|One pair of cores, not the link: {count} pairs get {rate} together.",
        count=profile.pairs,
        rate=shown(profile.pairs_rate) if profile.pairs_rate else "",
    )


def _one_machine(_profile: Profile) -> str:
    return text("No network: the nodes are one machine, and its memory and processor carry long messages.")


def _undecided(profile: Profile) -> str:
    share = shown(profile.share, of_hundred=True) if profile.share else ""
    if not profile.between:
        return text("Not decided: long messages get {share} of what memory gives.", share=share)
    return text(
        "Not decided: long messages get {share} of what the link carries, and this run does not tell the pair of "
        "cores, the MPI and the way apart. Many pairs would: `assay run multi-pair --hosts {hosts}`.",
        share=share,
        hosts=",".join(profile.hosts),
    )


def _no_limit_known(profile: Profile) -> str:
    if profile.over_copy:
        return text(
            "Not decided; it is not the bare copy by one core, of which long messages get {share}.",
            share=shown(profile.over_copy, of_hundred=True),
        )
    return (
        text("Not known: no fact of the nodes tells what the link carries. `--limit wire=RATE` gives it.")
        if profile.between
        else text("Not known: nothing that was measured here bounds it.")
    )


def _not_measured(_profile: Profile) -> str:
    return text("Not known of long messages: none of 64 KiB or more was measured.")


_LIMITS: dict[str, Callable[[Profile], str]] = {
    "wire": _wire,
    "shaper": _shaper,
    "slot": _slot,
    "given": _given,
    "memory": _memory,
    "copy": _copy,
    "mpi": _mpi,
    "one-pair": _one_pair,
    "one-machine": _one_machine,
    "undecided": _undecided,
    "no-limit-known": _no_limit_known,
    "not-measured": _not_measured,
}


def _ceiling(profile: Profile) -> str:
    return words.quantity(profile.ceiling.value if profile.ceiling else None, "B/s")


def _long(profile: Profile) -> Iterable[str]:
    if profile.rate is None:
        return
    size, rate = words.param(profile.rate_bytes, "B"), shown(profile.rate)
    if profile.share and not profile.between:
        yield text(
            "{rate} in one direction at {size}: {share} of the {ceiling} that memory gives.",
            rate=rate,
            size=size,
            share=shown(profile.share, of_hundred=True),
            ceiling=_ceiling(profile),
        )
    elif profile.share:
        yield text(
            "{rate} in one direction at {size}: {share} of the {ceiling} of payload that the link carries.",
            rate=rate,
            size=size,
            share=shown(profile.share, of_hundred=True),
            ceiling=_ceiling(profile),
        )
    else:
        yield text("{rate} in one direction at {size}.", rate=rate, size=size)
    if profile.half:
        yield text("Half of the highest rate is first reached at {size}.", size=shown(profile.half))


def _small(profile: Profile) -> Iterable[str]:
    if profile.small is None or profile.alone is None:
        return
    size, time, alone = words.param(profile.small_bytes, "B"), shown(profile.small), shown(profile.alone)
    yield text(
        "{time} one way at {size}: {rate} where each waits for the one before it.",
        time=time,
        size=size,
        rate=alone,
    )
    if profile.streamed:
        yield text(
            "With {count} on the way, {rate}.|With {count} on the way, {rate}.",
            count=profile.window,
            rate=shown(profile.streamed),
        )
    top = profile.ceiling
    needed = profile.small_bytes / top.value / profile.small.least if top else 0.0
    if profile.between and 0 < needed <= _HARDLY:
        yield text(
            "Their start is what they cost: the wire needs {share} of that time.", share=words.percent(needed)
        )


def _many(profile: Profile) -> Iterable[str]:
    if profile.pairs_rate:
        yield text(
            "{count} pair gets {rate}.|{count} pairs get {rate} together.",
            count=profile.pairs,
            rate=shown(profile.pairs_rate),
        )
    if profile.pairs_fill:
        yield text("{pairs} pairs fill what the nodes can.", pairs=shown(profile.pairs_fill))


def _tcp(profile: Profile) -> Iterable[str]:
    """MPI beside sockets between the same processes."""
    if profile.over_tcp_small:
        factor = shown(profile.over_tcp_small)
        yield text("Small messages go {factor} times as fast by MPI as by plain sockets.", factor=factor)
        yield _verdict(profile.over_tcp_small)
    if profile.over_tcp:
        factor = shown(profile.over_tcp)
        yield text("Long messages go {factor} times as fast by MPI as by plain sockets.", factor=factor)
        yield _verdict(profile.over_tcp)


def _verdict(ratio: Stated) -> str:
    """Which one is quicker, where the ends lie on one side; nothing of a single launch."""
    if ratio.lo is None:
        return ""
    if ratio.least > 1:
        return text("MPI is the better way.")
    return text("Sockets are the better way.") if ratio.most < 1 else text("Which is better is not certain.")


def shown(stated: Stated, *, of_hundred: bool = False) -> str:
    """`118 MB/s [117, 119]`, `4.96 µs (4.88 to 6.97)`, `118 MB/s (1 launch)`.

    Shares as `95 %`, sizes in B or KiB.
    """
    if stated.unit == "B":
        return _ends(stated, _size)
    if of_hundred:
        return _ends(stated, words.percent)
    figure = words.interval(stated.value, (stated.lo, stated.hi), stated.unit, words.basis(stated))
    if figure.lo:
        return figure.short
    return _bare(" ".join(filter(None, [figure.value, figure.unit])), stated)


def _size(value: float) -> str:
    """A size that lies between others, to three digits: `256 B`, `14.6 KiB`."""
    for unit, factor in (("MiB", 2**20), ("KiB", 2**10)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value:.0f} B"


def _ends(stated: Stated, say: Callable[[float], str]) -> str:
    """`95 % [94, 96]`: the unit stands once where all have the same."""
    if stated.lo is None or stated.hi is None:
        return _bare(say(stated.value), stated)
    value, low, high = (say(each) for each in (stated.value, stated.lo, stated.hi))
    unit = value.rpartition(" ")[2]
    if low.endswith(f" {unit}") and high.endswith(f" {unit}"):
        low, high = low.removesuffix(f" {unit}"), high.removesuffix(f" {unit}")
    return f"{value} [{low}, {high}]" if stated.confidence else f"{value} ({low} to {high})"


def _bare(value: str, stated: Stated) -> str:
    """A figure without ends and why it has none; of imported ones the page says that once for all."""
    return (
        value if stated.method == "imported" else text("{value} ({basis})", value=value, basis=words.basis(stated))
    )
