"""Apply a study to a machine: placements from its topology; cases with an order, a seed and costs."""

import math
import secrets
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import msgspec

from assay import studies
from assay.catalogue import benchmarks
from assay.model.core_rate import core_rate
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.left_out import LeftOut
from assay.model.machine import Machine, allowed_cores
from assay.model.plan import PLAN_SCHEMA, Factor, Measure, Plan, Study
from assay.model.ranks_seen import PROGRAM
from assay.model.units import parse_range
from assay.plan import factors
from assay.plan.cases import Selection, select, sentinel
from assay.plan.checks import check, check_sizes
from assay.plan.chosen import choices, fixes_sizes, parse_levels, with_choices
from assay.plan.cores import nearest_pair
from assay.plan.experiments import experiment_budget_s, experiment_plan
from assay.plan.factors import library_files, parse
from assay.plan.later import share_of_later, with_every_round
from assay.plan.needs import applications, foreign_programs, needed_libraries, optional_functions, passes_messages
from assay.plan.networks import (
    network_cards,
    network_factor,
    parse_networks,
    parse_nodes,
    resolve_networks,
    with_ports,
)
from assay.plan.options import Options
from assay.plan.order import estimate_seconds, fewest_seconds, interleave, quiet_and_noisy_seconds, shared_setups
from assay.plan.spots import Setting

__all__ = [
    "DEFAULT_TOOLCHAIN",
    "Options",
    "applications",
    "experiment_budget_s",
    "experiment_plan",
    "foreign_programs",
    "library_files",
    "make",
    "needed_libraries",
    "optional_functions",
    "parse",
    "parse_levels",
    "parse_networks",
    "parse_nodes",
    "passes_messages",
    "programs",
    "resolve_networks",
    "with_ports",
    "without_programs",
]

#: Name of the toolchain in launches if the user chose none.
DEFAULT_TOOLCHAIN = "default"
_MIN_SAMPLES = 10
_MAX_SAMPLES = 200


def make(
    name: str,
    study: Study,
    machine: Machine,
    options: Options = Options(),  # noqa: B008 (frozen)
    unlike: Mapping[str, Machine] = MappingProxyType({}),
) -> Plan:
    """The plan of a study on a machine, or on several.

    Args:
        name: name of the study, or the path of its file.
        study: the request.
        machine: facts; every node of `options.hosts` that is not in `unlike` is assumed to equal it.
        options: the user's choices.
        unlike: host -> its machine, for nodes that differ from `machine`: each is placed by its own topology.

    Raises:
        UsageError: an unknown word, benchmark, axis or value; an option out of range.
        UnfitEnvironmentError: nothing of the study can be measured here.
    """
    _check_options(study, options)
    if options.mpis and not passes_messages(study):
        raise UsageError(
            f"study '{name}' needs no MPI", why="none of its benchmarks passes messages", remedy="leave out --mpi"
        )
    toolchains = tuple(dict.fromkeys(options.toolchains)) or (DEFAULT_TOOLCHAIN,)
    mpis = tuple(dict.fromkeys(options.mpis))
    setting = Setting(
        machine=machine,
        options=options,
        hosts=options.hosts or (machine.host,),
        factors=(*_factors(toolchains, mpis, options.factors), *network_factor(options.networks)),
        stored=studies.fits_any(name),
        cards=network_cards(options.networks, options.nic_nodes, (machine, *unlike.values())),
        unlike=dict(unlike),
    )
    chosen = choices(options.values, study.measure)
    measures = tuple(with_choices(_sized(study.measure, options.messages), chosen))
    selection, rounds = _in_rounds(measures, setting)
    check(name, study.subject, selection, setting)
    check_sizes(name, [each.benchmark for each in measures if any(one.of(each) for one in chosen)], selection)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    controls = factors.controls(selection.cases, setting.factors)
    launches, budget_s = _extent(study, options, selection, setting.factors)
    by_messages = any(case.placement.ranks for case in selection.cases)
    cases = (*selection.cases, *controls, sentinel(setting, first_host_only=by_messages))
    later = tuple(tuple(case.id for case in cases if case.subject in each) for each in rounds)
    waiting = frozenset(chain.from_iterable(later))
    at_once = tuple(case for case in cases if case.id not in waiting)
    order = interleave(at_once, launches, seed, toolchains[0], mpis[0] if mpis else "")
    made = Plan(
        schema=PLAN_SCHEMA,
        study=Path(name).stem,
        title=study.title,
        question=study.question,
        machine=machine.host,
        hosts=setting.hosts,
        seed=seed,
        precision=study.precision if options.precision is None else options.precision,
        launches=launches,
        budget_s=budget_s,
        estimate_s=0.0,
        min_samples=_MIN_SAMPLES,
        max_samples=_MAX_SAMPLES,
        probe_cpus=nearest_pair(allowed_cores(machine.topology)),
        cases=(*shared_setups(at_once, order), *(case for case in cases if case.id in waiting)),
        order=order,
        folded=selection.folded,
        left_out=(
            *selection.left_out,
            *_without(study, {*options.levels, *(each.name for each in setting.factors)}),
        ),
        factors=setting.factors,
        refine=(0 if fixes_sizes(measures, chosen) else study.refine)
        if options.refine is None
        else options.refine,
        full=options.full,
        grows=budget_s is not None and options.budget_s is None,
        network=next(iter(options.networks.values())) if len(options.networks) == 1 else "",
        libraries=options.libraries,
        confirm_s=(options.confirm_s or experiment_budget_s(budget_s)) if options.confirm else None,
        later=later,
        core=core_rate(machine),
        applications=applications(study),
        prefixes=options.prefixes,
        levels=options.levels,
        reference=study.reference,
    )
    return _costed(declaring(made), study)


