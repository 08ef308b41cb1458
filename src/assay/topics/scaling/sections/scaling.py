"""What more cores and nodes make of a rate: speed-ups over a named base, efficiencies, and what is lost where."""

from collections.abc import Iterable, Iterator

from assay.analyse.evidence import stands_on
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import Text, joined, text
from assay.report import formatting, selection
from assay.report.charts.curve import CurvePoint, curve
from assay.report.charts.intervals import Point, intervals
from assay.report.declared import Declared, Listing, Scene
from assay.report.fitted import Fitted
from assay.report.section import Figure, headings
from assay.topics.scaling.models.scaling import Scaling, Step

#: A curve has so many numbers of cores at least; fewer are points beside each other.
_FEWEST = 3
_Each = Fitted[Scaling]


def _name(each: _Each) -> str:
    """`himeno_mpi, size L`: benchmark, what tells the problem from others of it, state."""
    base = _base(each)
    units = selection.units(base.benchmark)
    told = (f"{name} {formatting.param(value, units.get(name, ''))}" for name, value in each.model.problem.items())
    return joined(", ", (base.benchmark, *told, each.state))


def _base(each: _Each) -> Estimate:
    return next(e for e in each.estimates if e.id == each.model.base)


def _kind(step: Step) -> Text:
    """What its cores are to each other."""
    if step.copies:
        return text("independent copies")
    return text("on one node") if step.nodes == 1 else text("{cores} a node", cores=_of_node(step))


