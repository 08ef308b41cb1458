"""Figures in words for every renderer: values with intervals, limits, placements, parameters."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from assay.model import text as texts
from assay.model.declaration import ParamValue
from assay.model.law import UNFIT
from assay.model.profile import ProfileFigure
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Limit
from assay.model.text import Command, Text, text
from assay.model.units import decimals, format_cpu_list, format_quantity, format_share, format_size, scale

_SIGNIFICANT = 3
#: Digits of imported shares and ratios, at most.
_PRINTED = 4
_PERCENT = 100
#: An interval wider than this part of its figure is shown in grey.
_VAGUE = 0.1
#: Both ends have units where one is this many times its figure, or less: `607 ns [547 ns, 17.1 ms]`.
_APART = 100.0
#: The ends of sentences. A command has no full stop, which would be copied with it.
_ENDS = ".!?`"

#: Scope of a limit -> the part of the machine in words; limits of the whole machine and of links need none.
_PARTS = {
    "core": text("one core"),
    "cores": text("these cores"),
    "numa-node": text("NUMA node"),
    "numa-nodes": text("NUMA nodes"),
    "package": text("package"),
}
_WHOLE = frozenset({"machine", "link"})
#: `a`, `a and b`, `a, b and c`.
listed = texts.listed
#: The source of a limit in words.
SOURCES = {
    "derived": text("derived"),
    "measured": text("measured"),
    "simulated": text("as simulated"),
    "given": text("given"),
}


class Shown(msgspec.Struct, frozen=True):
    """An estimate in a readable unit; all figures share the unit and the digits. Empty and false without a figure.

    Attributes:
        value: the median.
        lo: lower end.
        hi: upper end.
        unit: scaled unit, e.g. `GB/s`.
        basis: of the ends: `95 % interval, 6 launches`, `range of 3 launches`, `1 launch`.
        sure: whether the ends claim confidence.
    """

    value: str
    lo: str
    hi: str
    unit: str
    basis: str
    sure: bool = False

    def __bool__(self) -> bool:
        """Whether there is a figure."""
        return bool(self.value)

    @property
    def plain(self) -> str:
        """`42.1 GB/s`."""
        return f"{self.value} {self.unit}".strip()

    @property
    def ends(self) -> str:
        """The interval: `[41.8, 42.6]`, or `41.8 to 42.6` for a range, which is not a confidence interval."""
        if not self.lo:
            return text("no interval") if self else ""
        return f"[{self.lo}, {self.hi}]" if self.sure else f"{self.lo} to {self.hi}"

    @property
    def full(self) -> str:
        """`42.1 GB/s (41.8 to 42.6, 95 % interval, 6 launches)`."""
        if not self:
            return ""
        value = f"{self.value} {self.unit}"
        if not self.lo:
            return text("{value} ({basis})", value=value, basis=self.basis)
        ends = f"{self.lo} to {self.hi}"
        return text("{value} ({ends}, {basis})", value=value, ends=ends, basis=self.basis)

    @property
    def short(self) -> str:
        """`42.1 GB/s [41.8, 42.6]`, or `42.1 GB/s (41.8 to 42.6)` for a range."""
        if not self.lo:
            return self.plain
        ends = self.ends if self.sure else f"({self.ends})"
        return " ".join(filter(None, [self.value, self.unit, ends]))


def shown(estimate: Estimate | None) -> Shown:
    """Return the estimate in a readable unit; empty without a figure."""
    if estimate is None or estimate.value is None:
        return Shown("", "", "", "", "")
    if estimate.unit == "B":  # sizes of memory, which others state without an interval
        size, _, unit = format_size(round(estimate.value.value)).partition(" ")
        return Shown(size, "", "", unit, basis(estimate))
    if estimate.basis == "imported" and estimate.unit in {"", "share"}:  # no further digits than were printed
        value, unit = scale(estimate.value.value, estimate.unit)
        return Shown(f"{value:.{_PRINTED}g}", "", "", unit, basis(estimate))
    return interval(estimate.value, basis(estimate))


def interval(figure: Quantity, stands_on: str) -> Shown:
    """Return a figure with its ends in a readable unit; `stands_on`: basis of the ends, see `Shown.basis`."""
    scaled, prefixed = scale(figure.value, figure.unit)
    factor = scaled / figure.value if figure.value else 1.0
    digits = decimals(scaled)

    def is_far(end: float) -> bool:
        shown = abs(end * factor)
        return shown >= _APART * max(abs(scaled), 1.0) or bool(end and shown * _APART < scaled)

    ends = (figure.lo, figure.hi) if figure.has_ends else ()
    far = any(map(is_far, ends))
    lo, hi = [quantity(end, figure.unit) if far else f"{end * factor:.{digits}f}" for end in ends] or ("", "")
    return Shown(f"{scaled:.{digits}f}", lo, hi, prefixed, stands_on, figure.has_interval)


def rough(figure: Quantity) -> str:
    """Return a parameter of a law that does not fit, with one digit: `about 3 GB/s`."""
    return text("about {figure}", figure=quantity(float(f"{figure.value:.1g}"), figure.unit))


def residual(share: float) -> str:
    """Return the residual of a law, and whether it is too large: `45 %, too large`."""
    return text("{share}, too large", share=percent(share)) if share > UNFIT else percent(share)


def basis(estimate: Estimate | ProfileFigure) -> str:
    """Return the basis of an estimate's ends in words."""
    launches = count(estimate.launches, "launch", "launches")
    if estimate.basis == "interval":
        confidence = f"{_PERCENT * (estimate.confidence or 0):.0f} %"
        return text("{confidence} interval, {launches}", confidence=confidence, launches=launches)
    if estimate.basis == "imported":
        return text("imported without samples")
    return text("range of {launches}", launches=launches) if estimate.basis == "range" else launches


