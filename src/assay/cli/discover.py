"""`assay discover`: the facts of this machine, of nodes, or of a saved or described machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.support import output
from assay.cli.support.options import PlaceOptions, packed
from assay.model.errors import UnfitEnvironmentError, UsageError

if TYPE_CHECKING:
    from assay.launch.command import Site
    from assay.model.machine import Machine


@click.command()
@click.option("--from", "xml_in", metavar="FILE.xml", help="Show a machine saved by `lstopo --of xml`.")
@click.option(
    "--synthetic", metavar="DESCRIPTION", help='Show a described machine: "pack:2 numa:4 l3:2 core:4 pu:1".'
)
@click.option("--xml", "xml_out", metavar="FILE", help="Save this machine as hwloc XML, for --from.")
@click.option("--json", "as_json", is_flag=True, help="Print every fact with its unit and source as JSON.")
@packed("place", PlaceOptions)
def command(
    xml_in: str | None,
    synthetic: str | None,
    xml_out: str | None,
    *,
    place: PlaceOptions,
    as_json: bool,
) -> None:
    """Show what this machine has: cores, caches, memory, devices.

    With --hosts, show the nodes: equal ones together, and every fact in which some differ.
    """
    from assay.cli.support import machine_page, settings, site
    from assay.machine import discover, given

    if hosts := site.named_nodes(place.nodes, place.hostfile):
        _show_nodes(hosts, site.find(place.launcher, place.ssh_config), as_json=as_json)
        return
    machine, document = site.other_machine(xml_in, synthetic, "assay shows one machine at a time"), ""
    if machine is None:
        here, document = discover()
        machine = given.with_given(here, given.facts(settings.table("given")))
    if xml_out is not None:
        _save(document, machine, xml_out)
    if as_json:
        output.print_json(machine)
        return
    machine_page.show(machine, output.console())


def _show_nodes(hosts: tuple[str, ...], place: Site, *, as_json: bool) -> None:
    """Print the inventory of nodes."""
    from assay.cli.support import machine_page, site
    from assay.launch.starter import Starter
    from assay.machine import inventory

    machines = {host: each for host, (each, _) in site.machines(hosts, Starter(place)).items()}
    kinds, differences = inventory.kinds(machines), inventory.differences(machines)
    if as_json:
        output.print_json({"schema": 1, "kinds": kinds, "differences": differences})
    else:
        machine_page.show_kinds(kinds, differences, output.console())


def _save(document: str, machine: Machine, path: str) -> None:
    from assay.machine import hwloc

    if machine.origin != "live":
        raise UsageError("--xml saves this machine only", remedy=f"assay discover --xml {path}")
    if not document:
        raise UnfitEnvironmentError(
            "cannot write hwloc's XML",
            why="libhwloc is not installed, or reads another machine",
            remedy=hwloc.INSTALL,
        )
    output.write(Path(path), document)
    output.echo(f"wrote {path}", err=True)
