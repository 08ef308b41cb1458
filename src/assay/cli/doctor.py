"""`assay doctor`: settings and states of this machine that can disturb a measurement."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.support import output
from assay.cli.support.options import CheckedOptions, packed
from assay.machine import counters

if TYPE_CHECKING:
    from assay.launch.command import Site

_MEASURABLE = "this machine can be measured. next: "


@click.command()
@packed("options", CheckedOptions)
@click.option("--json", "as_json", is_flag=True, help="Print every check and its facts as JSON.")
def command(*, options: CheckedOptions, as_json: bool) -> None:
    """Check the settings and states that can disturb a measurement.

    Assay checks settings, limits, other users and processes, and its own requirements. A warning means that
    figures can change, a problem means that measuring is impossible. Assay changes nothing: it shows the command
    that changes a setting.

    With --hosts, or inside an allocation, it checks whether the nodes can be measured together: ssh, the same
    programs, an MPI that starts, and the interfaces of --network.

    Exit codes: 0 this machine can be measured; 4 it cannot.
    """
    before = counters.read(Path("/"))  # first: other processes are watched during all further checks
    from assay.cli.support import site

    hosts = site.node_names(options.nodes, options.hostfile)
    place = site.find(options.launcher, options.ssh_config)
    if hosts and hosts != (place.host,):
        _show_nodes(hosts, place, options, as_json=as_json)
        return
    from assay.cli.support.here import UNFIT, checks_here, require_fit, show_checks

    checks = checks_here(before)
    if as_json:
        output.print_json(checks)
    else:
        show_checks(checks.checks, output.console(), f"{_MEASURABLE}assay run quick", UNFIT)
    require_fit(checks.checks)


def _show_nodes(hosts: tuple[str, ...], place: Site, options: CheckedOptions, *, as_json: bool) -> None:
    """Print whether nodes can be measured together."""
    import msgspec

    from assay import plan as planning
    from assay.cli.support.fitness import examine
    from assay.cli.support.here import UNFIT, require_fit, show_checks
    from assay.cli.support.nodes import addressed, merged
    from assay.launch.starter import Starter

    following = shlex.join(["assay", "run", "network", *output.typed({"as_json"})])
    fresh = msgspec.structs.replace(place, sockets="")  # open connections do not prove that new ones work
    networks = planning.parse_networks(options.networks) if options.networks else {}
    checks = examine(hosts, Starter(fresh), options.mpis, networks)
    together = merged(checks)
    if as_json:
        output.print_json(
            {"schema": 1, "fit": all(one.fit for one in checks), "hosts": [addressed(one) for one in checks]}
        )
    else:
        show_checks(together, output.console(), f"{_MEASURABLE}{following}", UNFIT)
    require_fit(together)
