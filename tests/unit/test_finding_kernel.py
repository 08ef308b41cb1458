"""A BLAS kernel that does not fit: found, decided by another kernel, and silent where all is well."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import TWO_CORES, simulated_run

from assay import store
from assay.analyse import analyse, examine
from assay.analyse.evidence import Evidence
from assay.analyse.findings import findings
from assay.model.core_rate import CoreRate
from assay.model.facts import Fact
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.result import Finding
from assay.model.run import Run
from assay.plan import Options, experiment_plan
from assay.plan.experiments import MOST, wanted
from assay.simulation import Law

STUDY = Study(
    "Product",
    "How fast?",
    (
        Measure("flops", ("all",), axes={"mix": "fma", "width": "512", "format": "fp64"}),
        Measure("dgemm", ("all",), axes={"n": (256, 2048)}),
    ),
    launches=6,
)
WITH_BLAS = Options(libraries={"blas": "/simulated/libblas.so"})
WIDE = ("avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl")
BLIS = {
    "library": "BLIS",
    "version": "BLIS 0.9.0",
    "kernel": "haswell",
    "number of skx": "0",
    "number of knl": "1",
    "number of haswell": "3",
}
OPENBLAS = {"library": "OpenBLAS", "version": "OpenBLAS 0.3.30", "kernel": "Haswell"}
MKL = {"library": "MKL", "version": "MKL 2026.0.2", "kernel": "SSE4_2"}


def run_of(folder: Path, share: float, loaded: dict[str, str], vectors: tuple[str, ...] = WIDE) -> Run:
    """Of a machine whose library reaches a share of the peak, says this of itself, and has these instructions."""
    made = simulated_run(folder, Law(blas_share=share), description=TWO_CORES, study=STUDY, options=WITH_BLAS)
    run = store.load(made)
    machines = {}
    for host, machine in run.machines.items():
        processor = {**machine.facts.get("processor", {}), "vector instructions": Fact(list(vectors), source="x")}
        machines[host] = msgspec.structs.replace(machine, facts={**machine.facts, "processor": processor})
    launches = tuple(
        msgspec.structs.replace(
            launch,
            cases=tuple(
                msgspec.structs.replace(
                    case, header=msgspec.structs.replace(case.header, libraries={"blas": loaded})
                )
                for case in launch.cases
            ),
        )
        for launch in run.launches
    )
    return msgspec.structs.replace(run, machines=machines, launches=launches)


def found(run: Run) -> list[Finding]:
    return [each for each in analyse(run).findings if each.rule == "wrong_kernel"]


@pytest.mark.parametrize(
    ("loaded", "variable", "level"),
    [
        (OPENBLAS, "OPENBLAS_CORETYPE", "SkylakeX"),
        (BLIS, "BLIS_ARCH_TYPE", "0"),
        (MKL, "MKL_ENABLE_INSTRUCTIONS", "AVX512"),
    ],
)
def test_a_slow_product_is_a_candidate_that_another_kernel_decides(
    tmp_path: Path, loaded: dict[str, str], variable: str, level: str
) -> None:
    (finding,) = found(run_of(tmp_path, 0.42, loaded))
    assert finding.status == "candidate"
    assert finding.experiment
    assert finding.experiment.factor
    assert (finding.experiment.factor.name, finding.experiment.factor.levels) == (variable, ("default", level))
    (effect,) = finding.experiment.effects
    assert [(each.level, each.power) for each in effect.arms] == [(level, 1), ("default", -1)]
    assert "2048" in effect.arms[0].case
    assert loaded["kernel"] in str(finding.claim)
    assert finding.numbers["statistic"].value == pytest.approx(0.42, rel=0.05)


def test_a_fast_product_is_no_finding(tmp_path: Path) -> None:
    assert found(run_of(tmp_path, 0.72, OPENBLAS)) == []


@pytest.mark.parametrize(
    ("loaded", "vectors"),
    [
        ({**OPENBLAS, "kernel": "SkylakeX"}, WIDE),
        ({**MKL, "kernel": "AVX512"}, WIDE),
        (OPENBLAS, ("avx2", "fma")),
        (OPENBLAS, ("neon",)),
        ({"version": "Other 1.0", "kernel": "x"}, WIDE),
        ({}, WIDE),
    ],
)
def test_without_another_kernel_to_try_there_is_no_experiment(
    tmp_path: Path, loaded: dict[str, str], vectors: tuple[str, ...]
) -> None:
    (finding,) = found(run_of(tmp_path, 0.42, loaded, vectors))
    assert finding.status == "candidate"
    assert finding.experiment is None


def test_its_experiment_has_room_in_a_minute_for_it_is_planned_by_what_the_study_took(tmp_path: Path) -> None:
    run = run_of(tmp_path, 0.42, OPENBLAS)
    asked = wanted(analyse(run), run.plan)
    slow = msgspec.structs.replace(run.plan, core=CoreRate(units=1, bits=64, hertz=1e9))
    assert not experiment_plan(slow, asked, 60.0).order  # by assumptions
    plan = experiment_plan(slow, asked, 60.0, run.launches)
    assert plan.launches == MOST
    assert plan.estimate_s < 60


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return examine(run_of(tmp_path_factory.mktemp("slow"), 0.42, OPENBLAS))


def planted(known: Evidence, **changes: object) -> list[Finding]:
    """Findings where the products of n = 2048 have these fields; `size` is their order."""
    size = changes.pop("size", 2048)
    measured = []
    for each in known.measured:
        estimate = each.estimate
        if estimate.benchmark == "dgemm" and estimate.params["n"] == 2048:
            estimate = msgspec.structs.replace(estimate, params={**estimate.params, "n": size}, **changes)
        measured.append(msgspec.structs.replace(each, estimate=estimate))
    every = findings(msgspec.structs.replace(known, measured=tuple(measured)))
    return [each for each in every if each.rule == "wrong_kernel"]


@pytest.mark.parametrize("share", [0.599, 0.6, 0.61])
def test_the_fastest_sample_of_a_good_kernel_reaches_six_tenths_of_the_peak(slow: Evidence, share: float) -> None:
    limit = next(each.estimate.limit for each in slow.measured if each.estimate.params.get("n") == 2048)
    assert limit
    results = planted(slow, max=share * limit.value)
    assert bool(results) == (share < 0.6)
    for finding in results:
        assert finding.statistic == f"fastest sample of the product / peak {share:.2f}"
        assert finding.numbers["threshold"].value == 0.6
        assert finding.numbers["statistic"].value == pytest.approx(share)
        assert finding.experiment
        assert (finding.experiment.effects[0].border, finding.experiment.effects[0].side) == (1.1, "above")


@pytest.mark.parametrize("size", [999, 1000])
def test_products_of_order_1000_and_more_tell(slow: Evidence, size: int) -> None:
    (finding,) = planted(slow, size=size)
    assert finding.assessed == (size >= 1000)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_of_large_products_the_fastest_counts(slow: Evidence, factor: float) -> None:
    large = next(each.estimate for each in slow.measured if each.estimate.params.get("n") == 2048)
    measured = []
    for each in slow.measured:
        estimate = each.estimate
        if estimate.benchmark == "dgemm" and estimate.params["n"] == 256 and estimate.metric == large.metric:
            median = factor * (large.median or 0.0)
            value = Quantity(median, median, median, large.unit, "interval")
            params = {**estimate.params, "n": 1024}
            estimate = msgspec.structs.replace(estimate, params=params, value=value, max=1.0, limit=large.limit)
        measured.append(msgspec.structs.replace(each, estimate=estimate))
    every = findings(msgspec.structs.replace(slow, measured=tuple(measured)))
    (finding,) = (each for each in every if each.rule == "wrong_kernel")
    assert ("n=2048" in finding.evidence[0]) == (factor < 1)


def test_products_without_a_peak_tell_nothing(slow: Evidence) -> None:
    (finding,) = planted(slow, limit=None)
    assert not finding.assessed
    assert planted(slow, max=None)[0].numbers["statistic"].value == 0


def test_small_products_alone_are_not_assessed(tmp_path: Path) -> None:
    small = msgspec.structs.replace(
        STUDY, measure=(STUDY.measure[0], Measure("dgemm", ("all",), axes={"n": (128, 256)}))
    )
    run = store.load(simulated_run(tmp_path, Law(blas_share=0.4), study=small, options=WITH_BLAS))
    (finding,) = found(run)
    assert finding.status == "not assessed"
