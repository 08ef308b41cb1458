"""The inventory of nodes: equal ones are one kind, and no difference is lost."""

import msgspec
from tests.simulation import TWO_CORES, described

from assay.machine.inventory import differences, kinds
from assay.model.facts import Fact, unavailable
from assay.model.machine import Device, Machine

FACTS = {
    "processor": {"microcode": Fact("0x1"), "frequency now": Fact(1.0, "Hz")},
    "memory": {"total": Fact(256 * 2**30, "B"), "may be used now": Fact(1, "B")},
    "system": {"host name": Fact("n1"), "kernel": Fact("6.1"), "boot id": Fact("a")},
}
CARD = Device("mlx5_0:1", "infiniband", {"rate": Fact(1e11, "bit/s"), "firmware": Fact("20.1")})
BRIDGE = Device("br0", "network", {"virtual": Fact(value=True), "mtu": Fact(1500)})


def node(**changes: dict[str, Fact]) -> Machine:
    """A node whose own facts differ from those of every other."""
    own = {"host name": Fact(str(id(changes))), "boot id": Fact(str(id(changes)))}
    facts = {section: {**known, **changes.get(section, {})} for section, known in FACTS.items()}
    facts["system"] |= own
    return msgspec.structs.replace(described(TWO_CORES), facts=facts, devices=(CARD, BRIDGE))


def test_equal_nodes_are_one_kind_and_differ_in_nothing() -> None:
    near = node(memory={"total": Fact(255 * 2**30, "B")}, processor={"frequency now": Fact(2.0, "Hz")})
    machines = {"n1": node(), "n2": near, "n3": node()}
    (kind,) = kinds(machines)
    assert kind.hosts == ("n1", "n2", "n3")
    assert differences(machines) == ()


def test_each_difference_is_told_with_the_nodes_most_first() -> None:
    odd = node(processor={"microcode": Fact("0x2")}, memory={"total": Fact(128 * 2**30, "B")})
    slow = msgspec.structs.replace(CARD, facts=CARD.facts | {"rate": unavailable("it is down")})
    machines = {
        "n1": odd,
        "n2": node(),
        "n3": msgspec.structs.replace(node(), devices=(slow,)),
        "n4": msgspec.structs.replace(node(), topology=described("core:4 pu:1").topology),
    }
    assert [each.hosts for each in kinds(machines)] == [("n1", "n2", "n3"), ("n4",)]
    facts = {
        (each.section, each.name): [(fact.value, hosts) for fact, hosts in each.values]
        for each in differences(machines)
    }
    assert facts == {
        ("processor", "microcode"): [("0x1", ("n2", "n3", "n4")), ("0x2", ("n1",))],
        ("memory", "total"): [(256 * 2**30, ("n2", "n3", "n4")), (128 * 2**30, ("n1",))],
        ("mlx5_0:1", "rate"): [(1e11, ("n1", "n2", "n4")), (None, ("n3",))],
    }
