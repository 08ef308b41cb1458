"""Runs to compare: a planted effect of a factor on a machine that drifts, a run with its base, levels of runs."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.comparison import Comparison
from assay.model.plan import Factor, Measure, Study
from assay.model.run import Run
from assay.plan import Options
from assay.simulation import Law

STUDY = Study("t", "q?", (Measure("stream", ("one-core",)),), launches=6)
BOOST = Factor("boost", ("off", "on"), "commands", commands={"off": "boost off", "on": "boost on"})
DRIFT = 0.03 / 100  # 3 % over a run of about 100 simulated seconds


def boosted(folder: Path, gain: float, seed: int, launches: int | None = None, drift: float = DRIFT) -> Run:
    """A run with the factor `boost`, which speeds everything up by `gain`, on a machine that drifts."""
    law = Law(commands={"boost off": 1.0, "boost on": 1.0 + gain}, drift=drift, noise=0.01)
    options = Options(launches=launches, factors=(BOOST,))
    return store.load(simulated_run(folder, law, study=STUDY, options=options, seed=seed))


def effects(run: Run, differ: str = "boost") -> list[Comparison]:
    return [each for each in analyse(run).comparisons if each.differ == differ]


def pair(tmp_path: Path, gain: float = 0.0, launches: int = 6) -> tuple[Run, Run]:
    """A run and its base, with `gain` between them."""
    law = Law(core_traffic=12e9 * (1 + gain))
    base = simulated_run(tmp_path, study=STUDY, options=Options(launches=launches), seed=1)
    run = simulated_run(tmp_path, law, study=STUDY, options=Options(launches=launches), seed=2)
    return store.load(run), store.load(base)


def in_turn(folder: Path, order: str, speeds: Mapping[str, float], study: Study = STUDY) -> list[Path]:
    """Runs of these levels of `nps`, a minute after each other; `speeds`: level -> speed of its cores.

    Cores are so slow that memory does not bound them.
    """
    paths = []
    for minute, level in enumerate(order):
        law = Law(core_traffic=4e9 * speeds[level])
        options = Options(launches=2, levels={"nps": level})
        path = simulated_run(folder, law, study=study, options=options, seed=minute + 1)
        info = json.loads((path / "run.json").read_text("utf-8"))
        info["started"] = f"2026-11-28T10:{minute:02}:00+00:00"
        (path / "run.json").write_text(json.dumps(info), "utf-8")
        paths.append(path)
    return paths
