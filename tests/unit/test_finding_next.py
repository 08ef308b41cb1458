"""What comes next after a finding can be typed: the command line reads it, and knows its study."""

import re
import shlex
from pathlib import Path

import msgspec
import pytest
from tests.simulation import simulated_run

from assay import references, store, studies
from assay.analyse import analyse
from assay.cli.run import command
from assay.model.machine import NumaNode
from assay.model.run import Run
from assay.plan import parse

#: A command ends with its quotation, before words that explain it, or with the text.
_RUN = re.compile(r"assay run (?P<words>[^`;:(]*?)(?=  #|   |`|:|;| with |  \(|$)")


def typed(run: Run) -> list[list[str]]:
    """Words after `assay run` in what comes next, of every finding."""
    return [
        shlex.split(found["words"], comments=True)
        for finding in analyse(run).findings
        for found in _RUN.finditer(finding.next)
        if found["words"]
    ]


@pytest.mark.parametrize("name", references.names())
def test_what_comes_next_for_published_figures_can_be_typed(name: str) -> None:
    commands = typed(store.load(store.find(name)))
    assert commands
    for words in commands:
        context = command.make_context("run", list(words))
        assert context.params["study"] in studies.names(), words
        parse(context.params["vary"], studies.get(context.params["study"]), {})


_MEMORY = {"first_touch", "interleave", "memory_channel", "numa_latency", "numa_penalty"}


def test_no_command_is_named_where_no_machine_can_answer(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path, study="flops"))
    (host, machine) = next(iter(run.machines.items()))
    cpus = (0, 1)
    small = msgspec.structs.replace(
        machine.topology,
        cores=tuple(msgspec.structs.replace(machine.topology.cores[at], cpus=(at,), numa=0) for at in cpus),
        numa_nodes=(NumaNode(0, 2**34, cpus, 0), NumaNode(1, 0, (), None)),
        allowed_cpus=cpus,
        allowed_nodes=(0, 1),
    )
    larger = msgspec.structs.replace(
        small,
        cores=tuple(
            msgspec.structs.replace(small.cores[0], index=at, cpus=(2 * at, 2 * at + 1)) for at in range(4)
        ),
        numa_nodes=tuple(NumaNode(at, 2**34, cpus, 0) for at in range(2)),
        allowed_cpus=tuple(range(8)),
    )
    for topology, answers in ((small, False), (larger, True)):
        here = {host: msgspec.structs.replace(machine, topology=topology)}
        found = analyse(msgspec.structs.replace(run, machines=here)).findings
        told = {each.rule: each for each in found if each.status == "not assessed"}
        for rule in (*_MEMORY, "smt", "core_pairs"):
            assert told[rule].next.startswith("assay run") == answers, rule
            assert ("No machine of this run has" in told[rule].claim) != answers, rule
