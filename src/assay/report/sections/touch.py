"""Who touches memory first, and whether its pages are dealt to all memory nodes."""

from assay.model.result import Analysis, Comparison, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, figures, verdicts, words
from assay.report.section import Figure, Section, Table, headings
from assay.report.sections import numa
from assay.report.vocabulary import known as known_word

order = 15
claims: frozenset[str] = frozenset()

_NONE, _INTERLEAVE, _BIND = "first-touch", "interleave", "bind"
#: Classes of pairs of nodes where firmware gives no distances, the nearest first.
_FAR = {"same node": 0, "same socket": 1, "other socket": 2}
_WHY = text(
    "The operating system puts a page on the memory node of the thread that first writes it. When one thread "
    "prepares all data, every thread later draws from that one node. Pages dealt to all nodes in turn "
    "(interleave) even that out; when each thread touches its own part first, all memory is near."
)


def section(_run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no first touch and no memory policy was varied."""
    found = groups(analysis)
    if not found:
        return None
    drawn = tuple(_figure(name, members) for name, members in found.items())
    estimates = tuple(e for members in found.values() for e in members)
    nodes = {str(node) for e in estimates if e.placement.proven for node in e.placement.proven.page_nodes}
    note = text("This machine has one memory node, so that a policy can only cost.") if len(nodes) == 1 else ""
    return Section(
        id="first-touch",
        title=text("First touch and interleave"),
        meaning=(joined(" ", (_WHY, _meaning(analysis, estimates))), note),
        figures=drawn,
        tables=(*published(analysis), *_compared(analysis, estimates)),
        estimates=estimates,
        rules=frozenset({"first_touch", "interleave"}),
    )


def published(analysis: Analysis) -> tuple[Table, ...]:
    """The stencil without an option and with interleaved pages, in MFLOPS, as a published table has it."""
    rates = choose.middle(choose.headline_metric(choose.of_benchmark(analysis, "himeno")))
    found = []
    for members in choose.grouped(choose.measured(rates), _setting).values():
        plain = [e for e in members if e.placement.memory == _NONE]
        dealt = [e for e in members if e.placement.memory.startswith(_INTERLEAVE)] if plain else []
        found += [_two_rows(analysis, _of_state(plain, each.state), each) for each in dealt]
    return tuple(found)


def _setting(estimate: Estimate) -> tuple[object, ...]:
    """What the two rows share."""
    factors = {name: level for name, level in estimate.factors.items() if name != "memory"}
    return (estimate.placement.label, *sorted(estimate.params.items()), *factors.values())


def _of_state(estimates: list[Estimate], state: str | None) -> Estimate:
    """The one of the same state, else one that holds for all, else the first."""
    return next((e for wanted in (state, None) for e in estimates if e.state == wanted), estimates[0])


def tables(_run: Run, analysis: Analysis) -> tuple[Table, ...]:
    """The published table."""
    return published(analysis)


def _two_rows(analysis: Analysis, none: Estimate, interleaved: Estimate) -> Table:
    rows = []
    for option, e in ((text("none"), none), ("interleave", interleaved)):
        mflops = (f"{(value or 0.0) / 1e6:,.0f}" for value in (e.median, e.lo, e.hi))
        middle, lo, hi = mflops
        ends = {"order-statistics": f"[{lo}, {hi}]", "range": f"{lo} to {hi}"}.get(
            e.method or "", text("no interval")
        )
        ratio = _ratio(analysis, interleaved, none) if e is interleaved else ("1", text("the base"), "")
        launches = (
            text("{count} ({disturbed} disturbed)", count=e.launches, disturbed=e.disturbed)
            if e.disturbed
            else f"{e.launches}"
        )
        rows.append((option, middle, ends, launches, *ratio))
    cpus = len(none.placement.cpus[0])
    threads = words.count(cpus, "thread", "threads") if cpus else text("threads not stated")
    size = text("size {size}", size=str(none.params.get("size", "")))
    where = joined(", ", (size, threads, _first(str(none.params.get("touch", "parallel"))), choose.state(none)))
    caption = text("Himeno without a memory option and with interleave ({where})", where=where)
    found = _found(analysis, interleaved, none)
    sure = found is None or found.confidence is not None
    columns = headings(
        "Option", "MFLOPS", "Interval", "Launches", "Ratio", "Its interval" if sure else "Its range", "Pairs"
    )
    return Table(caption, columns, tuple(rows), frozenset({1, 2, 3, 4, 5, 6}), _note(found, interleaved))


def _note(found: Comparison | None, interleaved: Estimate) -> str:
    """How to read the ratio, and what one memory node lets expect."""
    told = []
    if found and found.blocks:
        told.append(
            text("The ratio is that of launches paired by block, and so not the ratio of the two medians.")
        )
    if found and found.blocks and found.confidence is None:
        told.append(
            text(
                "{count} pair proves nothing: from 6 on a ratio has an interval.|"
                "{count} pairs prove nothing: from 6 on a ratio has an interval.",
                count=found.blocks,
            )
        )
    if _is_of_one_node(interleaved):
        told.append(
            text(
                "This machine has one memory node: dealing pages to all nodes changes nothing, so that a ratio of "
                "1 is to be expected."
            )
        )
    return joined(" ", told)


def _is_of_one_node(interleaved: Estimate) -> bool:
    """Whether there was but one memory node to deal pages to."""
    _, _, nodes = interleaved.placement.memory.partition(":")
    return nodes.isdigit()


def _ratio(analysis: Analysis, a: Estimate, b: Estimate) -> tuple[str, str, str]:
    """The paired ratio a / b, its ends, and the number of pairs."""
    found = _found(analysis, a, b)
    if found is None:
        why = text("other state") if a.state != b.state else text("no block has both")
        return (text("not compared"), why, "0")
    return (f"{found.ratio:.3f}", verdicts.plain_ends(found), verdicts.number(found))


def _found(analysis: Analysis, a: Estimate, b: Estimate) -> Comparison | None:
    return next((each for each in analysis.comparisons if (each.a, each.b) == (a.id, b.id)), None)


def groups(analysis: Analysis) -> dict[str, tuple[Estimate, ...]]:
    """Kernel and placement -> headline estimates of the same cpus that differ in first touch or memory policy."""
    far = _farthest(analysis)
    found: dict[str, tuple[Estimate, ...]] = {}
    for name in dict.fromkeys(e.benchmark for e in analysis.estimates if "touch" in e.params):
        headline = choose.headline_kernel(choose.headline_metric(choose.of_benchmark(analysis, name)))
        usual = choose.measured(choose.middle(headline))
        by_cpus = choose.grouped(usual, lambda e: (e.placement.label, e.placement.cpus))
        for (label, _), members in by_cpus.items():
            kept = tuple(e for e in members if e.id not in far or far[e.id])
            policies = {e.placement.memory.partition(":")[0] for e in kept}
            # Cores of one node against the memory of each are the matrix of the memory nodes.
            if policies != {_BIND} and len({way(e) for e in kept}) > 1:
                found[joined(", ", (choose.measure(kept[0]), label))] = kept
    return found


def _farthest(analysis: Analysis) -> dict[str, bool]:
    """Cells of the matrices of memory nodes -> whether it is the cores' own memory or the farthest from them."""
    found: dict[str, bool] = {}
    for model in analysis.models:
        if model.law != numa.LAW:
            continue
        rows = choose.grouped(model.points, lambda point: point.at["cpu node"])
        for cpu, points in rows.items():
            far = max(points, key=lambda p: (p.at.get("distance", 0), _FAR.get(str(p.at["class"]), len(_FAR))))
            for point in points:
                found[point.estimate] = point is far or point.at["memory node"] == cpu
    return found


def _figure(name: str, members: tuple[Estimate, ...]) -> Figure:
    anchor = "".join(letter if letter.isalnum() else "-" for letter in name.lower()).replace("--", "-")
    return figures.placements(members, f"figure-touch-{anchor}", name, row=_policy)


def way(estimate: Estimate) -> str:
    """How the pages came to lie where they do: `serial first touch`, `interleaved, serial touch`."""
    touched = str(estimate.params.get("touch", ""))
    if not words.memory(estimate):
        return _first(touched)
    return joined(", ", (_policy(estimate), known_word(f"{touched} touch")))


def _first(touched: str) -> str:
    """`serial first touch`."""
    return text("serial first touch") if touched == "serial" else text("parallel first touch")


def _policy(estimate: Estimate) -> str:
    """Where pages may lie: `first touch`, `on node 3`, `interleaved`."""
    policy, _, nodes = words.memory(estimate).partition(":")
    if policy == _BIND:
        return (
            text("on nodes {nodes}", nodes=nodes) if set(nodes) & set(",-") else text("on node {node}", node=nodes)
        )
    return text("interleaved") if policy == _INTERLEAVE else f"{policy}d" if policy else text("first touch")


def _compared(analysis: Analysis, estimates: tuple[Estimate, ...]) -> tuple[Table, ...]:
    """Paired ratios between the ways."""
    known = {e.id: e for e in estimates}
    rows = [
        (
            f"{known[each.a].benchmark}, {known[each.a].placement.label}",
            text("{a} against {b}", a=way(known[each.a]), b=way(known[each.b])),
            f"{each.ratio:.3f}",
            verdicts.plain_ends(each),
            verdicts.number(each),
            known_word(each.verdict),
        )
        for each in _between(analysis, known)
    ]
    columns = headings("What", "Ways", "Ratio", "Interval", "Pairs", "Verdict")
    caption = text("Paired ratios of the ways in which memory was touched and dealt")
    return (Table(caption, columns, tuple(rows), frozenset({2, 3, 4})),) if rows else ()


def _between(analysis: Analysis, known: dict[str, Estimate]) -> list[Comparison]:
    """Comparisons of two ways."""
    pairs = [each for each in analysis.comparisons if each.a in known and each.b in known]
    return [each for each in pairs if way(known[each.a]) != way(known[each.b])]


def _meaning(analysis: Analysis, estimates: tuple[Estimate, ...]) -> str:
    """The largest effect that is sure, in words."""
    known = {e.id: e for e in estimates}
    sure = [each for each in _between(analysis, known) if each.verdict in {"faster", "slower"}]
    if not sure:
        return text("No difference between the ways was shown here.")
    largest = max(sure, key=lambda each: max(each.ratio, 1 / each.ratio))
    a, b = known[largest.a], known[largest.b]
    return text(
        "The largest effect: {benchmark} on “{label}” with {a} runs at {ratio} times ({low} to {high}) its rate "
        "with {b}.",
        benchmark=a.benchmark,
        label=a.placement.label,
        a=way(a),
        ratio=f"{largest.ratio:.3g}",
        low=f"{largest.lo:.3g}",
        high=f"{largest.hi:.3g}",
        b=way(b),
    )
