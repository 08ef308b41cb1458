"""Applications as data: what a declaration may say, and what it finds in kept outputs of real runs."""

import gzip
import re
import tomllib
from itertools import combinations
from math import dist
from pathlib import Path
from typing import Any

import pytest

from assay import cli, studies, toolchain
from assay.catalogue import application_files, benchmarks
from assay.importing.application import Reading, read
from assay.model.application import Application
from assay.model.errors import UsageError
from assay.model.placement import Memory, Placement
from assay.model.units import printed_unit

PAGE = Path(__file__).parents[2] / "docs" / "applications.md"
KEPT = Path(__file__).parents[1] / "applications"
TWO_RANKS = Placement("all", "", (0, 1), Memory(), ("here",), ranks=((0,), (1,)))
TWO_THREADS = Placement("all", "", (0, 1), Memory(), ("here",))


def shown(first: str) -> str:
    """The block of the page that begins so."""
    blocks = re.findall(r"^```(?:\w+)\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    return str(next(each for each in blocks if each.startswith(first)))


def table() -> dict[str, Any]:
    """The declaration of the page."""
    return tomllib.loads(shown("[application]"))


def declared(changed: dict[str, Any]) -> Application:
    return application_files.of_table(changed, Path("heat.toml"))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with the declaration of the page and the output that it is tried on."""
    (tmp_path / "heat.toml").write_text(shown("[application]"))
    (tmp_path / "heat.out").write_text(shown("heat 1.2"))
    return tmp_path


def assay(*arguments: object) -> int:
    return cli._run([str(each) for each in arguments])  # as a shell would


def test_the_declaration_of_the_page_finds_what_the_page_shows(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert assay("check", files / "heat.toml", files / "heat.out", "--set", "threads=2") == 0
    assert capsys.readouterr().out == shown("version  1.2")


def test_a_compressed_output_is_read_alike(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = files / "kept.output.gz"
    kept.write_bytes(gzip.compress((files / "heat.out").read_bytes()))
    assert assay("check", files / "heat.toml", kept, "--set", "threads=2") == 0
    assert assay("check", files / "heat.toml", kept) == 0  # what depends on the threads is unknown, not wrong
    assert "it depends on threads" in capsys.readouterr().out


def test_an_absent_figure_and_a_wrong_number_exit_1_and_say_what_was_sought(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = files / "heat.out"
    output.write_text(shown("heat 1.2").replace("solved in", "took"))
    assert assay("check", files / "heat.toml", output) == 1
    printed = capsys.readouterr().err
    assert "'time' was sought as '^solved in (\\S+) s', which matches nothing" in printed
    assert "residual 3.0e-09 / took 0.45 s" in printed
    output.write_text(shown("heat 1.2").replace("3.0e-09", "3.0e-05"))
    assert assay("check", files / "heat.toml", output) == 1
    assert "it is 3e-05, and 0.0 within 1e-08 is right" in capsys.readouterr().err


def test_a_slip_of_the_pen_exits_2_with_the_nearest_key(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "heat.toml").write_text(shown("[application]").replace('take = "mean"', 'takes = "mean"'))
    assert assay("check", files / "heat.toml") == 2
    printed = capsys.readouterr().err
    assert "unknown key 'application.figures.step.takes' in" in printed
    assert "did you mean 'take'?" in printed


def test_without_an_output_it_says_whether_the_program_is_here(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(files))
    monkeypatch.setenv("ASSAY_CACHE", str(files))
    assert assay("check", files / "heat.toml") == 4
    printed = capsys.readouterr().err
    assert "the program heat is not here; as root: apt-get install heat; without root: mkdir -p" in printed
    assert "apt-get download" in printed
    assert 'dpkg -x "$file"' in printed
    (files / "heat").write_text("#!/bin/sh\n")
    (files / "heat").chmod(0o755)
    assert assay("check", files / "heat.toml") == 0


def test_an_absent_program_has_others_that_solve_the_same_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    remedy = toolchain.applications.absent(application_files.named("nwchem-benzene"))
    assert (
        "the same problem by another program: assay run pyscf-benzene; as root: apt-get install nwchem" in remedy
    )
    known = application_files.stored().keys()
    assert {other for name in known for other in application_files.named(name).needs.instead} <= known


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        ("figures.time.pattern", "solved", "needs one, around the number"),
        ("figures.time.pattern", "(", "is not a regular expression"),
        ("command", ["heat", "{corners}"], "'{corners}' in command is not a parameter"),
        ("verify", [{"about": "x"}], "needs one of pattern with value, present, and absent"),
        ("verify", [{"about": "x", "pattern": "(.)"}], "needs both pattern and value"),
        ("verify", [{"about": "x", "present": "a", "absent": "b"}], "needs one of"),
        ("verify", [{"about": "x", "present": "a", "when": {"size": 1}}], "is not a parameter"),
        ("verify", [], "length >= 1"),
        ("environment", {"OMP_NUM_THREADS": "4"}, "Assay sets OMP_NUM_THREADS itself"),
        ("environment", {"OMP_PLACES": "sockets"}, "Assay sets OMP_PLACES itself"),
        ("inputs", {"../x": {"text": "a"}}, "is not a name of a file"),
        ("inputs", {"x": {"file": "y"}}, "needs its sha256"),
        ("parameters.cpus", {"meaning": "x", "values": [1]}, "has its meaning already"),
        ("parallel", "processes", "Invalid enum value"),
    ],
)
def test_what_contradicts_itself_is_refused(path: str, value: object, why: str) -> None:
    changed = table()
    *folders, last = path.split(".")
    place = changed["application"]
    for each in folders:
        place = place[each]
    place[last] = value
    with pytest.raises(UsageError) as caught:
        declared(changed)
    assert why in caught.value.why


def test_it_is_a_benchmark_with_its_command_its_files_and_its_metrics() -> None:
    benchmark = declared(table()).benchmark()
    foreign = benchmark.foreign
    assert foreign
    assert benchmark.kernels == ("time", "step", "elapsed")
    assert [(each.name, each.unit, each.better) for each in benchmark.metrics[:2]] == [
        ("time", "s", "lower"),
        ("step", "s", "lower"),
    ]
    assert dict(benchmark.defaults) == {"points": 100}
    assert foreign.command({"points": 200}, TWO_THREADS, "") == ("heat", "plate.in")
    assert foreign.inputs({"points": 200}, TWO_THREADS, "") == {"plate.in": "points 200\nthreads 2\n"}
    assert foreign.limit_s == 300


def test_variables_of_a_shell_and_other_braces_stay_in_input_files() -> None:
    changed = table()
    changed["application"]["inputs"]["plate.in"]["text"] = "${points} {points} {other} {points:3d}"
    foreign = declared(changed).benchmark().foreign
    assert foreign
    assert foreign.inputs({"points": 7}, TWO_THREADS, "") == {"plate.in": "${points} 7 {other} {points:3d}"}


def test_a_file_that_declares_one_is_a_study_of_itself(files: Path) -> None:
    study = studies.get(str(files / "heat.toml"))
    (measure,) = study.measure
    assert (measure.benchmark, measure.placements) == ("heat", ("one-core", "all"))
    assert benchmarks.get("heat").title == "Heat in a plate"


def test_one_is_scaled_as_any_benchmark_by_its_name_or_by_its_file(files: Path) -> None:
    scaled = studies.get(f"scale:{files / 'heat.toml'}", ("threads=1,2",))
    assert {each.benchmark for each in scaled.measure} == {"heat"}
    assert "lammps-lj" in {each.benchmark for each in studies.get("scale:lammps-lj").measure}


def test_one_of_the_users_folder_is_found_by_its_name(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(files))
    folder = files / "assay" / "applications"
    folder.mkdir(parents=True)
    (folder / "warmth.toml").write_text(shown("[application]"))
    assert studies.get("warmth").measure[0].benchmark == "warmth"
    assert "warmth" in benchmarks.applications()


def test_none_may_take_the_name_of_a_benchmark_of_assays_own(files: Path) -> None:
    (files / "stream.toml").write_text(shown("[application]"))
    with pytest.raises(UsageError, match="has the name of a benchmark"):
        studies.get(str(files / "stream.toml"))


@pytest.mark.parametrize(
    ("word", "unit", "factor"),
    [
        *(("ms", "s", 1e-3), ("GFLOPS", "flop/s", 1e9), ("MB/s", "B/s", 1e6), ("timesteps/s", "1/s", 1.0)),
        *(("ns/day", "ns/day", 1.0), ("op/s", "op/s", 1.0), ("1/s", "1/s", 1.0)),
    ],
)
def test_units_are_those_of_si_where_they_are_known(word: str, unit: str, factor: float) -> None:
    assert printed_unit(word) == (unit, factor)


@pytest.mark.parametrize(
    ("word", "seconds"),
    [
        ("1m21.10s", 81.1),
        ("0:01:21", 81.0),
        ("1h 2m", 3720.0),
        ("15.26s", 15.26),
        ("1.5D+02", 150.0),
        ("2:30", 150),
    ],
)
def test_durations_are_seconds(word: str, seconds: float) -> None:
    changed = table()
    changed["application"]["figures"]["time"]["pattern"] = "^solved in (.+)$"
    (found,) = (each for each in read(declared(changed), f"solved in {word}\n", {}).taken if each.name == "time")
    assert list(found.values) == [pytest.approx(seconds)]


@pytest.mark.parametrize(
    ("take", "values"), [("first", [3]), ("last", [5]), ("all", [3, 4, 5]), ("sum", [12]), ("mean", [4])]
)
def test_of_several_matches_those_that_are_asked_for_count_without_the_warm_up(
    take: str, values: list[float]
) -> None:
    changed = table()
    changed["application"]["figures"]["step"]["take"] = take
    output = "step 1  9 s\nstep 2  3 s\nstep 3  4 s\nstep 4  5 s\n"
    (found,) = (each for each in read(declared(changed), output, {}).taken if each.name == "step")
    assert (list(found.values), found.matches) == (values, 4)


#: Kept outputs of runs of the packages that the declarations name -> the ranks or threads that they had.
OUTPUTS = {
    "cp2k-water": "2",
    "gromacs-water": "2",
    "hpc-challenge": "2",
    "lammps-lj": "2",
    "nwchem-benzene": "2",
    "pyscf-benzene": "2",
    "qe-silicon": "2",
    "netpipe-openmpi": "2",
    "imb-pingpong": "2",
    "likwid-fma": "2",
    "likwid-stream": "2",
}


def kept(name: str) -> str:
    return gzip.decompress((KEPT / f"{name}.output.gz").read_bytes()).decode()


def reading(name: str, output: str, count: str = "2") -> Reading:
    application = application_files.named(name)
    values = {axis: str(each.values[0]) for axis, each in application.parameters.items()}
    return read(application, output, values | {"ranks": count, "threads": count})


#: Published outputs of programs that were not run here -> their parameters, and the first figure.
PUBLISHED: dict[str, tuple[dict[str, str], float]] = {
    "osu-latency": ({"ranks": "2"}, 0.24e-6),
    "osu-bw": ({"ranks": "2"}, 13.45e6),
    "osu-bibw": ({"ranks": "2"}, 32.48e6),
    "npb-kernels": ({"ranks": "2", "npb": "cg", "npb-class": "A"}, 606.32e6),
    "stream-c": ({"threads": "8"}, 8239.8e6),
    "babelstream-omp": ({}, 1338402.984e6),
    "xhpl": ({"ranks": "1", "n": "5040", "nb": "128"}, 8.6634e9),
    "xhpcg": ({"ranks": "1", "n": "16"}, 3.30318e9),
    "himeno-bmt": ({}, 541.2e6),
    "multichase": ({}, 88.7e-9),
}


def test_each_that_comes_with_assay_has_a_kept_output() -> None:
    larger = {"nwchem-coronene", "nwchem-c60h60"}
    assert application_files.stored().keys() == {*OUTPUTS, *PUBLISHED, *larger, "cloverleaf", "wrf"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_outputs_of_originals_have_every_figure_and_every_check_is_right(name: str) -> None:
    values, first = PUBLISHED[name]
    output = (KEPT / f"{name}.txt").read_text()
    found = read(application_files.named(name), output, values)
    assert found.missing == ()
    assert list(found.taken[0].values) == [pytest.approx(first)]
    assert {each.status for each in found.checks} == {"right"}, found.checks
    if other := {key: "3" for key in values if key in {"ranks", "threads"} and not name.startswith("osu")}:
        wrong = read(application_files.named(name), output, values | other).wrong
        assert wrong[0].about.startswith("number of")


@pytest.mark.parametrize("name", ["nwchem-coronene", "nwchem-c60h60"])
def test_larger_molecules_are_calculated_and_read_as_the_one_of_the_kept_output(name: str) -> None:
    found, of_benzene = (
        read(application_files.named(each), kept("nwchem-benzene"), {"ranks": "2"})
        for each in (name, "nwchem-benzene")
    )
    assert found.taken == of_benzene.taken
    assert (found.missing, found.wrong) == ((), ())
    atoms = [line.split() for line in application_files.named(name).inputs[f"{name[7:]}.nw"].text.splitlines()]
    places = [(each[0], tuple(map(float, each[1:]))) for each in atoms if len(each) == 4 and each[0] in {"C", "H"}]
    count, bonds = {"nwchem-coronene": (36, 42), "nwchem-c60h60": (120, 150)}[name]
    assert len(places) == count
    near = [(one, other) for (one, a), (other, b) in combinations(places, 2) if dist(a, b) < 2]
    assert len([each for each in near if each != ("H", "H")]) == bonds


def test_published_outputs_of_cloverleaf_are_right_or_wrong_as_it_says_itself() -> None:
    application, problem = application_files.named("cloverleaf"), {"cells": "960"}
    found = read(application, (KEPT / "cloverleaf-1.3.txt").read_text(), problem | {"ranks": "1"})
    assert found.version == "1.300"
    assert [list(each.values) for each in found.taken] == [[pytest.approx(44.00127292)]]
    assert {each.status for each in found.checks} == {"right"}
    broken = (KEPT / "cloverleaf-failed.txt").read_text()
    assert [each.about for each in read(application, broken, problem | {"ranks": "2"}).wrong] == [
        "kinetic energy against the expected one (%)",
        "its own verdict",
    ]
    assert read(application, broken, problem | {"ranks": "4"}).wrong[0].about == "number of ranks"


@pytest.mark.parametrize(("version", "steps", "mean"), [("4.1.4", 7, 0.22353), ("4.3", 4, 19.69965)])
def test_published_outputs_of_wrf_have_the_mean_step_of_the_outer_domain(
    version: str, steps: int, mean: float
) -> None:
    output = (KEPT / f"wrf-{version}.txt").read_text()
    found = read(application_files.named("wrf"), output, {"tiles": "1"})
    (step,) = found.taken
    assert (found.version, step.matches, len(step.steps)) == (version, steps, steps - 1)
    assert list(step.values) == [pytest.approx(mean, rel=1e-4)]
    assert {each.status for each in found.checks} == {"right"}
    assert [each.about for each in read(application_files.named("wrf"), output, {"tiles": "2"}).wrong] == [
        "number of tiles"
    ]


def test_a_wrf_that_gives_up_lacks_its_steps_and_says_why() -> None:
    found = read(application_files.named("wrf"), (KEPT / "wrf-fatal.txt").read_text(), {"tiles": "1"})
    assert found.taken == ()
    assert [each.about for each in found.wrong] == ["end", "number of tiles", "no fatal error"]


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_kept_output_has_every_figure_and_every_check_is_right(name: str) -> None:
    found = reading(name, kept(name), OUTPUTS[name])
    assert found.missing == ()
    assert {each.status for each in found.checks} == {"right"}, found.checks
    assert found.version or not application_files.named(name).version


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_that_breaks_off_lacks_its_figures(name: str) -> None:
    output = kept(name)
    assert reading(name, output[: len(output) // 3]).missing


@pytest.mark.parametrize("name", sorted(OUTPUTS.keys() - {"gromacs-water", "netpipe-openmpi"}))
def test_an_output_of_other_ranks_or_threads_is_wrong(name: str) -> None:
    assert next(each.about for each in reading(name, kept(name), "3").wrong).startswith("number of")


@pytest.mark.parametrize(
    ("name", "energy"),
    [
        ("nwchem-benzene", "Total DFT energy =     -231.7724"),
        ("pyscf-benzene", "energy -231.7724"),
        ("qe-silicon", "!    total energy              =    -505.3408"),
        ("cp2k-water", "energy [a.u.]:             -137.58606"),
        ("lammps-lj", "-4.613908"),
    ],
)
def test_a_wrong_energy_is_wrong_and_one_of_another_version_unknown(name: str, energy: str) -> None:
    output = kept(name)
    assert output.count(energy) == 1
    wrong = reading(name, output.replace(energy, energy[:-1] + "0")).wrong
    assert ["energy" in each.about for each in wrong] == [True]
    version = reading(name, output).version
    other = reading(name, output.replace(version, "99.1").replace(energy, energy[:-1] + "0"))
    bound = any(each.versions for each in application_files.named(name).verify)
    assert bool(other.wrong) != bound
    assert any(each.status == "unknown" for each in other.checks) == bound


def test_the_command_without_root_of_an_application_of_assay_is_one_of_assay() -> None:
    remedy = toolchain.applications.remedy(application_files.named("nwchem-c60h60"))
    assert remedy.endswith("without root: assay build --application nwchem-c60h60")
