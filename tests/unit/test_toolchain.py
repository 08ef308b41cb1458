"""Compilers are found, named and refused as documented; builds are shared by key and never half written."""

import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from assay import toolchain
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.toolchain import Mpi, Toolchain
from assay.toolchain import building, cmake, compilers, sources

#: First lines of `--version` as distributions print them.
GCC = {
    "g++ (Debian 12.2.0-14+deb12u1) 12.2.0": 12,
    "g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-28)": 8,
    "g++-11 (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0": 11,
    "x86_64-conda-linux-gnu-c++ (conda-forge gcc 14.1.0-1) 14.1.0": 14,
    "g++-13 (SUSE Linux) 13.3.0": 13,
}
CLANG = {
    "Debian clang version 14.0.6": 14,
    "Ubuntu clang version 18.1.3 (1ubuntu1)": 18,
    "clang version 12.0.1": 12,
    "AMD clang version 17.0.6 (CLANG: AOCC_5.0.0-Build#1377 2024_09_24)": 17,
}

COMPILER = """#!/bin/sh
case "$*" in
    --version) echo "{version}"; echo "{maker}" ;;
    *) case "$*" in *{refused}*) echo "cc1plus: error: bad value for '{refused}'" >&2; exit 1 ;; esac ;;
esac
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("CXX", raising=False)
    compilers._version.cache_clear()
    compilers._refusal.cache_clear()
    yield
    compilers._version.cache_clear()
    compilers._refusal.cache_clear()


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(folder: Path, command: str, version: str, *, maker: str = "", refused: str = "-march=nothing") -> Path:
    path = folder / command
    path.write_text(COMPILER.format(version=version, maker=maker, refused=refused))
    path.chmod(0o755)
    return path


def gcc(folder: Path, command: str = "g++", major: int = 12) -> Path:
    return install(folder, command, f"g++ (GCC) {major}.2.0", maker="Copyright Free Software Foundation")


@pytest.mark.parametrize(("line", "major"), [*GCC.items()])
def test_the_version_of_gcc_is_read_as_distributions_print_it(line: str, major: int) -> None:
    assert compilers.major_version("gcc", line) == major


@pytest.mark.parametrize(("line", "major"), [*CLANG.items()])
def test_the_version_of_clang_is_read_as_distributions_print_it(line: str, major: int) -> None:
    assert compilers.kind_of(line) == "clang"
    assert compilers.major_version("clang", line) == major


def test_gcc_comes_before_clang(bin_folder: Path) -> None:
    gcc(bin_folder)
    install(bin_folder, "clang++", "clang version 15.0.0")
    assert [found.name for found in toolchain.find()] == ["gcc", "clang"]


def test_the_compiler_in_cxx_comes_first_and_takes_the_place_of_its_kind(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc(bin_folder)
    install(bin_folder, "clang++", "clang version 15.0.0")
    mine = install(bin_folder, "clang-mine", "clang version 17.0.1")
    monkeypatch.setenv("CXX", str(mine))
    assert [(found.name, found.compiler) for found in toolchain.find()] == [
        ("clang", str(mine)),
        ("gcc", str(bin_folder / "g++")),
    ]


def test_a_compiler_of_another_maker_goes_by_its_own_name(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc(bin_folder)
    monkeypatch.setenv("CXX", str(install(bin_folder, "nvc++", "nvc++ 24.5-1 64-bit target")))
    assert toolchain.get().name == "nvc"


def test_a_compiler_in_cxx_that_does_not_exist_is_refused_by_name(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc(bin_folder)
    monkeypatch.setenv("CXX", "g++-99")
    with pytest.raises(UsageError, match="g\\+\\+-99"):
        toolchain.find()


def test_a_newer_versioned_compiler_is_found_beside_one_that_is_too_old(bin_folder: Path) -> None:
    gcc(bin_folder, major=8)
    gcc(bin_folder, "g++-11", major=11)
    newer = gcc(bin_folder, "g++-13", major=13)
    assert toolchain.get("gcc").compiler == str(newer)


def test_without_a_compiler_the_message_says_what_to_install(bin_folder: Path) -> None:
    assert not (bin_folder / "g++").exists()
    with pytest.raises(UnfitEnvironmentError) as caught:
        toolchain.get()
    assert caught.value.exit_code == 4
    assert "neither g++ nor clang++" in caught.value.why
    assert "apt install g++" in caught.value.remedy


def test_a_compiler_that_is_too_old_is_named_with_the_version_that_is_needed(bin_folder: Path) -> None:
    gcc(bin_folder, major=9)
    with pytest.raises(UnfitEnvironmentError) as caught:
        toolchain.get()
    assert "gcc 9" in caught.value.why
    assert "gcc 11 or newer" in caught.value.why


def test_flags_that_the_compiler_refuses_are_left_out_of_the_usual_ones(bin_folder: Path) -> None:
    install(bin_folder, "g++", "g++ (GCC) 12.2.0", maker="Free Software Foundation", refused="native")
    assert toolchain.get().flags == ("-O3",)


def test_a_level_adds_a_flag_and_stays_in_the_name(bin_folder: Path) -> None:
    gcc(bin_folder)
    chosen = toolchain.get("gcc+O2+fno-inline")
    assert chosen.name == "gcc+O2+fno-inline"
    assert chosen.flags[0] == "-O3"
    assert chosen.flags[-2:] == ("-O2", "-fno-inline")


def test_a_flag_that_the_compiler_refuses_is_refused_with_its_words(bin_folder: Path) -> None:
    gcc(bin_folder)
    with pytest.raises(UsageError) as caught:
        toolchain.get("gcc+march=nothing")
    assert "bad value for '-march=nothing'" in caught.value.why


def test_an_unknown_toolchain_is_refused_and_the_known_ones_are_named(bin_folder: Path) -> None:
    gcc(bin_folder)
    with pytest.raises(UsageError) as caught:
        toolchain.get("icx", {"site": {"flags": "-O2"}})
    assert caught.value.why == "known here: gcc, site"


def test_a_declared_toolchain_has_the_compiler_and_the_flags_of_its_table(bin_folder: Path) -> None:
    gcc(bin_folder)
    newer = gcc(bin_folder, "g++-14", major=14)
    chosen = toolchain.get("site", {"site": {"compiler": "g++-14", "flags": "-O2 '-DNAME=two words'"}})
    assert (chosen.name, chosen.compiler, chosen.flags) == ("site", str(newer), ("-O2", "-DNAME=two words"))


@pytest.mark.parametrize(
    ("table", "word"),
    [({"compilr": "g++"}, "compilr"), ({"flags": 3}, "flags"), ("g++", "site"), ({"compiler": "g++-99"}, "site")],
)
def test_a_wrong_declaration_is_refused_by_name(bin_folder: Path, table: object, word: str) -> None:
    gcc(bin_folder)
    with pytest.raises(UsageError, match=word):
        toolchain.get("site", {"site": table})


def test_flags_with_an_open_quotation_are_refused(bin_folder: Path) -> None:
    gcc(bin_folder)
    with pytest.raises(UsageError, match="cannot split"):
        toolchain.with_flags(toolchain.get(), "-O2 '-DX")


def test_a_change_of_sources_flags_compiler_or_processor_is_another_key(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gcc(bin_folder)
    chosen = toolchain.get()
    keys = {
        building._key(chosen, "sources", "zen4"),
        building._key(chosen, "other sources", "zen4"),
        building._key(chosen, "sources", "zen5"),
        building._key(toolchain.get("gcc+O2"), "sources", "zen4"),
    }
    gcc(bin_folder, major=13)
    compilers._version.cache_clear()
    keys.add(building._key(toolchain.get(), "sources", "zen4"))
    assert len(keys) == 5
    monkeypatch.setenv("CXX", "g++")
    assert building._key(toolchain.get(), "sources", "zen4") in keys


def test_the_hash_of_the_sources_follows_content_and_name_but_not_tests(tmp_path: Path) -> None:
    (tmp_path / "harness").mkdir()
    (tmp_path / "tests").mkdir()
    source = tmp_path / "harness" / "clock.cpp"
    source.write_text("int a;")
    first = sources.digest(tmp_path)
    (tmp_path / "tests" / "test_clock.cpp").write_text("int main() {}")
    (tmp_path / "harness" / "notes~").write_text("scratch")
    assert sources.digest(tmp_path) == first
    source.write_text("int b;")
    second = sources.digest(tmp_path)
    source.rename(tmp_path / "harness" / "time.cpp")
    third = sources.digest(tmp_path)
    (tmp_path / "harness" / "time.json").write_text("{}")
    assert len({first, second, third, sources.digest(tmp_path)}) == 4


def test_the_first_errors_of_a_log_are_the_compilers() -> None:
    log = (
        "$ cmake -S native\n-- The CXX compiler identification is GNU 12.2.0\n"
        "[1/9] Building CXX object harness/error.cpp.o\n"
        "clock.cpp:3:1: error: 'wrong' does not name a type\nclock.cpp:9:1: warning: unused\n"
        "ninja: build stopped: subcommand failed.\n"
    )
    assert cmake.first_errors(log) == ["clock.cpp:3:1: error: 'wrong' does not name a type"]
    assert cmake.first_errors("a\n\nthe end\n") == ["the end"]


@pytest.mark.parametrize(
    ("line", "found"),
    [("-fopenmp", True), ("NOTFOUND", False), ("OpenMP_CXX_FLAGS-NOTFOUND", False)],
)
def test_openmp_is_what_cmake_found(tmp_path: Path, line: str, found: bool) -> None:  # noqa: FBT001 (an expectation)
    (tmp_path / "CMakeCache.txt").write_text(f"OTHER:STRING=x\nOpenMP_CXX_FLAGS:STRING={line}\n")
    assert cmake.has_openmp(tmp_path) is found


def fake_native(folder: Path) -> Path:
    native = folder / "native"
    (native / "benchmarks" / "memory").mkdir(parents=True)
    (native / "CMakeLists.txt").write_text("project(fake)\n")
    (native / "benchmarks" / "memory" / "stream.cpp").write_text("int main() {}\n")
    return native


@pytest.fixture
def compiled(tmp_path: Path, bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A cache of its own and a CMake that writes a program at once; one entry for every call."""
    gcc(bin_folder)
    native = fake_native(tmp_path)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "folder", lambda: native)
    calls: list[str] = []

    def compile_programs(_native: Path, tree: Path, chosen: Toolchain, log: Path, _programs: object) -> None:
        calls.append(chosen.name)
        log.write_text("fine\n")
        (tree / "bin").mkdir(parents=True, exist_ok=True)
        program = tree / "bin" / ("pt2pt" if chosen.mpi else "stream")
        program.write_text(f"program {len(calls)}")
        program.chmod(0o755)
        (tree / "CMakeCache.txt").write_text("OpenMP_CXX_FLAGS:STRING=-fopenmp\n")

    monkeypatch.setattr(cmake, "compile_programs", compile_programs)
    return calls