def plain(value: float) -> str:
    """Return a number without a unit, such as a ratio, with three decimals or three significant digits."""
    return f"{value:.{min(_SIGNIFICANT, decimals(value))}f}" if abs(value) >= 1 else f"{value:.{_SIGNIFICANT}f}"


def factor(value: float) -> str:
    """Return a ratio with three significant digits: `0.0311`, `0.935`, `1.03`."""
    return f"{value:.{decimals(value)}f}"


def quantity(value: float | None, unit: str) -> str:
    """Return a quantity without interval, with three significant digits; a dash for None."""
    return "-" if value is None else format_quantity(value, unit)


def share(estimate: Estimate) -> float | None:
    """Return the median as a share of its limit (for times, the limit as a share of the median), or None."""
    if estimate.limit is None or not estimate.median or not estimate.limit.value:
        return None
    ratio = estimate.median / estimate.limit.value
    return ratio if estimate.better == "higher" else 1 / ratio


def share_text(estimate: Estimate) -> str:
    """Return the share of the limit, `97 %`, or empty."""
    value = share(estimate)
    return "" if value is None else percent(value)


def share_cell(estimate: Estimate) -> str:
    """Return the share of the limit for a table, or that the figure is itself the limit."""
    own = estimate.limit and estimate.limit.measured_by == estimate.id
    return text("is the limit") if own else share_text(estimate)


def limit_text(limit: Limit | None, unit: str) -> str:
    """Return `43.2 GB/s (measured)`, `9.1 GB/s (measured, one core)`, or that no limit is known."""
    if limit is None:
        return text("none known")
    source: Text = SOURCES[limit.source]
    part = "" if limit.scope in _WHOLE else _PARTS.get(limit.scope, limit.scope)
    source = texts.joined(", ", (source, part)) if part else source
    return text("{limit} ({source})", limit=quantity(limit.value, unit), source=source)


def against(estimate: Estimate) -> str:
    """Return the share of a headline's limit: `97 % of 43.2 GB/s (derived)`, or that there is none."""
    if estimate.limit is None:
        return text("no limit known")
    if estimate.limit.measured_by == estimate.id:
        return text("the best measurement of this run")
    limit = limit_text(estimate.limit, estimate.unit)
    turbo = estimate.limit.reference and (share(estimate) or 0) > 1
    return text(
        "{share} of {limit}: turbo" if turbo else "{share} of {limit}", share=share_text(estimate), limit=limit
    )


class Bar(NamedTuple):
    """A figure as a bar up to its limit: percents of the limit, 0 to 100.

    Attributes:
        share: of the figure.
        lo: of the lower end of its interval.
        hi: of the upper end.
    """

    share: float
    lo: float
    hi: float


