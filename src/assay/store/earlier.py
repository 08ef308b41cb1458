"""Convert what earlier versions stored in sentences and ids; no other module parses these."""

import re

import msgspec

from assay.catalogue import benchmarks
from assay.model.declaration import Declaration
from assay.model.facts import Fact
from assay.model.left_out import Folded
from assay.model.machine import INFINIBAND, Device, Machine
from assay.model.plan import Case, Plan, case_id
from assay.model.run import Cause, Ending, Shortfall

_AGAIN = "/again"
_GUESS, _LAYER = "guess: ", "link layer"


class StoredEnding(Ending, frozen=True):
    """An ending as versions before 2026-11-22 wrote it: shortfalls as sentences."""

    cut: dict[str, Shortfall | str]  # type: ignore[assignment] # wider than what it becomes


#: Start of those sentences, and the words that name their causes.
_SHORTFALL = re.compile(r"(?:not measured|(\d+) of (\d+) launches): (.*)", re.DOTALL)
_CAUSES: tuple[tuple[str, Cause], ...] = (
    ("the budget of", "budget"),
    ("failed", "failures"),
    ("interrupted", "interrupted"),
    ("its program ended", "unreached"),
)


def ending(stored: StoredEnding) -> Ending:
    """The ending in the form of this version: sentences of older versions are parsed."""
    cut = {name: _shortfall(each) if isinstance(each, str) else each for name, each in stored.cut.items()}
    return msgspec.convert({**msgspec.structs.asdict(stored), "cut": cut}, Ending)


def _shortfall(sentence: str) -> Shortfall:
    match = _SHORTFALL.fullmatch(sentence)
    made, planned, why = match.groups("0") if match else ("0", "0", sentence)
    cause: Cause = next((cause for words, cause in _CAUSES if why.startswith(words)), "other")
    return Shortfall(cause, why, int(made), int(planned))


def plan(stored: Plan) -> Plan:
    """The plan, with fields that versions before 2026-11-23 stored only in ids and texts."""
    return msgspec.structs.replace(
        stored,
        cases=tuple(map(_case, stored.cases)),
        declarations=stored.declarations or _declarations(stored),
        folded=tuple(map(_folded, stored.folded)),
        trials=tuple(map(plan, stored.trials)),
    )


def _declarations(stored: Plan) -> tuple[Declaration, ...]:
    """The declarations of a plan that has none, as versions before 2026-11-28 wrote it: those of this version."""
    own = {application.name: application for application in stored.applications}
    names = dict.fromkeys(case.benchmark for case in stored.cases)
    return tuple((own[name].benchmark() if name in own else benchmarks.of(name)).declaration for name in names)


def _case(case: Case) -> Case:
    first = case.id.removesuffix(_AGAIN) if case.role == "control" else case.id
    plain = first.removesuffix(f"/{case_id('', case.factors)}") if case.factors else first
    if case.plain or plain == case.id:
        return case
    return msgspec.structs.replace(case, plain=plain, repeats=first if case.role == "control" else "")


def _folded(folded: Folded) -> Folded:
    request, into = (each.partition(", ")[0] for each in (folded.request, folded.into))
    return folded if any(folded.labels) else msgspec.structs.replace(folded, labels=(request, into))


def machine(stored: Machine) -> Machine:
    """The machine, with fields that versions before 2026-11-23 stored in sources of facts and in names."""
    facts = {
        section: {name: _fact(fact) for name, fact in named.items()} for section, named in stored.facts.items()
    }
    return msgspec.structs.replace(stored, facts=facts, devices=tuple(map(_device, stored.devices)))


def _fact(fact: Fact) -> Fact:
    source = fact.source.removeprefix(_GUESS)
    return fact if source == fact.source else msgspec.structs.replace(fact, source=source, guessed=True)


def _device(device: Device) -> Device:
    if device.kind != "network" or _LAYER in device.facts or not device.name.startswith("ib"):
        return device
    return msgspec.structs.replace(device, facts={**device.facts, _LAYER: Fact(INFINIBAND, source="its name")})
