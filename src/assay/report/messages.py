"""The names of messages in the report: quantity, partners, network."""

from collections.abc import Callable, Iterable, Sequence

from assay.analyse.messages import place
from assay.catalogue import benchmarks
from assay.model import places, roles
from assay.model.imported import UNSTATED
from assay.model.placement import parsed
from assay.model.result import Analysis, Estimate
from assay.model.role_words import SIZE_AXES, USUAL_AXES
from assay.model.text import joined, text
from assay.report import formatting, selection
from assay.report.figures import Name
from assay.report.section import Table
from assay.report.vocabulary import known

#: Benchmark of messages between two partners -> what passes them, `MPI` or `TCP`.
BY: dict[str, str] = {name: by for name, by in benchmarks.message_curves().items() if by}


def _of_one_pair(figure: str, directions: int) -> str:
    """Our first pattern of one pair with this figure and number of directions."""
    wanted = ("one", figure, directions)
    every = benchmarks.patterns().items()
    return next((name for name, each in every if (each.pairs, each.figure, each.directions) == wanted), "")


LATENCY, ONE, BOTH = _of_one_pair("time", 1), _of_one_pair("rate", 1), _of_one_pair("rate", 2)
#: Pattern -> the quantity of its headline.
COUNTED = {name: known(each.counted) for name, each in benchmarks.patterns().items()}
#: Maximum number of series in a chart or table, which differ in colour, shape and dash.
MOST_SERIES = 6
#: Minimum number of sizes of a curve.
_CURVE = 3
#: Size of the small message.
SMALL_BYTES = 8

#: Placement -> partners of messages, and their cores if the placement states them.
_PAIRS: dict[str, tuple[str, str]] = {
    UNSTATED: (text("unknown partners"), ""),
    "pair": (text("two near cores"), ""),
    "one-core@2": (text("two nodes"), ""),
    "one-core:near-nic@2": (text("two nodes"), text("cores near the card")),
    "one-core:far-nic@2": (text("two nodes"), text("cores far from the card")),
}
#: Sizes in a table, which also has the largest one; all others are in the table of all figures.
_TABLE_SIZES = (0, 8, 2**10, 2**13, 2**16, 2**20, 2**22)
_OPERATION = USUAL_AXES["operation-name"]
#: Axis of tables of other tools, without a placement: the number of ranks.
RANKS = "ranks"
#: Bytes of a message; whether it went from node to node.
size, is_between = roles.size, place.between


def of_patterns(analysis: Analysis, patterns: Iterable[str]) -> tuple[Estimate, ...]:
    """Return the headline estimates of messages between two partners, in the order of the patterns."""
    wanted = tuple(patterns)
    found = [e for name in BY for e in selection.of_benchmark(analysis, name)]
    groups = selection.grouped(found, pattern)
    return tuple(e for name in wanted if name in groups for e in selection.headline_metric(groups[name]))


def pattern(estimate: Estimate) -> str:
    """Return the name of its pattern, such as `latency`."""
    return roles.pattern_name(estimate)


def of_all_pairs(estimate: Estimate) -> bool:
    """Whether all pairs of ranks pass messages at once."""
    found = roles.pattern(estimate)
    return found is not None and found.pairs == "all"


def ranks(estimate: Estimate) -> int:
    """Return the ranks on each node; 0 if unknown."""
    placed = estimate.placement
    each = placed.laid_out // max(1, len(placed.hosts))
    return each or (len(placed.cpus[0]) if placed.cpus else 0)


def where(estimate: Estimate) -> str:
    """Return the partners of messages in words, for readers who do not know placements."""
    return joined(", ", ends(estimate))


def ends(estimate: Estimate) -> tuple[str, str]:
    """Return the same in two parts: the partners and their cores; or the cores and their nodes."""
    label, hosts = estimate.placement.label, estimate.placement.hosts
    of_two = not of_all_pairs(estimate) and (label != UNSTATED or estimate.benchmark in BY)
    return _PAIRS[label] if of_two and label in _PAIRS else _partners(label, hosts)


