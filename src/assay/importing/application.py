"""Read the output of a declared application: its figures, its version, and whether it is right."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from assay.model.application import Application, Check, Wanted, filled, placeholders
from assay.model.record import Checked
from assay.model.units import printed_unit

#: Number of last lines of an output that an error message shows.
_LAST = 3
_LONGEST = 120
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?", re.ASCII)
_CLOCK = re.compile(r"(?:(\d+):)?(\d+):(\d+(?:\.\d*)?)", re.ASCII)
_SPOKEN = re.compile(r"(?:(\d+) ?h ?)?(?:(\d+) ?m ?)?(?:(\d+(?:\.\d*)?) ?s)?", re.ASCII)


class Taken(msgspec.Struct, frozen=True):
    """A figure that was found.

    Attributes:
        name: name of the figure.
        unit: SI base unit, or as printed.
        values: one value in that unit, or several.
        matches: number of matches of the pattern, including warm-up.
        steps: the matches behind a mean or a sum; empty for others.
    """

    name: str
    unit: str
    values: tuple[float, ...]
    matches: int
    steps: tuple[float, ...] = ()


class Reading(msgspec.Struct, frozen=True):
    """The content of an output, read by its declaration.

    Attributes:
        version: version of the program; empty if not found.
        taken: figures.
        missing: a text for each missing figure.
        checks: results of the checks, in order.
    """

    version: str
    taken: tuple[Taken, ...]
    missing: tuple[str, ...]
    checks: tuple[Checked, ...]

    @property
    def wrong(self) -> tuple[Checked, ...]:
        """The checks that failed."""
        return tuple(each for each in self.checks if each.status == "wrong")


def read(application: Application, output: str, values: Mapping[str, str]) -> Reading:
    """Read an output by its declaration.

    Args:
        application: the declaration.
        output: the whole output.
        values: value of each placeholder; unknown parameters are absent.
    """
    found = {name: _numbers(each.pattern, output) for name, each in application.figures.items()}
    wanted = application.figures
    missing = [_in_vain(name, wanted[name], each) for name, each in found.items()]
    taken = [_taken(name, wanted[name], each) for name, each in found.items() if _counted(wanted[name], each)]
    match = re.search(application.version, output, re.MULTILINE) if application.version else None
    version = match[1].strip() if match else ""
    return Reading(
        version,
        tuple(taken),
        tuple(filter(None, missing)),
        tuple(_checked(each, output, values, version) for each in application.verify),
    )


def last_lines(output: str) -> str:
    """The end of an output in one line."""
    lines = [line.strip()[:_LONGEST] for line in output.splitlines() if line.strip()]
    return " / ".join(lines[-_LAST:]) or "nothing"


def _numbers(pattern: str, output: str) -> list[float | None]:
    """The number in the pattern's group at each match; None if it is not a number."""
    return [_number((match[1] or "").strip()) for match in re.finditer(pattern, output, re.MULTILINE)]


def _number(word: str) -> float | None:
    """A number in the formats of programs: `-1.5`, `1.5D+02`; durations in seconds: `1h 2m3.4s`, `0:01:02`."""
    if _NUMBER.fullmatch(word):
        return float(word.replace("D", "e").replace("d", "e"))
    match = _CLOCK.fullmatch(word) or _SPOKEN.fullmatch(word)
    if not match or not any(match.groups()):
        return None
    hours, minutes, seconds = (float(each or 0) for each in match.groups())
    return 3600 * hours + 60 * minutes + seconds


def _counted(wanted: Wanted, found: Sequence[float | None]) -> list[float]:
    return [each for each in found[wanted.skip :] if each is not None and each > 0]


def _in_vain(name: str, wanted: Wanted, found: Sequence[float | None]) -> str:
    if _counted(wanted, found):
        return ""
    if not found:
        return f"'{name}' was sought as '{wanted.pattern}', which matches nothing"
    if len(found) <= wanted.skip:
        return f"'{name}' was sought as '{wanted.pattern}', which matches {len(found)} times, all of them warm-up"
    return f"'{name}' was sought as '{wanted.pattern}', whose group holds no number above 0"


def _taken(name: str, wanted: Wanted, found: Sequence[float | None]) -> Taken:
    unit, factor = printed_unit(wanted.unit)
    counted = [float(f"{factor * each:.15g}") for each in _counted(wanted, found)]
    if wanted.take in {"sum", "mean"}:
        total = sum(counted)
        value = total if wanted.take == "sum" else total / len(counted)
        return Taken(name, unit, (value,), len(found), tuple(counted))
    kept = counted[:1] if wanted.take == "first" else counted[-1:] if wanted.take == "last" else counted
    return Taken(name, unit, tuple(kept), len(found))


def _checked(check: Check, output: str, values: Mapping[str, str], version: str) -> Checked:
    if lacking := [name for name in placeholders(check.present or check.absent) if name not in values]:
        return Checked(check.about, "unknown", f"it depends on {', '.join(lacking)}: not given")
    if check.present:
        pattern = _escaped(check.present, values)
        found = re.search(pattern, output, re.MULTILINE)
        text = f"'{pattern}' " + ("is there" if found else "was sought, and is not there")
        return Checked(check.about, "right" if found else "wrong", text, 0.0 if found else 1.0)
    if check.absent:
        pattern = _escaped(check.absent, values)
        found = re.search(pattern, output, re.MULTILINE)
        text = f"'{found[0].strip()[:_LONGEST]}' is there" if found else f"'{pattern}' is not there"
        return Checked(check.about, "wrong" if found else "right", text, 1.0 if found else 0.0)
    return _compared(check, output, values, version)


def _compared(check: Check, output: str, values: Mapping[str, str], version: str) -> Checked:
    """Compare a number with its right value, if that is known for the version and the parameters."""
    assert check.value is not None  # noqa: S101 (the declaration was checked)
    if check.versions and not re.search(check.versions, version):
        this = f"not for '{version}'" if version else "and the output names no version"
        return Checked(check.about, "unknown", f"its value is known for '{check.versions}', {this}")
    other = [name for name, value in check.when.items() if values.get(name) != str(value)]
    if other:
        known = ", ".join(f"{name}={check.when[name]}" for name in other)
        return Checked(check.about, "unknown", f"its value is known for {known} only")
    numbers = [each for each in _numbers(check.pattern, output) if each is not None]
    if not numbers:
        text = f"it was sought as '{check.pattern}', which matches no number"
        return Checked(check.about, "wrong", text, 1.0, check.tolerance)
    error = abs(numbers[-1] - check.value)
    text = f"it is {numbers[-1]!r}, and {check.value!r} within {check.tolerance:g} is right"
    return Checked(check.about, "right" if error <= check.tolerance else "wrong", text, error, check.tolerance)


def _escaped(pattern: str, values: Mapping[str, str]) -> str:
    return filled(pattern, {name: re.escape(value) for name, value in values.items()})
