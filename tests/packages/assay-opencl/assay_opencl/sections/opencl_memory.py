"""The memory of OpenCL devices, and the device that each case opened."""

from collections.abc import Iterable

from assay.model.text import text
from assay.report import figures, formatting
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import Figure


def _opened(scene: Scene) -> Iterable[tuple[str, ...]]:
    """Each figure with the device that was opened for it, as it was read back."""
    headers = {records.header.case: records.header for launch in scene.run.launches for records in launch.cases}
    for estimate in scene.analysis.estimates:
        proven, header = estimate.placement.proven, headers.get(estimate.case)
        if estimate.benchmark == "opencl_memory" and proven and header:
            yield (
                estimate.kernel,
                ", ".join(map(str, proven.devices)),
                formatting.shown(estimate).short,
                formatting.share_cell(estimate),
                header.facts.get("device driver", ""),
                header.facts.get("device compute units", ""),
            )


def _charts(scene: Scene) -> Iterable[Figure]:
    if scene.measured:
        yield figures.placements(scene.measured, "figure-opencl", text("Rate of the device's memory"))


declared = Declared(
    order=220,
    id="opencl",
    introduction=text(
        "An OpenCL device copies and adds long vectors in its own memory. Each rank opens the device that it was "
        "given, and reads its identity back from the queue on which the kernels ran."
    ),
    benchmark="opencl_memory",
    charts=_charts,
    shared_tables=(
        Listing(
            text("Devices that were opened"),
            (
                text("Kernel"),
                text("Device"),
                text("Rate"),
                text("Of limit"),
                text("Driver"),
                text("Compute units"),
            ),
            _opened,
            (2, 3),
        ),
    ),
)
