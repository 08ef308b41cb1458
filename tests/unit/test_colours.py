"""The colours of series: told apart in normal vision and in the three kinds of colour blindness, light and dark.

Colour blindness is simulated after Machado, Oliveira and Fernandes, "A Physiologically-based Model for
Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009, at severity 1.0. Distances are CIEDE2000 as Sharma,
Wu and Dalal write it down, "The CIEDE2000 Color-Difference Formula", Color Research and Application 30(1), 2005.
"""

import re
from importlib import resources
from itertools import combinations
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

import pytest

from assay.report.charts.theme import COLOURS, DASHES, SHAPES

Triple = tuple[float, float, float]

#: On linear RGB; the first is normal vision.
VISIONS: dict[str, tuple[Triple, Triple, Triple]] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
#: sRGB to XYZ, and its white.
_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
_WHITE = (0.95047, 1.0, 1.08883)
_LEAST = 12.0


def linear(colour: str) -> Triple:
    """`#rrggbb` in linear RGB."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue


def times(matrix: tuple[Triple, Triple, Triple], vector: Triple) -> Triple:
    """The matrix times the vector."""
    first, second, third = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return first, second, third


def lab(colour: str, vision: str) -> Triple:
    """The colour in CIELAB as that vision sees it."""
    red, green, blue = (min(max(part, 0.0), 1.0) for part in times(VISIONS[vision], linear(colour)))
    parts = (part / of for part, of in zip(times(_XYZ, (red, green, blue)), _WHITE, strict=True))
    x, y, z = (part ** (1 / 3) if part > 216 / 24389 else (24389 / 27 * part + 16) / 116 for part in parts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one: Triple, other: Triple) -> float:
    """CIEDE2000 of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean7 = ((hypot(a1, b1) + hypot(a2, b2)) / 2) ** 7
    stretch = 1 + 0.5 * (1 - sqrt(mean7 / (mean7 + 25**7)))
    a1, a2 = stretch * a1, stretch * a2
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = (degrees(atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    grey = not c1 * c2
    turn = 0.0 if grey else (h2 - h1 + 180) % 360 - 180
    dl, dc, dh = l2 - l1, c2 - c1, 2 * sqrt(c1 * c2) * sin(radians(turn / 2))
    level, c = (l1 + l2) / 2, (c1 + c2) / 2
    h = h1 + h2 if grey else (h1 + turn / 2) % 360
    t = 1 - 0.17 * cos(radians(h - 30)) + 0.24 * cos(radians(2 * h))
    t += 0.32 * cos(radians(3 * h + 6)) - 0.20 * cos(radians(4 * h - 63))
    sl = 1 + 0.015 * (level - 50) ** 2 / sqrt(20 + (level - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    rt = -2 * sqrt(c**7 / (c**7 + 25**7)) * sin(radians(60 * exp(-(((h - 275) / 25) ** 2))))
    return sqrt((dl / sl) ** 2 + (dc / sc) ** 2 + (dh / sh) ** 2 + rt * (dc / sc) * (dh / sh))


#: Block of the page's style -> the least contrast of a series with its paper (WCAG 2.2, 1.4.11: graphics).
_BLOCKS = {"light": r":root \{(.*?)\}", "dark": r"prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}"}
_CONTRAST = 3.0


def _colours(scheme: str) -> dict[str, str]:
    style = resources.files("assay.report").joinpath("templates", "report.css").read_text("utf-8")
    block = re.search(_BLOCKS[scheme], style, re.DOTALL)
    assert block
    return dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block[1]))


def _contrast(one: str, other: str) -> float:
    low, high = sorted(times(_XYZ, linear(each))[1] for each in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("one", "other", "published"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (56.0, -27.0, -3.0), 31.9030),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_distances_are_those_that_sharma_published(one: Triple, other: Triple, published: float) -> None:
    assert distance(one, other) == pytest.approx(published, abs=1e-4)


@pytest.mark.parametrize("scheme", _BLOCKS)
def test_series_are_told_apart_in_every_vision(scheme: str) -> None:
    known = _colours(scheme)
    series = {name: known[name] for name in (each.removeprefix("var(--").rstrip(")") for each in COLOURS)}
    series["limit"] = known["limit"]
    assert len(series) == 9
    near = {
        (vision, one, other): distance(lab(series[one], vision), lab(series[other], vision))
        for vision in VISIONS
        for one, other in combinations(series, 2)
    }
    assert min(near.values()) > _LEAST, min(near, key=lambda each: near[each])
    for ground in ("paper", "raised"):
        assert min(_contrast(colour, known[ground]) for colour in series.values()) >= _CONTRAST


def test_the_first_eight_series_differ_in_mark_and_dash_too() -> None:
    assert len(set(COLOURS)) == len(set(SHAPES)) == len(set(map(tuple, DASHES))) == 8


def test_two_colours_that_the_red_blind_confuse_are_found_to_be_near() -> None:
    """The limits were red beside a green series: what the test is for."""
    red, green = "#b3261e", "#4d5f1a"
    assert distance(lab(red, "normal"), lab(green, "normal")) > 40
    assert distance(lab(red, "protanopia"), lab(green, "protanopia")) < _LEAST
