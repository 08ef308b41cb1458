"""Names in the chart of a roofline: on no other name, no other roof and no whisker."""

import itertools
import math

import msgspec
import pytest

from assay.report.charts.labels import Frame
from assay.report.charts.labels import wide as label_width
from assay.topics.cores.roofline_chart import Kernel, Roof, roofline


def _names_of_roofs(bandwidths: list[float], version: str, width: int) -> list[tuple[float, float, float]]:
    """Of each name, in pixels along the roofs and across them: its end, the middle of its line, and its roof."""
    roofs = [Roof(f"L{at}", each, 100 / each, f"L{at} {90 + at} GB/s") for at, each in enumerate(bandwidths)]
    kernel = Kernel(0.1, 0.5, 0.4, 0.6, "triad", "triad", "", "", "")
    layers = roofline([kernel], roofs, (100.0, "peak"), "GFLOP/s")["layer"]
    drawn = (layer for layer in layers if "stroke" not in layer["mark"])
    (names,) = (layer for layer in drawn if any("wide" in row for row in layer.get("data", {}).get("values", ())))
    left, right = layers[0]["encoding"]["x"]["scale"]["domain"]
    bottom, top = layers[0]["encoding"]["y"]["scale"]["domain"]
    across, up = width / math.log10(right / left), 360 / math.log10(top / bottom)
    steep = math.atan2(up, across)
    found = []
    for each in names["data"]["values"]:
        x = across * math.log10(each[version])
        y = up * math.log10(each[version] * each["bandwidth"])
        line = y * math.cos(steep) - x * math.sin(steep)
        middle = line + (9 if each[f"above_{version}"] else -9)
        found.append((x * math.cos(steep) + y * math.sin(steep), middle, line))
    return found


@pytest.mark.parametrize("factor", [1.05, 1.5, 4.0])
@pytest.mark.parametrize(("version", "width"), [("wide", 790), ("narrow", 280)])
def test_names_of_roofs_never_stand_on_each_other(factor: float, version: str, width: int) -> None:
    names = _names_of_roofs([10 * factor**-at for at in range(1, 4)], version, width)
    for (end, middle, _), (other_end, other_middle, _) in itertools.combinations(names, 2):
        # One ends where the next begins, or they are lines apart.
        assert abs(end - other_end) >= 6 * len("L1 99 GB/s") or abs(middle - other_middle) >= 12


@pytest.mark.parametrize(
    "bandwidths", [[40, 10, 3, 2.7], [40, 6, 3, 2.7], [4, 3.6], [40, 20, 12], [40, 36, 12, 11]]
)
@pytest.mark.parametrize(("version", "width"), [("wide", 790), ("narrow", 280)])
def test_names_of_roofs_cover_no_other_roof(bandwidths: list[float], version: str, width: int) -> None:
    names = _names_of_roofs(bandwidths, version, width)
    assert all(abs(middle - line) >= 8 for _, middle, _ in names for _, _, line in names)


def test_no_label_of_a_roofline_stands_on_a_whisker() -> None:
    """Whiskers are planted where names stood without them: of a kernel beside others, and along the roof."""
    roofs = [Roof("memory", 10.0, 10.0, "memory 10.0 GB/s")]
    bare = [Kernel(at, 5 * at, 5 * at, 5 * at, "triad", f"kernel {at}", "", "", "") for at in (0.1, 0.12, 3.0)]
    wide = [msgspec.structs.replace(each, lo=each.value / 3, hi=40 * each.intensity) for each in bare]
    assert _covered(roofs, bare, wide), "the planted whiskers cross labels"
    assert not _covered(roofs, wide, wide)


def _covered(roofs: list[Roof], kernels: list[Kernel], whiskers: list[Kernel]) -> bool:
    """Whether a label of the chart of `kernels` stands on one of the `whiskers`."""
    layers = roofline(kernels, roofs, (100.0, "peak"), "GFLOP/s")["layer"]
    x, y = (tuple(layers[0]["encoding"][axis]["scale"]["domain"]) for axis in "xy")
    frame = Frame(790, 360, x, y)
    drawn = [layer for layer in layers if layer.get("transform") == [{"filter": "!narrow"}]]
    names = [row for layer in drawn for row in layer["data"]["values"] if "px" in row]
    ends = [(frame.at(each.intensity, each.hi), frame.at(each.intensity, each.lo)) for each in whiskers]
    return any(
        name["px"] < at < name["px"] + label_width(name["label"])
        and top < name["py"] + 4
        and name["py"] - 4 < bottom
        for name in names
        for (at, top), (_, bottom) in ends
    )
