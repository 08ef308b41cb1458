"""Packages outside of Assay's tree, installed as users install them: by pip, as wheels."""

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path

from tests.impatient import ASSAY

ROOT = Path(__file__).parents[1]
PACKAGES = ROOT / "tests" / "packages"


def install(folder: Path, *packages: Path) -> None:
    """Install packages into a folder by the pip of an environment of its own: that of the tests has none."""
    with tempfile.TemporaryDirectory() as place:
        venv.create(place, with_pip=True)
        words = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(folder)]
        command = [f"{place}/bin/python", "-m", "pip", *words, *map(str, packages)]
        subprocess.run(command, check=True, capture_output=True, text=True)


def environment(installed: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The environment in which Assay finds installed packages, and keeps builds and runs beside them."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT, installed))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "ASSAY_RUNS": str(installed / "runs"),
        "ASSAY_CACHE": str(installed),
        **variables,
    }


def assay(installed: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A command of Assay in the folder of the installed packages."""
    done = subprocess.run(
        [*ASSAY, *arguments],
        cwd=installed,
        env=environment(installed, variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def simulated(installed: Path, script: str) -> str:
    """Standard output of a script with the simulated machine and the installed packages."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=installed, env=environment(installed, {}), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
