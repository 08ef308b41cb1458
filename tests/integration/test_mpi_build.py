"""The real MPIs of this machine, each with its own launcher, build programs whose ranks know of each other."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests import mpi_ranks
from tests.planted_programs import copied

from assay import toolchain
from assay.model.toolchain import Mpi
from assay.toolchain import sources
from assay.toolchain.mpis import mpis_folder

ROOT = Path(__file__).resolve().parents[2]
ASSAY = str(Path(sys.prefix) / "bin" / "assay")
#: The wheel of MPICH stands in a folder of its own: see tools/bootstrap.py.
MPICH = ROOT / "build" / "mpich"
WHEEL = {"wheel-mpich": {"compiler": str(MPICH / "bin" / "mpicxx")}}
#: Name -> the first version of it that the library may tell.
WANTED = {"openmpi-4": "4.", "mpich-4": "4.", "openmpi-5": "5.", "wheel-mpich": "5."}
#: As root, and with more ranks than cores: nothing is timed here.
LENIENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
HELLO = """
#include <mpi.h>
#include <cstdio>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0, length = 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &length);
    if (rank == 0) std::printf("%d ranks of %s\\n", size, version);
    MPI_Finalize();
}
"""
CMAKE = """
cmake_minimum_required(VERSION 3.20)
project(one LANGUAGES CXX)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(ASSAY_MPI)
  find_package(MPI REQUIRED COMPONENTS CXX)
  add_executable(hello benchmarks/messages/hello.cpp)
  target_compile_definitions(hello PRIVATE MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)
  target_link_libraries(hello PRIVATE MPI::MPI_CXX)
else()
  add_executable(one benchmarks/memory/one.cpp)
endif()
"""

pytestmark = pytest.mark.native


def wanted(name: str, declared: Mapping[str, object] | None = None) -> Mpi:
    if name in WHEEL and not Path(WHEEL[name]["compiler"]).exists():
        pytest.skip(f"no {WHEEL[name]['compiler']}: tools/bootstrap test")
    found = {mpi.name: mpi for mpi in toolchain.find_mpis(declared)}
    if not any(known.startswith(name) for known in found):
        pytest.skip(f"no {name}: apt install libopenmpi-dev openmpi-bin libmpich-dev mpich")
    return toolchain.get_mpi(name, declared)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources that compile in a moment, and beside them a cache of their own: the one of no MPI is built once."""
    folder = tmp_path_factory.mktemp("small") / "native"
    for topic, name, text in (("memory", "one", "int main() {}\n"), ("messages", "hello", HELLO)):
        (folder / "benchmarks" / topic).mkdir(parents=True)
        (folder / "benchmarks" / topic / f"{name}.cpp").write_text(text)
    (folder / "CMakeLists.txt").write_text(CMAKE)
    return folder


@pytest.fixture
def native(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """These sources are those of Assay."""
    monkeypatch.setattr(sources, "folder", lambda: small)
    monkeypatch.setenv("ASSAY_CACHE", str(small.parent / "cache"))


@pytest.mark.parametrize("name", [*WANTED])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.usefixtures("native")
def test_each_mpi_starts_what_its_wrapper_and_either_compiler_built(name: str, compiler: str) -> None:
    declared = WHEEL if name in WHEEL else {}
    mpi = wanted(name, declared)
    if compiler == "clang" and not shutil.which("clang++"):
        pytest.skip("no clang++: apt install clang libomp-dev")
    built = toolchain.build(toolchain.get(f"{compiler}/{name}+O1", {}, declared))
    assert built.toolchain.name == f"{compiler}/{mpi.name}+O1"
    assert set(built.programs) == {"one", "hello"}
    done = subprocess.run(
        [mpi.launcher, "-n", "2", built.programs["hello"]],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **LENIENT},
    )
    assert done.stdout.startswith("2 ranks of "), done.stderr
    assert f"{'Open MPI v' if mpi.kind == 'openmpi' else 'MPICH Version:'}" in done.stdout
    assert mpi.version in done.stdout
    assert mpi.version.startswith(WANTED[name])


@pytest.fixture
def wheels(near_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The native sources of pt2pt alone, and MPICH's wheel beside Open MPI's as docs/toolchains.md has it."""
    wanted("wheel-mpich", WHEEL)
    monkeypatch.setenv("ASSAY_CACHE", str(near_path / "build" / "cache"))
    mpis_folder().mkdir(parents=True)
    (mpis_folder() / "mpich").symlink_to(MPICH)
    native = copied(near_path, "pt2pt")
    monkeypatch.setattr(sources, "folder", lambda: native)
    return native


@pytest.mark.long
@pytest.mark.usefixtures("wheels")
def test_both_wheels_stand_beside_the_sites_and_their_ranks_pass_messages() -> None:
    told = subprocess.run([ASSAY, "list", "mpis", "--json"], capture_output=True, text=True, check=True)
    listed = {each["name"]: each for each in json.loads(told.stdout)["mpis"]}
    own = str(Path(sys.prefix).resolve())
    for kind, home in (("openmpi", own), ("mpich", str(MPICH.resolve()))):
        (name,) = [name for name, each in listed.items() if name.startswith(f"{kind}-5.")]
        assert Path(listed[name]["launcher"]).is_relative_to(home), "the wheel's, and no other"
        built = toolchain.build(toolchain.get(f"{toolchain.get().name}/{name}"))
        ranks_told = mpi_ranks.run(built, "pt2pt", 2, *mpi_ranks.QUICK, "--bytes", "1000")
        mpi_ranks.complete(ranks_told, 1)
        assert [rank.rank for rank in ranks_told.header.ranks] == [0, 1]
        assert name.partition("-")[2] in ranks_told.header.mpi.library
    site = [name for name in listed if name.startswith(("openmpi-4.", "mpich-4."))]
    assert [*listed][: len(site)] == site, "the site's come first: it knows its networks"


def test_all_of_this_machines_are_listed_each_once() -> None:
    installed = [wrapper for wrapper in ("mpicxx.openmpi", "mpicxx.mpich") if shutil.which(wrapper)]
    if not installed:
        pytest.skip("no MPI of Debian: apt install libopenmpi-dev openmpi-bin libmpich-dev mpich")
    told = subprocess.run([ASSAY, "list", "mpis", "--json"], capture_output=True, text=True, check=True)
    listed = json.loads(told.stdout)["mpis"]
    assert {wrapper.rpartition(".")[2] for wrapper in installed} <= {one["kind"] for one in listed}
    assert len({Path(one["launcher"]).resolve() for one in listed}) == len(listed)
    with_toolchains = subprocess.run(
        [ASSAY, "list", "toolchains", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(with_toolchains.stdout)["mpis"] == listed


def test_an_unknown_mpi_is_a_slip_of_the_user() -> None:
    done = subprocess.run([ASSAY, "build", "--mpi", "nompi"], capture_output=True, text=True, check=False)
    assert done.returncode in {2, 4}  # 4: this machine has no MPI at all
    assert "MPI" in done.stderr
    assert "Traceback" not in done.stderr


def test_hosts_and_deploy_belong_together() -> None:
    for wish in (["--deploy"], ["--hosts", "n1"]):
        done = subprocess.run([ASSAY, "build", *wish], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "need each other" in done.stderr
