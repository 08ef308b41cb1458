"""Resources that the ranks of applications used, and their calls of MPI."""

from collections.abc import Iterator, Sequence
from statistics import median

from assay.model.grouping import grouped
from assay.model.rank import MpiCall, Rank
from assay.model.text import joined, text
from assay.model.units import format_quantity, format_size
from assay.report import formatting
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import headings

#: Most calls that are shown, the longest first.
_MOST_CALLS = 6


def _launches(scene: Scene) -> dict[tuple[str, str], tuple[tuple[Rank, ...], ...]]:
    """Program, and its problem and placement -> the ranks of each complete launch."""
    titles = {each.name: each.title for each in scene.run.plan.applications}
    planned = {case.id: case for case in scene.run.plan.cases}
    every = (case for launch in scene.run.launches for case in launch.cases)
    complete = [
        each
        for each in every
        if each.end and each.end.status == "complete" and all(rank.usage for rank in each.header.ranks)
    ]
    found: dict[tuple[str, str], tuple[tuple[Rank, ...], ...]] = {}
    for id_, same in grouped(complete, lambda each: each.header.case).items():
        case = planned[id_]
        problem = formatting.params(case.params, scene.run.plan.declared(case.benchmark).units)
        named = titles.get(case.benchmark, case.benchmark), joined(", ", (problem, case.placement.label))
        found[named] = tuple(each.header.ranks for each in same)
    return found


def _usage(scene: Scene) -> Iterator[tuple[str, ...]]:
    for named, launches in scene.cached(_launches).items():
        used = [[rank.usage for rank in ranks if rank.usage] for ranks in launches]
        most = median(max(each.resident_bytes for each in ranks) for ranks in used)
        every = median(sum(each.resident_bytes for each in ranks) for ranks in used)
        given = median(max(each.voluntary_switches for each in ranks) for ranks in used)
        taken = median(max(each.involuntary_switches for each in ranks) for ranks in used)
        strayed = max(each.strayed_s for ranks in used for each in ranks)
        memory = (format_size(each) for each in (most, every))
        cells = (*memory, f"{given:.0f}", f"{taken:.0f}", format_quantity(strayed, "s") if strayed else "")
        yield *named, str(len(used[0])), *cells


def _calls(scene: Scene) -> Iterator[tuple[str, ...]]:
    for named, launches in scene.cached(_launches).items():
        ranks = [rank.mpi for each in launches for rank in each if rank.mpi]
        every = [(name, call) for each in ranks for name, call in each.calls.items()]
        found = grouped(every, lambda each: each[0])
        whole = sum(each.seconds for each in ranks)
        for name in sorted(found, key=lambda name: -_seconds(found[name]))[:_MOST_CALLS]:
            calls = [call for _, call in found[name]]
            number, sent = sum(c.calls for c in calls) / len(ranks), sum(c.bytes for c in calls) / len(ranks)
            time = _seconds(found[name])
            longest = max(call.seconds for call in calls) * len(ranks) / whole
            moved = (format_size(sent), _usual(calls)) if sent else ("", "")
            shares = formatting.percent(time / whole), formatting.percent(longest)
            yield *named, name, f"{number:.0f}", format_quantity(time / len(ranks), "s"), *shares, *moved


def _seconds(calls: Sequence[tuple[str, MpiCall]]) -> float:
    return sum(call.seconds for _, call in calls)


def _usual(calls: Sequence[MpiCall]) -> str:
    """Return the size up to which half of the messages are."""
    sizes = sorted((int(size), number) for call in calls for size, number in call.sizes.items())
    left = sum(number for _, number in sizes) / 2
    for size, number in sizes:
        left -= number
        if left <= 0:
            return format_size(size)
    return ""


declared = Declared(
    order=71,
    id="ranks",
    title=text("Ranks of applications"),
    introduction=text(
        "Memory and context switches come from the kernel's counters of each rank. A library may move a thread to "
        "other cpus for a moment at its start; a rank that works there longer makes its launch invalid. A library "
        "between the program and MPI counts the MPI calls, from the end of MPI_Init to the start of MPI_Finalize."
    ),
    applies=lambda scene: bool(scene.cached(_launches)),
    shared_tables=(
        Listing(
            text("Memory and context switches: medians over launches, of the rank with most"),
            headings(
                "Application",
                "Placement",
                "Ranks",
                "Memory of a rank",
                "Memory of all",
                "Voluntary context switches",
                "Involuntary context switches",
                "Time on other cpus",
            ),
            _usage,
            {2, 3, 4, 5, 6, 7},
            optional={7},
        ),
        Listing(
            text("Time in MPI by call: means over ranks and launches"),
            headings(
                "Application",
                "Placement",
                "Call",
                "Calls",
                "Time",
                "Share",
                "Share of the longest rank",
                "Sent",
                "Half of the messages up to",
            ),
            _calls,
            {3, 4, 5, 6, 7, 8},
            optional={7, 8},
        ),
    ),
    listed=False,
)
