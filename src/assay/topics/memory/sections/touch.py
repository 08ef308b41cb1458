"""First touch and interleaved pages: which thread touches memory first, and on which nodes its pages are."""

import statistics
from collections.abc import Iterable

from assay.model.comparison import Comparison
from assay.model.result import Analysis, Estimate
from assay.model.text import joined, text
from assay.model.units import format_cpu_list
from assay.report import figures, formatting, selection, verdicts
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure, Table, headings
from assay.report.statements import Named, difference
from assay.report.vocabulary import known as known_word
from assay.topics.memory.models.numa_matrix import NumaMatrix

_NONE, _INTERLEAVE, _BIND = "first-touch", "interleave", "bind"


def _published(scene: Scene) -> Iterable[Table]:
    """Compare the stencil without an option and with interleaved pages, in MFLOPS, as a published table does."""
    rates = selection.middle(selection.headline_metric(selection.of_benchmark(scene.analysis, "himeno")))
    settings = selection.grouped(selection.measured(rates), lambda e: e.signature("memory", "hosts", "state"))
    for members in settings.values():
        plain = [e for e in members if e.placement.memory == _NONE]
        by_state = {e.state: e for e in reversed(plain)}
        for interleaved in members:
            if plain and interleaved.placement.policy.policy == _INTERLEAVE:
                # Of the same state, else of all states, else the first one.
                none = by_state.get(interleaved.state, by_state.get(None, plain[0]))
                yield _two_rows(scene.analysis, none, interleaved)
                if none.threads and interleaved.threads:
                    yield _by_thread(none, interleaved)


def _two_rows(analysis: Analysis, none: Estimate, interleaved: Estimate) -> Table:
    rows = []
    for name, e in ((text("none"), none), ("interleave", interleaved)):
        middle, lo, hi = (f"{(value or 0.0) / 1e6:,.0f}" for value in (e.median, e.lo, e.hi))
        ends = {"interval": f"[{lo}, {hi}]", "range": f"{lo} to {hi}"}.get(e.basis or "", text("no interval"))
        ratio = _ratio(analysis, interleaved, none) if e is interleaved else ("1", text("the base"), "")
        launches = (
            text("{count} ({disturbed} disturbed)", count=e.launches, disturbed=e.disturbed)
            if e.disturbed
            else f"{e.launches}"
        )
        rows.append((name, middle, ends, launches, *ratio))
    cpus = len(none.placement.cpus[0])
    threads = formatting.count(cpus, "thread", "threads") if cpus else text("unknown number of threads")
    size = text("size {size}", size=str(none.params.get("size", "")))
    where = joined(", ", (size, threads, _first(str(none.params.get("touch", "parallel"))), selection.state(none)))
    caption = text("Himeno without a memory option and with interleave ({where})", where=where)
    found = _found(analysis, interleaved, none)
    sure = found is None or found.confidence is not None
    columns = headings(
        "Option", "MFLOPS", "Interval", "Launches", "Ratio", "Its interval" if sure else "Its range", "Pairs"
    )
    return Table(caption, columns, tuple(rows), frozenset({1, 2, 3, 4, 5, 6}), _note(found, interleaved))


def _by_thread(none: Estimate, interleaved: Estimate) -> Table:
    """Show why the rates differ: where the pages were found, and the time of each thread in a sweep."""
    rows = []
    for name, e in ((text("none"), none), ("interleave", interleaved)):
        shares = e.placement.proven.page_nodes if e.placement.proven else {}
        nodes = (
            text("node {node} {share}", node=node, share=formatting.percent(each)) for node, each in shares.items()
        )
        slowest, middle = max(e.threads), statistics.median(e.threads)
        cpus = e.placement.cpus[0] if e.placement.cpus else ()
        cpu = f"{cpus[e.threads.index(slowest)]}" if len(cpus) == len(e.threads) else text("unknown")
        times = (formatting.quantity(each, "s") for each in (slowest, middle))
        rows.append((name, joined(", ", tuple(nodes)), *times, f"{slowest / middle:.2f}", cpu))
    columns = headings("Option", "Memory by node", "Slowest thread", "Median thread", "Ratio", "Its cpu")
    caption = text("Memory by node and time by thread in a sweep: the slowest thread decides the rate")
    return Table(caption, columns, tuple(rows), frozenset({2, 3, 4, 5}))


def _note(found: Comparison | None, interleaved: Estimate) -> str:
    """Explain the ratio, and what to expect of a machine with one memory node."""
    blocks = found.blocks if found else 0
    few = blocks if found and found.confidence is None else 0
    sentences = (
        text("The ratio comes from launches paired by block. It is not the ratio of the two medians.")
        if blocks
        else "",
        text(
            "{count} pair is too few for an interval: a ratio needs 6.|{count} pairs are too few for an "
            "interval: a ratio needs 6.",
            count=few,
        )
        if few
        else "",
        text("This machine has one memory node: interleaving changes nothing, so the expected ratio is 1.")
        if len(interleaved.placement.policy.nodes) == 1
        else "",
    )
    return joined(" ", sentences)


def _ratio(analysis: Analysis, a: Estimate, b: Estimate) -> tuple[str, str, str]:
    """Return the paired ratio a / b, its ends, and the number of pairs."""
    found = _found(analysis, a, b)
    if found is None:
        why = text("other state") if a.state != b.state else text("no block has both")
        return (text("not compared"), why, "0")
    return (formatting.factor(found.ratio), verdicts.plain_ends(found), verdicts.number(found))


def _found(analysis: Analysis, a: Estimate, b: Estimate) -> Comparison | None:
    return next((each for each in analysis.comparisons if (each.a, each.b) == (a.id, b.id)), None)


