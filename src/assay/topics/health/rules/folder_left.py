"""Folders of a run that were not removed at its end: they take room that others need."""

from collections.abc import Iterable, Iterator

from assay.analyse.evidence import Evidence, Rule, numbers
from assay.model.grouping import grouped
from assay.model.resource import OpenedFolder
from assay.model.result import Finding
from assay.model.text import text


def _folders(evidence: Evidence) -> Iterator[tuple[str, OpenedFolder]]:
    """Host and folder of each rank that was given one."""
    for launch in evidence.run.launches:
        for case in launch.cases:
            yield from ((rank.host, rank.folder) for rank in case.header.ranks if rank.folder)


def _assess(evidence: Evidence) -> Iterable[Finding]:
    left = [(host, folder) for host, folder in _folders(evidence) if not folder.removed]
    for (host, asked), folders in grouped(left, lambda each: (each[0], each[1].asked)).items():
        paths = tuple(dict.fromkeys(folder.path for _, folder in folders))
        yield rule.finding(
            f"{host}:{asked}",
            claim=text(
                "{count} folder was not removed from {asked} on {host}: {path}.|{count} folders were not removed "
                "from {asked} on {host}: {path} and others.",
                count=len(paths),
                asked=asked,
                host=host,
                path=paths[0],
            ),
            severity="advice",
            numbers=numbers(len(paths), 0),
            statistic=text("{count} folder|{count} folders", count=len(paths)),
            next=text("remove what the programs left in {asked}", asked=asked),
        )


rule = Rule(
    "folder_left",
    text("Were the folders of the programs removed?"),
    text("a folder that a program could not remove"),
    _assess,
    timed=False,
    applies=lambda evidence: any(True for _ in _folders(evidence)),
)
