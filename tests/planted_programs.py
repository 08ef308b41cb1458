"""Native programs with a fault inserted into their source, compiled faster than those that measure."""

import shutil
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from assay.model.folders import builds_folder
from assay.model.toolchain import Toolchain
from assay.toolchain import cmake, sources
from assay.toolchain.building import cached_build

Change = tuple[str, str]

_ROOT = Path(__file__).parents[1]

#: Compiler flags; the preset `static` has the same.
QUICK = ("-O1",)


@contextmanager
def nearby() -> Generator[Path]:
    """A folder inside this checkout: ccache finds earlier compilations only for sources of the same checkout."""
    (_ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="near-", dir=_ROOT / "build") as folder:
        yield Path(folder)


def copied(folder: Path, *programs: str) -> Path:
    """A copy of the native sources in a folder, with these programs only."""
    native = folder / "native"
    shutil.copytree(sources.folder(), native)
    for source in native.glob("benchmarks/*/*.cpp"):
        if source.stem not in programs:
            source.unlink()
    return native


def compiled(native: Path, toolchain: Toolchain, flags: tuple[str, ...] = QUICK) -> Path:
    """Compile such a copy and return the folder of its programs: nothing is timed in them.

    They are built as deep below it as those of the cache are: ccache then has what other tests have compiled.
    """
    tree = native.parent / "build" / "cache" / "builds" / "planted" / "tree"
    quick = msgspec.structs.replace(toolchain, flags=flags)
    programs = {source.stem for source in native.glob("benchmarks/*/*.cpp")}
    if known := cached_build(toolchain):
        _configured_as(builds_folder() / known.key / "tree", native, tree)
    cmake.compile_programs(native, tree, quick, native.parent / "log", programs)
    return tree / "bin"


def _configured_as(known: Path, native: Path, tree: Path) -> None:
    """Begin a tree with CMake's compiler checks of another tree: they take as long as to compile."""
    for found in known.glob("CMakeFiles/[0-9]*"):
        shutil.copytree(found, tree / "CMakeFiles" / found.name)
    lines = (known / "CMakeCache.txt").read_text().splitlines(keepends=True)
    unlike = ("//", "ASSAY_OPENMP:")  # comments belong to their entries; tests change this option
    kept = "".join(line for line in lines if not line.startswith(unlike))
    moved = kept.replace(str(known), str(tree)).replace(f"={sources.folder()}\n", f"={native}\n")
    (tree / "CMakeCache.txt").write_text(moved)


def planted(toolchain: Toolchain, folder: Path, program: str, changes: Sequence[Change]) -> list[str]:
    """A program for each change of its source (what stands there once, what shall stand there); paths.

    They are one file, which goes by the name that it is started by: what all of them include is compiled once.
    """
    native = copied(folder, program)
    (source,) = (native / "benchmarks").glob(f"*/{program}.cpp")
    text = source.read_text()
    included = [line for line in text.splitlines() if line.startswith("#include ")]
    parts, names = [], [f"{program}_{number}" for number in range(len(changes))]
    for name, (right, wrong) in zip(names, changes, strict=True):
        assert text.count(right) == 1, right
        changed = text.replace(right, wrong).replace("int main(", "int started(")
        body = [line for line in changed.splitlines() if line not in included]
        parts += [f"namespace {name} {{", *body, "}"]
    starts = [f'if (name.ends_with("/{name}")) return {name}::started(argc, argv);' for name in names]
    main = ["int main(int argc, char** argv) { const std::string_view name = argv[0];", *starts, "return 99; }"]
    source.write_text("\n".join([*included, "#include <string_view>", *parts, *main, ""]))
    made = compiled(native, toolchain)
    for name in names:
        (made / name).symlink_to(program)
    return [str(made / name) for name in names]
