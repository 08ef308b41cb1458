"""Rates of files, and where their bytes went."""

from collections.abc import Iterable

from assay.model.text import text
from assay.model.units import format_size
from assay.report import figures, formatting
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure


def _where(scene: Scene) -> Iterable[tuple[str, ...]]:
    """Each case once: its rates, its folder as it was found, and what the counters show."""
    headers = {records.header.case: records.header for launch in scene.run.launches for records in launch.cases}
    figures_of = {(e.case, e.metric): e for e in scene.analysis.estimates if e.benchmark == "storage"}
    for case in dict.fromkeys(case for case, _ in figures_of):
        header = headers.get(case)
        folder = header.ranks[0].folder if header and header.ranks else None
        if header is None or folder is None:
            continue
        stored, read = (figures_of.get((case, name)) for name in ("rate", "read-rate"))
        yield (
            format_size(int(header.params["bytes"])),
            formatting.shown(stored).short,
            formatting.shown(read).short,
            f"{folder.asked} ({folder.mount})",
            header.facts.get("bytes were written to", "unproven"),
            header.facts.get("bytes were read from", "unproven"),
        )


def _charts(scene: Scene) -> Iterable[Figure]:
    if scene.measured:
        yield figures.curves(scene.measured, "figure-storage", text("Rate of a durable file"))


declared = Declared(
    order=210,
    id="storage",
    introduction=text(
        "A file is written, made durable by fsync, closed, dropped from the cache and read back. A rate of "
        "storage means little without a proof of where the bytes went: `device` is proven by the counters of "
        "the block device and of the process together, `cache` by the file system or by the pages that stayed "
        "in memory; all else is unproven."
    ),
    benchmark="storage",
    charts=_charts,
    shared_tables=(
        Listing(
            text("Files, and where their bytes went"),
            (
                text("Size"),
                text("Written, durable"),
                text("Read back"),
                text("Folder"),
                text("Written to"),
                text("Read from"),
            ),
            _where,
            (1, 2),
        ),
    ),
)
