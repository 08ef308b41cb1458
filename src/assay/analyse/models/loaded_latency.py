"""What a load costs while other cores draw bandwidth."""

from collections.abc import Iterable

from assay.analyse.curves import Curve, Known, curves, figure, point
from assay.model.result import Estimate, Model
from assay.model.text import text

LAW = "loaded-latency"
_FEWEST = 2


def fit(known: Known) -> Iterable[Model]:
    """One model for each placement: the chase, and the bandwidth that the load drew beside it."""
    drawn = {
        (each.estimate.case, each.estimate.placement.hosts, each.estimate.state): each.estimate
        for each in known.of("loaded_latency", "load")
        if each.estimate.unit == "B/s"
    }
    for curve in curves(known.of("loaded_latency", "chase"), "delay"):
        yield _model(curve, drawn)


def _model(curve: Curve, drawn: dict[tuple[str, tuple[str, ...], str | None], Estimate]) -> Model:
    """Parameters: latency `idle` (least bandwidth beside it) and `loaded` (most), and that most `bandwidth`."""
    name = "/".join([LAW, *curve.marks])
    members = sorted((each.estimate for each in curve.members), key=lambda each: -float(each.params["delay"]))
    of = tuple(each.id for each in members)
    if len(members) < _FEWEST:
        return Model(
            name,
            LAW,
            of,
            {},
            None,
            text("{delays} delay: a curve needs {needed}", delays=len(members), needed=_FEWEST),
        )
    beside = [drawn.get((each.case, each.placement.hosts, each.state)) for each in members]
    idle = figure(members[0])
    parameters = {"idle": idle, "loaded": figure(members[-1])}
    if beside[-1] is not None:
        parameters["bandwidth"] = figure(beside[-1])
    points = tuple(
        point(
            each,
            {"delay": each.params["delay"]}
            | ({"bandwidth": load.median} if load and load.median is not None else {}),
            figure(each)[0] / idle[0],
        )
        for each, load in zip(members, beside, strict=True)
    )
    return Model(name, LAW, of, parameters, None, points=points)
