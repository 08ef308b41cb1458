"""`assay predict`: predict figures on another network, or on more nodes, from the laws of a run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from assay.model.answers import Answer

if TYPE_CHECKING:
    from assay.analyse.curves import RunEstimates
    from assay.model.answers import Site
    from assay.model.run import Run
    from assay.topics.scaling.what_if import Network, WhatIf

_EXAMPLE = "assay predict last --network 'latency=1.2us bandwidth=12GB/s'"


@click.command()
@click.argument("run", default="last", required=False, metavar="[RUN]")
@click.option(
    "--network",
    metavar="RUN[:NETWORK]|'latency=T bandwidth=R'",
    help="Another network: one that another run measured, or its one-way latency and its bandwidth.",
)
@click.option(
    "--nodes", metavar="N", type=click.IntRange(2), help="Number of nodes, of the same kind as those of the run."
)
@click.option("--far", is_flag=True, help="Allow predictions for more than four times the ranks of the run.")
@click.pass_obj
def command(site: Site, run: str, network: str | None, nodes: int | None, *, far: bool) -> Answer:
    """Predict the cases of RUN on another network, or on more nodes.

    RUN is an id, a unique prefix of one, a path, or last (the default). It needs single messages between two nodes
    (pt2pt at pair:other-node), as scale:BENCHMARK and hpl measure them. Each figure has the interval that the laws
    of the run allow; nothing is measured, and nothing is written to the ledger.
    """
    from assay import store
    from assay.analyse import examine
    from assay.model.errors import UsageError
    from assay.topics.scaling import what_if_table

    if (network is None) == (nodes is None):
        raise UsageError(
            "a prediction is for another network, or for more nodes",
            why="give --network or --nodes, not both",
            remedy=f"{_EXAMPLE}, or --nodes 32",
        )
    loaded = store.load(store.find(run))
    if loaded.imported:
        name = loaded.info.id
        raise UsageError(
            f"the figures of '{name}' were not measured here, so there are no laws to predict from",
            why="a prediction needs launches of this machine: their samples, placements and messages",
            remedy=f"assay run scale:hpl --sweep nodes=1,2 --hosts 'node[01-02]', then: assay compare {name} last",
        )
    known = examine(loaded, site.limits())
    found = _over(known, network) if network is not None else _on(known, nodes or 0, far=far)
    return Answer({"schema": 1, "predictions": found}, lambda console: what_if_table.render(found, console))


def _over(known: RunEstimates, network: str) -> tuple[WhatIf, ...]:
    from assay.model.errors import UsageError
    from assay.topics.scaling import what_if

    found = what_if.over_network(known, _network(network, known.run.info.id))
    if not found:
        raise UsageError(
            f"run '{known.run.info.id}' cannot predict this",
            why="it needs messages between two nodes, and a benchmark on several nodes whose messages are known",
            remedy="assay run scale:weather --sweep nodes=1,2 --hosts 'node[01-02]'",
        )
    return found


def _network(network: str, target: str) -> Network:
    """A network, from another run or from latency and bandwidth, for the run `target`."""
    from assay import store
    from assay.analyse import examine
    from assay.model.errors import UsageError
    from assay.model.units import parse_quantity
    from assay.topics.scaling import what_if

    if named := _run_and_network(network):
        run, name = named
        networks = what_if.measured_networks(examine(store.load(store.find(run))))
        if not networks:
            raise UsageError(
                f"run '{run}' has no law of messages between nodes",
                why="it has not passed single messages of many sizes between two nodes",
                remedy="assay run network --hosts 'node[01-02]'",
            )
        if name not in networks and (name or len(networks) > 1):
            raise UsageError(
                f"run '{run}' has the networks {', '.join(networks)}" + (f", none named {name}" if name else ""),
                why="a prediction is for one of them",
                remedy=shlex.join(("assay", "predict", target, "--network", f"{run}:{next(iter(networks))}")),
            )
        return networks.get(name) or next(iter(networks.values()))
    given = dict(word.partition("=")[::2] for word in network.split())
    try:
        values = {name: parse_quantity(text) for name, text in given.items()}
    except UsageError as error:
        raise UsageError(f"'{network}' is not a network", why=error.what, remedy=_EXAMPLE) from error
    units = {name: unit for name, (_, unit) in values.items()}
    if units != {"latency": "s", "bandwidth": "B/s"} or min(value for value, _ in values.values()) <= 0:
        raise UsageError(
            f"'{network}' is not a network",
            why="it needs a latency above 0 s, and a bandwidth above 0 B/s",
            remedy=_EXAMPLE,
        )
    return what_if.stated_network(values["latency"][0], values["bandwidth"][0])


def _run_and_network(text: str) -> tuple[str, str] | None:
    """RUN and NETWORK (empty for none); None for a latency and a bandwidth."""
    from pathlib import Path

    run, network = (text, "") if Path(text).exists() or ":" not in text else text.rpartition(":")[::2]
    return (run, network) if Path(run).exists() or "=" not in text else None


def _typed(run: Run) -> str:
    from pathlib import Path

    from assay import store

    return store.typed(Path(run.path))


def _on(known: RunEstimates, nodes: int, *, far: bool) -> tuple[WhatIf, ...]:
    import msgspec

    from assay.analyse.curves import FARTHEST
    from assay.model.errors import UsageError
    from assay.plan.beyond import on_nodes
    from assay.topics.scaling import what_if

    run = known.run
    measured = max((len(case.placement.hosts) for case in run.plan.studied), default=0)
    if measured >= nodes:
        raise UsageError(
            f"run '{run.info.id}' has {measured} nodes itself",
            why=f"a prediction is for more nodes than that, not for {nodes}",
            remedy=f"assay predict {_typed(run)} --nodes {2 * measured}",
        )
    larger = on_nodes(run.plan, run.machines, nodes)
    most = max((len(base.placement.hosts) for base, _ in larger), default=0)
    if most and nodes > FARTHEST * most and not far:
        raise UsageError(
            f"{nodes} nodes are {nodes / most:.0f} times as many as the run has",
            why=f"beyond {FARTHEST:g} times it is unknown whether the laws hold",
            remedy=f"assay predict {_typed(run)} --nodes {nodes} --far",
        )
    found = what_if.on_cases(msgspec.structs.replace(known, farthest=float("inf") if far else FARTHEST), larger)
    if not found:
        raise UsageError(
            f"run '{run.info.id}' cannot predict {nodes} nodes",
            why="it needs ranks on two numbers of nodes, or a benchmark that declares its messages and their law",
            remedy="assay run scale:hpl --sweep nodes=1,2 --hosts 'node[01-02]'",
        )
    return found
