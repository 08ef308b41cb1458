"""Whether the devices and the folder of a case are there, and the option that names them."""

from assay.model.benchmark import Benchmark
from assay.model.declaration import Params
from assay.model.placement import Placement
from assay.model.units import format_size
from assay.plan.spots import Setting

#: What a user adds to the command if no folder is named, or the named one cannot be used.
_NAME_FOLDER = "--folder /tmp"
#: Share of a file system's free bytes that a case may write: others write, too.
_FREE_SHARE = 0.9


def missing(benchmark: Benchmark, placement: Placement, setting: Setting) -> tuple[str, str]:
    """Why a benchmark has no devices or no folder at a placement, and the option that helps; empty if it has."""
    if benchmark.devices and not placement.devices:
        return f"{benchmark.name} needs devices, {placement.label} has none (all:gpu:0, rank-per:gpu have)", ""
    if benchmark.folder and setting.options.no_folder:
        return setting.options.no_folder, _NAME_FOLDER
    if benchmark.folder and not placement.folders:
        return f"{benchmark.name} writes into a folder, and none is named ({_NAME_FOLDER})", _NAME_FOLDER
    return "", ""


def too_full(benchmark: Benchmark, params: Params, placement: Placement) -> str:
    """Why the files of a case do not fit the folders of its ranks; empty if they do, or if that is unknown."""
    needed = benchmark.folder_bytes(params) if benchmark.folder else 0
    for folder in set(placement.folders):
        ranks = sum(placement.folder_of(rank) == folder for rank in range(len(placement.rank_cpus)))
        if folder.capacity_bytes and needed * ranks > _FREE_SHARE * folder.free_bytes:
            most = f"more than {100 * _FREE_SHARE:.0f} % of the {format_size(folder.free_bytes)} that are free"
            return f"it writes {format_size(needed * ranks)} into {folder.path}, {most}"
    return ""
