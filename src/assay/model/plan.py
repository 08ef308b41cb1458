"""What will be measured: a Study is the wish, a Plan is the wish applied to one machine, as plain data."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from assay.model.application import Application
from assay.model.benchmark import ParamValue
from assay.model.core_rate import CoreRate
from assay.model.placement import Placement, Word, parsed
from assay.model.private import FilePath, Host

PLAN_SCHEMA = 1
#: Most seconds of sampling of a case without a budget, as the native programs have it.
UNLIMITED_S = 2.0
#: Seconds of sampling that every case gets in a launch, whatever its weight. Cases of 1 ms gave 4.8 or 82 ns for
#: the same load by chance.
LEAST_S = 0.02
#: Seconds of fixed work in a run, all launches of the sentinel together: what they lose to stops tells how quiet
#: the machine is.
PROBED_S = 1.05
#: The level of an environment variable that stays as the user has it.
UNSET = "default"


class Measure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table `[[measure]]` of a study: a benchmark at some placements and points of its axes.

    Attributes:
        benchmark: name of the declaration.
        placements: placement words (see docs), `*` allowed as an index: `all:numa:*`; with `@2`, `@all` on each of
            so many nodes.
        later: further placement words, each measured when all before it is through: what is known by then predicts
            its figures.
        memory: memory words: `first-touch`, `interleave`, `bind:local`, `bind:*` (each node in turn).
        axes: axis -> values; an axis that is absent takes its default. Sizes may be ranges, `1:64M`.
        weight: share of the time budget that each of its cases gets, against cases of other measures.
        min_memory_nodes: left out where fewer memory nodes may be used, because it would show nothing.
        apart: measure each memory policy even where one memory node makes them the same: a table of policies keeps
            its rows, and their equality is measured.
        why: what the measure is for, shown in the plan.
        grows: the values are those of one core's problem; each placement gets one with as much for each core.
        at_once: so many numbers of cores, the smallest, are measured at once; each larger number is a round of its
            own, as in `later`. 0: all are measured at once.
    """

    benchmark: str
    placements: tuple[str, ...]
    memory: tuple[str, ...] = ("first-touch",)
    axes: dict[str, tuple[ParamValue, ...] | ParamValue] = {}
    weight: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    min_memory_nodes: int = 1
    apart: bool = False
    why: str = ""
    later: tuple[str, ...] = ()
    grows: bool = False
    at_once: int = 0


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stored plan that fits any machine.

    Attributes:
        title: for headings.
        question: what it answers, one sentence.
        measure: what it measures, in this order of importance.
        launches: launches of each case (quick 3, standard 6, publication 10 or more).
        precision: wanted half-width of the interval of a launch's median, relative to it.
        budget_s: time budget in seconds, None for none.
        grows: the budget is that of a small machine; one where the plan takes longer gets what the plan takes.
        repeats: a published study whose part this repeats.
        refine: rounds in which curves of messages get more sizes where they bend.
        without: what it would measure if anything could -> why nothing can.
        subject: benchmark without which the others would tell nothing; empty for none.
    """

    title: str
    question: str
    measure: tuple[Measure, ...]
    launches: int = 6
    precision: float = 0.01
    budget_s: float | None = None
    grows: bool = False
    repeats: str = ""
    refine: int = 0
    without: dict[str, str] = {}
    subject: str = ""


class Factor(msgspec.Struct, frozen=True):
    """A thing that is varied on purpose, level by level, in the same blocks.

    Attributes:
        name: as users say it: `memory`, `toolchain`, `flags`, an axis, or a `[factor.NAME]` of the configuration.
        levels: the first one is the base of every comparison.
        kind: what a level is: a memory word, a toolchain, compiler flags, an MPI, a network, a value of an axis, a
            command, the value of an environment variable, words before the program (`prefix`).
        benchmark: the one whose axis it is; empty for every benchmark that has the axis, and for other kinds.
        commands: level -> command that sets it, in the order of the configuration; the first one is the machine's
            usual state and restores it at the end. Empty for other kinds.
        devices: level -> interface or port, `eth0` or `mlx5_0:1`, of kind `network`; empty for other kinds.
        files: level -> shared library that is loaded, of kind `library`; empty for other kinds.
        prefixes: level -> words that start the program, `apptainer exec image.sif`, of kind `prefix`; empty for
            other kinds.
    """

    name: str
    levels: tuple[str, ...]
    kind: Literal[
        "memory", "toolchain", "flags", "mpi", "network", "axis", "commands", "variable", "library", "prefix"
    ]
    benchmark: str = ""
    commands: dict[str, str] = {}
    devices: dict[str, str] = {}
    files: dict[str, FilePath] = {}
    prefixes: dict[str, str] = {}


class Case(msgspec.Struct, frozen=True):
    """One benchmark at one point of its axes, placement and factor levels.

    Attributes:
        id: readable and unique in its plan, e.g. `stream/all/first-touch/stores=ordinary,touch=parallel`.
        benchmark: name of the declaration.
        params: every axis with its value.
        placement: resolved.
        factors: factor -> level, only those that are varied on purpose.
        role: `sentinel` for the small fixed kernel between blocks that shows drift; `control` for a case that is
            measured a second time in each block, A against A, to show what the machine cannot tell apart.
        weight: share of the time budget.
        memory_bytes: memory it needs on each host.
        setup_s: estimated seconds before its first sample, the mean over its launches.
        setup_measured: whether that follows from what smaller problems took, not from what its benchmark assumes.
        iteration_s: estimated seconds of one iteration of its slowest kernel; None where nobody knows.
        plain: its id without what levels of factors, or a control, add to it; empty where nothing is added.
        repeats: of a control the id of the case that it repeats; empty for others.
    """

    id: str
    benchmark: str
    params: dict[str, ParamValue]
    placement: Placement
    factors: dict[str, str] = {}
    role: Literal["measure", "sentinel", "control"] = "measure"
    weight: float = 1.0
    memory_bytes: int = 0
    setup_s: float = 0.01
    setup_measured: bool = False
    iteration_s: float | None = None
    plain: str = ""
    repeats: str = ""

    @property
    def cores(self) -> int:
        """Cpus of all of its ranks, on all hosts."""
        return sum(map(len, self.placement.rank_cpus))

    @property
    def place(self) -> str:
        """`tcp, pair`; control measurements are called so."""
        control = {"measure": "", "control": ", A against A", "sentinel": ", fixed work between blocks"}[self.role]
        return f"{self.benchmark}, {self.placement.label}{control}"

    @property
    def subject(self) -> str:
        """What it measures: equal for cases that only levels, or a control, tell apart."""
        return self.plain or self.id


def case_id(subject: str, levels: Mapping[str, str]) -> str:
    """A subject at levels of factors: `stream/all/first-touch/stores=ordinary/toolchain=gcc`."""
    return "/".join(filter(None, (subject, ",".join(f"{factor}={level}" for factor, level in levels.items()))))


class Arm(msgspec.Struct, frozen=True):
    """One of the things that an experiment measures in each block.

    Attributes:
        case: id of the case of the study that it repeats; in the plan of experiments that of its own case.
        kernel: whose figure is judged.
        metric: of that kernel.
        power: 1 where the figure multiplies the effect, -1 where it divides it.
        level: of the experiment's factor; empty where that has no part in it.
        params: axis -> value in place of the case's own.
        placement: in place of the case's own; None for that.
    """

    case: str
    kernel: str
    metric: str
    power: Literal[1, -1]
    level: str = ""
    params: dict[str, ParamValue] = {}
    placement: Placement | None = None


class Effect(msgspec.Struct, frozen=True):
    """What an experiment tests: the product of its arms' figures, block by block, against a border.

    It holds where the whole interval of the product lies on the named side of the border, fails where the whole of
    it lies on the other, and is open in between.

    Attributes:
        what: the product is, in words: `the ratio`.
        arms: that are multiplied, each with its power.
        border: in the unit of the product.
        side: of the border on which it holds.
        holds: what is true then, in words.
        fails: what is true where it fails.
        refutes: whether the finding is refuted where it fails; else that leaves it open.
        unit: of the product; empty for a ratio.
        excludes: whether no rival is left where it holds: it varied the cause.
    """

    what: str
    arms: tuple[Arm, ...]
    border: float
    side: Literal["above", "below"]
    holds: str
    fails: str
    refutes: bool = True
    unit: str = ""
    excludes: bool = False


class Experiment(msgspec.Struct, frozen=True):
    """What turns a candidate into a confirmed or a refuted finding, as data.

    Attributes:
        question: what it answers, in words that follow `tells`.
        effects: all of which have to hold for the finding to be confirmed.
        factor: that it varies; None where it repeats what was measured.
    """

    question: str
    effects: tuple[Effect, ...]
    factor: Factor | None = None


class PlannedLaunch(msgspec.Struct, frozen=True):
    """One start of one program for one or more cases that share placement, factors and program.

    Attributes:
        id: unique in its plan, sortable: `003-02` (block, position in it).
        block: blocks hold one launch of each case, in random order; from 0.
        program: native executable.
        toolchain: name of the toolchain it is built with.
        cases: ids, in the order they run.
    """

    id: str
    block: int
    program: str
    toolchain: str
    cases: tuple[str, ...]


class Folded(msgspec.Struct, frozen=True):
    """A wish that is the same thing as another on this machine.

    Attributes:
        wish: in words: placement and memory.
        into: what it folds into, in words.
        reason: why.
        labels: placement words of the two; empty in a plan of an earlier version, as it is stored.
        alike: as of `LeftOut`.
    """

    wish: str
    into: str
    reason: str
    labels: tuple[str, str] = ("", "")
    alike: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[Word, Word]:
        """The placements of the wish and of what it folds into, whatever their memory."""
        wish, into = map(parsed, self.labels)
        return wish, into


class LeftOut(msgspec.Struct, frozen=True):
    """A wish that cannot be measured on this machine.

    Attributes:
        wish: in words.
        reason: why it cannot be measured.
        nodes: whether more nodes would do.
        levels: of axes, factors and memory that it is about.
        alike: equal for wishes that only an index, a number or a size tells apart; empty for one like no other.
        benchmark: whose problem is too large for the memory; empty for all else.
        instead: axis and value of the largest that fits, `n=49408`, if any.
    """

    wish: str
    reason: str
    nodes: bool = False
    levels: tuple[str, ...] = ()
    alike: tuple[str, ...] = ()
    benchmark: str = ""
    instead: str = ""


class Plan(msgspec.Struct, frozen=True):
    """Ordered, seeded cases with repeats, an estimate of cost and a budget.

    Attributes:
        schema: version of this record.
        study: name of the study.
        title: of the study.
        question: of the study.
        machine: host name, or what describes the machine it was made for.
        hosts: nodes that may be used; each case names those that it runs on.
        seed: of the order in the blocks.
        precision: see Study.
        launches: of each case.
        budget_s: seconds, None for none.
        estimate_s: estimated duration without a budget's cuts.
        prepared_s: seconds of the budget that were used before the first launch, to find sizes.
        min_samples: of a kernel in a launch.
        max_samples: of a kernel in a launch.
        probe_cpus: the two cpus of the hand-over probe, empty where there is one core.
        cases: by importance.
        order: every launch, in the order they run.
        later: rounds of cases without launches so far, which get them when all before is through: ids.
        later_share: of the budget that is left, so much is kept for them.
        folded: what fell together.
        left_out: what is not measured.
        factors: what is varied on purpose.
        refine: rounds of refinement that may follow when all launches are made.
        full: whether the largest problems that the memory holds follow then, in one launch, beyond the budget.
        network: device that messages shall use where networks are not varied; empty for the MPI's choice.
        libraries: role -> shared library that programs load where it is not varied.
        grows: the budget is the study's own: it may be exceeded by a fifth for launches that make intervals, and
            every case is measured once, whatever that takes. One that a user gives is kept.
        confirm_s: seconds for experiments once the study is through, beyond its budget; None for no experiments.
        trials: plans of experiments, whose blocks follow those of the study and are no part of it.
        experiments: of a plan of experiments: id of a finding -> what was planned for it.
        core: what one core of the machine can do, by which operations are foreseen.
        applications: that it measures, as they were declared then.
        prefixes: application -> folder that Assay installed it in; those without one lie in the usual place.
    """

    schema: int
    study: str
    title: str
    question: str
    machine: Host
    hosts: tuple[Host, ...]
    seed: int
    precision: float
    launches: int
    budget_s: float | None
    estimate_s: float
    min_samples: int
    max_samples: int
    probe_cpus: tuple[int, ...]
    cases: tuple[Case, ...]
    order: tuple[PlannedLaunch, ...]
    folded: tuple[Folded, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    factors: tuple[Factor, ...] = ()
    network: str = ""
    libraries: dict[str, FilePath] = {}
    refine: int = 0
    full: bool = False
    grows: bool = False
    confirm_s: float | None = None
    trials: tuple["Plan", ...] = ()
    experiments: dict[str, Experiment] = {}
    later: tuple[tuple[str, ...], ...] = ()
    later_share: float = 0.0
    prepared_s: float = 0.0
    core: CoreRate = CoreRate()
    applications: tuple[Application, ...] = ()
    prefixes: dict[str, FilePath] = {}

    @property
    def studied(self) -> tuple[Case, ...]:
        """What the study asks for, and what is meant where cases are counted: without control measurements.

        Those are the fixed work between blocks, and what is measured a second time in each block, A against A.
        """
        return tuple(case for case in self.cases if case.role == "measure")

    @property
    def launched(self) -> frozenset[str]:
        """Ids of the cases that its launches hold."""
        return frozenset(case for launch in self.order for case in launch.cases)

    def with_part(self, part: "Plan") -> "Plan":
        """The whole run's plan with what a stage measures next: the study with more, or further experiments."""
        if not part.experiments:
            return part
        if part in self.trials:
            return self
        return msgspec.structs.replace(self, trials=(*self.trials, part), confirm_s=None)

    def case(self, case_id: str) -> Case:
        """The case with this id; KeyError when there is none."""
        for case in self.cases:
            if case.id == case_id:
                return case
        raise KeyError(case_id)

    @property
    def names(self) -> dict[str, str]:
        """Id of a case -> the case in words, by what tells it from others of its benchmark: `hpl, all, n 8192`."""
        levels = {e.id: {**e.params, "memory": str(e.placement.memory), **e.factors} for e in self.cases}
        values: dict[tuple[str, str, str], set[ParamValue]] = {}
        for case in self.cases:
            for name, value in levels[case.id].items():
                values.setdefault((case.benchmark, case.role, name), set()).add(value)

        def words(case: Case) -> list[str]:
            of = case.benchmark, case.role
            return [f"{name} {value}" for name, value in levels[case.id].items() if len(values[*of, name]) > 1]

        return {case.id: ", ".join((case.place, *words(case))) for case in self.cases}