def between(label: str, hosts: Sequence[str]) -> str:
    """Return the partners of one pair, for a placement word on these nodes."""
    return joined(", ", _PAIRS[label] if label in _PAIRS else _partners(label, hosts))


def _partners(label: str, hosts: Sequence[str]) -> tuple[str, str]:
    two = places.partners(label)
    return (two, "") if two else cores_of(label, hosts)


def cores(label: str, hosts: Sequence[str]) -> str:
    """Return the cores and nodes that pass messages, for a placement word."""
    return joined(", ", cores_of(label, hosts))


def cores_of(label: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Return the cores, and the nodes if there are several."""
    if label == UNSTATED:
        return text("not stated"), ""
    word = parsed(label)
    group, one = word.index is not None, places.part_of_node(word)
    nodes = len(hosts) or word.nodes or 1  # an imported table may state the number of nodes only
    if nodes <= 1:
        return text("in {part}", part=one) if group else text("{part} of a node", part=one), ""
    each = (
        formatting.count(nodes, "node", "nodes")
        if len(hosts) != 2  # noqa: PLR2004 (a pair)
        else " – ".join(hosts)  # noqa: RUF001 (a pair)
    )
    return one, each


def counted(pattern: str) -> str:
    """Return the headline quantity of a pattern, inside a sentence; the pattern itself if it has no words."""
    found = benchmarks.patterns().get(pattern)
    return known(found.within) if found and found.within else pattern


def over(estimates: Iterable[Estimate]) -> Name:
    """Return names for figures of the same partners: MPI or TCP, factor levels, axes that vary."""
    curves = _curves(estimates)
    firsts = [members[0] for members in curves]
    groups = selection.grouped(firsts, lambda e: (e.benchmark, pattern(e)))
    names = {key: _varied(members) for key, members in groups.items()}
    several = len({e.benchmark for e in firsts}) > 1

    def name(estimate: Estimate) -> str:
        found = names.get((estimate.benchmark, pattern(estimate)), ())
        levels = (_level(estimate, each) for each in found)
        return joined(", ", [BY.get(estimate.benchmark, "") if several else "", *levels])

    return _once(name, curves)


def _varied(estimates: tuple[Estimate, ...]) -> tuple[str, ...]:
    return tuple(name for name in selection.varied(estimates) if name not in {*SIZE_AXES, _OPERATION})


def _level(estimate: Estimate, name: str) -> str:
    """The level with its factor; MPIs by their names only."""
    if name == "mpi":
        return estimate.factors.get(name, "")
    if name == RANKS:
        return formatting.count(int(estimate.params.get(name, 0)), "rank", "ranks")
    return selection.levels(estimate, [name])


def series(estimates: Iterable[Estimate]) -> Name:
    """Return names for curves: partners, if there are several, and network or levels."""
    curves = _curves(estimates)
    firsts = [members[0] for members in curves]
    levels_of = over(firsts)
    several = len(set(map(where, firsts))) > 1

    def name(estimate: Estimate) -> str:
        levels = levels_of(estimate)
        return joined(", ", [where(estimate) if several or not levels else "", levels])

    return _once(name, curves)


def _curves(estimates: Iterable[Estimate]) -> list[tuple[Estimate, ...]]:
    """The figures of each curve, which differ only in the size of messages and have the same name."""
    return list(selection.grouped(estimates, lambda e: e.signature(*SIZE_AXES)).values())


def _once(name: Name, curves: Iterable[tuple[Estimate, ...]]) -> Name:
    """The same names, made once for each curve."""
    names = {e.id: own for members in curves for own in [name(members[0])] for e in members}
    return lambda estimate: names[estimate.id] if estimate.id in names else name(estimate)


def split(estimates: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    """Return the estimates of each chart, by its part of the title; as few charts as possible."""
    curves = {members[0].id: members for members in _curves(estimates)}
    order = {e.id: at for at, e in enumerate(estimates)}
    return {
        part: tuple(sorted((e for first in firsts for e in curves[first.id]), key=lambda e: order[e.id]))
        for part, firsts in _split(tuple(members[0] for members in curves.values())).items()
    }


def _split(firsts: tuple[Estimate, ...]) -> dict[str, tuple[Estimate, ...]]:
    """The same for the first figure of each curve."""
    if fits(firsts):
        return {"": firsts}
    splits = [selection.grouped(firsts, key) for key in _keys(firsts)]
    splits = [groups for groups in splits if len(groups) > 1] or [selection.grouped(firsts, over(firsts))]
    fitting = [groups for groups in splits if all(map(fits, groups.values()))]
    if len(splits[0]) == 1:
        return {"": firsts}
    parts = min(fitting, key=len) if fitting else splits[0]
    return {
        joined(", ", [name, finer]): few
        for name, members in parts.items()
        for finer, few in _split(members).items()
    }


def fits(estimates: tuple[Estimate, ...]) -> bool:
    """Whether the curves are few enough for one chart."""
    name = series(estimates)
    return len({(name(e), e.state) for e in estimates}) <= MOST_SERIES


def _keys(estimates: tuple[Estimate, ...]) -> tuple[Name, ...]:
    """The keys that may split a chart, the most important first."""
    factors = dict.fromkeys(name for e in estimates for name in e.factors)
    return (
        far,
        lambda e: BY.get(e.benchmark, ""),
        *((lambda e, name=name: _level(e, name)) for name in factors),
        where,
        *(
            (lambda e, name=name: selection.levels(e, [name]))
            for name in _varied(estimates)
            if name not in factors
        ),
    )


def far(estimate: Estimate) -> str:
    """Return whether messages went between nodes, in words."""
    if estimate.placement.label == UNSTATED:
        return text("at an unknown place")
    return text("between nodes") if is_between(estimate) else text("inside a node")


def is_curve(estimates: Iterable[Estimate]) -> bool:
    """Whether they have enough sizes for a curve; the axis has no empty message."""
    return len({size(e) for e in estimates} - {0}) >= _CURVE


def small(estimates: Iterable[Estimate]) -> Estimate | None:
    """Return the figure of the small message: 8 B, else the smallest non-empty one, else the empty one."""
    ordered = sorted(selection.measured(estimates), key=lambda e: (size(e) == 0, size(e) != SMALL_BYTES, size(e)))
    return ordered[0] if ordered else None


def aligned(estimates: Iterable[Estimate]) -> tuple[Estimate, ...]:
    """Return the estimates without those of sizes with an offset."""
    return tuple(e for e in estimates if not roles.offset(e))


def largest(estimates: Iterable[Estimate]) -> Estimate | None:
    """Return the figure of the largest message of a curve, of a size without an offset if there is one."""
    return max(selection.measured(estimates), key=lambda e: (not roles.offset(e), size(e)), default=None)


def at(estimate: Estimate) -> str:
    """Return the size of its messages: `8 B`."""
    return formatting.param(size(estimate), "B")


def table(estimates: tuple[Estimate, ...], caption: str, name: Callable[[Estimate], str]) -> Table:
    """Return the medians with intervals and launches: a row for each size, a column for each curve's `name`."""
    measured = selection.measured(estimates)
    sizes = sorted({size(e) for e in measured})
    chosen = [each for each in sizes if each in _TABLE_SIZES or each == sizes[-1]]
    if len(chosen) < min(len(sizes), len(_TABLE_SIZES) // 2):
        chosen = sizes
    curves = selection.grouped(measured, lambda e: joined(", ", [name(e), selection.state(e)]))
    found = {(series, size(e)): e for series, members in curves.items() for e in members}
    rows = tuple(
        (formatting.param(each, "B"), *(cell(found.get((series, each))) for series in curves)) for each in chosen
    )
    columns = (text("Message"), *(series or text("Median") for series in curves))
    title = text("{caption}: median, interval or range, launches", caption=caption)
    return Table(title, columns, rows, frozenset(range(1, len(columns))), short=caption)


def cell(estimate: Estimate | None) -> str:
    """Return a figure with its interval and launches."""
    figure = formatting.shown(estimate)
    return text("{figure} n={count}", figure=figure.short, count=estimate.launches) if estimate and figure else ""
