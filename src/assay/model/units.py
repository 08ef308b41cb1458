"""Parse the quantities that users type, and scale those that they read. Inside, everything is in SI base units."""

import math
import re
from collections.abc import Callable
from typing import Literal

from assay.model.errors import UsageError
from assay.model.quantity import Quantity

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?b?)", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h)?", re.IGNORECASE)
_SHARE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:e([-+]?\d+))?\s*(%?)", re.ASCII | re.IGNORECASE)
_QUANTITY = re.compile(
    r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*([kMGTmunpµ]?)(B/s|flop/s|FLOP/s|op/s|update/s|bit/s|Hz|/s|s)", re.ASCII
)
_DECIMAL = {
    "": 1,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "m": 1e-3,
    "u": 1e-6,
    "µ": 1e-6,
    "n": 1e-9,
    "p": 1e-12,
}
_BINARY = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
#: A wrong word is shown up to this length.
_SHOWN = 40
#: Cache line of nearly every processor; fine ranges of sizes are multiples of it.
_LINE_BYTES = 64
#: The native programs refuse sizes above 2^48, too.
_LARGEST = 2**48
_LONGEST_S = 366 * 86400.0
#: Units of Assay's own figures; they get decimal prefixes.
BASE_UNITS = frozenset({"s", "B/s", "flop/s", "op/s", "update/s", "Hz", "bit/s", "1/s"})
Prefix = Literal["decimal", "binary", "none"]
#: Unit -> its prefixes. Declarations add the units of their metrics; others, as `ns/day`, get none.
_PREFIXES: dict[str, Prefix] = {
    **dict.fromkeys(BASE_UNITS, "decimal"),
    **dict.fromkeys(("", "B"), "none"),
}
#: Unit -> its form behind a prefix: `3.35 M/s` are 3.35 million messages per second.
_SHOWN_UNITS = {"flop/s": "FLOP/s", "1/s": "/s"}
_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def parse_size(text: str) -> int:
    """Bytes (or elements) from `64M`, `64MiB`, `1.5G`, `4096`. Suffixes are powers of 2^10."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UsageError(
            f"'{text}' is not a size", why="a size looks like 4096, 64K or 1.5GiB", remedy="write it as 64K"
        )
    size = float(match[1]) * _BINARY[match[2].lower()]
    if size > _LARGEST:
        raise UsageError(
            f"'{_short(text)}' is larger than any machine", why="sizes end at 256 TiB", remedy="write it as 1G"
        )
    return round(size)


def parse_duration(text: str) -> float:
    """Seconds from `90`, `60s`, `5m`, `1h`, `200ms`."""
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise UsageError(
            f"'{text}' is not a duration", why="a duration looks like 90, 60s, 5m or 1h", remedy="write it as 60s"
        )
    seconds = float(match[1]) * _SECONDS[(match[2] or "s").lower()]
    if seconds > _LONGEST_S:
        raise UsageError(
            f"'{_short(text)}' is longer than a year", why="nobody waits for that", remedy="write it as 1h"
        )
    return seconds


def printed_unit(word: str) -> tuple[str, float]:
    """The SI base unit of a unit as programs print it, and the factor; unknown units, as `ns/day`, stay.

    `ms` are `s`, `MB/s` `B/s`, `Gflop/s`, `GFLOPS` and `GFLOP/s` `flop/s`, `steps/s` `1/s`.
    """
    if word in _SECONDS:
        return "s", _SECONDS[word]
    if re.fullmatch(r"(?:1|[a-z]+s)/s", word):
        return "1/s", 1.0
    match = re.fullmatch(r"([numµkMGTP]?)(s|B/s|(?:flop/s|FLOP/s|FLOPS)|op/s|update/s)", word)
    if not match:
        return word, 1.0
    unit = "flop/s" if match[2].lower().startswith("flop") else match[2]
    return unit, _DECIMAL[match[1]]


def typed_duration(seconds: float) -> str:
    """The seconds, rounded up, as `parse_duration` reads them: `90s`; from two minutes on `3m`; whole hours `48h`.

    From ten hours on it has no minutes: nobody needs them there.
    """
    tens, minutes, hours = (math.ceil(seconds / unit) for unit in (10, 60, 3600))
    if seconds < 120:  # noqa: PLR2004 (two minutes)
        return f"{10 * tens}s"
    return f"{hours}h" if hours > 10 or minutes == 60 * hours else f"{minutes}m"  # noqa: PLR2004 (ten hours)


def parse_share(text: str) -> float:
    """A share from `1%` or `0.01`, less than 1: `5` is neither 5 % nor 500 % for sure."""
    match = _SHARE.fullmatch(text.strip())
    if not match:
        raise UsageError(
            f"'{_short(text)}' is not a share", why="a share looks like 1% or 0.01", remedy="write it as 1%"
        )
    number = float(f"{match[1]}e{match[2] or 0}")
    share = number / (100 if match[3] else 1)
    if share >= 1:
        percent = number if number < 100 and not match[3] else 5.0  # noqa: PLR2004 (100 %)
        raise UsageError(
            f"'{_short(text)}' is not a share: it would be {100 * share:.3g} %",
            why="a share is less than 100 %, which is 1",
            remedy=f"write it as {percent:g}%   # or {percent / 100:g}",
        )
    return share


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def parse_range(text: str) -> tuple[int, ...]:
    """Sizes from first to last, both included, or a single size. A range from 0 is 0, then the range from 1.

    `1:64M` are powers of two times the first. `4K:256M/8` are 8 sizes per octave, evenly spaced on a logarithmic
    scale; those between first and last are rounded to multiples of 64, below 1 KiB to whole numbers. No step is
    more than one cache line longer than the wanted ratio.
    """
    first, colon, rest = text.partition(":")
    low = parse_size(first)
    if not colon:
        return (low,)
    if not low:
        return (0, *parse_range(f"1:{rest}"))
    last, slash, count = rest.partition("/")
    high = parse_size(last)
    if not 0 < low <= high or (slash and not re.fullmatch(r"[1-9]\d?", count)):
        raise UsageError(
            f"'{text}' is not a range of sizes",
            why="a range looks like 1:64M, smaller size first, or 4K:256M/8 with 1 to 99 sizes an octave",
            remedy="write it as 1:64M",
        )
    an_octave = int(count or 1)
    sizes = [low * 2 ** (step / an_octave) for step in range(1, math.ceil(an_octave * math.log2(high / low)))]
    if not slash:
        return tuple(sorted({low, high, *(round(size) for size in sizes if low < round(size) < high)}))
    ascending = [low]
    for size in [*(each for each in map(_whole_lines, sizes) if low < each < high), high]:
        # If one size is rounded down and the next up, their step may be more than one line too long.
        reach = int(ascending[-1] * 2 ** (1 / an_octave)) + _LINE_BYTES
        if size > reach:
            ascending.append(reach - reach % _LINE_BYTES)
        if size == high or size <= reach:
            ascending.append(size)
    return tuple(dict.fromkeys(ascending))


def _whole_lines(size: float) -> int:
    return round(size) if size < 1024 else _LINE_BYTES * round(size / _LINE_BYTES)  # noqa: PLR2004 (1 KiB)


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Indices from the kernel's list form, `0-3,8,10-14:2`; empty for an empty list."""
    indices: list[int] = []
    for part in filter(None, text.strip().split(",")):
        span, _, step = part.partition(":")
        first, dash, last = span.partition("-")
        indices.extend(range(int(first), int(last if dash else first) + 1, int(step or 1)))
    return tuple(indices)


