"""A rule of the doctor: the facts that it reads, why they matter, and the function that judges them."""

from collections.abc import Callable
from dataclasses import dataclass

from assay.model.facts import Check, Fact, Verdict
from assay.model.machine import Machine

Judge = Callable[[Machine, Fact], Verdict]


@dataclass(frozen=True)
class Rule:
    """One check of the table.

    Attributes:
        name: what is checked.
        reads: section and name of the facts; the check is `unknown` if the first one is unknown.
        why: what it means for measurements.
        judge: judges the first fact.
        needed: remedy if Assay needs the fact: then an unknown fact is a problem, because measuring is impossible.
        partly: whether it is only a warning then, because some studies can be measured.
    """

    name: str
    reads: tuple[tuple[str, str], ...]
    why: str
    judge: Judge
    needed: str = ""
    partly: bool = False


#: The rules in the order of their definition: speed of cores, limits, other users, clocks, needs of Assay.
RULES: list[Rule] = []


def rule(
    name: str, *reads: tuple[str, str], why: str, needed: str = "", partly: bool = False
) -> Callable[[Judge], Judge]:
    """A decorator that makes a rule of the function that judges; see `Rule`."""

    def register(judge: Judge) -> Judge:
        RULES.append(Rule(name, reads, why, judge, needed, partly))
        return judge

    return register


def examine(machine: Machine) -> tuple[Check, ...]:
    """Every check of a machine, in the order of the table.

    In addition to discovered facts, the rules read the sections `now` (see assay.machine.state), `tools`
    (`compiler`, `build tools`, `MPI`, `BLAS`) and `folders` (free bytes and file system of the folders of runs and
    builds).
    """
    return tuple(_check(each, machine) for each in RULES)


def _check(rule: Rule, machine: Machine) -> Check:
    read = tuple(machine.fact(section, name) for section, name in rule.reads)
    if read[0].known:
        verdict = rule.judge(machine, read[0])
    elif rule.needed:
        verdict = Verdict("warning" if rule.partly else "problem", read[0].unavailable, rule.needed)
    else:
        verdict = Verdict("unknown", read[0].unavailable)
    return verdict.check(rule.name, rule.why, read)
