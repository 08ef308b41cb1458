"""Speed-ups over a base by number of cores and nodes, efficiencies, and causes of the losses."""

from collections.abc import Iterable, Iterator

from assay.analyse.evidence import stands_on
from assay.model.benchmark import UNCOUPLED
from assay.model.law import UNFIT
from assay.model.placement import parsed
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.text import Text, joined, text
from assay.model.units import format_quantity
from assay.report import formatting, selection
from assay.report.charts.curve import CurvePoint, curve
from assay.report.charts.intervals import Point, intervals
from assay.report.declared import Declared, Listing, Scene
from assay.report.fitted import Fitted
from assay.report.ledger import Ledger
from assay.report.section import Figure, headings
from assay.topics.scaling.costs import cost_table
from assay.topics.scaling.headlines import headlines, problem_name
from assay.topics.scaling.loss_table import loss_table
from assay.topics.scaling.models.scaling import Scaling
from assay.topics.scaling.predictions.speed_up import LAW as EXPECTED
from assay.topics.scaling.steps import Step

#: Fewest numbers of cores that are drawn as a curve; fewer are points with whiskers.
_FEWEST = 3
_Curve = Fitted[Scaling]


def _name(each: _Curve) -> str:
    """Return benchmark, problem and state."""
    return joined(", ", (problem_name(each), each.state))


def _base(each: _Curve) -> Estimate:
    return next(e for e in each.estimates if e.id == each.model.base)


def _kind(step: Step) -> Text:
    """Return whether its ranks pass no messages, are on one node, or how many are on each node."""
    if step.copies:
        return _apart(step)
    return text("on one node") if step.nodes == 1 else text("{cores} a node", cores=_cores_per_node(step))


def _apart(step: Step) -> Text:
    return text("parts without messages") if step.apart == UNCOUPLED else text("independent copies")


