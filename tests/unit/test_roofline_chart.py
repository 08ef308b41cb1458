"""Names in the chart of a roofline: on no other name and on no whisker."""

import itertools

import msgspec
import pytest

from assay.report.charts.labels import Frame
from assay.report.charts.labels import wide as label_width
from assay.report.charts.theme import WIDE
from assay.topics.cores.roofline_chart import Kernel, Roof, roofline

Box = tuple[float, float, float, float]


def _names_of_roofs(bandwidths: list[float], width: int) -> list[Box]:
    """The box of each name in pixels: left, top, right, bottom."""
    roofs = [Roof(f"L{at}", each, 100 / each, f"L{at} {90 + at} GB/s") for at, each in enumerate(bandwidths)]
    kernel = Kernel(0.1, 0.5, 0.4, 0.6, "triad", "triad", "", "", "")
    layers = roofline([kernel], roofs, (100.0, "peak"), "GFLOP/s")["layer"]
    seen = [{"filter": "narrow" if width < WIDE else "!narrow"}]
    drawn = [layer for layer in layers if layer.get("transform") == seen and "stroke" not in layer["mark"]]
    rows = {row["label"]: row for layer in drawn for row in layer["data"]["values"] if "px" in row}
    names = [rows[roof.label] for roof in roofs]
    return [
        (each["px"], each["py"] - 6, each["px"] + label_width(each["label"]), each["py"] + 6) for each in names
    ]


@pytest.mark.parametrize(
    "bandwidths",
    [[10, 9.5, 9.1], [10, 6.7, 4.4], [10, 2.5, 0.6], [40, 10, 3, 2.7], [4, 3.6], [40, 20, 12], [40, 36, 12, 11]],
)
@pytest.mark.parametrize("width", [WIDE, 280])
def test_every_roof_has_its_name_and_none_stands_on_another(bandwidths: list[float], width: int) -> None:
    boxes = _names_of_roofs(bandwidths, width)
    for one, other in itertools.combinations(boxes, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


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
