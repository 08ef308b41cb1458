"""The words of figures: values with their intervals, limits, placements, parameters, for every renderer."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from assay.model import text as texts
from assay.model.benchmark import ParamValue
from assay.model.law import UNFIT
from assay.model.profile import ProfileFigure
from assay.model.quantity import Quantity
from assay.model.result import Estimate, Limit
from assay.model.text import Command, Text, text
from assay.model.units import decimals, format_cpu_list, format_quantity, format_share, format_size, scale

_SIGNIFICANT = 3
#: Digits that shares and ratios of others have at most.
_PRINTED = 4
_PERCENT = 100
#: An interval wider than this part of its figure is grey, and called wide.
_VAGUE = 0.1
#: From here on a ratio is read as a factor, not as a change in percent.
_FACTOR = 2.0
#: An end so many times as far away as its figure has a unit of its own: `607 ns [547, 17.1 ms]`.
_APART = 100.0
#: With these a sentence ends; after a command no full stop may stand that is copied with it.
_ENDS = ".!?`"

#: Scope of a limit -> the part of the machine that it is of; of the whole machine, and of links, nothing is added.
_PARTS = {
    "core": text("one core"),
    "cores": text("these cores"),
    "numa-node": text("NUMA node"),
    "numa-nodes": text("NUMA nodes"),
    "package": text("package"),
}
#: `a`, `a and b`, `a, b and c`.
listed = texts.listed
#: Where a limit comes from.
SOURCES = {
    "derived": text("derived"),
    "measured": text("measured"),
    "simulated": text("as simulated"),
    "given": text("given"),
}


class Shown(msgspec.Struct, frozen=True):
    """An estimate scaled for people; all figures share the unit and the digits. False, empty without a figure.

    Attributes:
        value: the median.
        lo: lower end.
        hi: upper end.
        unit: scaled unit, e.g. `GB/s`.
        basis: what the ends are: `95 % interval, 6 launches`, `range of 3 launches`, `1 launch`.
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
        ends = self.ends if self.ends[0] == "[" else f"({self.ends})"
        return " ".join(filter(None, [self.value, self.unit, ends]))


def shown(estimate: Estimate | None) -> Shown:
    """The estimate for people; empty without a figure."""
    if estimate is None or estimate.value is None:
        return Shown("", "", "", "", "")
    if estimate.unit == "B":  # sizes of memory, which others state without an interval
        size, _, unit = format_size(round(estimate.value.value)).partition(" ")
        return Shown(size, "", "", unit, basis(estimate))
    if estimate.basis == "imported" and estimate.unit in {
        "",
        "share",
    }:  # no digit is added to what others printed
        value, unit = scale(estimate.value.value, estimate.unit)
        return Shown(f"{value:.{_PRINTED}g}", "", "", unit, basis(estimate))
    return interval(estimate.value, basis(estimate))


def interval(figure: Quantity, stands_on: str) -> Shown:
    """A figure with its ends for people; `stands_on`: what the ends are, as in `Shown.basis`."""
    scaled, prefixed = scale(figure.value, figure.unit)
    factor = scaled / figure.value if figure.value else 1.0
    digits = decimals(scaled)

    def shown_end(end: float) -> str:
        far = abs(end * factor) >= _APART * max(abs(scaled), 1.0) or (end and abs(end * factor) * _APART < scaled)
        return quantity(end, figure.unit) if far else f"{end * factor:.{digits}f}"

    lo, hi = (shown_end(figure.lo), shown_end(figure.hi)) if figure.has_ends else ("", "")
    return Shown(f"{scaled:.{digits}f}", lo, hi, prefixed, stands_on, figure.has_interval)


def rough(figure: Quantity) -> str:
    """A parameter of a law that does not fit, with the one digit that it deserves: `about 3 GB/s`."""
    return text("about {figure}", figure=quantity(float(f"{figure.value:.1g}"), figure.unit))