def groups(analysis: Analysis) -> dict[str, tuple[Estimate, ...]]:
    """Kernel and placement -> headline estimates of the same cpus that differ in first touch or memory policy."""
    far = _farthest(analysis)
    found: dict[str, tuple[Estimate, ...]] = {}
    for name in dict.fromkeys(e.benchmark for e in analysis.estimates if "touch" in e.params):
        headline = selection.headline_kernel(selection.headline_metric(selection.of_benchmark(analysis, name)))
        usual = selection.measured(selection.middle(headline))
        by_cpus = selection.grouped(usual, lambda e: (e.placement.label, e.placement.cpus))
        for (label, _), members in by_cpus.items():
            kept = tuple(e for e in members if e.id not in far or far[e.id])
            policies = {e.placement.policy.policy for e in kept}
            # Cores of one node with the memory of every node are in the matrix of memory nodes.
            if policies != {_BIND} and len({option(e) for e in kept}) > 1:
                found[joined(", ", (selection.measure(kept[0]), label))] = kept
    return found


def _farthest(analysis: Analysis) -> dict[str, bool]:
    """Cell of a matrix of memory nodes -> whether it is the cores' own memory or the farthest from them."""
    found: dict[str, bool] = {}
    for model in analysis.models:
        if not isinstance(model, NumaMatrix):
            continue
        order = [each.name for each in model.classes]
        for cpu, points in selection.grouped(model.points, lambda point: point.at["cpu node"]).items():
            far = max(points, key=lambda p: (p.at.get("distance", 0), order.index(str(p.at["class"]))))
            for point in points:
                found[point.estimate] = point is far or point.at["memory node"] == cpu
    return found


def _charts(scene: Scene) -> Iterable[Figure]:
    for name, members in groups(scene.analysis).items():
        anchor = "".join(letter if letter.isalnum() else "-" for letter in name.lower()).replace("--", "-")
        yield figures.placements(members, f"figure-touch-{anchor}", name, row=_policy)


def option(estimate: Estimate) -> str:
    """Name how pages were placed: `serial first touch`, `interleaved, serial touch`."""
    touched = str(estimate.params.get("touch", ""))
    if not formatting.memory(estimate):
        return _first(touched)
    return joined(", ", (_policy(estimate), known_word(f"{touched} touch")))


def _first(touched: str) -> str:
    """`serial first touch`."""
    return text("serial first touch") if touched == "serial" else text("parallel first touch")


def _policy(estimate: Estimate) -> str:
    """Where pages may lie: `first touch`, `on node 3`, `interleaved`."""
    memory = estimate.placement.policy
    if memory.policy == _BIND:
        nodes = format_cpu_list(memory.nodes)
        return (
            text("on nodes {nodes}", nodes=nodes) if len(memory.nodes) > 1 else text("on node {node}", node=nodes)
        )
    return text("interleaved") if memory.policy == _INTERLEAVE else text("first touch")


def _rows(scene: Scene) -> Iterable[tuple[str, ...]]:
    """List the paired ratios of two options."""
    for each, a, b in scene.cached(_between):
        what = f"{a.benchmark}, {a.placement.label}"
        options = text("{a} against {b}", a=option(a), b=option(b))
        ends = verdicts.plain_ends(each)
        yield what, options, formatting.factor(each.ratio), ends, verdicts.number(each), verdicts.word(each)


def _between(scene: Scene) -> list[tuple[Comparison, Estimate, Estimate]]:
    """Return the comparisons of two options, with both estimates."""
    known = {e.id: e for e in scene.estimates}
    both = [each for each in scene.analysis.comparisons if known.keys() >= {each.a, each.b}]
    pairs = [(each, known[each.a], known[each.b]) for each in both]
    return [(each, a, b) for each, a, b in pairs if option(a) != option(b)]


def _sentences(scene: Scene) -> tuple[str, str]:
    """State the largest certain effect; say what a single memory node means."""
    proven = [e.placement.proven for e in scene.estimates if e.placement.proven]
    nodes = {node for each in proven for node in each.page_nodes}
    alone = text("This machine has one memory node, so a memory policy can only cost time.")
    return _largest(scene), alone if len(nodes) == 1 else ""


def _largest(scene: Scene) -> str:
    found = [
        difference(
            each, Named(option(a), a), Named(option(b), b), joined(", ", (selection.measure(a), a.placement.label))
        )
        for each, a, b in scene.cached(_between)
    ]
    most = max(found, key=lambda each: (each.relation == "more", each.ratio.value), default=None)
    if most is None:
        return ""
    if most.relation == "more":
        return text("The largest certain difference: {difference}", difference=most.text)
    return text("The largest difference: {difference}", difference=most.text)


declared = Declared(
    order=15,
    id="first-touch",
    title=text("First touch and interleave"),
    introduction=text(
        "The operating system puts a page on the memory node of the thread that first writes it. If one thread "
        "initialises all data, all threads later read from one node. Interleaved pages are spread over all nodes. "
        "If each thread initialises its own part, all memory is local."
    ),
    select=lambda analysis, _headline: tuple(e for members in groups(analysis).values() for e in members),
    sentences=_sentences,
    charts=_charts,
    shared_tables=(_published,),
    page_tables=(
        Listing(
            text("Paired ratios of the first-touch and interleave options"),
            headings("What", "Options", "Ratio", "Interval", "Pairs", "Verdict"),
            _rows,
            {2, 3, 4},
        ),
    ),
    rules=frozenset({"first_touch", "interleave"}),
)
