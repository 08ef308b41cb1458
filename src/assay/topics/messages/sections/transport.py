"""Path of the messages: the requested network, the counters of the interfaces, the number of machines."""

from assay.launch.starter import network_of
from assay.model.placed import Proof
from assay.model.result import Estimate
from assay.model.text import joined, text
from assay.report import formatting, messages, selection
from assay.report.declared import Declared, Listing, Scene
from assay.report.section import headings


def _proofs(scene: Scene) -> list[tuple[str, ...]]:
    """Return the rows: the proof by the largest message between partners, once for all that have the same."""
    measured = [e for e in selection.measured(scene.analysis.estimates) if e.placement.proven]
    passed = tuple(e for e in measured if e.declared.message_size is not None)
    variant = messages.over(passed)
    groups = selection.grouped(
        passed, lambda e: (e.benchmark, messages.where(e), variant(e) or selection.title(e.declared))
    )
    proofs = selection.grouped(groups.items(), lambda each: _proof(scene, each[1]))
    return [
        (proof[0], joined("; ", dict.fromkeys(name for (_, _, name), _ in equal)), *proof[1:])
        for proof, equal in proofs.items()
    ]


def _proof(scene: Scene, members: tuple[Estimate, ...]) -> tuple[str, ...]:
    """Return partners, requested network, machines, senders, MTUs and size of the largest message."""
    e = max(members, key=messages.size)
    proven = e.placement.proven or Proof((), {}, as_asked=False)
    sent = formatting.listed(f"{device} {formatting.percent(share)}" for device, share in proven.carried.items())
    mtus = formatting.listed(f"{mtu:,} B" for mtu in sorted(set(proven.mtus.values())))
    asked = network_of(scene.run.plan, scene.run.plan.case(e.case)) or text("nothing")
    machines, nodes = proven.machines, len(e.placement.hosts)
    counted = (
        f"{machines}"
        if machines == nodes
        else text("{machines} for {nodes} nodes", machines=machines, nodes=nodes)
    )
    return (messages.where(e), asked, counted, sent or text("none: through memory"), mtus, messages.at(e))


declared = Declared(
    order=66,
    id="transport",
    title=text("Path of the messages"),
    introduction=text(
        "Assay reads the counters of all network interfaces and InfiniBand ports before and after each case. "
        "The bytes sent / the bytes of all messages shows which device carried the messages. Headers add a few "
        "percent to large messages and much more to small ones, so the largest size is shown. Two nodes with "
        "the same kernel (boot id) are one machine."
    ),
    applies=lambda scene: scene.cached(_proofs),
    page_tables=(
        Listing(
            text("Proof of the path: bytes sent by each device / bytes of all messages"),
            headings("Between", "By", "Requested", "Machines", "Sent by", "MTU", "Largest message"),
            lambda scene: scene.cached(_proofs),
            (),
            short=text("Proof of the path"),
        ),
    ),
    rules=frozenset({"transport"}),
)
