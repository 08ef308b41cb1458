"""Prices that the user states, in `[given]` of the configuration or by `--price`: assumptions, never measured."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from assay.model.errors import UsageError
from assay.model.facts import Fact
from assay.model.run import Run

#: Section of facts that a user states; the price of a node as it is, and that of the same node with one processor.
GIVEN, NODE, ONE_PROCESSOR = "given", "price.node", "price.one-processor-node"
_PRICE = re.compile(r"(\d[\d,']*(?:\.\d+)?)\s*([^\d\s]\S*)?|([^\d\s]+)\s*(\d[\d,']*(?:\.\d+)?)")


class Price(NamedTuple):
    """An amount above 0 of a currency; empty if none is named."""

    amount: float
    currency: str = ""


def parse_price(text: str) -> Price | None:
    """A price from `12000 EUR`, `12,000 EUR`, `$ 999.5` or `12000`; None if it is none."""
    match = _PRICE.fullmatch(text.strip())
    if not match:
        return None
    amount = float(re.sub("[,']", "", match[1] or match[4]))
    return Price(amount, match[2] or match[3] or "") if amount > 0 else None


def price(run: Run, name: str = NODE) -> Price | None:
    """The price of a node of a run; None if the user states none, or different ones for its machines."""
    facts = [run.imported.facts] if run.imported else [machine.facts for machine in run.machines.values()]
    found = {parse_price(str(fact.value)) for of in facts if (fact := of.get(GIVEN, {}).get(name)) and fact.known}
    return found.pop() if len(found) == 1 else None


def with_prices(runs: Iterable[tuple[str, Run]], requests: Iterable[str]) -> list[Run]:
    """The runs with the prices of `--price RUN=PRICE` in place of their own.

    Args:
        runs: as the user named them.
        requests: as typed.

    Raises:
        UsageError: it is not a price, or of a run that is not compared.
    """
    named = list(runs)
    prices: dict[str, str] = {}
    for request in requests:
        name, _, amount = request.partition("=")
        if parse_price(amount) is None or name not in {known for known, _ in named}:
            raise UsageError(
                f"'{request}' is not the price of a node of a run",
                why=f"it names a run as it is typed here ({', '.join(known for known, _ in named)}) and a price",
                remedy=f"--price '{named[0][0]}=12000 EUR'",
            )
        prices[name] = amount
    return [_with_price(run, prices[name]) if name in prices else run for name, run in named]


def _with_price(run: Run, amount: str) -> Run:
    stated = {NODE: Fact(amount, source="--price")}
    if run.imported:
        facts = {**run.imported.facts, GIVEN: {**run.imported.facts.get(GIVEN, {}), **stated}}
        return msgspec.structs.replace(run, imported=msgspec.structs.replace(run.imported, facts=facts))
    machines = {
        host: msgspec.structs.replace(
            machine, facts={**machine.facts, GIVEN: {**machine.facts.get(GIVEN, {}), **stated}}
        )
        for host, machine in run.machines.items()
    }
    return msgspec.structs.replace(run, machines=machines)