def residual(share: float) -> str:
    """How far a law is from its figures, and whether that is too far: `45 %, unfit`."""
    return text("{share}, unfit", share=percent(share)) if share > UNFIT else percent(share)


def basis(estimate: Estimate | ProfileFigure) -> str:
    """What stands behind an estimate's ends."""
    launches = count(estimate.launches, "launch", "launches")
    if estimate.basis == "interval":
        confidence = f"{_PERCENT * (estimate.confidence or 0):.0f} %"
        return text("{confidence} interval, {launches}", confidence=confidence, launches=launches)
    if estimate.basis == "imported":
        return text("imported without samples")
    return text("range of {launches}", launches=launches) if estimate.basis == "range" else launches


def plain(value: float) -> str:
    """A number without a unit, such as a share or a ratio, with three decimals or three significant digits."""
    return f"{value:.{min(_SIGNIFICANT, decimals(value))}f}" if abs(value) >= 1 else f"{value:.{_SIGNIFICANT}f}"


def factor(value: float) -> str:
    """A ratio with three significant digits: `0.0311`, `0.935`, `1.03`."""
    return f"{value:.{decimals(value)}f}"


def quantity(value: float | None, unit: str) -> str:
    """A quantity without interval, with three significant digits, for extremes and limits; a dash for None."""
    return "-" if value is None else format_quantity(value, unit)


def share(estimate: Estimate) -> float | None:
    """The median as a share of its limit (of the limit's time for times); None without a limit."""
    if estimate.limit is None or not estimate.median or not estimate.limit.value:
        return None
    ratio = estimate.median / estimate.limit.value
    return ratio if estimate.better == "higher" else 1 / ratio


def share_text(estimate: Estimate) -> str:
    """`97 %`, or empty."""
    value = share(estimate)
    return "" if value is None else percent(value)


def share_cell(estimate: Estimate) -> str:
    """The share for a table; a figure that is the measured limit itself has no share."""
    own = estimate.limit and estimate.limit.measured_by == estimate.id
    return text("is the limit") if own else share_text(estimate)


def limit_text(limit: Limit | None, unit: str) -> str:
    """`43.2 GB/s (measured)`, `9.1 GB/s (measured, one core)`; or that no limit is known."""
    if limit is None:
        return text("none known")
    source = SOURCES[limit.source]
    told = texts.joined(", ", (source, _PARTS[limit.scope])) if limit.scope in _PARTS else source
    return text("{limit} ({source})", limit=quantity(limit.value, unit), source=told)


def against(estimate: Estimate) -> str:
    """The limit of a headline: `97 % of 43.2 GB/s (derived)`, the best measurement, or nothing."""
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
    """A figure beside its limit: percents of the limit, of 0 to 100.

    Attributes:
        share: of the figure.
        lo: of the lower end of its interval.
        hi: of the upper end.
    """

    share: float
    lo: float
    hi: float


def bar(estimate: Estimate) -> Bar | None:
    """What is drawn of a figure beside its limit; None without one, and for the limit's own measurement."""
    value, limit = estimate.value, estimate.limit
    if value is None or limit is None or value.lo <= 0 or not limit.value or limit.measured_by == estimate.id:
        return None
    one = _PERCENT * (1 / limit.value if estimate.better == "higher" else limit.value)
    ends = [one * (each if estimate.better == "higher" else 1 / each) for each in value]
    share, lo, hi = (min(_PERCENT, max(0.0, each)) for each in (ends[0], min(ends), max(ends)))
    return Bar(share, lo, hi)


def vague(estimate: Estimate) -> bool:
    """Whether the interval is wider than a tenth of the figure, or there is none; what is imported has none."""
    value = estimate.value
    return value is not None and value.basis != "imported" and not 0 < value.hi - value.lo <= _VAGUE * value.value


def percent(value: float) -> str:
    """A share: `97 %`, `0.4 %`."""
    return f"{format_share(value)} %"


