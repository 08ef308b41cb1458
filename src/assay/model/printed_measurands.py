"""The measurands of figures that a source printed: what it does not state is `not stated`."""

from collections.abc import Iterator

from assay.model.declaration import Declaration, Params
from assay.model.families import family, network_named
from assay.model.imported import UNSTATED, Figure, Table
from assay.model.measurand import Count, FactorRole, Layout, Level, Measurand, Places
from assay.model.measurands import DIRECTIONS, ELSEWHERE, FACTOR_ROLES, SHARES, axes_of, direction_of, memory_of
from assay.model.placement import Memory, Word, parsed

_RELATIONS = {
    "same-core": "same core",
    "same-l3": "same L3",
    "same-socket": "same socket",
    "other-l3": "same socket",
    "other-numa": UNSTATED,
    "other-socket": "other socket",
    "other-node": "other node",
}


def of_figure(table: Table, figure: Figure, declared: Declaration) -> Measurand:
    """The measurand of a printed figure; what its source does not state is `not stated`."""
    params = table.params | figure.params
    metric = next((one for one in declared.metrics if one.name == figure.metric), None)
    word = parsed(table.placement)
    axes = axes_of(declared, params, table.factors, stated=False)
    stated = next((direction for direction in map(DIRECTIONS.get, params.items()) if direction), None)
    return Measurand(
        program=table.benchmark,
        version=" ".join(filter(None, (table.tool, table.version or f"({UNSTATED})"))),
        kernel=figure.kernel,
        metric=figure.metric,
        role=(metric.role if metric else "") or "",
        unit=figure.unit,
        better="lower" if figure.better == "lower" else "higher",
        direction=stated or direction_of(declared, params),
        axes=axes,
        layout=_stated_layout(table, params, word, declared),
        places=_stated_places(table, word, declared),
        levels=tuple(sorted(_stated_levels(table, declared), key=lambda level: level.factor)),
    )


def _stated_levels(table: Table, declared: Declaration) -> Iterator[Level]:
    axes = {axis.name for axis in declared.axes}
    done = set[str]()
    for name, level in table.factors.items():
        if name in axes or name in ELSEWHERE:
            continue
        role = FACTOR_ROLES.get(name, "")
        kind, rate = network_named(level) if role == "network" else (family(role, level) if role else "", 0.0)
        done.add(role)
        yield Level(name, level, role, kind, rate, named=bool(kind) and not rate and level != kind)
    wanted: list[FactorRole] = ["compiler"]
    if declared.launcher == "mpi":
        wanted += ["network"] if parsed(table.placement).nodes or len(table.hosts) > 1 else []
        wanted += ["mpi"] if declared.two_sided != "TCP" else []
    wanted += ["blas"] if "blas" in declared.needs else []
    yield from (Level(role, UNSTATED, role, varied=False) for role in wanted if role not in done)


def _stated_layout(table: Table, params: Params, word: Word, declared: Declaration) -> Layout:
    stated_nodes = params.get("nodes")
    nodes: Count = word.nodes or len(table.hosts) or (1 if word.form else UNSTATED)
    nodes = stated_nodes if isinstance(stated_nodes, int) else nodes
    cpus = _cpus(word)
    mpi = declared.launcher == "mpi"
    of_rank: Count = word.width or UNSTATED
    on_node: Count = UNSTATED
    of_domains = word.form == "rank-per" and word.group != "core"
    if word.form and not of_domains and (declared.is_known or cpus == 1):
        of_rank = word.width or (1 if mpi or cpus == 1 else cpus or UNSTATED)
        on_node = (cpus or UNSTATED) if mpi else 1
    if word.form == "ranks" and len(word.ranks) == 1 and word.ranks[0].isdecimal():
        on_node = int(word.ranks[0])
    stated_ranks = params.get("ranks", table.ranks or UNSTATED)
    ranks: Count = stated_ranks if isinstance(stated_ranks, int) else UNSTATED
    if isinstance(nodes, int) and nodes > 0:  # a damaged output may say 0
        if isinstance(on_node, int) and ranks == UNSTATED:
            ranks = on_node * nodes
        elif isinstance(ranks, int) and on_node == UNSTATED and not ranks % nodes:
            on_node = ranks // nodes
    stated_threads = params.get("threads") if "threads" not in declared.units else None
    threads = stated_threads if isinstance(stated_threads, int) else table.threads or of_rank
    return Layout(nodes, ranks, on_node, threads, 0, SHARES.get(word.share, UNSTATED))


def _cpus(word: Word) -> int:
    """Number of cpus of a node that a word names; 0 if it depends on the machine."""
    if word.share == "one-core" or word.plain == "one-core" or word.text == "pair:other-node":
        return 1
    if word.form == "pair":
        return 2
    return word.count or 0


def _stated_places(table: Table, word: Word, declared: Declaration) -> Places:
    nodes = word.nodes or len(table.hosts)
    relation = UNSTATED
    if nodes > 1:
        relation = "other node"
    elif _cpus(word) == 1:
        relation = "one cpu"
    elif word.form == "pair":
        relation = _RELATIONS.get(word.partners, UNSTATED)
    card = {"near-nic": "near", "far-nic": "far"}.get(word.group, "")
    if not card and nodes > 1 and declared.between_two:
        card = UNSTATED
    part = (
        f"{word.group} {word.index}" if word.group in {"numa", "socket", "l3"} and word.index is not None else ""
    )
    return Places(part, relation, card, memory_of(Memory.parsed(table.memory)))