def _of_node(step: Step) -> Text:
    return text("{count} core|{count} cores", count=step.cores // step.nodes)


def _shown(figure: Quantity, step: Step) -> formatting.Shown:
    return formatting.interval(figure, stands_on(figure, step.blocks))


def _charts(scene: Scene) -> Iterator[Figure]:
    wide = [each for each in scene.found if _numbers(each) >= _FEWEST]
    if wide:
        yield _curves(wide)
    few = [each for each in scene.found if each not in wide]
    if few:
        yield _points(few)


def _numbers(each: _Each) -> int:
    return 1 + len({step.cores for step in each.model.steps if not step.copies})


def _curves(found: list[_Each]) -> Figure:
    """Speed-up by cores, both axes logarithmic, with the line of no loss."""
    points = [point for each in found for point in _drawn(each)]
    least = min(found, key=lambda each: each.model.base_cores).model.base_cores
    cores = sorted({point.x for point in points})
    points += [
        _point(x, text("no loss"), Quantity(x / least, x / least, x / least), text("cores over those of the base"))
        for x in cores
    ]
    caption = text(
        "Speed-up by number of cores; both axes are logarithmic. The base is {base}. Whiskers are the ends of "
        "ratios paired by block; the line without loss grows as the cores do.",
        base=_base_told(found[0]),
    )
    titles = text("cores"), text("speed-up")
    return Figure("figure-scaling", caption, _result(found), curve(points, titles, sizes=False))


def _drawn(each: _Each) -> Iterator[CurvePoint]:
    """The base and the steps of each kind, which make a line."""
    for kind in dict.fromkeys(_kind(step) for step in each.model.steps):
        series = joined(", ", (_name(each), kind))
        one = Quantity(1.0, 1.0, 1.0)
        yield _point(each.model.base_cores, series, one, text("the base"))
        for step in each.model.steps:
            if _kind(step) == kind:
                yield _point(step.cores, series, step.speed_up, stands_on(step.speed_up, step.blocks))


def _point(cores: float, series: str, figure: Quantity, basis: str) -> CurvePoint:
    shown = formatting.interval(figure, basis)
    size = formatting.count(round(cores), "core", "cores")
    value, lo, hi = figure
    return CurvePoint(float(cores), series, "", value, lo, hi, shown.short, basis, size)


def _points(found: list[_Each]) -> Figure:
    """Speed-ups of few placements beside each other."""
    points = []
    for each in found:
        for step in each.model.steps:
            shown = _shown(step.speed_up, step)
            value, lo, hi = step.speed_up
            told = text(
                "{figure}; {cores} would be without loss", figure=shown.short, cores=f"{_factor(each, step):g}"
            )
            points.append(
                Point(_name(each), _kind(step), value, lo, hi, _factor(each, step), told, shown.plain, shown.basis)
            )
    caption = text(
        "Speed-up over the base, {base}. Whiskers are the ends of ratios paired by block; the red mark is the "
        "factor of cores, a speed-up without loss.",
        base=_base_told(found[0]),
    )
    return Figure("figure-speed-ups", caption, _result(found), intervals(points, text("speed-up")))


def _factor(each: _Each, step: Step) -> float:
    return step.cores / each.model.base_cores


def _base_told(each: _Each) -> Text:
    cores = formatting.count(each.model.base_cores, "core", "cores")
    return text("{cores} ({label})", cores=cores, label=each.model.base_label)


def _result(found: Iterable[_Each]) -> str:
    told = [
        text(
            "{name}, {cores} {kind}: {figure}",
            name=_name(each),
            cores=formatting.count(step.cores, "core", "cores"),
            kind=_kind(step),
            figure=_shown(step.speed_up, step).short,
        )
        for each in found
        for step in _told(each)
    ]
    return joined("; ", told)


def _told(each: _Each) -> Iterator[Step]:
    """Doublings of the base and the most cores of each kind; the curve has all."""
    for step in each.model.steps:
        last = max(other.cores for other in each.model.steps if _kind(other) == _kind(step))
        doublings = step.cores // each.model.base_cores
        doubled = step.cores % each.model.base_cores == 0 and doublings & (doublings - 1) == 0
        if doubled or step.cores == last:
            yield step


def _rows(scene: Scene) -> Iterator[tuple[str, ...]]:
    for each in scene.found:
        base, by_id = _base(each), {e.id: e for e in each.estimates}
        cores = str(each.model.base_cores)
        yield _name(each), base.placement.label, "1", cores, formatting.shown(base).plain, text("base"), "", ""
        for step in _told(each):
            rate = by_id[step.estimates[0]] if len(step.estimates) == 1 else None
            speed_up = _shown(step.speed_up, step)
            counted = (str(step.nodes), str(step.cores), formatting.shown(rate).plain)
            efficiency = _shown(step.efficiency, step).plain
            yield _name(each), _where(step), *counted, speed_up.plain, speed_up.ends, efficiency


def _where(step: Step) -> str:
    return joined(", ", (step.label, text("independent copies") if step.copies else ""))


def _reasons(scene: Scene) -> Iterator[tuple[str, ...]]:
    for each in scene.found:
        for step in each.model.steps:
            if step.shared and step.messages:
                efficiency, shared, messages = (
                    _share(figure, step) for figure in (step.efficiency, step.shared, step.messages)
                )
                factors = ("", messages) if step.by_caches else (messages, "")
                yield _name(each), step.label, efficiency, shared, *factors


def _share(figure: Quantity, step: Step) -> str:
    return _shown(figure, step).short


def _sentences(scene: Scene) -> str:
    steps = [(each, step) for each in scene.found for step in each.model.steps if not step.copies]
    if not steps:
        return text("Nothing was measured on several numbers of cores.")
    each, worst = min(steps, key=lambda pair: pair[1].efficiency.value)
    said = [
        text(
            "The lowest efficiency is {efficiency}: {name} on {cores} {kind}.",
            efficiency=_shown(worst.efficiency, worst).short,
            name=_name(each),
            cores=formatting.count(worst.cores, "core", "cores"),
            kind=_kind(worst),
        )
    ]
    if any(step.shared is not None and not step.copies for _, step in steps):
        said.append(
            text(
                "Efficiency is the product of two factors: what sharing the node leaves of the rate of "
                "independent copies on the same cores, and what messages, waiting included, leave of that."
            )
        )
    return joined(" ", (*said, *_beyond(steps)))


def _beyond(steps: Iterable[tuple[_Each, Step]]) -> Iterator[Text]:
    """That what is more than the cores are is the caches' doing, and no message's."""
    above = [(each, step) for each, step in steps if step.is_superlinear or step.by_caches]
    if above:
        each, most = max(above, key=lambda pair: pair[1].efficiency.value)
        yield text(
            "On {cores} {kind}, {name} is {speed_up} times as fast, more than the cores are: a cache effect. Each "
            "rank has a smaller part of the problem, and caches hold more of it; messages gain nothing."
            if most.is_superlinear
            else "On {cores} {kind}, {name} is {speed_up} times as fast, and faster than independent copies: a "
            "cache effect. Each rank has a smaller part than a copy, and caches hold more of it; messages gain "
            "nothing.",
            cores=formatting.count(most.cores, "core", "cores"),
            kind=_kind(most),
            name=_name(each),
            speed_up=_shown(most.speed_up, most).value,
        )


declared = Declared(
    order=70,
    id="scaling",
    title=text("Scaling"),
    introduction=text(
        "A program on more cores is rarely as much faster as the cores are more. Cores of a node share its "
        "memory, and ranks wait for each other's messages. A speed-up is a ratio of rates of work, paired by "
        "block; the efficiency is the speed-up over the factor of cores."
    ),
    law=Scaling,
    applies=lambda scene: scene.found,
    sentences=_sentences,
    charts=_charts,
    shared_tables=(
        Listing(
            text("Speed-ups over the base, and efficiencies"),
            headings("Problem", "Placement", "Nodes", "Cores", "Rate", "Speed-up", "Ends", "Efficiency"),
            _rows,
            {2, 3, 4, 5, 6, 7},
            optional={4},
        ),
        Listing(
            text("Where speed is lost: what sharing a node and what messages leave of the efficiency"),
            headings(
                "Problem", "Placement", "Efficiency", "Sharing leaves", "Messages leave", "Smaller parts gain"
            ),
            _reasons,
            {2, 3, 4, 5},
            optional={4, 5},
        ),
    ),
    listed=False,
    rules=frozenset({"scaling"}),
)
