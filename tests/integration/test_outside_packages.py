"""Packages outside of the tree that measure a folder and a device, and one that lies about its device."""

import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.outside import PACKAGES, ROOT, assay, install, simulated

pytestmark = pytest.mark.native

STORAGE = """
title = "A file"
question = "How fast?"
launches = 1
budget_s = 5

[[measure]]
benchmark = "storage"
placements = ["one-core"]
axes = { bytes = [1048576, 4194304], block = 1048576 }
"""
OPENCL = """
title = "A device"
question = "How fast?"
launches = 1
budget_s = 5

[[measure]]
benchmark = "opencl_memory"
placements = ["all:device:*"]
axes = { elements = 1048576 }
"""
#: The simulated run of a study whose figures have limits.
SIMULATED = """
from pathlib import Path
import msgspec
from tests.simulation import begin, carry_on, described, EPYC_7601
from assay import plan, store
from assay.analyse import analyse
from assay.model.facts import Fact
from assay.model.machine import Device
from assay.model.plan import Measure, Study
from assay.model.resource import GivenFolder
from assay.simulation import Law, SimulatedMachine

facts = {"computes with": Fact("OpenCL", source="test")}
machine = msgspec.structs.replace(described(EPYC_7601), devices=(Device("opencl:cpu", "accelerator", facts),))
measures = (
    Measure("storage", ("one-core",), axes={"bytes": 2**20, "block": 2**20}),
    Measure("stream", ("one-core", "all")),
    Measure("opencl_memory", ("rank-per:device",)),
)
options = plan.Options(seed=1, folders=(GivenFolder("/scratch"),))
made = plan.make("own", Study("S", "Q?", measures, launches=3), machine, options)
directory = begin(Path("simulated"), made, EPYC_7601)
carry_on(directory, made, SimulatedMachine(machine.topology, Law(), made.hosts))
for each in analyse(store.load(directory.path)).estimates:
    if each.benchmark in {"storage", "opencl_memory"} and each.limit:
        named = (*map(str, each.placement.proven.devices), *each.placement.proven.file_systems)
        print(each.benchmark, each.metric, each.status, each.limit.source, each.median < each.limit.value, *named)
"""


@pytest.fixture(scope="module")
def installed() -> Generator[Path]:
    """The three packages, installed; also the cache of builds, where ccache knows sources by relative paths."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="site-packages-", dir=ROOT / "build") as place:
        folder = Path(place)
        install(folder, *(PACKAGES / f"assay-{name}" for name in ("storage", "opencl", "wrong-device")))
        (folder / "storage.toml").write_text(STORAGE)
        (folder / "opencl.toml").write_text(OPENCL)
        yield folder


def shown(installed: Path, benchmark: str) -> list[dict[str, Any]]:
    """Estimates of a benchmark in the last run."""
    answer = json.loads(assay(installed, "show", "last", "--json").stdout)
    return [each for each in answer["estimates"] if each["benchmark"] == benchmark]


@pytest.fixture(scope="module")
def stored(installed: Path) -> tuple[list[dict[str, Any]], str, Path]:
    """Estimates, page, and the folder that was used."""
    folder = installed / "scratch"
    folder.mkdir()
    done = assay(
        installed, "run", "./storage.toml", "--folder", str(folder), "--launches", "1", ASSAY_RUN_SEED="1"
    )
    assert done.returncode == 0, done.stderr
    return shown(installed, "storage"), Path(done.stdout.splitlines()[-1]).read_text(), folder


def test_a_file_is_measured_verified_and_placed(stored: tuple[list[dict[str, Any]], str, Path]) -> None:
    estimates, _, folder = stored
    figures = {(each["metric"], each["params"]["bytes"]) for each in estimates}
    assert figures >= {(name, size) for name in ("rate", "read-rate") for size in (2**20, 2**22)}
    for each in estimates:
        assert (each["status"], each["placement"]["proven"]["as_asked"]) == ("complete", True)
        assert each["value"]["value"] > 0
        (mount,) = each["placement"]["proven"]["file_systems"]
        assert mount == found_mount(folder)


def found_mount(folder: Path) -> str:
    """Type and source of a file system by findmnt's own reading, independent of ours."""
    command = ["findmnt", "--noheadings", "--output", "FSTYPE,SOURCE", "--target", str(folder)]
    kind, source = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[:2]
    return f"{kind} {source.partition('[')[0]}"


