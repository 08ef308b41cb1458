"""Checks of the output of applications, and their results."""

from collections import Counter
from collections.abc import Iterator

from assay.model.record import Verdict
from assay.model.text import text
from assay.report.declared import Declared, Scene
from assay.report.section import Table, headings

#: Result of a check -> its words.
_STATUS = {
    "right": text("right"),
    "wrong": text("wrong"),
    "unknown": text("not known for this version or these parameters"),
}


def _verdicts(scene: Scene) -> Iterator[tuple[str, Verdict]]:
    """Yield benchmark and verdict of each launch of an application."""
    for launch in scene.run.launches:
        for case in launch.cases:
            if case.verdict and case.verdict.checks:
                yield case.header.benchmark, case.verdict


def _tables(scene: Scene) -> Iterator[Table]:
    """Make a row for each check of each application and each of its results."""
    titles = {each.name: each.title for each in scene.run.plan.applications}
    rows = Counter(
        (titles.get(name, name), verdict.version, each.about, _STATUS[each.status])
        for name, verdict in _verdicts(scene)
        for each in verdict.checks
    )
    if rows:
        yield Table(
            text("Checks of the output of each application; a launch with a wrong output does not count."),
            headings("Application", "Version", "Checked", "Result", "Launches"),
            tuple((*row, str(count)) for row, count in rows.items()),
            frozenset({4}),
            recorded=True,
        )


declared = Declared(
    order=69,
    id="checks",
    title=text("Checks of applications"),
    introduction=text(
        "A fast application with a wrong result is worth nothing, so its declaration says what a correct output "
        "contains. Known values belong to one program and version; values of two codes are never compared."
    ),
    applies=lambda scene: any(_verdicts(scene)),
    shared_tables=(_tables,),
    listed=False,
)
