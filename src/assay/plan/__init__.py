"""A study applied to a machine: placements from its topology, ordered, seeded, costed cases."""

import secrets
from pathlib import Path

import msgspec

from assay import studies
from assay.model.errors import UnfitEnvironmentError, UsageError
from assay.model.machine import Machine
from assay.model.plan import PLAN_SCHEMA, Plan, Study
from assay.plan.cases import Selection, Setting, select, sentinel
from assay.plan.cores import allowed_cores, nearest_pair
from assay.plan.order import estimate_seconds, interleave

#: The name that launches carry when nobody chose a toolchain.
DEFAULT_TOOLCHAIN = "default"
_MIN_SAMPLES = 10
_MAX_SAMPLES = 200


class Options(msgspec.Struct, frozen=True):
    """What a user says about one run; None leaves it to the study.

    Attributes:
        seed: of the order in the blocks; drawn at random where None.
        launches: of each case.
        precision: wanted relative half-width of the interval of a launch's median.
        budget_s: seconds.
        toolchains: names; with several, the toolchain is a factor.
        hosts: nodes that run each case, one rank each; the machine itself where empty.
    """

    seed: int | None = None
    launches: int | None = None
    precision: float | None = None
    budget_s: float | None = None
    toolchains: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


def make(name: str, study: Study, machine: Machine, options: Options = Options()) -> Plan:  # noqa: B008 (frozen)
    """The plan of a study on a machine.

    Args:
        name: of the study, or the path of its file.
        study: the wish.
        machine: facts; every node of `options.hosts` is taken to be like it.
        options: what replaces the study's own.

    Raises:
        UsageError: an unknown word, benchmark, axis or value; an option out of range.
        UnfitEnvironmentError: nothing of the study can be measured here.
    """
    launches, precision, budget_s = _choices(study, options)
    toolchains = tuple(dict.fromkeys(options.toolchains)) or (DEFAULT_TOOLCHAIN,)
    setting = Setting(
        machine=machine,
        hosts=options.hosts or (machine.host,),
        factors=tuple({"toolchain": each} for each in toolchains) if len(toolchains) > 1 else ({},),
        stored=name in studies.names(),
    )
    selection = select(study.measure, setting)
    _check(name, selection)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    cases = (*selection.cases, sentinel(setting))
    order = interleave(cases, launches, seed, toolchains[0])
    return Plan(
        schema=PLAN_SCHEMA,
        study=Path(name).stem,
        title=study.title,
        question=study.question,
        machine=machine.host,
        hosts=setting.hosts,
        seed=seed,
        precision=precision,
        launches=launches,
        budget_s=budget_s,
        estimate_s=estimate_seconds(cases, order),
        min_samples=_MIN_SAMPLES,
        max_samples=_MAX_SAMPLES,
        probe_cpus=nearest_pair(allowed_cores(machine.topology)),
        cases=cases,
        order=order,
        folded=selection.folded,
        left_out=selection.left_out,
    )


def _choices(study: Study, options: Options) -> tuple[int, float, float | None]:
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
            f"{precision:g} is no precision",
            why="it is a share of the median: 0.01 is 1 %",
            remedy="assay plan STUDY --precision 0.01",
        )
    if budget_s is not None and budget_s <= 0:
        raise UsageError(
            f"{budget_s:g} s is no budget",
            why="a budget is longer than nothing",
            remedy="assay plan STUDY --budget 60s",
        )
    return launches, precision, budget_s


def _check(name: str, selection: Selection) -> None:
    if not selection.cases:
        reasons = "; ".join(f"{left.wish}: {left.reason}" for left in selection.left_out) or "it asks for nothing"
        raise UnfitEnvironmentError(
            f"nothing of study '{name}' can be measured here", why=reasons, remedy="assay list studies"
        )
