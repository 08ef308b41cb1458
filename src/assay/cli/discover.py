"""`assay discover`: the facts of this machine, of nodes, or of a saved or described machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from assay.cli.support import options, output, site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    from assay.launch.command import Site
    from assay.machine.topology_tree import Line
    from assay.model.facts import Fact
    from assay.model.machine import Device, Machine

_INDENT = 2
_NAME_WIDTH = 24
_KINDS = {"network": "network interfaces", "infiniband": "InfiniBand ports", "accelerator": "accelerators"}
#: Facts that the first lines show.
_SUMMED_UP = {"packages", "cores", "threads", "cpus that may be used"}
_UNAFFECTED = "Not affected"


@click.command()
@click.option("--from", "xml_in", metavar="FILE.xml", help="Show a machine saved by `lstopo --of xml`.")
@click.option(
    "--synthetic", metavar="DESCRIPTION", help='Show a described machine: "pack:2 numa:4 l3:2 core:4 pu:1".'
)
@click.option("--xml", "xml_out", metavar="FILE", help="Save this machine as hwloc XML, for --from.")
@click.option("--json", "as_json", is_flag=True, help="Print every fact with its unit and source as JSON.")
@options.place_options
def command(  # noqa: PLR0913, PLR0917 (one parameter an option)
    xml_in: str | None,
    synthetic: str | None,
    xml_out: str | None,
    nodes: tuple[str, ...],
    hostfile: str | None,
    launcher: str | None,
    ssh_config: str | None,
    *,
    as_json: bool,
) -> None:
    """Show what this machine has: cores, caches, memory, devices.

    With --hosts, show the nodes: equal ones together, and every fact in which some differ.
    """
    if hosts := site.named_nodes(nodes, hostfile):
        _show_nodes(hosts, site.find(launcher, ssh_config), as_json=as_json)
        return
    machine, document = _machine(xml_in, synthetic)
    if xml_out is not None:
        _save(document, machine, xml_out)
    if as_json:
        output.print_json(machine)
        return
    _show(machine, output.console())


def _show_nodes(hosts: tuple[str, ...], place: Site, *, as_json: bool) -> None:
    """Print the inventory of nodes."""
    from rich.text import Text

    from assay.launch.starter import Starter
    from assay.machine import inventory
    from assay.model.node_sets import folded

    machines = {host: each for host, (each, _) in site.machines(hosts, Starter(place)).items()}
    kinds, differences = inventory.kinds(machines), inventory.differences(machines)
    if as_json:
        output.print_json({"schema": 1, "kinds": kinds, "differences": differences})
        return

    console = output.console()
    for kind in kinds:
        console.print(Text(folded(kind.hosts), "bold"))
        for line in _summary(kind.machine):
            console.print(Text(line))
    rows = [
        (
            f"{each.section}: {each.name}",
            "; ".join(
                f"{_value(fact) if fact.known else 'not known'} on {folded(on)}" for fact, on in each.values
            ),
            "",
        )
        for each in differences
    ]
    _list("what differs", rows, console)
    if not rows:
        console.print(Text("\nno other fact differs"))


def _machine(xml_in: str | None, synthetic: str | None) -> tuple[Machine, str]:
    from assay import machine
    from assay.cli.support import settings
    from assay.machine import given
    from assay.model.errors import UsageError

    if xml_in is not None and synthetic is not None:
        raise UsageError(
            "--from and --synthetic describe two machines",
            why="assay shows one machine at a time",
            remedy="give only one of them",
        )
    if xml_in is not None:
        return machine.load_xml(xml_in), ""
    if synthetic is not None:
        return machine.synthetic(synthetic), ""
    found, document = machine.discover()
    return given.with_given(found, given.facts(settings.table("given"))), document


def _save(document: str, machine: Machine, path: str) -> None:
    from pathlib import Path

    from assay.machine import hwloc
    from assay.model.errors import UnfitEnvironmentError, UsageError

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


def _show(machine: Machine, console: Console) -> None:
    from rich.text import Text

    console.print(Text.assemble((machine.host, "bold"), (_origin(machine), "dim")))
    for line in _summary(machine):
        console.print(Text(line))
    console.print()
    console.print(_tree(machine))
    for section, facts in machine.facts.items():
        _list(section, _mitigations(facts) if section == "mitigations" else _rows(facts), console)
    _show_devices(machine, console)
    unknown = list(_unknown(machine))
    if unknown:
        console.print(Text("\nnot known", "bold"))
        for names, reason in unknown:
            _say(f"{names}: {reason}", console, Text(" " * _INDENT), "dim")


def _origin(machine: Machine) -> str:
    return {
        "live": "",
        "file": " (from a file)",
        "synthetic": " (described; missing sizes are the defaults of hwloc)",
    }[machine.origin]


def _summary(machine: Machine) -> Iterator[str]:
    """Lines with the counts, and what this process may use."""
    from assay.model.units import count_of, format_cpu_list

    topology = machine.topology
    model = machine.fact("processor", "model")
    threads = sum(len(core.cpus) for core in topology.cores)
    counts = [
        count_of(len(topology.packages), "package"),
        count_of(len(topology.numa_nodes), "NUMA node"),
        count_of(len(topology.cores), "core"),
        count_of(threads, "thread"),
    ]
    yield (f"{model.value}: " if model.known else "") + ", ".join(counts)
    if len(topology.allowed_cpus) < threads:
        cpus = format_cpu_list(topology.allowed_cpus)
        yield f"may be used: {len(topology.allowed_cpus)} of {threads} cpus ({cpus})"
    if machine.memory.known:
        now = " now" if machine.origin == "live" else ""
        yield f"may be used{now}: {_value(machine.memory)} of memory, by {machine.memory.source}"


def _tree(machine: Machine) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    from assay.machine.topology_tree import topology_tree

    def grow(tree: Tree, lines: Iterable[Line], style: str) -> None:
        for line in lines:
            grow(tree.add(Text(line.text, "dim" if line.detail else style)), line.below, "")

    tree = Tree(Text("topology", "bold"), guide_style="dim")
    grow(tree, topology_tree(machine.topology), "")
    return tree


def _list(title: str, rows: list[tuple[str, str, str]], console: Console) -> None:
    """Print a heading, and below it names, values, and the source of a guess."""
    from rich.text import Text

    if rows:
        console.print(Text(f"\n{title}", "bold"))
    for name, value, note in rows:
        lead = Text(" " * _INDENT + name.ljust(_NAME_WIDTH) + " ", "cyan")
        _say(f"{value} ({note})" if note else value, console, lead)


def _say(words: str, console: Console, lead: Text, style: str = "") -> None:
    """Print a paragraph after `lead`, wrapped at the width of the terminal, with indented further lines."""
    import textwrap

    from rich.text import Text

    indent = len(lead) if len(lead) > _INDENT else 2 * _INDENT
    lines = textwrap.wrap(
        words,
        console.width - 1,
        initial_indent=" " * len(lead),
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )
    first = lines[0][len(lead) :] if lines else ""
    console.print(Text.assemble(lead, (first, style)), soft_wrap=True)
    for line in lines[1:]:
        console.print(Text(line, style), soft_wrap=True)


def _rows(facts: dict[str, Fact]) -> list[tuple[str, str, str]]:
    return [
        (name, _value(fact), fact.origin if fact.guessed else "")
        for name, fact in facts.items()
        if fact.known and name not in _SUMMED_UP
    ]


def _mitigations(facts: dict[str, Fact]) -> list[tuple[str, str, str]]:
    """The vulnerabilities that affect this machine, and the number of others."""
    known = {name: str(fact.value) for name, fact in facts.items() if fact.known}
    rows = [
        (name, value.removeprefix("Mitigation: "), "") for name, value in known.items() if value != _UNAFFECTED
    ]
    unaffected = len(known) - len(rows)
    return [*rows, ("not affected", f"by {unaffected} of {len(known)} that the kernel knows", "")] if known else []


def _value(fact: Fact) -> str:
    """A known fact as text."""
    from assay.model.units import format_quantity, format_size

    value = fact.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if fact.unit == "B":
            return format_size(value)
        if fact.unit == "T/s":
            return f"{value / 1e6:.0f} MT/s"
        return format_quantity(value, fact.unit) if fact.unit else str(value)
    return str(value) if isinstance(value, str) or value is None else ", ".join(map(str, value))


def _show_devices(machine: Machine, console: Console) -> None:
    from rich.text import Text

    missing = []
    for kind, title in _KINDS.items():
        devices = [device for device in machine.devices if device.kind == kind]
        virtual = [device.name + _shaped(device) for device in devices if _virtual(device)]
        rows = [(device.name, _device(device), "") for device in devices if not _virtual(device)]
        _list(title, [*rows, ("virtual", ", ".join(virtual), "")] if virtual else rows, console)
        missing += [] if devices else [title]
    if missing:
        console.print(Text(f"\nnone found: {', '.join(missing)}"))


def _virtual(device: Device) -> bool:
    return "virtual" in device.facts and device.facts["virtual"].value is True


def _shaped(device: Device) -> str:
    """` (shaped rate 1.00 Gbit/s)` if the kernel limits its rate."""
    rate = device.facts.get("shaped rate")
    return f" (shaped rate {_value(rate)})" if rate and rate.known else ""


def _device(device: Device) -> str:
    """Known facts in a line, with names for those that are not clear without."""
    clear = {"driver", "class", "model", "speed", "rate", "lanes", "state", "link layer"}
    known = {name: _value(fact) for name, fact in device.facts.items() if fact.known and name != "virtual"}
    if known.pop("may be used", "") and not device.facts["may be used"].value:
        known["may not be used:"] = device.facts["may be used"].source
    if "mtu" in device.facts and device.facts["mtu"].known:
        known["mtu"] = str(device.facts["mtu"].value)
    return ", ".join(
        value if name in clear else f"{name.upper() if name == 'mtu' else name} {value}"
        for name, value in known.items()
    )


def _unknown(machine: Machine) -> Iterator[tuple[str, str]]:
    """Names of unknown facts and the reason, together for equal reasons."""
    found = [(section, name, fact) for section, facts in machine.facts.items() for name, fact in facts.items()]
    for device in machine.devices:
        if not _virtual(device):
            found += [(device.name, name, fact) for name, fact in device.facts.items()]
    reasons: dict[str, dict[str, list[str]]] = {}
    for owner, name, fact in found:
        if not fact.known:
            reasons.setdefault(fact.unavailable, {}).setdefault(owner, []).append(name)
    for reason, owners in reasons.items():
        listed = (
            owner if names == [owner] else f"{owner} ({', '.join(names)})" for owner, names in owners.items()
        )
        yield ", ".join(listed), reason
