"""Real compilers build the real programs, and what goes wrong is told with the compiler's own words."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests import planted_programs

from assay import toolchain
from assay.model.errors import UnfitEnvironmentError
from assay.model.toolchain import Build
from assay.toolchain import cmake, sources

ASSAY = str(Path(sys.prefix) / "bin" / "assay")
BROKEN = "int main() { return wrong; }\n"

pytestmark = pytest.mark.native


def assay(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [ASSAY, *arguments], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def test_the_manifest_tells_what_was_built_from_what(build: Build) -> None:
    native = sources.folder()
    of_one_process = {path.stem for path in native.rglob("*.cpp") if "assay::run_program" in path.read_text()}
    assert set(build.programs) | set(build.absent) == {*of_one_process, "start"}
    assert build.sources == sources.digest(native)
    for name, path in build.programs.items():
        done = subprocess.run([path, "--help"], capture_output=True, text=True, check=False)
        assert done.returncode == 0
        assert name in done.stdout


@pytest.mark.long
def test_clang_builds_the_same_programs(build: Build) -> None:
    if not shutil.which("clang++"):
        pytest.skip("no clang++: apt install clang libomp-dev")
    other = toolchain.build(toolchain.get("clang -O0"))  # its optimizer takes a minute
    assert set(other.programs) == set(build.programs)
    assert other.key != build.key


def test_programs_are_added_to_a_build_as_they_are_needed(
    near_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = planted_programs.copied(near_path, "memcpy", "stream")
    monkeypatch.setattr(sources, "folder", lambda: native)
    monkeypatch.setenv("ASSAY_CACHE", str(near_path / "build" / "cache"))
    chosen = toolchain.get()
    first = toolchain.build(chosen, programs={"memcpy"})
    assert (set(first.programs), first.left) == ({"memcpy"}, ("start", "stream"))
    written = Path(first.programs["memcpy"]).stat()
    said: list[str] = []
    both = toolchain.build(chosen, said.append, programs={"memcpy", "stream"})
    assert (set(both.programs), both.left, both.key) == ({"memcpy", "stream"}, ("start",), first.key)
    assert said[-1].startswith("built stream in ")
    assert Path(both.programs["memcpy"]).stat() == written, "nobody who runs it notices"
    assert toolchain.build(chosen, programs={"stream"}) == both
    assert toolchain.cached_build(chosen) == both
    shutil.rmtree(Path(both.programs["stream"]).parent / "tree")
    assert set(toolchain.build(chosen).programs) == {"memcpy", "stream", "start"}
    for path in toolchain.build(chosen).programs.values():
        assert subprocess.run([path, "--help"], capture_output=True, check=False).returncode == 0


def test_assay_build_prints_programs_that_start_and_a_manifest(build: Build) -> None:
    told = assay("build")
    assert told.returncode == 0
    assert build.programs["stream"] in told.stdout
    manifest = json.loads(assay("build", "--json").stdout)
    assert manifest["schema"] == 1
    assert manifest["builds"][0]["key"] == build.key


def small(folder: Path, source: str) -> Path:
    """Native sources that compile in a moment."""
    native = folder / "native"
    (native / "benchmarks" / "some").mkdir(parents=True)
    (native / "benchmarks" / "some" / "one.cpp").write_text(source)
    (native / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(one LANGUAGES CXX)\nfind_package(OpenMP)\n"
        "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\n"
        "add_executable(one benchmarks/some/one.cpp)\n"
    )
    return native


def test_flags_reach_the_compiler_as_they_are_and_no_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = small(tmp_path, "#include <cstdio>\nint main() { std::puts(WORDS); }\n")
    monkeypatch.setattr(sources, "folder", lambda: native)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    flags = "-O1 '-DWORDS=\"$(touch leak) two; three\"'"
    made = toolchain.build(toolchain.with_flags(toolchain.get(), flags))
    done = subprocess.run([made.programs["one"]], capture_output=True, text=True, check=True)
    assert done.stdout == "$(touch leak) two; three\n"
    assert not list(tmp_path.rglob("leak"))


def test_a_compile_error_is_told_with_its_line_and_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native = small(tmp_path, BROKEN)
    monkeypatch.setattr(sources, "folder", lambda: native)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    with pytest.raises(UnfitEnvironmentError) as caught:
        toolchain.build(toolchain.get())
    assert "one.cpp:1" in caught.value.why
    assert "wrong" in caught.value.why
    (log,) = (tmp_path / "cache" / "builds").glob("*.log")
    assert str(log) in caught.value.remedy
    assert not [path for path in log.parent.iterdir() if path.is_dir()]


def test_make_serves_where_there_is_no_ninja(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("make"):
        pytest.skip("no make: apt install make")
    native = small(tmp_path, "int main() {}\n")
    monkeypatch.setattr(sources, "folder", lambda: native)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "ninja" else which(name))
    monkeypatch.setattr(cmake, "_own", lambda program: tmp_path / program)
    made = toolchain.build(toolchain.get())
    assert made.programs
    assert "Unix Makefiles" in (toolchain.builds_folder() / f"{made.key}.log").read_text()


def test_the_environments_cmake_serves_where_the_site_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not cmake._own("cmake").exists():
        pytest.skip("no cmake in this environment: uv sync --extra build")
    native = small(tmp_path, "int main() {}\n")
    monkeypatch.setattr(sources, "folder", lambda: native)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    chosen = toolchain.get()
    bare = tmp_path / "bin"
    bare.mkdir()
    for path in [chosen.compiler, *filter(None, map(shutil.which, ("as", "ld", "sh", "ar", "ranlib")))]:
        (bare / Path(path).name).symlink_to(path)
    monkeypatch.setenv("PATH", str(bare))
    made = toolchain.build(chosen)
    log = (toolchain.builds_folder() / f"{made.key}.log").read_text()
    assert log.startswith(f"$ {cmake._own('cmake')} ")


def test_without_a_compiler_the_exit_code_is_4_and_the_remedy_is_named(tmp_path: Path) -> None:
    done = assay("build", PATH=str(tmp_path), ASSAY_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 4
    assert "no usable C++ compiler" in done.stderr
    assert "apt install g++" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_toolchain_is_a_slip_of_the_user() -> None:
    done = assay("build", "--toolchain", "gccc")
    assert done.returncode == 2
    assert "next: assay list toolchains" in done.stderr
