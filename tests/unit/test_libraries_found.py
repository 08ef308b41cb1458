"""BLAS libraries: those that a user names, of wheels, of modules, of the system; each file once."""

import importlib.metadata
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay import toolchain
from assay.cli import assay
from assay.model.errors import UsageError
from assay.toolchain import libraries


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any library, in whose folder tests begin."""
    for variable in libraries._VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(libraries, "_FOLDERS", ())
    monkeypatch.setattr(libraries, "_WHEELS", {})
    monkeypatch.setattr(libraries, "_FILES", {})
    monkeypatch.setattr(libraries, "_of_loader", frozenset)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touched(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def listed() -> dict[str, str]:
    done = CliRunner().invoke(assay, ["list", "blas", "--json"])
    assert done.exit_code == 0, done.output
    return {each["name"]: each["source"] for each in json.loads(done.stdout)["blas"]}


def test_without_any_the_next_command_is_said() -> None:
    done = CliRunner().invoke(assay, ["list", "blas"])
    assert "pip install 'assay[blas]'" in done.stderr


def test_a_library_of_the_user_has_its_name_and_comes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = touched(bare / "ours" / "libopenblas.so")
    touched(bare / "module" / "libblis-mt.so")
    monkeypatch.setenv("LD_LIBRARY_PATH", f":{bare / 'module'}:")
    (bare / "assay.toml").write_text(f'[blas]\nours = "{ours}"\n')
    assert list(listed().items()) == [("ours", "the configuration"), ("aocl", str(bare / "module"))]


def test_a_file_of_two_names_is_one_library(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = touched(bare / "lib" / "libopenblas.so.0")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(bare / "lib"))
    found = toolchain.find_libraries("blas", {"mine": str(file)})
    assert [each.name for each in found] == ["mine"]


def test_the_root_of_a_module_is_looked_into(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched(bare / "mkl" / "lib" / "libmkl_rt.so.2")
    monkeypatch.setenv("MKLROOT", str(bare / "mkl"))
    assert set(listed()) == {"mkl"}


def test_a_wheel_that_lays_its_library_beside_programs_is_found_with_its_licence(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bare / "site"
    touched(folder / "lib" / "libmkl_rt.so.2")
    touched(folder / "wheel-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: wheel\nVersion: 1\n"
    )
    (folder / "wheel-1.dist-info" / "RECORD").write_text("lib/libmkl_rt.so.2,,\nlib/libother.so,,\n")
    monkeypatch.setattr(libraries, "_FILES", {"wheel": ("mkl", "libmkl_rt.so", "Licence of Theirs")})
    made = importlib.metadata.PathDistribution(folder / "wheel-1.dist-info")
    monkeypatch.setattr(importlib.metadata, "files", lambda _name: made.files)
    assert listed() == {"mkl": "PyPI wheel (Licence of Theirs)"}


@pytest.mark.parametrize("path", ["/nowhere/libblas.so", 3])
def test_a_declared_file_that_is_not_there_is_refused(path: object) -> None:
    with pytest.raises(UsageError, match=r"\[blas\] ours"):
        toolchain.find_libraries("blas", {"ours": path})