def format_cpu_list(cpus: tuple[int, ...]) -> str:
    """The kernel's list form of indices in any order, shortest runs: `0-3,8`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def count_of(number: int, noun: str) -> str:
    """`1 core`, `2 cores`, `1 launch`, `2 launches`."""
    many = "es" if noun.endswith(("ch", "s")) else "s"
    return f"{number} {noun}{many * (number != 1)}"


def format_share(share: float) -> str:
    """A share in percent, without the sign `%`: `97`, `0.4`, `0`."""
    percent = 100 * share
    return f"{percent:.0f}" if abs(percent) >= 10 or percent == 0 else f"{percent:z.1f}"  # noqa: PLR2004


def format_share_with_ends(share: Quantity) -> str:
    """A share in percent with its ends, without the sign `%`: `2.2 [0.4, 4.0]`, of a range `2.2 (0.4 to 4.0)`."""
    return _with_ends(share, format_share)


def format_ratio_with_ends(ratio: Quantity) -> str:
    """A ratio of three digits with its ends: `1.38 [1.31, 1.45]`, of a range `1.38 (1.31 to 1.45)`."""
    return _with_ends(ratio, lambda value: format_quantity(value, ""))


def _with_ends(figure: Quantity, shown: Callable[[float], str]) -> str:
    value, lo, hi = map(shown, figure)
    if figure.has_interval:
        return f"{value} [{lo}, {hi}]"
    return f"{value} ({lo} to {hi})" if figure.has_ends else value


def format_size(size_bytes: float) -> str:
    """`4 KiB`, `1.5 MiB`: powers of 2^10, three digits."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(size_bytes) < 1024 or unit == "TiB":  # noqa: PLR2004 (1024 is what KiB means)
            return f"{size_bytes:.3g} {unit}" if abs(size_bytes) < 999.5 else f"{size_bytes:.0f} {unit}"  # noqa: PLR2004
        size_bytes /= 1024
    raise AssertionError