def declaring(plan: Plan) -> Plan:
    """The plan with the declarations of all benchmarks that it measures."""
    names = dict.fromkeys(case.benchmark for case in plan.cases)
    return msgspec.structs.replace(plan, declarations=tuple(benchmarks.get(name).declaration for name in names))


def _costed(plan: Plan, study: Study) -> Plan:
    """The plan with its estimated time, and with a sufficient budget if the study's own budget may grow."""
    whole, budget_s = with_every_round(plan), plan.budget_s
    estimate_s = estimate_seconds(whole.cases, whole.order) if budget_s else quiet_and_noisy_seconds(whole)[1]
    if plan.grows and budget_s:
        if study.grows:
            budget_s = max(budget_s, float(math.ceil(fewest_seconds(whole.cases, whole.order))))
        estimate_s = min(estimate_s, budget_s)
    share = share_of_later(plan, plan.order)
    return msgspec.structs.replace(plan, budget_s=budget_s, estimate_s=estimate_s, later_share=share)


def _in_rounds(measures: tuple[Measure, ...], setting: Setting) -> tuple[Selection, tuple[frozenset[str], ...]]:
    """All cases of a study, and the subjects of each later round.

    A case waits for others of its benchmark; if there are none, it is measured in the first round.
    """
    selection, requests, rounds = select(measures, setting), measures, list(_by_cores(measures, setting))
    for turn in range(max((len(each.later) for each in measures), default=0)):
        before = {case.id for case in selection.cases}
        at_once = {case.benchmark for case in selection.cases}
        waiting = (each for each in measures if turn < len(each.later))
        requests = (
            *requests,
            *(msgspec.structs.replace(each, placements=(each.later[turn],)) for each in waiting),
        )
        selection = select(requests, setting)
        fresh = (each for each in selection.cases if each.id not in before and each.benchmark in at_once)
        rounds.append(frozenset(case.subject for case in fresh))
    return selection, tuple(filter(None, rounds))


def _by_cores(measures: tuple[Measure, ...], setting: Setting) -> Iterator[frozenset[str]]:
    """Subjects of measures that go from few cores to many: a round for each number after the first ones."""
    rounds: dict[int, set[str]] = {}
    at_once: set[str] = set()
    for measure in measures:
        cases = select((measure,), setting).cases
        first = sorted({case.cores for case in cases})[: measure.at_once or None]
        for case in cases:
            (at_once if case.cores in first else rounds.setdefault(case.cores, set())).add(case.subject)
    return (frozenset(rounds[cores] - at_once) for cores in sorted(rounds))


def programs(plan: Plan) -> dict[str, frozenset[str]]:
    """Toolchain -> the programs that a plan starts, including the probe and the test of ranks on several nodes."""
    found: dict[str, set[str]] = {}
    for launch in plan.order:
        programs = found.setdefault(launch.toolchain, {benchmarks.probe().program} if not found else set())
        programs.add(launch.program)
        if plan.case(launch.cases[0]).placement.passes_between_hosts:
            programs.add(PROGRAM)
    return {name: frozenset(each) for name, each in found.items()}


def without_programs(plan: Plan, absent: Mapping[str, Mapping[str, str]]) -> Plan:
    """The plan without the cases whose program could not be built; the reasons go to `left_out`.

    Args:
        plan: the original plan.
        absent: toolchain -> program -> why it could not be built.

    Raises:
        UnfitEnvironmentError: only the sentinel would be left.
    """
    missing = {
        case_id for each in plan.order if each.program in absent.get(each.toolchain, ()) for case_id in each.cases
    }
    if not missing:
        return plan
    launched = plan.launched
    left = {case.benchmark for case in plan.cases if case.id in launched - missing}
    missing |= {case.id for case in plan.cases if case.id not in launched and case.benchmark not in left}
    reasons = {program: why for programs in absent.values() for program, why in programs.items()}
    lost = {
        case.benchmark: reasons[benchmarks.get(case.benchmark).program]
        for case in plan.cases
        if case.id in missing
    }
    if all(case.id in missing or case.role != "measure" for case in plan.cases):
        raise UnfitEnvironmentError(
            f"nothing of study '{plan.study}' can be measured here",
            why="; ".join(f"{name}: {why}" for name, why in lost.items()),
            remedy="assay build   # says what each program lacks",
        )
    return msgspec.structs.replace(
        plan,
        cases=tuple(case for case in plan.cases if case.id not in missing),
        order=tuple(each for each in plan.order if not missing & set(each.cases)),
        left_out=(*plan.left_out, *(LeftOut(name, why) for name, why in lost.items())),
        later=tuple(filter(None, (tuple(each for each in ids if each not in missing) for ids in plan.later))),
    )


