"""What will be measured: a Study is the request, a Plan is the request applied to one machine, as plain data."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal

import msgspec

from assay.model.application import Application
from assay.model.core_rate import CoreRate
from assay.model.declaration import Declaration, ParamValue, undeclared
from assay.model.left_out import Folded, LeftOut
from assay.model.placement import Placement
from assay.model.private import FilePath, Host

PLAN_SCHEMA = 1
#: The level of an environment variable that keeps the user's value.
UNSET = "default"
#: The order of a system that fills the memory.
LARGEST = "largest"


class Measure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table `[[measure]]` of a study: a benchmark at some placements and points of its axes.

    Attributes:
        benchmark: name of the declaration.
        placements: placement words (see docs), `*` allowed as an index: `all:numa:*`; `@2`, `@all` give the number
            of nodes.
        later: further placement words, each measured after all words before it: the earlier figures predict it.
        memory: memory words: `first-touch`, `interleave`, `bind:local`, `bind:*` (each node in turn).
        axes: axis -> values; an axis that is absent takes its default. Sizes may be ranges, `1:64M`; the order of
            a system `largest`, which fills the memory.
        weight: share of the time budget of each of its cases, relative to cases of other measures.
        min_memory_nodes: it is left out with fewer usable memory nodes, because it would show nothing.
        apart: measure each memory policy even if one memory node makes them equal: a table of policies keeps its
            rows, and their equality is measured.
        why: purpose of the measure, shown in the plan.
        grows: the values are the problem of one core; each placement gets a problem with as much for each core.
        at_once: how many of the smallest numbers of cores are measured together; each larger number is a round of
            its own, as in `later`. 0: all are measured together.
        launches: of its cases, if fewer than those of the study: solutions that take an hour are measured once.
        beside: application beside which it is measured: where that is absent, it is left out, too; empty for none.
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
    launches: int = 0
    beside: str = ""


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request that fits any machine.

    Attributes:
        title: for headings.
        question: question that it answers, one sentence.
        measure: what it measures, the most important first.
        launches: launches of each case (quick 3, standard 6, publication 10 or more).
        precision: wanted half-width of the interval of a launch's median, relative to it.
        budget_s: time budget in seconds, None for none.
        grows: the budget is for a small machine; if the plan takes longer, it gets that time.
        repeats: published study that this repeats in part.
        reference: name of the reference that has its figures; empty for none.
        refine: rounds in which curves of messages get more sizes where they bend.
        without: what it cannot measure -> why.
        unless: of these, names of the factors of which a run may have levels: then it measures that.
        subject: benchmark without which the others have no meaning; empty for none.
    """

    title: str
    question: str
    measure: tuple[Measure, ...]
    launches: int = 6
    precision: float = 0.01
    budget_s: float | None = None
    grows: bool = False
    repeats: str = ""
    reference: str = ""
    refine: int = 0
    without: dict[str, str] = {}
    unless: dict[str, tuple[str, ...]] = {}
    subject: str = ""


def split_levels(text: str) -> tuple[str, ...]:
    """Levels separated by commas, or by `|` if the text contains one."""
    return tuple(level.strip() for level in text.split("|" if "|" in text else ","))


