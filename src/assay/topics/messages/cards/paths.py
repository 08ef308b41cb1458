"""Sentences about each network and each path inside a node: what it is good for and what limits it."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from assay.model.machine import is_port
from assay.model.profile import LimitedBy, Profile, ProfileFigure
from assay.model.result import Analysis
from assay.model.text import Text, cli, filled, joined, named, text
from assay.model.units import format_share
from assay.report import formatting, messages, selection
from assay.report.section import Card, CardRow
from assay.report.vocabulary import known
from assay.topics.messages.limiting import REACHED

#: At most this number of paths has a card; the others are in the sections alone.
MOST = 6
#: Both directions over one: from the first on they are independent, up to the second they share the path.
_FREE, _SHARED = 1.8, 1.2
#: Limits that a share refers to.
_STANDING = frozenset({"wire", "shaper", "slot", "given", "memory"})
#: A wire that needs no more than this share of a message's time does not limit it.
_HARDLY = 0.1
#: Numbers from here on have no decimals.
_THOUSAND = 999.5
#: Ratios of MPI and plain sockets.
_OF_TCP = frozenset({"over_tcp_small", "under_tcp_small", "over_tcp", "under_tcp"})
#: Sizes of messages.
_BYTES = ("solid_bytes", "rate_bytes", "small_bytes", "single_bytes")
#: Figures that are shown in percent.
_SHARES = frozenset({"share", "single_share", "tcp_share", "over_copy"})


class Sentence(NamedTuple):
    """A sentence of a card.

    Attributes:
        template: text with any of the `_words` of a profile, or a function of the profile that returns it.
        holds: whether it is true of a profile.
    """

    template: Text | Callable[[Profile], Text]
    holds: Callable[[Profile], object] = lambda _profile: True


#: Limit of long messages -> its sentence between nodes, and inside a node if that is another one.
_LIMITS: dict[LimitedBy, tuple[Text, ...]] = {
    "wire": (text("Long messages reach the wire rate of {device}, {wire}."),),
    "shaper": (
        text("Long messages reach the rate of {device}: {wire}, limited by a traffic shaper of the kernel."),
    ),
    "slot": (text("Long messages reach the limit of the PCI Express slot of {device}, {ceiling}."),),
    "given": (text("Long messages reach the rate that the user gave for the link, {ceiling}."),),
    "memory": (text("Memory limits long messages: it reads and writes each byte."),),
    "copy": (text("The copy rate of one core limits long messages."),),
    "mpi": (text("The MPI, not the link: plain TCP sockets get {tcp_share} of the link rate."),),
    "one-pair": (
        text(
            "One pair of cores, not the link: {count} pair gets {pairs_rate}.|One pair of cores, not the link: "
            "{count} pairs together get {pairs_rate}."
        ),
    ),
    "one-machine": (
        text("There is no network: the nodes are one machine. Its memory and processor limit long messages."),
    ),
    "undecided": (
        text(
            "Not decided: long messages get {share} of the link rate. This run cannot separate the pair of cores, "
            "the MPI and the path. Many pairs can: `{command}`"
        ),
        text("Not decided: long messages get {share} of the memory rate."),
    ),
    "no-limit-known": (
        text("Unknown: no fact about the nodes gives the rate of the link. Give it with `--limit wire=RATE`"),
        text("Unknown: no measurement of this run is a limit for it."),
    ),
    "not-measured": (
        text("Unknown for long messages: neither a stream nor single messages of 64 KiB or more were measured."),
    ),
}
_NO_STREAM = text("A stream of messages was not measured. Single messages reach {single} at {single_bytes}.")
_SINGLE = (
    text("This is {single_share} of the payload rate of {network}."),
    text("This is {single_share} of the memory rate."),
)
_NOT_THE_COPY = text(
    "Not decided. The copy rate of one core is not the limit: long messages get {over_copy} of it."
)


def _limit(profile: Profile) -> Text:
    """Return the sentence about the limit of long messages, or why it is unknown."""
    if profile.limited_by == "no-limit-known" and profile.over_copy:
        return _NOT_THE_COPY
    if profile.limited_by == "not-measured" and profile.single:
        return _NO_STREAM
    between, *inside = _LIMITS[profile.limited_by]
    return between if profile.between or not inside else inside[0]


def _wire_share(profile: Profile) -> float:
    """Return the share of the time of a small message that the wire needs; 0 if unknown."""
    top, small = profile.ceiling, profile.small
    return profile.small_bytes / top.value / small.value.lo if top and small and profile.between else 0.0


def _of_limit(profile: Profile) -> Text:
    """Return the sentence about the rate of long messages, with its limit."""
    if not profile.share:
        return text("{rate} in one direction at {rate_bytes}.")
    if profile.between:
        return text("{rate} in one direction at {rate_bytes}: {share} of the payload rate of the link, {ceiling}.")
    return text("{rate} in one direction at {rate_bytes}: {share} of the memory rate, {ceiling}.")


_OPEN = text("It is not certain which one is faster.")
#: Size of messages, and whether plain sockets pass them in less time than MPI -> the sentence; then those for a
#: ratio of a single launch.
_TCP: dict[tuple[str, bool], Text] = {
    ("small", False): text(
        "MPI passes messages of {small_bytes} {over_tcp_small} times as fast as plain sockets."
    ),
    ("small", True): text("Plain sockets pass messages of {small_bytes} {under_tcp_small} times as fast as MPI."),
    ("long", False): text("MPI passes long messages {over_tcp} times as fast as plain sockets."),
    ("long", True): text("Plain sockets pass long messages {under_tcp} times as fast as MPI."),
}
_TCP_ONCE: dict[tuple[str, bool], Text] = {
    ("small", False): text(
        "Without an interval: MPI passed messages of {small_bytes} about {over_tcp_small} times as fast as plain "
        "sockets."
    ),
    ("small", True): text(
        "Without an interval: plain sockets passed messages of {small_bytes} about {under_tcp_small} times as "
        "fast as MPI."
    ),
    ("long", False): text(
        "Without an interval: MPI passed long messages about {over_tcp} times as fast as plain sockets."
    ),
    ("long", True): text(
        "Without an interval: plain sockets passed long messages about {under_tcp} times as fast as MPI."
    ),
}
#: One launch that differs by more was disturbed: no program is so much faster than another one.
_ODD = 20.0
_WAITED: dict[str, Text] = {
    "small": text("MPI or plain sockets waited with messages of {small_bytes}: no comparison."),
    "long": text("MPI or plain sockets waited with long messages: no comparison."),
}


def _against_tcp(size: str, ratio: ProfileFigure | None) -> Text:
    """Return the sentence on MPI and plain sockets; a ratio of one launch is no claim, a huge one no figure."""
    if ratio is None or not _is_lone(ratio):
        return _TCP[size, _is_slower(ratio)]
    return _WAITED[size] if _is_odd(ratio) else _TCP_ONCE[size, _is_slower(ratio)]


def _is_slower(ratio: ProfileFigure | None) -> bool:
    """Whether plain sockets pass messages in less time than MPI."""
    return bool(ratio and ratio.value.value < 1)


def _is_lone(figure: ProfileFigure) -> bool:
    """Whether it was measured, but has no ends."""
    return not figure.value.has_ends and figure.basis != "imported"


def _is_odd(ratio: ProfileFigure) -> bool:
    """Whether it is a ratio of one launch that only a wait explains."""
    factor = ratio.value.value
    return _is_lone(ratio) and max(factor, 1 / factor) > _ODD


def _is_open(ratio: ProfileFigure | None) -> bool:
    """Whether the ends of a ratio do not prove which one is faster; one launch has none."""
    value = ratio.value if ratio else None
    if ratio is None or value is None or value.basis == "imported" or _is_odd(ratio):
        return False
    return not (value.has_interval and (value.lo > 1 or value.hi < 1))


#: What limits long messages, and how certain that is.
_LIMITED = (
    Sentence(_limit),
    Sentence(
        lambda each: _SINGLE[not each.between],
        lambda each: each.limited_by == "not-measured" and each.single_share,
    ),
    Sentence(
        text("Not always: the lower end is {least} of it."),
        lambda each: each.limited_by in _STANDING and each.share and each.share.value.lo < REACHED,
    ),
)
#: Heading of a row -> its sentences.
_ROWS: dict[Text, tuple[Sentence, ...]] = {
    text("Good for"): (
        Sentence(
            text("Messages of {solid_bytes} and more: each size gets at least half of the highest rate."),
            lambda each: each.solid_bytes,
        ),
        Sentence(
            text(
                "Both directions at once: together they carry {both} times as much as one (long messages, paired)."
            ),
            lambda each: each.both and each.both.value.lo >= _FREE,
        ),
        Sentence(
            text("Many pairs at once: together they get more than one pair."),
            lambda each: each.pairs_rate and each.rate and each.pairs_rate.value.lo > each.rate.value.hi,
        ),
    ),
    text("Limited by"): (
        Sentence(
            text("Messages should use {asked} but used {carried}: all figures here are of {carried}."),
            lambda each: each.asked and each.carried and not is_port(each.carried, each.asked),
        ),
        *_LIMITED,
        Sentence(
            text(
                "Both directions share the path: together they carry {both} times as much as one (long messages, "
                "paired)."
            ),
            lambda each: each.both and each.both.value.hi <= _SHARED,
        ),
        Sentence(
            text(
                "The two directions slow each other down: together they carry {both} times as much as one (long "
                "messages, paired)."
            ),
            lambda each: each.both and each.both.value.lo > _SHARED and each.both.value.hi < _FREE,
        ),
        Sentence(
            text("At {after} a message takes {jump} times as long as smaller sizes lead to expect."),
            lambda each: each.jump,
        ),
        Sentence(
            text("Up to {before} it can be the burst that the traffic shaper lets pass at once."),
            lambda each: each.jump and each.jump_burst,
        ),
        Sentence(text("Messages sometimes wait {stalled}, as long as a TCP timer."), lambda each: each.stalled),
    ),
    text("Long messages"): (
        Sentence(_of_limit, lambda each: each.rate),
        Sentence(
            text("Half of the highest rate is first reached at {half}."), lambda each: each.rate and each.half
        ),
    ),
    text("Small messages"): (
        Sentence(
            text("{small} one way at {small_bytes}: {alone} if each message waits for the previous one."),
            lambda each: each.small,
        ),
        Sentence(text("With {flight}: {streamed}."), lambda each: each.small and each.streamed),
        Sentence(
            text("Latency dominates: the wire accounts for {wire_share}."),
            lambda each: 0 < _wire_share(each) <= _HARDLY,
        ),
    ),
    text("Many pairs"): (
        Sentence(
            text("{count} pair gets {pairs_rate}.|{count} pairs together get {pairs_rate}."),
            lambda each: each.pairs_rate,
        ),
        Sentence(text("{pairs_fill} pairs saturate the nodes."), lambda each: each.pairs_fill),
    ),
    text("Against TCP"): (
        Sentence(lambda each: _against_tcp("small", each.over_tcp_small), lambda each: each.over_tcp_small),
        Sentence(_OPEN, lambda each: _is_open(each.over_tcp_small)),
        Sentence(lambda each: _against_tcp("long", each.over_tcp), lambda each: each.over_tcp),
        Sentence(_OPEN, lambda each: _is_open(each.over_tcp)),
    ),
}


def _figures(profile: Profile) -> dict[str, ProfileFigure]:
    """The figures of a profile by the names that templates have for them."""
    fields = msgspec.structs.asdict(profile)
    figures = {name: each for name, each in fields.items() if isinstance(each, ProfileFigure)}
    for name, ratio in (("under_tcp_small", profile.over_tcp_small), ("under_tcp", profile.over_tcp)):
        if ratio:
            figures[name] = ratio.inverse("")
    return figures


def _words(profile: Profile) -> dict[str, str | int]:
    """Return the words of the templates: figures, sizes, names; a figure that a profile lacks is empty."""
    top, fields, figures = profile.ceiling, msgspec.structs.asdict(profile), _figures(profile)
    ceiling = formatting.quantity(top.value if top else None, "B/s")
    sizes = zip(("before", "after"), profile.jump_bytes, strict=True)
    words = {name: shown(each, of_hundred=name in _SHARES) for name, each in figures.items()}
    words |= {
        name: f"{each.value.value:.2g}" for name, each in figures.items() if name in _OF_TCP and _is_lone(each)
    }
    return defaultdict(
        str,
        words,
        **{name: formatting.param(fields[name], "B") for name in _BYTES},
        **{name: formatting.param(size, "B") for name, size in sizes},
        asked=profile.asked,
        carried=profile.carried,
        network=profile.carried or profile.asked or text("the link"),
        device=top.device if top else "",
        ceiling=ceiling,
        wire=formatting.quantity(top.bits, "bit/s") if top and top.bits else ceiling,
        command=cli("run", "multi-pair", "--hosts", ",".join(profile.hosts)),
        count=profile.pairs,
        least=formatting.percent(profile.share.value.lo) if profile.share else "",
        stalled=formatting.quantity(profile.stalled, "s"),
        flight=formatting.count(profile.window, "message in flight", "messages in flight"),
        wire_share=formatting.percent(_wire_share(profile)),
    )


def _sentences(profile: Profile, sentences: Iterable[Sentence]) -> str:
    """Join the sentences that are true of a profile; what figures without ends stand on is said at the end."""
    words, held = _words(profile), (each.template for each in sentences if each.holds(profile))
    templates = [each if isinstance(each, Text) else each(profile) for each in held]
    return joined(" ", [*(filled(each, words) for each in templates), _note(profile, templates)])


def _note(profile: Profile, templates: Iterable[Text]) -> str:
    """Say of how many launches figures without an interval are; a page says it once of all imported ones."""
    used = {name for each in templates if each not in _TCP_ONCE.values() for name in named(each)}
    fields = {name: each for name, each in _figures(profile).items() if name in used}
    bases = [formatting.basis(each) for each in fields.values() if _is_lone(each)]
    if not bases:
        return ""
    return text("Figures without an interval are of {basis}.", basis=formatting.listed(dict.fromkeys(bases)))


def cards(analysis: Analysis) -> tuple[Card, ...]:
    """Make the cards, those between nodes first; only the first few of many."""
    return tuple(map(_card, analysis.profiles[:MOST]))


def contrast(analysis: Analysis) -> tuple[str, ...]:
    """Compare networks that differ in nothing else: the slower one, by how much, and its limit."""
    between = [each for each in analysis.profiles if each.between and "network" in each.factors]
    groups = selection.grouped(between, lambda each: (each.hosts, each.label, _others(each), each.state))
    slowest = (_slowest(members) for members in groups.values() if len(members) > 1)
    return tuple(filter(None, slowest))


def _others(profile: Profile) -> tuple[tuple[str, str], ...]:
    return tuple(each for each in profile.factors.items() if each[0] != "network")


def _slowest(members: tuple[Profile, ...]) -> str:
    """Empty where no long messages were measured over two networks."""
    having = sorted(((each.rate, each) for each in members if each.rate), key=lambda each: each[0].value.value)
    if len(having) < 2:  # noqa: PLR2004 (one against another)
        return ""
    (low, slow), (high, fast) = having[0], having[-1]
    by = ", ".join(level for _, level in _others(slow))
    sentence = (
        text(
            "It is not certain which network is slower for long messages: {slow} gets {low} at {low_bytes}, "
            "{fast} gets {high} at {high_bytes}."
        )
        if low.value.hi >= high.value.lo
        else text(
            "{slow} is the slower network for long messages: it gets {low} at {low_bytes}, {fast} gets {high} at "
            "{high_bytes}."
        )
    )
    names = {
        "slow": slow.factors["network"],
        "fast": fast.factors["network"],
        "low": shown(low),
        "high": shown(high),
        "low_bytes": formatting.param(slow.rate_bytes, "B"),
        "high_bytes": formatting.param(fast.rate_bytes, "B"),
    }
    context = text("By {levels}:", levels=by) if by else ""
    return joined(" ", (context, filled(sentence, names), _sentences(slow, _LIMITED)))


def _card(profile: Profile) -> Card:
    rows = ((name, _sentences(profile, sentences)) for name, sentences in _ROWS.items())
    return Card(_name(profile), _where(profile), tuple(CardRow(name, words) for name, words in rows if words))


def _name(profile: Profile) -> str:
    """Return `gbe, openmpi-4.1.4`; MPI or TCP where nothing is varied, and always TCP where no MPI was used."""
    levels = [
        level if name in {"network", "mpi"} else f"{name}={level}" for name, level in profile.factors.items()
    ]
    return joined(", ", [*levels, messages.BY[profile.by] if profile.by == "tcp" or not levels else ""])


def _where(profile: Profile) -> str:
    """`two nodes, gbe0`."""
    state = known(f"{profile.state} cores") if profile.state else ""
    between = messages.between(profile.label, profile.hosts)
    return joined(", ", [between, profile.carried or profile.asked, state])


def shown(stated: ProfileFigure, *, of_hundred: bool = False) -> str:
    """`118 MB/s [117, 119]`, `4.96 µs (4.88 to 6.97)`, of one launch `118 MB/s`.

    Shares as `95 % [94, 96]`, sizes in B or KiB; a common unit is printed once.
    """
    if stated.value.unit != "B" and not of_hundred:
        return formatting.interval(stated.value, formatting.basis(stated)).short
    (value, unit), *ends = ((format_share(each), "%") if of_hundred else _size(each) for each in stated.value)
    if not stated.value.has_ends:
        return f"{value} {unit}"
    alone = all(own == unit for _, own in ends)
    low, high = (number if alone else f"{number} {own}" for number, own in ends)
    return f"{value} {unit} [{low}, {high}]" if stated.confidence else f"{value} {unit} ({low} to {high})"


def _size(value: float) -> tuple[str, str]:
    """Return an interpolated size with three digits, and its unit: `256`, `B`; `14.6`, `KiB`."""
    factor, unit = next((each for each in ((2**20, "MiB"), (2**10, "KiB")) if value >= each[0]), (1, "B"))
    digits = ".3g" if value < _THOUSAND * factor and factor > 1 else ".0f"
    return f"{value / factor:{digits}}", unit