def test_where_bytes_went_stands_in_the_report(stored: tuple[list[dict[str, Any]], str, Path]) -> None:
    _, page, _ = stored
    assert 'id="storage"' in page
    assert "Files, and where their bytes went" in page
    assert any(f">{where}<" in page for where in ("device", "cache", "unproven"))


def test_nothing_stays_in_the_folder(stored: tuple[list[dict[str, Any]], str, Path]) -> None:
    assert list(stored[2].iterdir()) == []


def test_a_file_system_in_memory_is_a_cache(installed: Path, stored: object) -> None:
    assert stored
    place = tempfile.mkdtemp(dir="/dev/shm")
    program = programs(installed)["storage"]
    command = [program, "--folder", place, "--bytes", "1M", "--seconds", "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    header = json.loads(done.stdout.splitlines()[0])
    assert header["facts"] == {"bytes were read from": "cache", "bytes were written to": "cache"}
    assert header["ranks"][0]["folder"]["file_system"] == "tmpfs"
    assert header["ranks"][0]["folder"]["removed"] is True
    Path(place).rmdir()  # it is empty


def programs(installed: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in (installed / "builds").glob("*/manifest.json"):
        found |= json.loads(path.read_text())["programs"]
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_folder_of_an_interrupted_program_is_removed(
    installed: Path, stored: object, number: signal.Signals, tmp_path: Path
) -> None:
    assert stored
    command = [programs(installed)["storage"], "--folder", str(tmp_path), "--bytes", "1M", "--seconds", "60"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        within(lambda: any(tmp_path.glob("assay-*/file")))
        process.send_signal(number)
        assert process.wait() == -number
    within(lambda: not any(tmp_path.iterdir()))


def within(holds: Any, seconds: float = 30) -> None:  # noqa: ANN401 (a condition)
    """Wait until a condition holds; fail if it does not in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_without_a_folder_the_reason_and_the_next_command_are_printed(installed: Path) -> None:
    done = assay(installed, "run", "./storage.toml")
    assert done.returncode == 4
    assert "storage writes into a folder, and none is named" in done.stderr
    assert "next: assay run ./storage.toml --folder /tmp" in done.stderr


def test_a_folder_that_is_not_there_is_told_with_the_reason(installed: Path) -> None:
    done = assay(installed, "plan", "./storage.toml", "--folder", "/no/such/folder")
    assert done.returncode == 4
    assert "there is no such folder" in done.stderr


@pytest.fixture(scope="module")
def on_device(installed: Path) -> tuple[list[dict[str, Any]], str]:
    """Estimates and page of the OpenCL devices."""
    (installed / "assay.toml").write_text('[limits]\nopencl-memory = "2 TB/s"\n')
    done = assay(installed, "run", "./opencl.toml")
    assert done.returncode == 0, done.stderr
    estimates, page = shown(installed, "opencl_memory"), Path(done.stdout.splitlines()[-1]).read_text()
    (installed / "assay.toml").unlink()
    return estimates, page


def test_a_device_is_measured_verified_placed_and_limited(on_device: tuple[list[dict[str, Any]], str]) -> None:
    estimates, _ = on_device
    assert {each["kernel"] for each in estimates} == {"copy", "triad"}
    for each in estimates:
        assert (each["status"], each["placement"]["proven"]["as_asked"]) == ("complete", True)
        assert 0 < each["value"]["value"] < each["limit"]["value"]
        assert each["limit"]["source"] == "given"
        (device,) = each["placement"]["proven"]["devices"]
        assert device["name"].startswith("opencl:")


def test_the_report_names_the_device(on_device: tuple[list[dict[str, Any]], str]) -> None:
    estimates, page = on_device
    assert 'id="opencl"' in page
    assert estimates[0]["placement"]["proven"]["devices"][0]["name"] in page


def test_discover_names_the_device_that_the_program_opens(
    installed: Path, on_device: tuple[list[dict[str, Any]], str]
) -> None:
    machine = json.loads(assay(installed, "discover", "--json").stdout)
    names = [device["name"] for device in machine["devices"] if device["kind"] == "accelerator"]
    opened = [device["name"] for each in on_device[0] for device in each["placement"]["proven"]["devices"]]
    assert {*opened} <= {*names}


def test_without_a_device_the_reason_is_printed(installed: Path) -> None:
    done = assay(installed, "run", "./opencl.toml", OCL_ICD_VENDORS=str(installed / "scratch"))
    assert done.returncode == 4
    assert "no device is known on this machine" in done.stderr


@pytest.fixture(scope="module")
def lied(installed: Path) -> tuple[int, str, dict[tuple[str, str], tuple[str, str]], list[dict[str, Any]]]:
    """Exit code and stderr, (placement, what ranks report) -> status and reason, and estimates."""
    study = PACKAGES / "assay-wrong-device" / "wrong_device.toml"
    done = assay(installed, "run", str(study), POCL_DEVICES="basic pthread")
    answer = json.loads(assay(installed, "show", "last", "--json").stdout)
    outcomes = {
        (each["case"].split("/")[1], each["case"].rpartition("reports=")[2]): (each["status"], each["reason"])
        for each in answer["outcomes"]
        if each["case"].startswith("wrong_device")
    }
    return done.returncode, done.stderr, outcomes, shown(installed, "wrong_device")


@pytest.mark.parametrize(
    ("place", "reports", "reason"),
    [
        ("one-core:device:0", "other", "opened opencl:another_device"),
        ("one-core:device:0", "none", "reports no device that it opened"),
        ("rank-per:device", "one", "rank 1: it was asked for opencl:pthread"),
        ("rank-per:device", "none", "rank 0: it was asked for opencl:basic"),
    ],
)
def test_ranks_on_other_devices_are_invalid_without_a_figure(
    lied: tuple[int, str, dict[tuple[str, str], tuple[str, str]], list[dict[str, Any]]],
    place: str,
    reports: str,
    reason: str,
) -> None:
    code, said, outcomes, estimates = lied
    assert (code, "gave no valid result" in said) == (1, True)
    assert outcomes[place, reports][0] == "invalid"
    assert reason in outcomes[place, reports][1]
    assert not [
        each
        for each in estimates
        if each["params"]["reports"] == reports and each["placement"]["label"] == place and each["value"]
    ]


@pytest.mark.parametrize("place", ["one-core:device:0", "rank-per:device"])
def test_ranks_on_the_devices_that_they_were_given_have_a_figure(
    lied: tuple[int, str, dict[tuple[str, str], tuple[str, str]], list[dict[str, Any]]], place: str
) -> None:
    _, _, outcomes, estimates = lied
    assert outcomes[place, "given"][0] == "complete"
    assert any(each["placement"]["label"] == place and each["value"] for each in estimates)


def test_both_packages_run_on_a_simulated_machine_with_limits(installed: Path) -> None:
    assert simulated(installed, SIMULATED).splitlines() == [
        "storage rate complete simulated True ",
        "storage read-rate complete simulated True ",
        "opencl_memory bandwidth complete simulated True opencl:cpu",
        "opencl_memory bandwidth complete simulated True opencl:cpu",
    ]


def test_every_package_has_its_sources_in_the_wheel(installed: Path) -> None:
    assert len(list(installed.glob("assay_*/native/*.cpp"))) == 3
    for path in PACKAGES.glob("assay-*/assay_*/native/*"):
        there = installed / path.relative_to(path.parents[2])
        assert there.read_bytes() == path.read_bytes()


def test_their_runs_are_read_where_they_are_not_installed(
    installed: Path, stored: object, on_device: object, tmp_path: Path
) -> None:
    assert stored
    assert on_device
    gone = {"PYTHONPATH": str(ROOT / "src")}
    of_study: dict[str, list[Path]] = {name: [] for name in ("storage", "opencl")}
    for path in sorted((installed / "runs").iterdir()):
        of_study.get(path.name.split("-")[2], []).append(path)
    for study, benchmark in (("storage", "storage"), ("opencl", "opencl_memory")):
        run = str(of_study[study][0])
        assert benchmark not in assay(tmp_path, "list", "benchmarks", **gone).stdout
        own, elsewhere = (
            json.loads(assay(folder, "show", run, "--json", **variables).stdout)["estimates"]
            for folder, variables in ((installed, {}), (tmp_path, gone))
        )
        of_package = [each for each in elsewhere if each["benchmark"] == benchmark and each["value"]]
        assert of_package
        assert [each["value"] for each in of_package] == [
            each["value"] for each in own if each["benchmark"] == benchmark and each["value"]
        ]
        compared = json.loads(assay(tmp_path, "compare", run, run, "--json", **gone).stdout)
        assert benchmark in {pair["a"]["benchmark"] for pair in compared["pairs"]}
        assert benchmark in assay(tmp_path, "export", run, "--format", "csv", **gone).stdout
