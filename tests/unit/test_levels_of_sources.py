"""Sentences of a publication about levels of whole runs: judged by all runs of a level, or by all levels."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec
import pytest
from tests.simulation import simulated_run
from tests.unit.test_levels_of_runs import at_second
from tests.unit.test_like import given
from tests.unit.test_source_levels import NAME, study_of

from assay import references, store
from assay.compare.meeting import Declared
from assay.compare.repetitions import repetitions
from assay.compare.sides import sides
from assay.model.conclusion import Judged, Region
from assay.model.repetition import Repetition
from assay.model.run import Run
from assay.simulation import Law
from assay.simulation.law import Link

AT_LEAST = "better by 2 % at least"
#: Latency of the network with C-states: the source has 1.07 with, and 1.10 without.
LATENCIES: Mapping[str, float] = {"enabled": 1.0e-6, "disabled": 1.07e-6, "faster": 0.9e-6, "slower": 1.2e-6}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[Run]]:
    folder = tmp_path_factory.mktemp("runs")
    return {name: [latency(folder, name, seed) for seed in range(6)] for name in LATENCIES}


def latency(folder: Path, name: str, seed: int) -> Run:
    shape, options = given(NAME)
    level = name if name in {"enabled", "disabled"} else "enabled"
    options = msgspec.structs.replace(options, hosts=("n1", "n2"), levels={"c-states": level}, launches=2)
    rate = 12e3 / LATENCIES[name]  # all sizes differ
    law = Law(links={device: Link(LATENCIES[name], rate, rate) for device in Law().links})
    study = study_of("pt2pt", "latency")
    path = simulated_run(folder, law, description=shape, study=study, options=options, seed=100 + seed)
    run = store.load(path)
    return msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, reference=NAME))


def repeated(measured: Mapping[str, Sequence[Run]], order: Sequence[str]) -> Repetition:
    left = {name: iter(runs) for name, runs in measured.items()}
    runs = [at_second(next(left[name]), second) for second, name in enumerate(order)]
    (found,) = repetitions(sides(runs, {}, Declared(factor="c-states")))
    return found


def concluded(found: Repetition, says: str) -> Judged:
    return next(each for each in found.conclusions if says in each.conclusion.says)


def test_a_sentence_about_two_levels_is_judged_by_blocks_of_both(measured: Mapping[str, Sequence[Run]]) -> None:
    found = concluded(repeated(measured, ["enabled", "disabled"] * 6), AT_LEAST)
    assert (found.truth, found.doubt) == ("holds", "")
    assert found.quantity
    assert found.quantity.value < 0.985
    assert found.blocks == 6


def test_two_blocks_do_not_judge_it_and_no_command_of_a_single_run_is_named(
    measured: Mapping[str, Sequence[Run]],
) -> None:
    found = concluded(repeated(measured, ["enabled", "disabled", "disabled", "enabled"]), AT_LEAST)
    assert (found.truth, found.doubt, found.command) == ("cannot be told", "launches", "")


@pytest.mark.parametrize("order", [("faster", "slower"), ("slower", "faster")])
def test_no_single_run_judges_a_level_or_is_its_figure(
    measured: Mapping[str, Sequence[Run]], order: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = store.load(references.path(NAME))
    planted(monkeypatch, source)
    first, second = order
    found = repeated(measured, [first, "disabled", second, "disabled"] * 3)
    judged = concluded(found, "planted")
    assert (judged.truth, judged.doubt) == ("cannot be told", "straddles")
    (value,) = {row.ours.value for row in found.rows if row.ours and row.factors.get("c-states") == "enabled"}
    assert value == pytest.approx(median((LATENCIES["faster"], LATENCIES["slower"])), rel=0.2)
    assert LATENCIES["faster"] * 1.05 < value < LATENCIES["slower"] * 1.1


def planted(monkeypatch: pytest.MonkeyPatch, source: Run) -> None:
    """A sentence of one level, that is true of the faster runs and not of the slower ones."""
    assert source.imported
    rule = next(each for each in source.imported.conclusions if AT_LEAST in each.says)
    quantity = msgspec.structs.replace(rule.quantity, operation="value", along="", b=None, printed="ratio")
    one = msgspec.structs.replace(
        rule, says="planted", quantity=quantity, region=Region(most=1.05e-6), value=None, printed=None
    )
    changed = msgspec.structs.replace(source.imported, conclusions=(one,))
    run, load = msgspec.structs.replace(source, imported=changed), store.load
    monkeypatch.setattr(store, "load", lambda path: run if path == references.path(NAME) else load(path))
