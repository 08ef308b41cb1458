"""Evidence by hand, in the place of that of a run: what a rule asks, and nothing else."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
from tests.simulation import described
from tests.unit.report_example import estimate

from assay.model.quantity import Basis, Quantity
from assay.model.result import Estimate, Finding

NODES = "pack:1 numa:2(memory=8GB) l3:1(size=8MB) l2:2(size=1MB) l1:1(size=32kB) core:1 pu:1"


class Evidence(SimpleNamespace):
    """What a rule asks; every field is given by the test."""

    def fitted(self, _kind: type) -> list[Any]:
        return list(self.models)

    def study(self) -> str:
        return "quick"

    def budget(self) -> tuple[str, ...]:
        return ()


def evidence(description: str = NODES, **given: object) -> Any:  # noqa: ANN401 (in the place of the class)
    """Evidence of a run on one machine, with what is given."""
    plan = SimpleNamespace(budget_s=None, launches=6, study="quick")
    machine = msgspec.structs.replace(described(description), host="n1")
    run = SimpleNamespace(plan=plan, machines={"n1": machine}, imported=None, ending=None)
    return Evidence(**({"run": run, "models": (), "estimates": {}} | given))


def of(name: str, value: float, /, *, launches: int = 6, spread: float = 0.0, **others: object) -> Estimate:
    basis: Basis = "interval" if launches >= 6 else "range"
    figure = Quantity(value, value * (1 - spread), value * (1 + spread), "s", basis)
    shown = estimate("latency/one-core/x", "chase", value)
    return msgspec.structs.replace(shown, **({"id": name, "value": figure, "launches": launches} | others))


def only(found: Sequence[Finding]) -> Finding:
    (finding,) = found
    return finding