def test_a_build_is_made_once_and_found_again(compiled: list[str]) -> None:
    first = toolchain.build(toolchain.get())
    assert toolchain.build(toolchain.get()) == first
    assert len(compiled) == 1
    assert Path(first.programs["stream"]).read_text() == "program 1"


def test_a_build_is_made_again_when_a_program_of_it_was_damaged(compiled: list[str]) -> None:
    first = toolchain.build(toolchain.get())
    Path(first.programs["stream"]).write_text("torn")
    again = toolchain.build(toolchain.get())
    assert len(compiled) == 2
    assert Path(again.programs["stream"]).read_text() == "program 2"


def test_a_build_found_under_another_name_carries_the_name_asked_for(compiled: list[str]) -> None:
    toolchain.build(toolchain.get())
    made = toolchain.build(toolchain.get("mine", {"mine": {"compiler": "g++"}}))
    assert made.toolchain.name == "mine"
    assert len(compiled) == 1


def with_mpi(name: str, version: str, wrapper: str = "/opt/bin/mpicxx") -> Toolchain:
    mpi = Mpi(name, "mpich", version, wrapper, "/opt/bin/mpiexec")
    return msgspec.structs.replace(toolchain.get("gcc"), name=f"gcc/{name}", mpi=mpi)


def test_programs_of_one_process_are_shared_by_all_mpis(compiled: list[str]) -> None:
    alone = toolchain.build(toolchain.get("gcc"))
    one = toolchain.build(with_mpi("mpich-4.0.2", "4.0.2"))
    other = toolchain.build(with_mpi("mpich-5.0.2", "5.0.2"))
    assert compiled == ["gcc", "gcc/mpich-4.0.2", "gcc/mpich-5.0.2"]
    assert one.programs["stream"] == other.programs["stream"] == alone.programs["stream"]
    assert one.programs["pt2pt"] != other.programs["pt2pt"]
    assert set(one.sha256) == {"stream", "pt2pt"}
    assert len({alone.key, one.key, other.key}) == 3
    assert toolchain.build(with_mpi("mpich-4.0.2", "4.0.2")) == one
    assert len(compiled) == 3


