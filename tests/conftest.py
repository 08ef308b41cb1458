"""What every test may use: one build of the native programs, a clean environment, and honest skips."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from hypothesis import settings
from tests import alone
from tests.planted_programs import nearby
from xdist.scheduler import LoadScopeScheduling

from assay import toolchain
from assay.model.errors import UnfitEnvironmentError
from assay.model.toolchain import Build

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))  # tests of the lab use its tool
#: Variables of the test machine that would change the results.
_FOREIGN = ("ASSAY_", "NO_COLOR", "FORCE_COLOR", "OMP_", "GOMP_", "KMP_", "SLURM_", "PBS_", "LSB_")

#: Lot -> its files, if there are several: those that share a guest, those that share a lab, and those that load
#: scipy, which takes seconds. There are two labs: tests in one mostly wait for faults to be noticed, those in
#: the other measure.
_LOTS = {
    "guest": ("cluster/test_placement", "cluster/test_topology"),
    "lab: faults": tuple(f"cluster/test_{each}" for each in ("lab", "lab_down", "lab_faults", "lab_levels")),
    "lab: jobs": tuple(f"cluster/test_lab_{each}" for each in ("launch", "submit", "together")),
    "lab: figures": tuple(f"cluster/test_lab_{each}" for each in ("findings", "mpi", "solutions", "study")),
    "scipy": tuple(
        f"unit/test_{each}"
        for each in (
            "comparison_statistics",
            "history",
            "models",
            "simulated",
            "statistics",
            "strata",
            "message_formulas",
            "speed_up_law",
            "system_law",
            "system_page",
        )
    ),
}
_LOT = {f"tests/{file}.py": lot for lot, files in _LOTS.items() for file in files}

# A law holds on a busy machine too: no example may fail because it took long.
_USUAL = settings.get_profile(settings.get_current_profile_name())
settings.register_profile("assay", _USUAL, deadline=None, max_examples=_USUAL.max_examples // 2)
settings.register_profile("long", _USUAL, deadline=None, max_examples=20 * _USUAL.max_examples)

# A shell starts background commands with SIGINT ignored, nohup with SIGHUP, and every program below inherits
# that: tests of Ctrl-C would wait endlessly. A handler, unlike an ignored signal, is not inherited.
for ignored in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--long`, for a release: see `make test-long`."""
    parser.addoption("--long", action="store_true", help="repeat tests of chance and of laws far more often")
    parser.addoption(
        "--attempt", type=int, default=0, help="of `make test`: 1: all tests, 2: those that failed, alone"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tests of laws are collected with the requested number of examples."""
    settings.load_profile("long" if config.getoption("--long") else "assay")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that take minutes run only with `--long`."""
    left = [] if config.getoption("--long") else [item for item in items if item.get_closest_marker("long")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_collection_finish() -> None:
    """Objects that exist by now are kept: searching them for garbage repeatedly takes a tenth of all tests."""
    gc.freeze()


def pytest_unconfigure() -> None:
    """Ignore complaints of libraries about objects that remain at the end."""
    gc.unfreeze()


@pytest.fixture
def repeats(request: pytest.FixtureRequest) -> Callable[[int, int], int]:
    """Repetitions of a test of chance: the first number usually, the second in a long run."""
    return lambda usual, long: long if request.config.getoption("--long") else usual


class Lots(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Which tests go to one process of `pytest -n`: those of a file, or of several files, which share fixtures."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return _LOT.get(file, file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Lots:
    """Lots are distributed in the order of their collection."""
    config.option.loadscopereorder = False
    return Lots(config, log)


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see none of the user's settings; the cache of builds is kept, because building takes long."""
    for name in os.environ:
        if name.startswith(_FOREIGN) and name != "ASSAY_CACHE":
            monkeypatch.delenv(name)


@pytest.fixture
def near_path() -> Generator[Path]:
    """Replaces `tmp_path` where native programs are compiled: see `nearby`."""
    with nearby() as folder:
        yield folder


@pytest.fixture
def empty_cache(monkeypatch: pytest.MonkeyPatch, near_path: Path) -> Path:
    """A separate cache of builds, as deep below the sources as the default one."""
    monkeypatch.setenv("ASSAY_CACHE", str(near_path))
    return near_path


@pytest.fixture(scope="session")
def build() -> Build:
    """The native programs built with the default toolchain."""
    try:
        chosen = toolchain.get()
    except UnfitEnvironmentError as error:
        pytest.skip(f"no compiler: {error.why}")
    return toolchain.build(chosen)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With CI set, a program that a test needs must exist; only the machine itself may be too small."""
    report = yield
    if os.environ.get("CI") and report.skipped and "this machine" not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped, though CI is set: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What tests counted, in whichever process they ran, and which of them passed only alone."""
    for report in terminalreporter.getreports("passed"):
        for name, count in (each for each in report.user_properties if each[0] == "inputs"):
            terminalreporter.write_line(f"{report.nodeid}: {count:,} {name}")
    passed = [report.nodeid for report in terminalreporter.getreports("passed")]
    failed = sum(len(terminalreporter.getreports(kind)) for kind in ("failed", "error"))
    for line in alone.told(config.getoption("--attempt"), passed, failed):
        terminalreporter.write_line(line)
