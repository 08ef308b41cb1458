"""A package outside Assay adds a command and a view by one entry point, and nothing else is edited."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.simulation import simulated_run

import assay

COMMAND = '''"""`assay count`."""
import click
from assay.model.answers import Answer

@click.command()
@click.argument("run", default="last", required=False)
@click.option("--times", type=int, default=1)
@click.pass_obj
def command(site, run, times):
    """Count the launches of a run."""
    from assay import store
    launches = times * len(store.load(store.find(run)).launches)
    value = {"schema": 1, "launches": launches, "limits": dict(site.limits())}
    return Answer(value, lambda console: console.print(f"{launches} launches"))
'''
VIEW = '''"""`assay show figures-of-all`."""
from assay.model.answers import Answer, View

def _answer(runs):
    counts = {run.info.id: len(analysis.estimates) for run, analysis in runs}
    return Answer({"schema": 1, "figures": counts}, lambda console: console.print(*counts.values()))

view = View("number of figures of each run", _answer)
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an installed package, its topic, and a run."""
    folder = tmp_path_factory.mktemp("site")
    for kind, name, text in (("commands", "count", COMMAND), ("views", "census", VIEW)):
        place = folder / "assay_counted" / kind
        place.mkdir(parents=True)
        (place / "__init__.py").write_text('"""Counted."""\n')
        (place / f"{name}.py").write_text(text)
    (folder / "assay_counted" / "__init__.py").write_text('"""Counted."""\n')
    info = folder / "assay_counted-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-counted\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[assay.topics]\ncounted = assay_counted\n")
    (folder / "assay.toml").write_text("[limits]\ncopy = '10 GB/s'\n")
    simulated_run(folder / "made").rename(folder / "run")
    return folder


def call(site: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join((str(Path(assay.__file__).parent.parent), str(site)))
    variables = {**os.environ, "PYTHONPATH": path, "ASSAY_RUNS": str(site / "runs"), "ASSAY_CACHE": str(site)}
    return subprocess.run(
        [sys.executable, "-m", "assay", *words],
        cwd=site,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_command_of_a_package_is_listed_explained_and_answers(site: Path) -> None:
    assert "count       Count the launches of a run." in call(site, "--help").stdout
    assert "--json" in call(site, "count", "--help").stdout
    told = json.loads(call(site, "count", "run", "--times", "2", "--json").stdout)
    assert told["launches"] > 0
    assert told["limits"] == {"copy": 1e10}
    assert call(site, "count", "run", "--times", "2").stdout == f"{told['launches']} launches\n"
    wrong = call(site, "cuont")
    assert (wrong.returncode, "next: assay count --help" in wrong.stderr) == (2, True)


def test_its_options_can_stand_in_the_configuration(site: Path) -> None:
    once = json.loads(call(site, "count", "run", "--json").stdout)["launches"]
    (site / "assay.toml").write_text("[limits]\ncopy = '10 GB/s'\n[count]\ntimes = 3\n")
    assert json.loads(call(site, "count", "run", "--json").stdout)["launches"] == 3 * once
    (site / "assay.toml").write_text("[limits]\ncopy = '10 GB/s'\n")


def test_a_view_of_a_package_is_listed_and_reads_every_run(site: Path) -> None:
    (site / "runs").mkdir(exist_ok=True)
    (site / "runs" / "20261128-000000-one-aaaa").symlink_to(site / "run")
    assert "number of figures of each run" in call(site, "list", "views").stdout
    told = json.loads(call(site, "show", "census", "--json").stdout)
    (figures,) = told["figures"].values()
    assert figures > 0
    assert call(site, "show", "census").stdout == f"{figures}\n"