def test_another_wrapper_or_version_of_mpi_is_another_key(bin_folder: Path) -> None:
    gcc(bin_folder)
    keys = {
        building._key(chosen, "sources", "zen4")
        for chosen in (
            toolchain.get("gcc"),
            with_mpi("mpich-4", "4.0.2"),
            with_mpi("mpich-5", "5.0.2"),
            with_mpi("mpich-4", "4.0.2", "/opt/other/mpicxx"),
        )
    }
    assert len(keys) == 4
    assert building._key(with_mpi("another name", "4.0.2"), "sources", "zen4") in keys


def test_a_build_that_makes_no_program_leaves_nothing_that_looks_whole(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(_native: Path, tree: Path, _chosen: object, log: Path, _programs: object) -> None:
        log.write_text("fine\n")
        tree.mkdir()

    monkeypatch.setattr(cmake, "compile_programs", nothing)
    with pytest.raises(UnfitEnvironmentError, match="made no program"):
        toolchain.build(toolchain.get())
    assert not [path for path in toolchain.builds_folder().iterdir() if path.is_dir()]
    assert not compiled


def test_two_that_build_the_same_at_once_build_it_once(compiled: list[str]) -> None:
    chosen = toolchain.get()
    made: list[object] = []
    threads = [threading.Thread(target=lambda: made.append(toolchain.build(chosen))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert len(compiled) == 1


def test_a_cache_that_cannot_be_written_is_refused_with_the_variable_to_set(
    compiled: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "file"))
    with pytest.raises(UnfitEnvironmentError) as caught:
        toolchain.build(toolchain.get())
    assert "ASSAY_CACHE" in caught.value.remedy
    assert not compiled
