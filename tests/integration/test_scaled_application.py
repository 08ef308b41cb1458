"""An application is scaled by the same command as any benchmark, and its times are speeds."""

from pathlib import Path

from tests.integration.test_applications import assay, heat

from assay import store
from assay.analyse import analyse
from assay.topics.scaling.models.scaling import Scaling


def test_the_file_of_an_application_is_scaled_over_threads(tmp_path: Path) -> None:
    env = heat(tmp_path)
    options = ("--sweep", "threads=1,2", "--set", "points=100", "--launches", "2", "--runs", "runs")
    done = assay(tmp_path, env, "run", "scale:./heat.toml", *options)
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "runs").iterdir()
    analysis = analyse(store.load(path))
    models = [each for each in analysis.models if isinstance(each, Scaling)]
    assert models, done.stderr
    (step,) = models[0].steps
    assert (step.cores, step.nodes, step.ranks) == (2, 1, 0)
    base = next(each for each in analysis.estimates if each.id == models[0].base)
    two = next(each for each in analysis.estimates if each.id == step.estimates[0])
    assert base.unit == two.unit == "s"
    assert base.median
    assert two.median
    assert step.seconds
    assert (step.speed_up.value > 1) == (two.median < base.median)