def bar(estimate: Estimate) -> Bar | None:
    """Return the bar of a figure; None without a limit, and for the measurement of the limit itself."""
    value, limit = estimate.value, estimate.limit
    if value is None or limit is None or value.lo <= 0 or not limit.value or limit.measured_by == estimate.id:
        return None
    one = _PERCENT * (1 / limit.value if estimate.better == "higher" else limit.value)
    ends = [one * (each if estimate.better == "higher" else 1 / each) for each in value]
    share, lo, hi = (min(_PERCENT, max(0.0, each)) for each in (ends[0], min(ends), max(ends)))
    return Bar(share, lo, hi)


def vague(estimate: Estimate) -> bool:
    """Whether the interval is wider than a tenth of the figure or missing; False for imported figures."""
    value = estimate.value
    return value is not None and value.basis != "imported" and not 0 < value.hi - value.lo <= _VAGUE * value.value


def percent(value: float) -> str:
    """Return a share in percent: `97 %`, `0.4 %`."""
    return f"{format_share(value)} %"


def count(number: int, one: str, many: str) -> Text:
    """Return `1 launch`, `1,000 launches`; both words are literals."""
    return texts.text(f"{{count}} {one}|{{count}} {many}", count=number)


def sentence(line: str) -> str:
    """Return the text with a capital letter and a full stop; commands and complete sentences stay unchanged."""
    if isinstance(line, Command) or (line[:1].strip() and line[:1] == line[:1].upper() and line[-1] in _ENDS):
        return line
    if line and isinstance(line, Text):
        begun = texts.capital(line)
        return begun if line[-1] in _ENDS else text("{sentence}.", sentence=begun)
    line = line.strip()
    return line[:1].upper() + line[1:] + ("" if not line or line[-1] in _ENDS else ".")


def apart(line: str) -> str:
    """Return the text for a terminal: a command at its end is on a line of its own."""
    sentence, mark, command = line.removesuffix("`").rpartition("`")
    return f"{sentence.rstrip()}\n{command}" if mark and line.endswith("`") else line


def param(value: ParamValue, unit: str = "") -> str:
    """Return the value of one axis: sizes in KiB and MiB, whole numbers with separators."""
    if unit == "B" and isinstance(value, int):
        return format_size(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def params(values: Mapping[str, ParamValue], units: Mapping[str, str]) -> str:
    """Return axes and values in one line: `stores ordinary, touch parallel`."""
    return ", ".join(f"{name} {param(value, units.get(name, ''))}" for name, value in values.items())


def setting(name: str, value: ParamValue, unit: str = "") -> str:
    """Return `nonblocking`, `64 KiB`; a bare number with its axis: `tests 20`."""
    shown = param(value, unit)
    return shown if unit == "B" or isinstance(value, str) else f"{name} {shown}"


def ends(lo: float, hi: float) -> str:
    """Return the ends of a band: `0.99 to 1.01`."""
    return text("{low} to {high}", low=f"{lo:.4g}", high=f"{hi:.4g}")


def seconds(value: float) -> str:
    """Return a duration in words: `42 s`, `3 min 20 s`; from ten minutes on without seconds: `2 h 5 min`."""
    if value < 60:  # noqa: PLR2004 (a minute)
        return f"{value:.2g} s" if value < 9.95 else f"{value:.0f} s"  # noqa: PLR2004 (is shown as 10)
    minutes, rest = divmod(round(value), 60) if value < 600 else (round(value / 60), 0)  # noqa: PLR2004
    hours, minutes = divmod(minutes, 60)
    if hours:
        whole = text("{hours} h", hours=hours)
        return text("{hours} h {minutes} min", hours=hours, minutes=minutes) if minutes else whole
    whole = text("{minutes} min", minutes=minutes)
    return text("{minutes} min {seconds} s", minutes=minutes, seconds=rest) if rest else whole


def placed(estimate: Estimate) -> str:
    """Return the placement in one line: label, and the memory policy unless it is first touch."""
    return texts.joined(" · ", [estimate.placement.label, memory(estimate)])


def memory(estimate: Estimate) -> str:
    """Return the memory policy in short: `bind:0`, `interleave:0-7`; empty for first touch."""
    memory = estimate.placement.policy
    if not memory.nodes:
        return "" if memory.policy == "first-touch" else memory.policy
    return f"{memory.policy}:{format_cpu_list(memory.nodes)}"