class Factor(msgspec.Struct, frozen=True):
    """A setting that is varied on purpose, with all levels in the same blocks.

    Attributes:
        name: as users say it: `memory`, `toolchain`, `flags`, an axis, or any name whose levels have commands.
        levels: the first one is the base of every comparison.
        kind: what a level is: a memory word, a toolchain, compiler flags, an MPI, a network, a value of an axis, a
            command, the value of an environment variable, words before the program (`prefix`).
        benchmark: the benchmark with this axis; empty for every benchmark that has it, and for other kinds.
        commands: for `commands`: level -> command that sets it, in the order stated; the first one is the usual
            state of the machine and restores it at the end.
        devices: for `network`: level -> interface or port, `eth0` or `mlx5_0:1`.
        files: for `library`: level -> shared library to load.
        prefixes: for `prefix`: level -> words before the program, `apptainer exec image.sif`.
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
        placement: resolved placement.
        factors: factor -> level, only those that are varied on purpose.
        role: `sentinel` for the small fixed kernel between blocks that shows drift; `control` for a case that is
            measured a second time in each block, A against A, to show which differences cannot be resolved.
        weight: share of the time budget.
        memory_bytes: memory it needs on each host.
        setup_s: estimated seconds before its first sample, mean over its launches.
        setup_measured: whether that follows from the time of smaller problems, not from the benchmark's
            assumption.
        iteration_s: estimated seconds of one iteration of its slowest kernel; None if unknown.
        plain: its id without levels of factors and without the mark of a control; empty if equal to the id.
        repeats: for a control, the id of the case that it repeats; empty for others.
        launches: of the case, if fewer than those of the plan; else 0.
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
    launches: int = 0

    @property
    def cores(self) -> int:
        """Number of cpus of all ranks, on all hosts."""
        return sum(map(len, self.placement.rank_cpus))

    @property
    def place(self) -> str:
        """`tcp, pair`; control measurements are marked as such."""
        control = {"measure": "", "control": ", A against A", "sentinel": ", fixed work between blocks"}[self.role]
        return f"{self.benchmark}, {self.placement.label}{control}"

    @property
    def subject(self) -> str:
        """Its id without levels and controls: equal for cases that differ only in these."""
        return self.plain or self.id


def case_id(subject: str, levels: Mapping[str, str]) -> str:
    """The id of a subject at levels of factors: `stream/all/first-touch/stores=ordinary/toolchain=gcc`."""
    return "/".join(filter(None, (subject, ",".join(f"{factor}={level}" for factor, level in levels.items()))))


class Arm(msgspec.Struct, frozen=True):
    """One of the measurements of an experiment in each block.

    Attributes:
        case: id of the case of the study that it repeats; in the plan of experiments the id of its own case.
        kernel: kernel whose figure is judged.
        metric: metric of that kernel.
        power: 1 if the figure multiplies the effect, -1 if it divides it.
        level: level of the experiment's factor; empty if it has none.
        params: axis -> value that replaces that of the case.
        placement: replaces that of the case; None: no change.
    """

    case: str
    kernel: str
    metric: str
    power: Literal[1, -1]
    level: str = ""
    params: dict[str, ParamValue] = {}
    placement: Placement | None = None


class Effect(msgspec.Struct, frozen=True):
    """What an experiment tests: the product of its arms' figures, block by block, against a threshold.

    It holds if the whole interval of the product lies on the named side of the threshold, fails if the whole
    interval lies on the other side, and is open otherwise.

    Attributes:
        what: name of the product: `the ratio`.
        arms: arms that are multiplied, each with its power.
        border: the threshold, in the unit of the product.
        side: side of the threshold on which it holds.
        holds: text: what is true if it holds.
        fails: text: what is true if it fails.
        refutes: whether the finding is refuted if it fails; else it stays open.
        unit: unit of the product; empty for a ratio.
        excludes: whether no rival is left if it holds, because the cause itself was varied.
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
    """An experiment that confirms or refutes a candidate finding, as data.

    Attributes:
        question: question that it answers, a clause that follows `tells`.
        effects: all of them must hold to confirm the finding.
        factor: factor that it varies; None if it repeats the measurement.
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


class Plan(msgspec.Struct, frozen=True, dict=True):
    """Ordered, seeded cases with repeats, an estimate of cost and a budget.

    Attributes:
        schema: version of this record.
        study: name of the study.
        title: of the study.
        question: of the study.
        machine: host name, or description, of the machine it was made for.
        hosts: nodes that may be used; each case names those that it runs on.
        seed: random seed of the order in the blocks.
        precision: see Study.
        launches: of each case.
        budget_s: seconds, None for none.
        estimate_s: estimated duration without a budget.
        prepared_s: seconds of the budget that were used before the first launch, to find sizes.
        min_samples: minimum samples of a kernel in a launch.
        max_samples: maximum samples of a kernel in a launch.
        probe_cpus: the two cpus of the hand-over probe, empty if there is one core.
        cases: cases, the most important first.
        order: every launch, in the order they run.
        later: ids of the cases of each later round. A round gets its launches after all launches before it.
        later_share: share of the remaining budget that is kept for later rounds.
        folded: requests that are equal on this machine.
        left_out: requests that cannot be measured.
        factors: what is varied on purpose.
        refine: rounds of refinement that may follow after all launches.
        full: whether the largest problems that fit into memory follow then, in one launch, beyond the budget.
        network: device for messages if networks are not varied; empty: the MPI chooses.
        libraries: role -> shared library that programs load if it is not varied.
        grows: the budget is the study's own: launches that make intervals may exceed it by a fifth, and every case
            is measured once, whatever that takes. A budget given by the user is kept.
        confirm_s: seconds for experiments after the study, beyond its budget; None: no experiments.
        trials: plans of experiments. Their blocks follow those of the study and do not belong to it.
        experiments: in a plan of experiments: id of a finding -> its experiment.
        core: rate of one core of the machine, used to estimate the time of operations.
        applications: declarations of the applications that it measures.
        declarations: those of every benchmark that it measures: what its figures mean, wherever the run is read.
        prefixes: application -> folder that is searched before PATH, of Assay or of the user; others are on PATH.
        levels: factor -> level of the whole run, which the user states and no launch can set: `nps` -> `4`.
        reference: see Study.
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
    levels: dict[str, str] = {}
    declarations: tuple[Declaration, ...] = ()
    reference: str = ""

    @cached_property
    def _declared(self) -> Mapping[str, Declaration]:
        return {declaration.name: declaration for declaration in self.declarations}

    def declared(self, benchmark: str) -> Declaration:
        """The declaration of a benchmark; one without axes and metrics if the plan has none, as of other tools."""
        return self._declared.get(benchmark) or undeclared(benchmark)

    @property
    def studied(self) -> tuple[Case, ...]:
        """The cases that the study requests, which are also those that are counted: without control measurements.

        Control measurements are the fixed work between blocks, and the second measurement of A against A.
        """
        return tuple(case for case in self.cases if case.role == "measure")

    @property
    def launched(self) -> frozenset[str]:
        """Ids of the cases that its launches hold."""
        return frozenset(case for launch in self.order for case in launch.cases)

    def with_part(self, part: "Plan") -> "Plan":
        """The plan of the whole run with the next part of a stage: more of the study, or further experiments."""
        if not part.experiments:
            return part
        if part in self.trials:
            return self
        return msgspec.structs.replace(self, trials=(*self.trials, part), confirm_s=None)

    def case(self, case_id: str) -> Case:
        """The case with this id; KeyError if there is none."""
        for case in self.cases:
            if case.id == case_id:
                return case
        raise KeyError(case_id)

    @property
    def names(self) -> dict[str, str]:
        """Id of a case -> a text of what distinguishes it from others of its benchmark: `hpl, all, n 8192`."""
        levels = {e.id: {**e.params, "memory": str(e.placement.memory), **e.factors} for e in self.cases}
        values: dict[tuple[str, str, str], set[ParamValue]] = {}
        for case in self.cases:
            for name, value in levels[case.id].items():
                values.setdefault((case.benchmark, case.role, name), set()).add(value)

        def words(case: Case) -> list[str]:
            kind = case.benchmark, case.role
            return [f"{name} {value}" for name, value in levels[case.id].items() if len(values[*kind, name]) > 1]

        return {case.id: ", ".join((case.place, *words(case))) for case in self.cases}


#: Maximum seconds of sampling of a case without a budget, the default of the native programs.
UNLIMITED_S = 2.0
#: Minimum seconds of sampling of a case in a launch, whatever its weight. Cases of 1 ms gave 4.8 or 82 ns for the
#: same load by chance.
LEAST_S = 0.02
#: Seconds of the sentinel's fixed work in a run, at most a fifth of it warm-up, over so many launches or fewer.
#: The time that it loses to stops and slower moments shows how quiet the machine is. Where they take half of it,
#: pieces of work still have 1 s: a stop between two pieces is part of none.
_PROBED_S, _PROBES = 1.5, 7


def probe_s(launches: int) -> float:
    """Return the seconds of the sentinel in each of its launches. More launches than usual get no less each."""
    return _PROBED_S / min(max(1, launches), _PROBES)