def change(ratio: float, *, factor: bool | None = None) -> str:
    """A ratio to its base: `+4.7 %`, `-12 %`; from 2 on a factor, `×3.42`; or as `factor` says."""  # noqa: RUF002
    return "".join(_change(ratio, factor=ratio >= _FACTOR if factor is None else factor))


def _change(ratio: float, *, factor: bool) -> tuple[str, str]:
    """The digits, and the unit."""
    if factor:
        return f"×{ratio:.{decimals(ratio)}f}", ""  # noqa: RUF001 (a factor)
    value = _PERCENT * (ratio - 1)
    return (f"{value:+z.1f}" if abs(value) < _PERCENT else f"{value:+.0f}"), " %"


def changes(ratio: float, lo: float, hi: float, *, sure: bool) -> str:
    """The ends of a ratio in the form of `change`: an interval `[+4.1, +5.3] %`, a range `+4.1 to +5.3 %`."""
    (least, unit), (most, _) = (_change(end, factor=ratio >= _FACTOR) for end in (lo, hi))
    return f"[{least}, {most}]{unit}" if sure else f"{least} to {most}{unit}"


def count(number: int, one: str, many: str) -> Text:
    """`1 launch`, `1,000 launches`; both words are literals."""
    return texts.text(f"{{count}} {one}|{{count}} {many}", count=number)


def sentence(line: str) -> str:
    """The text with a capital letter and a full stop, but after a command; complete sentences stay unchanged."""
    if isinstance(line, Command) or (line[:1].strip() and line[:1] == line[:1].upper() and line[-1] in _ENDS):
        return line
    if line and isinstance(line, Text):
        begun = texts.capital(line)
        return begun if line[-1] in _ENDS else text("{sentence}.", sentence=begun)
    line = line.strip()
    return line[:1].upper() + line[1:] + ("" if not line or line[-1] in _ENDS else ".")


def apart(line: str) -> str:
    """The text for a terminal: the command at its end on a line of its own, as it is typed."""
    said, mark, command = line.removesuffix("`").rpartition("`")
    return f"{said.rstrip()}\n{command}" if mark and line.endswith("`") else line


def param(value: ParamValue, unit: str = "") -> str:
    """The value of one axis: sizes in KiB and MiB, whole numbers grouped."""
    if unit == "B" and isinstance(value, int):
        return format_size(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def params(values: Mapping[str, ParamValue], units: Mapping[str, str]) -> str:
    """Axes and values in one line: `stores ordinary, touch parallel`."""
    return ", ".join(f"{name} {param(value, units.get(name, ''))}" for name, value in values.items())


def setting(name: str, value: ParamValue, unit: str = "") -> str:
    """`nonblocking`, `64 KiB`; a bare number says of what it is: `tests 20`."""
    shown = param(value, unit)
    return shown if unit == "B" or isinstance(value, str) else f"{name} {shown}"


def ends(lo: float, hi: float) -> str:
    """The ends of a band: `0.99 to 1.01`."""
    return text("{low} to {high}", low=f"{lo:.4g}", high=f"{hi:.4g}")


def seconds(value: float) -> str:
    """A duration for people: `42 s`, `3 min 20 s`, `2 h 5 min`."""
    if value < 60:  # noqa: PLR2004 (a minute)
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"  # noqa: PLR2004
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return text("{hours} h {minutes} min", hours=hours, minutes=minutes)
    return text("{minutes} min {seconds} s", minutes=minutes, seconds=rest)


def placed(estimate: Estimate) -> str:
    """Placement in one line: label, memory policy where it is not first touch."""
    return texts.joined(" · ", [estimate.placement.label, memory(estimate)])


def memory(estimate: Estimate) -> str:
    """Memory policy in short: `bind:0`, `interleave:0-7`; empty for first touch."""
    memory = estimate.placement.policy
    if not memory.nodes:
        return "" if memory.policy == "first-touch" else memory.policy
    return f"{memory.policy}:{format_cpu_list(memory.nodes)}"
