"""What two nodes solve together over each network: verified figures, and messages where they belong."""

from collections.abc import Generator

import pytest
from tests.cluster.lab_cluster import Lab
from tests.cluster.lab_runs import Desk, desk_in, leave, mpi_of, went_by

from assay import analyse

pytestmark = [pytest.mark.cluster, pytest.mark.long]

STUDY = """
title = "Solutions"
question = "Do all ranks of two nodes solve it over each network?"
launches = 1
precision = 0.2
[[measure]]
benchmark = "{benchmark}"
placements = ["1x1@2"]
axes = {{ {axes} }}
"""
NETWORKS = {"gbe": "gbe0", "fast": "fast0"}


@pytest.fixture
def desk(lab: Lab) -> Generator[Desk]:
    made = desk_in(lab)
    yield made
    leave(made)


@pytest.mark.parametrize(
    ("benchmark", "axes", "kernel"),
    [
        ("hpl", "n = 1024, nb = 128", "rate"),
        ("nas", 'npb = ["cg", "is", "ft"], npb-class = "S"', "rate"),
        ("hpcg", "n = 16", "rate"),
        ("himeno_mpi", 'size = "XS"', "jacobi"),
        ("weather", "nx = 200", "rate"),
    ],
)
def test_two_nodes_solve_it_over_each_network(desk: Desk, benchmark: str, axes: str, kernel: str) -> None:
    (desk.folder / "solutions.toml").write_text(STUDY.format(benchmark=benchmark, axes=axes))
    networks = ",".join(f"{name}={device}" for name, device in NETWORKS.items())
    done = desk.typed(desk.words("run", "solutions.toml", "--network", networks, "--mpi", mpi_of("openmpi")))
    assert done.returncode == 0, done.stdout + done.stderr
    run = desk.run()
    measured = {case.id: case.factors["network"] for case in run.plan.cases if case.role == "measure"}
    assert set(measured.values()) == set(NETWORKS)
    solved = [each for each in analyse.analyse(run).estimates if each.case in measured and each.kernel == kernel]
    assert {each.case for each in solved} == set(measured)
    for each in solved:
        assert each.median
        assert each.placement.proven
        assert each.placement.proven.as_asked
    seen = [records for launch in run.launches for records in launch.cases if records.header.case in measured]
    assert {records.header.case for records in seen} == set(measured)
    for records in seen:
        assert records.verdict
        assert records.verdict.passed
        if records.traffic and records.traffic.payload > 1e6:  # of few bytes the launcher's own are a larger part
            went_by(records, NETWORKS[measured[records.header.case]])
    desk.is_clean()
