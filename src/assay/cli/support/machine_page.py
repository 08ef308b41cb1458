"""The pages of `assay discover`: the facts of a machine, and how nodes differ."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from assay.cli.support import output
from assay.machine.inventory import Difference, Kind
from assay.machine.topology_tree import Line, topology_tree
from assay.model.facts import Fact
from assay.model.machine import Device, Machine
from assay.model.node_sets import folded
from assay.model.units import count_of, format_cpu_list, format_quantity, format_size

_INDENT = 2
_NAME_WIDTH = 24
_KINDS = {"network": "network interfaces", "infiniband": "InfiniBand ports", "accelerator": "accelerators"}
#: Facts that the first lines show.
_SUMMED_UP = {"packages", "cores", "threads", "cpus that may be used"}
_UNAFFECTED = "Not affected"
_ORIGINS = {
    "live": "",
    "file": " (from a file)",
    "synthetic": " (described; missing sizes are the defaults of hwloc)",
}


def show_kinds(kinds: Sequence[Kind], differences: Sequence[Difference], console: Console) -> None:
    """Print the inventory of nodes."""
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


def show(machine: Machine, console: Console) -> None:
    """Print the facts of a machine: counts, topology, sections, devices, and what is not known."""
    console.print(Text.assemble((machine.host, "bold"), (_ORIGINS[machine.origin], "dim")))
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
            output.paragraph(f"{names}: {reason}", console, " " * _INDENT, style="dim", hang=2 * _INDENT)


def _summary(machine: Machine) -> Iterator[str]:
    """Lines with the counts, and what this process may use."""
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
    def grow(tree: Tree, lines: Iterable[Line], style: str) -> None:
        for line in lines:
            grow(tree.add(Text(line.text, "dim" if line.detail else style)), line.below, "")

    tree = Tree(Text("topology", "bold"), guide_style="dim")
    grow(tree, topology_tree(machine.topology), "")
    return tree


def _list(title: str, rows: list[tuple[str, str, str]], console: Console) -> None:
    """Print a heading, and below it names, values, and the source of a guess."""
    if rows:
        console.print(Text(f"\n{title}", "bold"))
    for name, value, note in rows:
        if len(name) > 2 * _NAME_WIDTH:  # the name that a library gives a device: it leaves no room beside it
            console.print(Text(" " * _INDENT + name, "cyan"))
            name = ""  # noqa: PLW2901 (its line is printed)
        lead = Text(" " * _INDENT + name.ljust(_NAME_WIDTH) + " ", "cyan")
        output.paragraph(f"{value} ({note})" if note else value, console, lead)


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
    return device.value("virtual") is True


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