def _cores_per_node(step: Step) -> Text:
    return text("{count} core|{count} cores", count=step.cores // step.nodes)


def _shown(figure: Quantity, step: Step) -> formatting.Shown:
    return formatting.interval(figure, stands_on(figure, step.blocks))


def _sharing(scene: Scene, *, copies: bool = False) -> list[_Curve]:
    """Return the curves with a step that shares one problem; or those of copies only, which solve none sooner."""
    return [each for each in scene.found if all(step.copies for step in each.model.steps) is copies]


def _charts(scene: Scene) -> Iterator[Figure]:
    found = _sharing(scene)
    wide = [
        each for each in found if 1 + len({step.cores for step in each.model.steps if not step.copies}) >= _FEWEST
    ]
    if wide:
        yield _curves(wide)
    few = [each for each in found if each not in wide]
    if few:
        yield _points(few)


def _curves(found: list[_Curve]) -> Figure:
    """Draw the speed-up by cores, both axes logarithmic, with the line without loss."""
    points = [point for each in found for point in _drawn(each)]
    least = min(found, key=lambda each: each.model.base_cores).model.base_cores
    cores = sorted({point.x for point in points})
    points += [
        _point(x, text("no loss"), Quantity(x / least, x / least, x / least), text("cores / cores of the base"))
        for x in cores
    ]
    caption = text(
        "Speed-up by number of cores; both axes are logarithmic. The base is {base}. Whiskers: interval or range "
        "of the ratio, paired by block. The line without loss is proportional to the cores.",
        base=_base_name(found[0]),
    )
    titles = text("cores"), text("speed-up")
    return Figure("figure-scaling", caption, _result(found), curve(points, titles, sizes=False))


def _drawn(each: _Curve) -> Iterator[CurvePoint]:
    """Yield the points of a line for each kind of step: the base and these steps."""
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


def _points(found: list[_Curve]) -> Figure:
    """Draw the speed-ups of few placements."""
    points = []
    for each in found:
        for step in each.model.steps:
            shown = _shown(step.speed_up, step)
            value, lo, hi = step.speed_up
            factor = step.cores / each.model.base_cores
            words = text("{figure}; without loss it would be {cores}", figure=shown.short, cores=f"{factor:g}")
            points.append(Point(_name(each), _kind(step), value, lo, hi, factor, words, shown.plain, shown.basis))
    caption = text(
        "Speed-up over the base, {base}. Whiskers: interval or range of the ratio, paired by block. The vertical "
        "line is the factor of cores, a speed-up without loss.",
        base=_base_name(found[0]),
    )
    return Figure("figure-speed-ups", caption, _result(found), intervals(points, text("speed-up")))


def _base_name(each: _Curve) -> Text:
    cores = formatting.count(each.model.base_cores, "core", "cores")
    return text("{cores} ({label})", cores=cores, label=each.model.base_label)


def _result(found: Iterable[_Curve]) -> str:
    figures = [
        text(
            "{name}, {cores} {kind}: {figure}",
            name=_name(each),
            cores=formatting.count(step.cores, "core", "cores"),
            kind=_kind(step),
            figure=_shown(step.speed_up, step).short,
        )
        for each in found
        for step in _shown_steps(each)
    ]
    return joined("; ", figures)


def _shown_steps(each: _Curve) -> Iterator[Step]:
    """Yield the doublings of the base, and the most cores of each kind; the curve has all steps."""
    for step in each.model.steps:
        last = max(other.cores for other in each.model.steps if _kind(other) == _kind(step))
        doublings = step.cores // each.model.base_cores
        doubled = step.cores % each.model.base_cores == 0 and doublings & (doublings - 1) == 0
        if doubled or step.cores == last:
            yield step


def _rows(scene: Scene) -> Iterator[tuple[str, ...]]:
    for each in _sharing(scene):
        base, by_id = _base(each), {e.id: e for e in each.estimates}
        cores = str(each.model.base_cores)
        first = str(base.placement.nodes), cores, _rate(base), _seconds(each.model.base_seconds)
        yield _name(each), base.placement.label, *first, text("base"), "", "", "", _node_time(each, None)
        for step in _shown_steps(each):
            rate = by_id[step.estimates[0]] if len(step.estimates) == 1 else None
            speed_up = _shown(step.speed_up, step)
            counted = str(step.nodes), str(step.cores), _rate(rate), _seconds(step.seconds)
            efficiency = _shown(step.efficiency, step).plain
            serial = _shown(step.serial, step).plain if step.serial else ""
            figures = speed_up.plain, speed_up.ends, efficiency, serial, _node_time(each, step)
            yield _name(each), _where(step), *counted, *figures


def _copy_rows(scene: Scene) -> Iterator[tuple[str, ...]]:
    for each in _sharing(scene, copies=True):
        for step in _shown_steps(each):
            rate, one = _shown(step.speed_up, step), _rate(_base(each))
            counted = _where(step), str(step.nodes), str(step.cores), one
            yield _name(each), *counted, rate.plain, rate.ends, _shown(step.efficiency, step).plain


def _rate(estimate: Estimate | None) -> str:
    """Return the rate; empty for a time, which has its own column."""
    return "" if estimate and estimate.unit == "s" else formatting.shown(estimate).plain


def _seconds(value: Quantity | None) -> str:
    return format_quantity(value.value, "s") if value else ""


def _node_time(each: _Curve, step: Step | None) -> str:
    """Return nodes times time over the base's, where numbers of nodes differ and all solve one problem."""
    nodes = {other.nodes for other in each.model.steps} | {_base(each).placement.nodes}
    if len(nodes) == 1 or not each.model.advice or (step and step.copies):
        return ""
    return _shown(step.node_time, step).plain if step else "1"


def _where(step: Step) -> str:
    several = step.nodes > 1 and not parsed(step.label).names_nodes
    nodes = formatting.count(step.nodes, "node", "nodes") if several else ""
    return joined(", ", (step.label, nodes, _apart(step) if step.copies else ""))


def _advice(scene: Scene) -> Iterator[tuple[str, ...]]:
    for each in scene.found:
        known = each.model.advice
        if known:
            labels = {step.estimates[0]: step.label for step in each.model.steps}
            labels[each.model.base] = each.model.base_label
            as_fast = formatting.listed([labels[one] for one in known.as_fast]) if known.as_fast else ""
            worth = str(known.worth) if known.worth_is_sure else text("{cores}, not certain", cores=known.worth)
            course = _courses()[each.model.serial]
            yield _name(each), labels[known.fastest], as_fast, labels[known.cheapest], worth, course


def _courses() -> dict[str, str]:
    """Return the meaning of each course of the serial fraction."""
    return {
        "": "",
        "constant": text("constant within its interval: a part of the work is serial"),
        "none": text("its interval reaches 0: no serial part is certain"),
        "rises": text("rises: overhead of messages, waiting or shared memory grows with the cores"),
        "falls": text("falls: parts become smaller and caches hold more of them, or the base is slow"),
    }


def _universal(scene: Scene) -> Iterator[tuple[str, ...]]:
    for each in scene.found:
        for law in each.model.universal:
            cores = text("nodes of {cores}", cores=formatting.count(law.cores_of_node, "core", "cores"))
            over = cores if law.cores_of_node else text("cores of one node")
            unfit = law.residual > UNFIT
            most = formatting.interval(law.most, "").short if law.most and not unfit else text("not known")
            sigma, kappa = (
                formatting.rough(one) if unfit else formatting.interval(one, "").short
                for one in (law.sigma, law.kappa)
            )
            yield _name(each), over, str(law.points), sigma, kappa, formatting.residual(law.residual), most


def _reasons(scene: Scene) -> Iterator[tuple[str, ...]]:
    for each in scene.found:
        for step in each.model.steps:
            if step.shared and step.messages:
                efficiency, shared, messages = (
                    _shown(figure, step).short for figure in (step.efficiency, step.shared, step.messages)
                )
                factors = ("", messages) if step.by_caches else (messages, "")
                yield _name(each), step.label, efficiency, shared, *factors


def _sentences(scene: Scene) -> str:
    steps = [(each, step) for each in scene.found for step in each.model.steps if not step.copies]
    if not steps:
        copies = text("On several numbers of cores only copies were measured: they solve no problem sooner.")
        return copies if scene.found else text("Nothing was measured on several numbers of cores.")
    each, worst = min(steps, key=lambda pair: pair[1].efficiency.value)
    sentences = [
        text(
            "The lowest efficiency is {efficiency}: {name} on {cores} {kind}.",
            efficiency=_shown(worst.efficiency, worst).short,
            name=_name(each),
            cores=formatting.count(worst.cores, "core", "cores"),
            kind=_kind(worst),
        )
    ]
    if any(step.shared is not None and not step.copies for _, step in steps):
        sentences.append(
            text(
                "Efficiency is the product of two factors: sharing the node (the rate of the same cores without "
                "messages), and messages (waiting included)."
            )
        )
    return joined(" ", (*sentences, *_cache_effect(steps)))


def _cache_effect(steps: Iterable[tuple[_Curve, Step]]) -> Iterator[Text]:
    """Explain the largest superlinear speed-up, or rate above that of copies, by caches."""
    above = [(each, step) for each, step in steps if step.is_superlinear or step.by_caches]
    if above:
        each, most = max(above, key=lambda pair: pair[1].efficiency.value)
        yield text(
            "On {cores} {kind}, {name} is {speed_up} times as fast, more than the factor of cores: a cache "
            "effect. Each rank has a smaller part of the problem, and caches hold more of it."
            if most.is_superlinear
            else "On {cores} {kind}, {name} is {speed_up} times as fast, and faster than independent copies: a "
            "cache effect. Each rank has a smaller part than a copy, and caches hold more of it.",
            cores=formatting.count(most.cores, "core", "cores"),
            kind=_kind(most),
            name=_name(each),
            speed_up=_shown(most.speed_up, most).value,
        )


def _ledger_name(estimate: Estimate) -> str:
    units = estimate.declared.units
    names = (name for name in estimate.declared.scaled if name in estimate.params)
    problem = (f"{name} {formatting.param(estimate.params[name], units.get(name, ''))}" for name in names)
    title = selection.title(estimate.declared)
    return joined(", ", (title, *problem, estimate.placement.label, estimate.state or ""))


_LEDGER = Ledger(EXPECTED, _ledger_name, "figure-scaling-ledger")


declared = Declared(
    order=70,
    id="scaling",
    title=text("Scaling"),
    introduction=text(
        "A program on twice the cores is rarely twice as fast. Cores of a node share its memory, and ranks wait "
        "for each other's messages. A speed-up is a ratio of rates of work, paired by block; the efficiency is "
        "the speed-up / the factor of cores. The serial fraction (Karp and Flatt) is the part of the work that "
        "would have to be serial to explain a speed-up. Node time is the cost of the same work: nodes x time, "
        "relative to the base. More cores are worth their cost while the efficiency is at least 0.5."
    ),
    law=Scaling,
    applies=lambda scene: scene.found,
    sentences=_sentences,
    charts=_charts,
    headlines=lambda scene: headlines(scene.found),
    shared_tables=(
        Listing(
            text("Speed-ups over the base, and efficiencies"),
            headings(
                "Problem",
                "Placement",
                "Nodes",
                "Cores",
                "Rate",
                "Time",
                "Speed-up",
                "Interval",
                "Efficiency",
                "Serial fraction",
                "Node time",
            ),
            _rows,
            {2, 3, 4, 5, 6, 7, 8, 9, 10},
            optional={4, 5, 9, 10},
        ),
        Listing(
            text("Programs without messages between them: rate of all / rate of one; no problem is solved sooner"),
            headings(
                "Problem", "Placement", "Nodes", "Cores", "Rate of one", "All / one", "Interval", "Efficiency"
            ),
            _copy_rows,
            {2, 3, 4, 5, 6, 7},
            optional={4},
        ),
        Listing(
            text("Best placements, and what the serial fraction shows"),
            headings(
                "Problem",
                "Fastest",
                "As fast, within the interval",
                "Least node time",
                "Most cores with efficiency ≥ 0.5",
                "Serial fraction",
            ),
            _advice,
            {4},
            optional={2, 5},
        ),
        Listing(
            text(
                "Universal scalability law: speed-up = p / (1 + sigma (p - 1) + kappa p (p - 1)); the cores of "
                "its maximum only where the interval of kappa excludes 0, within four times the cores measured"
            ),
            headings("Problem", "Over", "Points", "Sigma", "Kappa", "Farthest point", "Maximum at, cores"),
            _universal,
            {2, 3, 4, 5, 6},
        ),
        Listing(
            text("Where speed is lost: the efficiency as a product of factors"),
            headings(
                "Problem",
                "Placement",
                "Efficiency",
                "Factor of sharing the node",
                "Factor of messages",
                "Factor of smaller parts",
            ),
            _reasons,
            {2, 3, 4, 5},
            optional={4, 5},
        ),
        cost_table(_name),
        loss_table(_name),
        _LEDGER.table(),
    ),
    listed=False,
    rules=frozenset({"scaling"}),
)
