"""The way that messages took: what was asked for, what the interfaces counted, how many machines there were."""

from assay.launch.starter import network_of
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import choose, messages, words
from assay.report.section import Section, Table, headings

order = 66
claims: frozenset[str] = frozenset()

_WHY = text(
    "Before and after each case every node's network interfaces and InfiniBand ports were read: what they sent, "
    "over the bytes of all messages, shows which way these took. Headers add a few percent to large messages and "
    "are most of small ones, so the largest is shown. Two nodes with one kernel (boot id) are one machine."
)


def section(run: Run, analysis: Analysis) -> Section | None:
    """The section, None where no messages were passed."""
    found = _table(run, analysis)
    if not found.rows:
        return None
    return Section(
        id="transport",
        title=text("The way of the messages"),
        meaning=(_WHY,),
        tables=(found,),
        rules=frozenset({"transport"}),
    )


def tables(_run: Run, _analysis: Analysis) -> tuple[Table, ...]:
    """None: a terminal says above all figures what is wrong with the way."""
    return ()


def _table(run: Run, analysis: Analysis) -> Table:
    joint = tuple(e for e in choose.measured(analysis.estimates) if _is_joint(e) and e.placement.proven)
    way = messages.over(joint)
    groups = choose.grouped(joint, lambda e: (e.benchmark, messages.where(e), way(e) or choose.title(e.benchmark)))
    proofs = choose.grouped(groups.items(), lambda each: _proof(run, each[1]))
    rows = tuple(
        (proof[0], joined("; ", dict.fromkeys(name for (_, _, name), _ in alike)), *proof[1:])
        for proof, alike in proofs.items()
    )
    columns = headings("Between", "By", "Asked for", "Machines", "Sent by", "Largest message")
    caption = text("Proof of the way: what each device sent over the bytes of all messages")
    return Table(caption, columns, rows, short=text("Proof of the way"))


def _is_joint(estimate: Estimate) -> bool:
    declared = choose.declaration(estimate.benchmark)
    return bool(declared and declared.joint)


def _proof(run: Run, members: tuple[Estimate, ...]) -> tuple[str, ...]:
    """Between whom, what was asked for, how many machines, what sent, all of the largest message."""
    e = max(members, key=messages.size)
    proven = e.placement.proven
    carried = proven.carried if proven else {}
    sent = words.listed(f"{device} {words.percent(share)}" for device, share in carried.items())
    asked = network_of(run.plan, run.plan.case(e.case)) or text("nothing")
    machines, nodes = proven.machines if proven else 0, len(e.placement.hosts)
    told = (
        f"{machines}"
        if machines == nodes
        else text("{machines} for {nodes} nodes", machines=machines, nodes=nodes)
    )
    return (messages.where(e), asked, told, sent or text("none: through memory"), messages.at(e))
