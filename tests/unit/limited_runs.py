"""A machine for tests of limits, and runs with other facts or slower samples."""

from collections.abc import Callable

import msgspec

from assay.model.facts import Fact
from assay.model.record import Series
from assay.model.run import CaseRecords, LaunchRecords, Run

MACHINE = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:4(size=1MB) l1:1(size=32kB) core:1 pu:2"


def knowing(run: Run, **facts: Fact) -> Run:
    """The run on machines with facts of the processor; names have `_` for spaces."""
    named = {name.replace("_", " "): fact for name, fact in facts.items()}
    machines = {
        host: msgspec.structs.replace(
            machine, facts=machine.facts | {"processor": machine.facts.get("processor", {}) | named}
        )
        for host, machine in run.machines.items()
    }
    return msgspec.structs.replace(run, machines=machines)


def slowed(
    run: Run, factor: float, where: Callable[[LaunchRecords, CaseRecords, Series], bool] = lambda *_: True
) -> Run:
    """The same run with samples that took `factor` times as long."""
    launches = tuple(
        msgspec.structs.replace(
            launch,
            cases=tuple(
                msgspec.structs.replace(
                    case,
                    series=tuple(
                        msgspec.structs.replace(each, seconds=[value * factor for value in each.seconds])
                        if where(launch, case, each)
                        else each
                        for each in case.series
                    ),
                )
                for case in launch.cases
            ),
        )
        for launch in run.launches
    )
    return msgspec.structs.replace(run, launches=launches)
