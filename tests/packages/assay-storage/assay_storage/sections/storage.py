"""Rates of files, and where their bytes went."""

from collections.abc import Iterable

from assay.model.text import text
from assay.report import figures
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure


def _where(scene: Scene) -> Iterable[tuple[str, ...]]:
    """Each case once: its folder as it was found, and what the counters show."""
    rows: dict[str, tuple[str, ...]] = {}
    for launch in scene.run.launches:
        for records in launch.cases:
            header = records.header
            folder = header.ranks[0].folder if header.ranks else None
            if header.benchmark == "storage" and folder:
                to, back = (header.facts.get(f"bytes were {way}", "unproven") for way in ("written to", "read from"))
                rows[header.case] = (header.case, folder.asked, folder.file_system, folder.source, to, back)
    return rows.values()


def _charts(scene: Scene) -> Iterable[Figure]:
    if scene.measured:
        yield figures.curves(scene.measured, "figure-storage", text("Rate of a durable file"))


declared = Declared(
    order=210,
    id="storage",
    introduction=text(
        "A file is written, made durable by fsync, closed, dropped from the cache and read back. A rate of storage "
        "means little without a proof of where the bytes went: `device` is proven by the counters of the block "
        "device and of the process together, `cache` by the file system or by the pages that stayed in memory; "
        "all else is unproven."
    ),
    benchmark="storage",
    charts=_charts,
    shared_tables=(
        Listing(
            text("Where the bytes went"),
            (
                text("Case"),
                text("Folder"),
                text("File system"),
                text("Mounted from"),
                text("Written to"),
                text("Read from"),
            ),
            _where,
            (),
        ),
    ),
)
