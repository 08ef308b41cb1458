"""Programs of others beside Assay's benchmarks of the same: each pair in a row, conditions, and what differs."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from assay.analyse.comparisons import PROGRAM, conditions
from assay.analyse.comparisons.conditions import Conditions
from assay.model.application import Application, Counterpart
from assay.model.comparison import Comparison
from assay.model.result import Estimate
from assay.model.text import Rooted, cli, joined, text
from assay.model.units import format_cpu_list
from assay.report import formatting, remedies, verdicts
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import headings

#: Makes `malloc` ask for huge pages, in programs that do not ask for them themselves.
_ASKING = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"


class _Pair(msgspec.Struct, frozen=True):
    """A figure of both programs; the comparison is of speeds, Assay's over the other."""

    comparison: Comparison
    ours: Estimate
    theirs: Estimate
    application: Application
    counterpart: Counterpart
    conditions: tuple[Conditions, Conditions]


def _pairs(scene: Scene) -> tuple[_Pair, ...]:
    known = {each.id: each for each in scene.analysis.estimates}
    applications = {each.name: each for each in scene.run.plan.applications}
    found = []
    read_back = conditions.conditions(scene.run)
    for each in scene.analysis.comparisons:
        if each.differ != PROGRAM or each.is_control or not {each.a, each.b} <= known.keys():
            continue
        ours, theirs = known[each.a], known[each.b]
        application = applications[theirs.benchmark]
        if application.beside:
            counterpart = application.beside.figures[theirs.kernel]
            of_both = conditions.between(read_back, ours, theirs)
            speeds = verdicts.speeds(each, ours.better)
            found.append(_Pair(speeds, ours, theirs, application, counterpart, of_both))
    return tuple(found)


def _rows(scene: Scene) -> Iterator[tuple[str, ...]]:
    for pair in scene.cached(_pairs):
        axes = pair.theirs.params | pair.counterpart.axes
        several = len(pair.application.beside.figures) > 1 if pair.application.beside else False
        figure = pair.theirs.kernel if several and not pair.counterpart.axes else ""
        settings = formatting.params(axes, pair.ours.declared.units)
        yield (
            joined(", ", [part for part in (pair.application.title, figure, settings) if part]),
            formatting.placed(pair.theirs),
            *(formatting.quantity(each, pair.ours.unit) for each in pair.comparison.figures or (None, None)),
            _STATISTICS[pair.counterpart.statistic],
            formatting.factor(pair.comparison.ratio),
            verdicts.plain_ends(pair.comparison),
            verdicts.word(pair.comparison),
        )


_STATISTICS = {"median": text("median"), "mean": text("mean"), "best": text("best")}


def _conditions(scene: Scene) -> Iterator[tuple[str, ...]]:
    """A row for each program and placement."""
    shown = {(each.application.name, formatting.placed(each.theirs)): each for each in scene.cached(_pairs)}
    for (_, placed), pair in shown.items():
        ours, theirs = pair.conditions
        yield (
            pair.application.title,
            placed,
            theirs.program,
            theirs.version,
            _both(*(format_cpu_list(each.cpus) for each in (ours, theirs))),
            _both(*(Path(each.mpi).name for each in (ours, theirs))),
            _both(*(Path(each.blas).name for each in (ours, theirs))),
            _both(*("" if each.huge_pages is None else _share(each.huge_pages) for each in (ours, theirs))),
        )


def _share(share: float) -> str:
    return formatting.percent(round(share, 2))


def _both(ours: str, theirs: str) -> str:
    """Return what both have in common, or first Assay's, then the other."""
    if ours == theirs:
        return ours
    return text("{ours}; other: {theirs}", ours=ours or "-", theirs=theirs or "-")


def _counted(scene: Scene) -> str:
    comparisons = [each.comparison for each in scene.cached(_pairs)]
    return text(
        "{comparisons} of Assay's programs with others: {verdicts}.",
        comparisons=formatting.count(len(comparisons), "comparison", "comparisons"),
        verdicts=verdicts.counted(comparisons),
    )


def _differing(scene: Scene) -> str:
    """Return what differs by necessity, as the declarations state it."""
    found = dict.fromkeys(each.application.name for each in scene.cached(_pairs))
    applications = {each.name: each for each in scene.run.plan.applications}
    peers = ((applications[name].title, applications[name].beside) for name in found)
    differs = [
        text("{program}: {sentence}.", program=title, sentence=sentence)
        for title, beside in peers
        for sentence in (beside.differs if beside else ())
    ]
    return joined(" ", (text("By necessity these differ."), *differs)) if differs else ""


def _libraries(scene: Scene) -> str:
    """Return which libraries are not the same."""
    found = {
        (each.application.title, role)
        for each in scene.cached(_pairs)
        for role in each.conditions[0].other_files(each.conditions[1])
    }
    return joined(
        " ",
        [
            text(
                "{program} loaded another {library} than Assay's program: the ratio is one of two libraries, too.",
                program=program,
                library={"mpi": "MPI", "blas": "BLAS"}[role],
            )
            for program, role in sorted(found)
        ],
    )


def _pages(scene: Scene) -> str:
    """Return what the kernel does with huge pages, and how both programs get the same."""
    machine = next(iter(scene.run.machines.values()), None)
    chosen = machine.fact("memory", "transparent huge pages").value if machine else None
    said = text("Transparent huge pages of this machine: {chosen}.", chosen=str(chosen)) if chosen else ""
    programs = dict.fromkeys(
        each.application.title
        for each in scene.cached(_pairs)
        if each.conditions[0].has_other_pages(each.conditions[1])
    )
    if not programs:
        return said
    other = text(
        "Not on the same pages as Assay's program: {programs}. Huge pages for both: `{asking} {study}`, "
        "or `{always}`.",
        programs=formatting.listed(programs),
        asking=_ASKING,
        study=remedies.typed(cli("run", scene.run.plan.study), scene.run),
        always=Rooted("echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
    )
    return joined(" ", (said, other))


declared = Declared(
    order=6,
    id="programs",
    title=text("Assay beside other programs"),
    introduction=text(
        "Both programs ran in the same blocks, in random order, on the same cores. The ratio is of speeds: above "
        "1 Assay's program is faster, also where times were measured. Assay's figure is the statistic "
        "of the samples of a launch that comes nearest to what the other program prints."
    ),
    applies=lambda scene: scene.cached(_pairs),
    sentences=lambda scene: tuple(
        filter(None, (made(scene) for made in (_counted, _differing, _libraries, _pages)))
    ),
    shared_tables=(
        Listing(
            text("Figures of both programs, and the ratio of their speeds, paired within blocks"),
            headings("What", "Placement", "Assay", "Other", "Statistic", "Ratio", "Interval", "Verdict"),
            _rows,
            figures={2, 3, 5, 6},
            short=text("Assay beside other programs"),
        ),
    ),
    page_tables=(
        Listing(
            text(
                "Conditions of both programs, read back from their processes; two values are Assay's and the "
                "other's"
            ),
            headings("What", "Placement", "Program", "Version", "Cpus", "MPI", "BLAS", "Memory in huge pages"),
            _conditions,
            figures=(),
            optional={2, 3, 5, 6, 7},
            short=text("Conditions of both programs"),
        ),
    ),
    rules=frozenset({"slower_than_peer"}),
    listed=False,
)
