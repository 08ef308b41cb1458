"""Native programs with a fault planted in their source, or with other flags than the usual ones."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.model.toolchain import Toolchain
from assay.toolchain import cmake, sources

Change = tuple[str, str]


def planted(toolchain: Toolchain, folder: Path, program: str, changes: Sequence[Change]) -> list[str]:
    """A copy of one program for each change (what stands in its source once, what shall stand there); paths."""
    native = folder / "native"
    shutil.copytree(sources.folder(), native)
    source = native / "benchmarks" / "node" / f"{program}.cpp"
    text = source.read_text()
    for other in source.parent.glob("*.cpp"):
        other.unlink()
    for number, (right, wrong) in enumerate(changes):
        assert text.count(right) == 1, right
        (source.parent / f"{program}_{number}.cpp").write_text(text.replace(right, wrong))
    cmake.compile_programs(native, folder / "tree", toolchain, folder / "log")
    return [str(folder / "tree" / "bin" / f"{program}_{number}") for number in range(len(changes))]


def with_flags(toolchain: Toolchain, *flags: str) -> Toolchain:
    """The same compiler with these flags alone."""
    return msgspec.structs.replace(toolchain, flags=flags)
