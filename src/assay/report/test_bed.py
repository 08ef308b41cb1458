"""The test bed of a publication beside that of the run that repeats it: as read, and as the user states it."""

from collections.abc import Callable, Iterator, Mapping

from assay import references
from assay.model.facts import Fact
from assay.model.machine import Device, Machine
from assay.model.run import Run
from assay.model.text import joined, listed, text
from assay.report import formatting, provenance
from assay.report.section import Table, headings

#: Section of facts that the site states.
_GIVEN = "given"
#: Fact as sources name it -> facts of a machine that say the same, section and name; else that of the same name.
_FACTS: Mapping[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("system", "model"): (("system", "product"),),
    ("system", "system profile"): (
        ("system", "firmware"),
        ("system", "tuned profile"),
        ("frequency", "governor"),
        ("frequency", "boost"),
        ("frequency", "disabled idle states"),
        ("processor", "SMT"),
    ),
    ("memory", "dimms"): (("memory", "modules"), ("memory", "transfer rate")),
    ("memory", "channels"): (("memory", "populated channels"),),
    ("memory", "size"): (("memory", "total"),),
    ("network", "driver"): (("system", "OFED"), ("system", "rdma-core")),
}
#: What no file of a node tells: names under which the user states it, as a level of the run or in [given].
_STATED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("system", "system profile"): ("bios", "bios-profile"),
    ("memory", "interleaving (BIOS)"): ("interleave",),
    ("network", "switch"): ("switch",),
}
_HOW = text(
    "What no file of a node tells is stated by the user: `--level NAME=...` for a run, or the table [given] of "
    "assay.toml for the site."
)


def table(reference: str, run: Run) -> Table | None:
    """Return each fact that a source states of its test bed, with that of the run.

    None if it states none, or if the run was made by a version that had another set of sources.
    """
    if reference not in references.names():
        return None
    rows = tuple(_rows(reference, run))
    columns = headings("Fact", "Theirs", "Ours")
    caption = text("The test bed of {source} and this one", source=references.get(reference).label or reference)
    return Table(caption, columns, rows, recorded=True, note=_HOW) if rows else None


def _rows(reference: str, run: Run) -> Iterator[tuple[str, str, str]]:
    machine = next(iter(run.machines.values()), None)
    for section, facts in references.get(reference).facts.items():
        for name, theirs in facts.items():
            ours = _ours(section, name, run, machine) if machine else ""
            if ours:
                yield f"{section}: {name}", provenance.fact(theirs), ours


def _ours(section: str, name: str, run: Run, machine: Machine) -> str:
    """The fact of this run; empty if nothing here corresponds to it."""
    if made := _MADE.get((section, name)):
        return made(run, machine)
    names = _STATED.get((section, name), (name,))
    facts = _FACTS.get((section, name), ((section, name),))
    stated = [f"{each} {level}" for each, level in run.plan.levels.items() if each in names]
    stated += [str(fact.value) for each in names if (fact := machine.fact(_GIVEN, each)).known]
    if not stated and (section, name) in _STATED:
        stated = [text("not stated: `--level {name}=...`", name=names[0])]
    read = [_named(of, each, machine, alone=len(facts) == 1) for of, each in facts if machine.fact(of, each).known]
    unknown = [text("unknown")] if (section, name) in _FACTS else []
    return joined("; ", [*stated, *read] or unknown)


def _named(section: str, name: str, machine: Machine, *, alone: bool) -> str:
    value = provenance.fact(machine.fact(section, name))
    return value if alone else f"{name} {value}"


def _mpis(run: Run, _machine: Machine) -> str:
    return listed(
        dict.fromkeys(each.toolchain.mpi.name for each in run.info.builds.values() if each.toolchain.mpi)
    )


def _links(_run: Run, machine: Machine) -> str:
    cards = (each for each in machine.devices if each.kind in {"network", "infiniband"})
    rates = ((each.name, _rate(each)) for each in cards)
    return joined("; ", [f"{name} {provenance.fact(rate)}" for name, rate in rates if rate and rate.known])


def _rate(card: Device) -> Fact | None:
    """What the kernel lets pass, else what the port or the cable carries."""
    return next(filter(None, map(card.facts.get, ("shaped rate", "rate", "speed"))), None)


def _per_package(_run: Run, machine: Machine) -> str:
    nodes, packages = len(machine.topology.numa_nodes), len(machine.topology.packages)
    return text("{nodes} in {packages}", nodes=nodes, packages=formatting.count(packages, "package", "packages"))


#: Facts that are computed.
_MADE: Mapping[tuple[str, str], Callable[[Run, Machine], str]] = {
    ("system", "nodes"): lambda run, _machine: str(len(run.plan.hosts)),
    ("system", "mpi"): _mpis,
    ("system", "osu"): lambda run, _machine: f"Assay {run.info.assay}",
    ("network", "link"): _links,
    ("memory", "NUMA nodes"): _per_package,
}
