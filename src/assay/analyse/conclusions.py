"""Judges the conclusions of a publication: by its own printed figures, and by those of a run."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from assay import references, store
from assay.analyse import derived, source_levels, taken
from assay.analyse.agreements import Published, agreement
from assay.analyse.aspects import coordinate
from assay.analyse.comparisons.lacking import by_runs
from assay.analyse.derived import Value
from assay.analyse.estimates import Measured
from assay.analyse.evidence import CONFIDENT, budget_of_launches, sufficient_budget
from assay.analyse.history import FEWEST_RUNS, BetweenRuns
from assay.analyse.operands import Figures, MissingError, cut, of_reference, select
from assay.analyse.taken import NETWORK
from assay.catalogue import benchmarks
from assay.model.agreement import Agreement, scale
from assay.model.conclusion import Choice, Conclusion, Doubt, Judged, Truth
from assay.model.derivation import Derivation
from assay.model.families import family
from assay.model.measurands import FACTOR_ROLES
from assay.model.placement import parsed
from assay.model.plan import Case
from assay.model.quantity import Quantity
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import Command, cli, listed, text

#: What the user names in options.
_NODES, _NETWORKS = "NODE1,NODE2,...", "NAME=DEVICE,NAME=DEVICE"
#: What a source says of two quantities that hardly differ, without a number.
_EQUAL = Quantity(1.0, 1.0, 1.0, basis="imported")
_TRUTHS: Mapping[bool | None, Truth] = {True: "holds", False: "does not hold", None: "cannot be told"}


def conclusions(
    reference: Run, own: Figures | None = None, systems: Mapping[str, Figures] = {}
) -> tuple[Judged, ...]:
    """Judge every conclusion of a reference.

    Args:
        reference: the publication as a run.
        own: figures of a run that repeats it; None: only the printed figures are judged.
        systems: name of another reference -> figures of a run that repeats it, see `of_system`.
    """
    if reference.imported is None:
        return ()
    found = []
    published = of_reference(reference)
    others = _others(reference.imported.conclusions)
    for each in reference.imported.conclusions:
        follows = _printed(each, published, others)
        printed = follows or each.value or (_EQUAL if each.assumes == "same" else None)
        is_stated = follows is None and printed is not None
        judged = _by_run(each, printed, _Own(own, systems), reference) if own else _by_source(each, printed)
        found.append(msgspec.structs.replace(judged, is_stated=is_stated))
    return tuple(found)


class _Own(NamedTuple):
    """Figures of a run, and those of runs of other systems by the reference that each repeats."""

    figures: Figures
    systems: Mapping[str, Figures]

    @property
    def together(self) -> Figures:
        """The figures of all; see `of_system`."""
        measured = (one for each in self.systems.values() for one in each.measured)
        flaws = (item for each in self.systems.values() for item in each.flaws.items())
        return self.figures._replace(
            measured=[*self.figures.measured, *measured], flaws={**self.figures.flaws, **dict(flaws)}
        )

    def of(self, name: str) -> Figures:
        """The figures of the run, or those of another system by the name of its reference."""
        return self.systems[name] if name else self.figures


def of_system(figures: Figures, between: BetweenRuns | None = None) -> Figures:
    """Return figures as those of another system: their ids are its own, and their launches share no block.

    Args:
        figures: of the run on it.
        between: how figures vary from run to run, those of this run as the base.
    """

    def name(estimate: str) -> str:
        return f"{figures.run.info.id} {estimate}"

    def apart(one: Measured) -> Measured:
        named = msgspec.structs.replace(one.estimate, id=name(one.estimate.id))
        launches = (msgspec.structs.replace(each, block=-1 - each.block) for each in one.launches)
        return Measured(named, tuple(launches))

    varied = NETWORK in {each.name for each in figures.run.plan.factors}
    networks = figures.networks if varied else dict.fromkeys(figures.networks, "")  # its only one has no name
    flaws = {name(each): why for each, why in figures.flaws.items()}
    measured = [apart(one) for one in figures.measured]
    between = between and between._replace(base=between.base.renamed(name))
    return figures._replace(measured=measured, networks=networks, flaws=flaws, between=between)


def systems_of(reference: Run) -> frozenset[str]:
    """Return the names of the other publications with whose systems its conclusions compare."""
    found = reference.imported.conclusions if reference.imported else ()
    return frozenset(each.reference for rule in found for each in rule.quantity.operands if each.reference)


def _others(conclusions: Iterable[Conclusion]) -> dict[str, Figures]:
    """The figures of the other publications that conclusions compare with, by name."""
    operands = (operand for each in conclusions for operand in each.of_source.operands)
    names = dict.fromkeys(operand.reference for operand in operands if operand.reference)
    return {name: of_reference(store.load(references.path(name))) for name in names}


def _printed(conclusion: Conclusion, published: Figures, others: Mapping[str, Figures]) -> Quantity | None:
    """The quantity of the printed figures; None if one of them is not printed."""
    try:
        return derived.evaluate(conclusion.of_source, published, others).quantity
    except MissingError:
        return None


def _by_source(conclusion: Conclusion, printed: Quantity | None) -> Judged:
    """Without samples: what is printed is taken as it is, without an interval."""
    holds = conclusion.region.holds(printed) if printed else None
    return Judged(
        conclusion=conclusion,
        truth=_TRUTHS[holds],
        printed=printed,
        holds_printed=holds,
        doubt="" if printed else "unprinted",
    )


def _by_run(conclusion: Conclusion, printed: Quantity | None, of: _Own, reference: Run) -> Judged:
    own, systems = of
    judged = msgspec.structs.replace(
        _by_source(conclusion, printed), truth=_TRUTHS[None], doubt="", run=own.run.info.id
    )
    if doubted := _of_others(judged, of, reference):
        return doubted
    try:
        found = derived.evaluate(conclusion.quantity, own, systems, region=conclusion.region)
    except MissingError as missing:
        name = missing.operand.reference if missing.operand else ""
        return _named(name, _unmeasured(judged, of.of(name), _study(name or reference.info.id), missing), of)
    if _is_one_figure(conclusion.quantity, found) or _is_one_point(conclusion.quantity, own):
        return _doubted(judged, "unmeasured", text("the same figure is both sides of it here"))
    blocks = len(found.launches) if conclusion.quantity.b and len(found.launches) > 1 else 0
    judged = msgspec.structs.replace(
        judged,
        quantity=found.quantity,
        of=found.of,
        choices=found.choices if any(each != Choice(each.benchmark) for each in found.choices) else (),
        blocks=blocks,
        agreement=_agreement(judged, found.quantity),
        flaw=of.together.flaw(found.of),
    )
    holds = conclusion.region.holds(found.quantity)
    is_sure = derived.is_sure(found)
    if is_sure and holds is not None:
        return msgspec.structs.replace(judged, truth=_TRUTHS[holds])
    name = _least_certain(judged, of)
    study, least = _study(name or reference.info.id), of.of(name)
    doubted = _straddling(judged, found, least, study) if is_sure else _few(judged, least, study)
    return _named(name, doubted, of)


def _study(reference: str) -> str:
    return f"like:{reference}"


def _used(judged: Judged, own: Figures) -> list[Estimate]:
    """The figures of a system from which the quantity follows."""
    return [each.estimate for each in own.measured if each.estimate.id in judged.of]


def _least_certain(judged: Judged, of: _Own) -> str:
    """The system with a figure without an interval, else the one with the widest: its launches decide."""

    def width(name: str) -> float:
        return max((_width(each.value) for each in _used(judged, of.of(name))), default=0.0)

    return max(("", *of.systems), key=width)


def _width(value: Quantity | None) -> float:
    """The distance of both ends, relative to the value; infinite without an interval."""
    return (value.hi - value.lo) / abs(value.value) if value and value.has_interval and value.value else math.inf


def _named(name: str, doubted: Judged, of: _Own) -> Judged:
    """Say of which system the doubt is, by its name, if it is another one, and which run decides it."""
    if not name:
        return doubted
    detail = text("{system}: {what}", system=name, what=doubted.detail) if doubted.detail else ""
    return msgspec.structs.replace(doubted, detail=detail, run=of.of(name).run.info.id)


def _agreement(judged: Judged, quantity: Quantity) -> Agreement | None:
    """How the quantity compares with the published number; None where the source has words only."""
    rule = judged.conclusion
    value = rule.value or (None if judged.printed is _EQUAL else judged.printed)
    if value is None:
        return None
    printed, is_least = rule.quantity.printed, rule.region.most is None
    return agreement(Published(value, scale(rule.quantity, rule.unit), printed, is_least), quantity)


def _few(judged: Judged, own: Figures, study: str) -> Judged:
    """Say that a figure has too few launches; solutions that take long have fewer than the study."""
    cases = {case.id: case for case in own.run.plan.cases}
    used = _used(judged, own)
    cut = own.run.ending.cut if own.run.ending else {}
    long = next((each.benchmark for each in used if each.case in cases and cases[each.case].launches), "")
    why = (
        text("a solution of {benchmark} takes so long that it was measured in too few launches", benchmark=long)
        if long
        else text("its figures have fewer than {count} launches, so no interval", count=CONFIDENT)
    )
    if not long and any(each.case in cut and cut[each.case].cause == "budget" for each in used):
        return _doubted(judged, "launches", why, _rest(own.run))
    if all(each.value and each.value.has_interval for each in used):
        return _doubted(
            judged,
            "launches",
            text("it is one number of all launches, without an interval")
            if len(used) == 1
            else text("its figures share fewer than {count} blocks, so no interval", count=CONFIDENT),
        )
    if long:
        command = _repeated(
            [cases[each.case] for each in used if each.benchmark == long and each.case in cases], own.run, study
        )
        return _doubted(judged, "launches", why, command)
    return _doubted(judged, "launches", why, _longer(own.run, study, CONFIDENT))


def _straddling(judged: Judged, found: Value, own: Figures, study: str) -> Judged:
    """Say what decides: more launches, or where runs vary more and how is assumed, other runs."""
    if not found.comparison or not by_runs(found.comparison):
        launches = 2 * max(own.run.plan.launches, CONFIDENT)
        return _doubted(judged, "straddles", command=_longer(own.run, study, launches))
    if not found.comparison.is_assumed:
        return _doubted(judged, "straddles", text("further launches change little: its runs vary more"))
    why = text("Assay assumes how runs vary: {count} other runs of this machine show it", count=FEWEST_RUNS)
    return _doubted(judged, "straddles", why, cli("run", study))


def _repeated(long: Sequence[Case], run: Run, study: str) -> str:
    """The study with solutions that take long in all launches: a size that is chosen has no fewer; empty without.

    Args:
        long: cases of one benchmark.
        run: that measured them in too few launches.
        study: that places them as they are.
    """
    declared = run.plan.declared(long[0].benchmark)
    axis = declared.larger.axis if declared.larger else ""
    sizes = dict.fromkeys(str(case.params[axis]) for case in long if case.launches and axis in case.params)
    chosen = f"{declared.name}.{axis}={','.join(sizes)}"
    return cli("run", study, "--set", chosen, "--launches", str(CONFIDENT)) if sizes else ""


def _longer(run: Run, study: str, launches: int) -> Command:
    """The study with more launches, and with a sufficient budget."""
    return cli("run", study, "--launches", str(launches), *budget_of_launches(run, launches))


def _rest(run: Run) -> Command:
    """The rest of a run that its budget cut, with a sufficient one."""
    return cli("resume", run.info.id, *sufficient_budget(run))


def _of_others(judged: Judged, of: _Own, reference: Run) -> Judged | None:
    """Say which other system, or which level of a factor, a conclusion needs; None if it needs none."""
    quantity, study = judged.conclusion.quantity, _study(reference.info.id)
    own, systems = of
    other = next((each.reference for each in quantity.operands if each.reference not in {"", *systems}), "")
    if other:
        why = text(
            "it compares two systems: on the other one {command}, then here", command=cli("run", _study(other))
        )
        there = cli("compare", own.run.info.id, "RUN_THERE", "--across", "machine", "--allow", "topology")
        return _doubted(judged, "machine", why, there)
    for factor, wanted in _absent_levels(quantity, own, reference):
        if factor in source_levels.stated(reference):
            return _doubted(judged, "level", *source_levels.lacking(reference, own.run, factor, wanted))
        why = text("it needs {factor} {levels}", factor=factor, levels=listed(wanted))
        varied = len(wanted) > 1 and FACTOR_ROLES.get(factor) == "compiler"
        command = cli("run", study, "--vary", f"{factor}={','.join(wanted)}") if varied else ""
        return _doubted(judged, "level", why, command)
    return None


def _unmeasured(judged: Judged, own: Figures, study: str, missing: MissingError) -> Judged:
    """Say what the run lacks for an operand, and the command that measures it."""
    operands = judged.conclusion.quantity.operands
    absent = next((each.benchmark for each in operands if each.benchmark not in benchmarks.names()), "")
    if absent:
        return _doubted(judged, "program", text("Assay has no program {name}", name=absent))
    asked = (missing.operand,) if missing.operand else operands
    nodes = max(parsed(each.placement).nodes or 1 for each in asked)
    if nodes > len(own.run.plan.hosts):
        why = text("it needs {count} node|it needs {count} nodes", count=nodes)
        return _doubted(judged, "nodes", why, cli("run", study, "--hosts", _NODES))
    if any(cut(each, own.run) for each in asked):
        why = text("not measured: {why}", why=next(short.why for each in asked if (short := cut(each, own.run))))
        return _doubted(judged, "unmeasured", why, _rest(own.run))
    networks = len({each.factors[NETWORK] for each in asked if NETWORK in each.factors})
    if networks and len(taken.by_rate(own.measured)) <= 1:
        why = text("it needs a second network between the nodes")
        return _doubted(judged, "network", why, cli("run", study, "--network", _NETWORKS))
    again = "" if own.run.plan.study == study else cli("run", study)
    return _doubted(judged, "unmeasured", missing.args[0], again)


def _absent_levels(quantity: Derivation, own: Figures, reference: Run) -> Iterator[tuple[str, list[str]]]:
    """Factors with levels that the quantity needs and the run lacks; networks meet by role."""
    here = [each for each in quantity.operands if not each.reference]
    factors = dict.fromkeys(name for each in here for name in each.factors if name != NETWORK)
    for name in factors:
        wanted = list(dict.fromkeys(each.factors[name] for each in here if name in each.factors))
        if name in source_levels.stated(reference):
            if not all(source_levels.has(reference, own.run, name, level) for level in wanted):
                yield name, wanted
            continue
        role = FACTOR_ROLES.get(name, "")
        having = {
            level.kind for each in own.measured for level in each.estimate.measurand.levels if level.role == role
        }
        varied = next((each.levels for each in own.run.plan.factors if each.name == name), ())
        kinds = [family(role, level) if role else "" for level in wanted]
        is_met = all(kinds) and len(set(kinds)) == len(kinds) and set(kinds) <= having
        if not is_met and not set(wanted) <= set(varied):
            yield name, wanted


def _is_one_figure(quantity: Derivation, found: Value) -> bool:
    """Whether both operands, which the publication tells apart, are one figure of the run."""
    a, b = quantity.a, quantity.b
    if b is None or (a.aspect, a.at, a.take) != (b.aspect, b.at, b.take):
        return False
    half = len(found.of) // 2
    return bool(half) and found.of[:half] == found.of[half:]


def _is_one_point(quantity: Derivation, own: Figures) -> bool:
    """Whether the largest of an axis is compared with the best of it, where only one point of it was measured."""
    a, b = quantity.a, quantity.b
    if (
        b is None
        or a.reference
        or b.reference
        or a.take == b.take
        or a.take in {"best", "worst", derived.WORST_NODE}
    ):
        return False
    return len({coordinate(each.estimate, a.take) for each in select(own, a)}) == 1


def _doubted(judged: Judged, doubt: Doubt, detail: str = "", command: str = "") -> Judged:
    return msgspec.structs.replace(judged, doubt=doubt, detail=detail, command=command)