def format_quantity(value: float, unit: str) -> str:
    """A value in an SI base unit, scaled, with three significant digits: `42.1 GB/s`, `110 ns`."""
    scaled, prefixed = scale(value, unit)
    return f"{scaled:.{decimals(scaled)}f} {prefixed}".strip()


def show(unit: str, prefix: Prefix) -> None:
    """Show quantities in a unit with such prefixes from now on, unless the unit is known already."""
    _PREFIXES.setdefault(unit, prefix)


def scale(value: float, unit: str) -> tuple[float, str]:
    """Value and unit with the prefix that leaves 1 to 999 (1023) before the point; shares in percent."""
    if unit == "share":
        return 100 * value, "%"
    prefixes = _PREFIXES.get(unit, "none")
    if prefixes == "none" or value == 0 or not math.isfinite(value):
        return value, unit
    if prefixes == "binary":
        size, prefixed = format_size(value).split(" ")
        return float(size), prefixed.removesuffix("B") + unit
    shown = abs(float(f"{value:.3g}"))  # 999.9 MB/s is shown as 1.00 GB/s
    if unit == "s":
        steps = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))
        factor, prefixed = next((step for step in steps if shown >= step[0]), steps[-1])
        return value / factor, prefixed
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if shown >= factor:
            return value / factor, f"{prefix}{_SHOWN_UNITS.get(unit, unit)}"
    return value, _SHOWN_UNITS.get(unit, unit)


def decimals(value: float) -> int:
    """The number of decimals for three significant digits: `42.1`, `1.00`, `1234`."""
    if value == 0 or not math.isfinite(value):
        return 0
    rounded = float(f"{value:.3g}")
    return max(0, 2 - math.floor(math.log10(abs(rounded))))


def parse_quantity(text: str) -> tuple[float, str]:
    """Value in the SI base unit, and that unit, from `204.8 GB/s`, `85ns`, `1.2 TFLOP/s`."""
    match = _QUANTITY.fullmatch(text.strip())
    if not match or not math.isfinite(float(match[1])):
        raise UsageError(
            f"'{_short(text)}' is not a quantity",
            why="a quantity looks like 204.8 GB/s, 1.2 TFLOP/s or 85 ns",
            remedy="write it as '204.8 GB/s'",
        )
    units = {shown: unit for unit, shown in _SHOWN_UNITS.items()}
    return float(match[1]) * _DECIMAL[match[2]], units.get(match[3], match[3])