def _sized(measures: tuple[Measure, ...], messages: str) -> tuple[Measure, ...]:
    """The measures with the sizes of messages that a user wants, if they pass messages."""
    wanted = parse_range(messages) if messages else ()
    return tuple(each for measure in measures for each in _with_sizes(measure, wanted))


def _with_sizes(measure: Measure, wanted: tuple[int, ...]) -> Iterator[Measure]:
    """A measure of several sizes, with the wanted ones. Size 0 is for times only: it has no rate."""
    benchmark = benchmarks.get(measure.benchmark)
    size, pattern = benchmark.message_size, benchmark.axis("message-pattern")
    single = size is not None and isinstance(measure.axes.get(size.name), int)
    if not wanted or single or size is None or not size.swept:
        yield measure
        return
    some = tuple(each for each in wanted if each) or wanted
    every = wanted if 0 in size.values else some
    if pattern is None:
        yield msgspec.structs.replace(measure, axes=measure.axes | {size.name: every})
        return
    levels = measure.axes.get(pattern.name, pattern.default or "")
    levels = levels if isinstance(levels, tuple) else (levels,)
    times = tuple(level for level in levels if benchmarks.patterns()[str(level)].figure == "time")
    rates = tuple(level for level in levels if level not in times)
    for these, sizes in ((times, every), (rates, some)):
        if these:
            yield msgspec.structs.replace(measure, axes=measure.axes | {pattern.name: these, size.name: sizes})


def _factors(toolchains: tuple[str, ...], mpis: tuple[str, ...], others: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """All factors, including several toolchains and MPIs; UsageError if one is varied twice."""
    several: list[Factor] = []
    for name, levels, made in (
        (factors.TOOLCHAIN, toolchains, factors.toolchain_factor),
        (factors.MPI, mpis, factors.mpi_factor),
    ):
        if len(levels) > 1 and any(factor.name == name for factor in others):
            raise UsageError(
                f"the {name} is varied twice",
                why=f"several --{name} are the same as --vary {name}=...",
                remedy=f"leave out --{name}, and say --vary {name}={','.join(levels)}",
            )
        several += [made(levels)] if len(levels) > 1 else []
    return (*several, *others)


def _without(study: Study, factors: Collection[str]) -> Iterator[LeftOut]:
    """What the study cannot measure with these factors."""
    known = {name.casefold() for name in factors}
    for request, why in study.without.items():
        if not known & {name.casefold() for name in study.unless.get(request, ())}:
            yield LeftOut(request, why)


def _extent(
    study: Study, options: Options, selection: Selection, varied: tuple[Factor, ...]
) -> tuple[int, float | None]:
    """Number of launches and budget. Factors increase both: the study's own budget grows with its launches."""
    fewest = factors.blocks(selection.cases, varied) if varied else 1
    launches = max(study.launches, fewest) if options.launches is None else options.launches
    if options.budget_s is not None or study.budget_s is None:
        return launches, options.budget_s
    subjects = len({case.subject for case in selection.cases})
    cases = len(selection.cases) + len(factors.controls(selection.cases, varied))
    grown_s = study.budget_s * (cases / subjects) * (launches / study.launches if varied else 1)
    return launches, float(math.ceil(grown_s))


def _check_options(study: Study, options: Options) -> None:
    launches = study.launches if options.launches is None else options.launches
    precision = study.precision if options.precision is None else options.precision
    budget_s = study.budget_s if options.budget_s is None else options.budget_s
    if launches < 1:
        raise UsageError(
            f"{launches} launches measure nothing",
            why="each case needs one at least",
            remedy="assay plan STUDY --launches 3",
        )
    if not 0 < precision < 1:
        raise UsageError(
            f"{precision:g} is not a precision",
            why="it is a share of the median: 0.01 is 1 %",
            remedy="assay plan STUDY --precision 0.01",
        )
    if budget_s is not None and budget_s <= 0:
        raise UsageError(
            f"{budget_s:g} s is not a budget",
            why="a budget is longer than nothing",
            remedy="assay plan STUDY --budget 60s",
        )
