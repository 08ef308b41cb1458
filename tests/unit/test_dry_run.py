"""What a run would start, and whether a run can be taken up: on machines whose laws are known."""

from pathlib import Path

import msgspec
import pytest
from tests.simulation import (
    EPYC_7601,
    begin,
    builds_for,
    carry_on,
    described,
    plan_for,
    simulated_run,
    starter_for,
)
from tests.unit.test_engine import FEW

from assay import store
from assay.model.errors import UnfitEnvironmentError
from assay.run.dry_run import dry_run, require_same
from assay.simulation import SimulatedMachine


def test_a_rehearsal_shows_the_commands_that_the_run_then_starts(tmp_path: Path) -> None:
    plan = plan_for(study=FEW)
    machine = SimulatedMachine(described().topology)
    carry_on(begin(tmp_path, plan), plan, machine)
    started = [command for command in machine.commands if not command.argv[0].endswith("core_to_core")]
    assert [order for _, order in dry_run(plan, starter_for(plan), builds_for(plan))] == started


def test_a_run_is_not_taken_up_on_another_machine_or_with_other_programs(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, study=FEW))
    here, builds = described(), builds_for(run.plan)
    require_same(run, here, builds)
    with pytest.raises(UnfitEnvironmentError, match="another machine"):
        require_same(run, msgspec.structs.replace(here, host="other"), builds)
    with pytest.raises(UnfitEnvironmentError, match="not the machine it was"):
        require_same(run, msgspec.structs.replace(here, topology=described(EPYC_7601).topology), builds)
    rebuilt = {name: msgspec.structs.replace(build, key="f" * 16) for name, build in builds.items()}
    with pytest.raises(UnfitEnvironmentError, match="other programs"):
        require_same(run, here, rebuilt)
