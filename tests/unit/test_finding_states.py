"""Findings of a machine whose states explain its figures: one for a cause, which names the states."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import store
from assay.analyse import analyse
from assay.model.plan import Measure, Study
from assay.model.result import Analysis, Finding
from assay.model.run import Run
from assay.simulation import Law

MACHINE = "pack:1 numa:1(memory=8GB) l3:1(size=8MB) l2:4(size=512kB) l1:1(size=32kB) core:1 pu:1"
SIZES = tuple(int(2 ** (step / 4)) // 64 * 64 for step in range(14 * 4, 26 * 4))
STUDY = Study(
    "States",
    "Are they told once?",
    (
        Measure("latency", ("one-core",), axes={"bytes": SIZES, "pages": ("small", "huge")}),
        Measure("stream", ("all",)),
        Measure("himeno", ("all",), axes={"size": "L"}),
    ),
    launches=8,
)


def _run(folder: Path, flips: tuple[tuple[float, str], ...] = ()) -> Run:
    return store.load(
        simulated_run(folder, Law(flips=flips, tlb_bytes=2**20, tlb_s=8e-9), description=MACHINE, study=STUDY)
    )


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    plain = _run(tmp_path_factory.mktemp("plain"))
    seconds = sum(each.launch.bracket.elapsed_s for each in plain.launches)
    # Half of the launches in each state: what comes before them in time takes a part of it.
    return analyse(_run(tmp_path_factory.mktemp("flip"), ((0.6 * seconds, "far"),)))


def _found(analysis: Analysis, rule: str) -> list[Finding]:
    return [each for each in analysis.findings if each.rule == rule and each.status != "not assessed"]


def test_a_prediction_is_told_once_with_its_states(analysis: Analysis) -> None:
    assert len(analysis.predictions) == 2
    (found,) = _found(analysis, "prediction")
    assert "near: " in found.claim
    assert "far: " in found.claim
    assert found.claim.count("overlap") == 2
    assert "state" not in found.claim


def test_a_knee_is_told_once_with_its_states(analysis: Analysis) -> None:
    (found,) = _found(analysis, "tlb_knee")
    assert found.claim.count("(1 MiB to 1.19 MiB)") == 2
    assert "(near)" in found.claim
    assert "(far)" in found.claim
    assert len(found.evidence) == 4  # small and huge pages in each


def _taking(run: Run, factor: Callable[[int], float]) -> Run:
    """The run with loads from small pages that take so many times as long by working set."""
    launches = tuple(
        msgspec.structs.replace(
            launch,
            cases=tuple(
                msgspec.structs.replace(
                    case,
                    series=tuple(
                        msgspec.structs.replace(
                            each,
                            seconds=[factor(int(case.header.params["bytes"])) * value for value in each.seconds],
                        )
                        for each in case.series
                    ),
                )
                if case.header.params.get("pages") == "small"
                else case
                for case in launch.cases
            ),
        )
        for launch in run.launches
    )
    return msgspec.structs.replace(run, launches=launches)


def test_small_pages_that_only_leave_a_cache_early_do_not_exhaust_the_tlb(tmp_path: Path) -> None:
    study = msgspec.structs.replace(STUDY, measure=STUDY.measure[:1], launches=6)
    run = store.load(simulated_run(tmp_path, Law(), description=MACHINE, study=study))

    def early(size: int) -> float:
        return 90 / 14 if 2**21 < size <= 2**23 else 1.0  # huge pages take 14 ns up to 8 MiB, then 90 ns

    assert not _found(analyse(_taking(run, early)), "tlb_knee")
    beyond = _taking(run, lambda size: 130 / 90 if size > 2**24 else early(size))
    (knee,) = _found(analyse(beyond), "tlb_knee")
    taken = re.search(r"takes (\d+) ns instead of ([\d.]+) ns", knee.claim)
    assert taken
    assert [float(each) for each in taken.groups()] == pytest.approx([130, 90], rel=0.01)


@pytest.mark.parametrize(("launches", "status"), [(1, "not assessed"), (3, "candidate"), (6, "observed")])
def test_a_knee_is_a_fact_only_with_an_interval(tmp_path: Path, launches: int, status: str) -> None:
    study = msgspec.structs.replace(STUDY, measure=STUDY.measure[:1], launches=launches)
    law = Law(tlb_bytes=2**20, tlb_s=8e-9)
    run = store.load(simulated_run(tmp_path, law, description=MACHINE, study=study))
    (finding,) = [each for each in analyse(run).findings if each.rule == "tlb_knee"]
    assert finding.status == status


def test_a_change_of_state_is_neither_drift_nor_a_tail(analysis: Analysis) -> None:
    assert [each.id for each in _found(analysis, "machine_noise")] == [
        "machine_noise:quiet",
        "machine_noise:states",
    ]
    assert analysis.noise.drift == pytest.approx(0, abs=0.02)
