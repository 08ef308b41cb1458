"""What every test may use: one build of the native programs, a quiet environment, and honest skips."""

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import settings

from assay import toolchain
from assay.model.errors import UnfitEnvironmentError
from assay.model.toolchain import Build

#: Variables of the machine that runs the tests and that would change what they see.
_FOREIGN = ("ASSAY_", "NO_COLOR", "FORCE_COLOR", "OMP_", "GOMP_", "KMP_", "SLURM_", "PBS_", "LSB_")

# A law holds however busy the machine is: no example of it may fail for having taken long.
settings.register_profile("assay", settings.get_profile(settings.get_current_profile_name()), deadline=None)
settings.load_profile("assay")

# A shell starts what runs in its background with SIGINT ignored, nohup with SIGHUP, and every program below
# inherits that: tests of Ctrl-C would wait in vain. A handler, unlike an ignored signal, is not inherited.
for ignored in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler)


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see none of the user's settings; the cache of builds is kept, for building takes long."""
    for name in os.environ:
        if name.startswith(_FOREIGN) and name != "ASSAY_CACHE":
            monkeypatch.delenv(name)


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
    """Where CI is set, a program that a test needs must be there; only the machine itself may be too small."""
    report = yield
    if os.environ.get("CI") and report.skipped and "this machine" not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"skipped, though CI is set: {report.longrepr}"
    return report
