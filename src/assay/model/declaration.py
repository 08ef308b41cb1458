"""What a program measures, as plain data: axes, kernels, metrics, what it needs. A run stores it."""

import math
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

import msgspec

from assay.model import units
from assay.model.role_words import AxisRole, LevelRole, Role
from assay.model.units import Prefix

ParamValue = int | float | str
#: Terms of a polynomial: numerator, denominator, power of the order n, or of several numbers. 2 n^3 / 3 + 2 n^2 is
#: (2, 3, 3), (2, 1, 2); 58 i s^3 is (58, 1, {"i": 1, "s": 3}).
Polynomial = tuple[tuple[int | float, int, int | dict[str, int]], ...]
Amount = int | float | Polynomial | None
Params = Mapping[str, ParamValue]
Numbers = Mapping[str, int | float]

#: The number of which a polynomial names only the power.
_ORDER = "n"


class Pattern(msgspec.Struct, frozen=True, omit_defaults=True):
    """How messages pass between ranks, a level of an axis of the role `message-pattern`.

    Attributes:
        counted: what its headline counts, for headings: `Ping-pong latency, one way`.
        within: the same inside a sentence; empty: the level's own word is used.
        figure: kind of its headline: the `time` of a message, or a `rate` of bytes.
        directions: number of directions in which messages pass at the same time.
        pairs: `one` pair of ranks passes messages, or `all` at once.
        osu: name of OSU's test of it; empty if OSU has none.
        timed: of the rate of single messages: pattern whose time it follows from; empty for all others.
    """

    counted: str
    within: str = ""
    figure: Literal["time", "rate"] = "rate"
    directions: Literal[1, 2] = 1
    pairs: Literal["one", "all"] = "one"
    osu: str = ""
    timed: str = ""


class Axis(msgspec.Struct, frozen=True, omit_defaults=True):
    """One parameter of a program.

    Attributes:
        name: as on the program's command line (`--name`).
        meaning: one sentence for people.
        values: the values that exist (a closed set of words), or the default ones (numbers).
        default: the value if a study names none; None if `Benchmark.points` gives it.
        unit: of numbers: `B`, `elements`; empty for words.
        swept: whether results are drawn as a curve along this axis.
        needs: value -> words; the fact `needs_of` must have one of them. Absent values need none.
        needs_of: section and name of that fact; by default the instruction sets of the processor.
        functions: value -> functions; a library that the program loads must have one of them. Absent values need
            none.
        clashes: other axis -> (some of its values, reason): with these only the default of this axis can be
            measured.
        role: what it varies, if the engine needs to know; None for all others.
        identifies: whether the id of a case names the value that `Benchmark.points` gives even if there is only
            one value; values that differ from point to point are always named.
        named: whether its levels are names, which are not translated.
        patterns: for an axis of patterns: level -> its meaning, including levels of other tools.
        short: the meaning in a few words, for the axis of a chart; empty if `meaning` is short enough.
        words: level -> text that readers see in place of name and level.
        level_roles: level -> its meaning, if the engine needs to know.
        numbers: level -> the numbers that it stands for: points of a grid, for polynomials.
        minimum: least value of a number.
        maximum: largest value of a number; None: no limit but that of sizes.
        program_default: what the program takes if it is given no value; None: `default`.
    """

    name: str
    meaning: str
    values: tuple[ParamValue, ...]
    default: ParamValue | None
    unit: str = ""
    swept: bool = False
    needs: Mapping[ParamValue, tuple[str, ...]] = msgspec.field(default_factory=dict)
    needs_of: tuple[str, str] = ("processor", "vector instructions")
    functions: Mapping[ParamValue, tuple[str, ...]] = msgspec.field(default_factory=dict)
    clashes: Mapping[str, tuple[tuple[ParamValue, ...], str]] = msgspec.field(default_factory=dict)
    role: AxisRole | None = None
    identifies: bool = False
    named: bool = False
    patterns: Mapping[str, Pattern] = msgspec.field(default_factory=dict)
    short: str = ""
    words: Mapping[ParamValue, str] = msgspec.field(default_factory=dict)
    level_roles: Mapping[ParamValue, LevelRole] = msgspec.field(default_factory=dict)
    numbers: Mapping[ParamValue, dict[str, int]] = msgspec.field(default_factory=dict)
    minimum: int = 1
    maximum: int | None = None
    program_default: ParamValue | None = None

    @property
    def title(self) -> str:
        """The label of the axis of a chart."""
        return self.short or self.meaning


class Metric(msgspec.Struct, frozen=True, omit_defaults=True):
    """How samples of a kernel become a figure.

    A rate is `work[kernel][work] * iterations / seconds`; a time (unit `s`) is `seconds / iterations`, divided by
    `work[kernel][work]` where `work` is named (operations in one iteration).

    Attributes:
        name: `bandwidth`, `traffic`, `latency`.
        unit: SI base unit: `B/s`, `flop/s`, `s`.
        better: direction.
        work: key in the header's work of one iteration; empty for times.
        meaning: what is counted, one sentence.
        limit: name of the law that bounds it (see assay.analyse.limits); empty if none is known.
        kernels: kernels that have this metric; empty: all kernels of the benchmark.
        when: axis -> values at which the metric exists; absent axes do not matter.
        role: what it says about a machine; None if no limit, law or rule needs it.
        prefix: with which prefixes people read it: `decimal` (3.2 GW), `binary` (3 GiB), `none` (3200000 rows).
        precision: number format of a rate of operations, `fp32`, if no axis sets it; empty for `fp64`.
        over: whose time counts if all ranks make one figure: the slowest rank of each sample, or the mean.
    """

    name: str
    unit: str
    better: Literal["higher", "lower"]
    work: str
    meaning: str
    limit: str = ""
    kernels: tuple[str, ...] = ()
    when: Mapping[str, tuple[ParamValue, ...]] = msgspec.field(default_factory=dict)
    over: Literal["slowest", "mean"] = "slowest"
    role: Role | None = None
    precision: str = ""
    prefix: Prefix = "decimal"


class Larger(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the problem of a benchmark gets more memory.

    Attributes:
        axis: the axis that grows; empty if each rank has a part of a fixed size by definition.
        power: the value grows by this power of the memory: .5 for the order of a matrix.
        grain: the value is a multiple of this number, or of the value of this axis.
        step: of an axis of named sizes: how many times the memory of the level before a level has.
    """

    axis: str = ""
    power: float = 1.0
    grain: int | str = 1
    step: float = 0.0


class Declaration(msgspec.Struct, frozen=True, dict=True, kw_only=True, omit_defaults=True):
    """What a benchmark measures: everything that is needed to read its figures, and no function.

    Attributes:
        name: noun, equal to the module's name.
        title: for headings.
        measures: what it measures, one sentence.
        source: the public definition or paper it follows.
        program: name of the native executable.
        version: of the definition. It is raised where the meaning of a figure changes: figures of two versions are
            of two measurands.
        kernels: in the order that the program runs them.
        work: kernel -> quantity that the program states of it -> its amount in one unit of work, as the meaning of
            the metric says: of an element, of a solution of order n. None: the program counts it.
        parts: part of a solution, or problem that a level names -> quantity -> its amount in a solution. The
            program counts by it; it does not state it as its work.
        axes: every parameter that changes what is measured.
        metrics: the first one is the headline.
        min_cpus: fewest cpus of a placement that make sense; of an MPI program fewest ranks.
        max_cpus: most cpus it uses, None for as many as the placement has; of an MPI program most ranks.
        max_rank_cpus: most cpus that a rank of an MPI program uses where a placement lays out ranks of several
            (`4x8`), each with a pinned thread; None for as many as it has.
        touch_axes: axes on which two cases must agree so that the second needs no first touch of its memory.
        launcher: `mpi` starts a rank on each cpu of a placement, all as one MPI program, and the samples of all of
            them make one figure (see Metric.over); `direct` starts one process on each host, with all of its cpus
            as threads, and each host has a figure of its own.
        two_sided: transport of its messages if one rank sends and another receives; empty for all others.
        sentinel: params at which it is, on one core, the fixed work between blocks that only the state of the
            machine can slow; empty if it does not serve as that.
        needs: role of each library that the program loads at launch, `blas` -> functions that it must have.
        devices: whether each rank works on the devices of its placement; its program gets them by `--devices`
            and states in its header those that it opened.
        folder: whether each rank works in a folder; its program gets it by `--folder`.
        scaled: axis -> values that a study of scaling uses if a user chooses none.
        larger: how its problem grows with the number of cores; None if there are no larger ones.
        order_grain: axis whose value divides the order (the axis of that role); empty if any order is right.
        own_threads: whether the program starts its own threads, or a library does.
        solves: whether an iteration is a whole solution: the first kernel is its figure of merit, the others are
            its phases.
        message_threads: axis of the threads of a rank that pass messages at once; empty: only one does.
    """

    name: str
    title: str
    measures: str = ""
    source: str = ""
    program: str = ""
    version: int = 1
    kernels: tuple[str, ...] = ()
    work: dict[str, dict[str, Amount]] = {}
    parts: dict[str, dict[str, Amount]] = {}
    axes: tuple[Axis, ...] = ()
    metrics: tuple[Metric, ...] = ()
    min_cpus: int = 1
    max_cpus: int | None = None
    max_rank_cpus: int | None = 1
    touch_axes: tuple[str, ...] = ()
    launcher: Literal["direct", "mpi"] = "direct"
    two_sided: Literal["", "MPI", "TCP"] = ""
    sentinel: dict[str, ParamValue] = {}
    needs: dict[str, tuple[str, ...]] = {}
    devices: bool = False
    folder: bool = False
    order_grain: str = ""
    scaled: dict[str, ParamValue | tuple[ParamValue, ...]] = {}
    larger: Larger | None = None
    own_threads: bool = False
    solves: bool = False
    message_threads: str = ""

    @cached_property
    def key(self) -> str:
        """Its name with a hash of its content: equal declarations have one key, others of the name another."""
        return f"{self.name}@{sha256(msgspec.json.encode(self)).hexdigest()[:12]}"

    def amount(self, part: str, quantity: str, numbers: Numbers = MappingProxyType({})) -> float:
        """Amount of a quantity in one unit of work of a kernel, or in a part of a solution.

        Args:
            part: kernel of `work`, or part of `parts`.
            quantity: name.
            numbers: of which a polynomial is made.

        Raises:
            KeyError: it is not declared, or the program counts it; or a number of the polynomial is missing.
        """
        amount = (self.work.get(part) or self.parts[part])[quantity]
        if amount is None:
            raise KeyError(quantity)
        if isinstance(amount, tuple):
            return sum(_term(term, numbers) for term in amount)
        return amount

    def numbers(self, params: Params) -> dict[str, int]:
        """The numbers that the levels of a case stand for."""
        levels = (axis.numbers.get(params[axis.name], {}) for axis in self.axes if axis.name in params)
        return {name: number for level in levels for name, number in level.items()}

    def work_of(self, kernel: str, units: float = 1.0) -> dict[str, float]:
        """Quantity -> its amount in so many units of work, of those that the declaration states."""
        stated = (quantity for quantity, amount in self.work[kernel].items() if amount is not None)
        return {quantity: units * self.amount(kernel, quantity) for quantity in stated}

    @property
    def message_size(self) -> Axis | None:
        """The axis of the size of its messages; None if its ranks pass none."""
        return self.axis("message-size")

    @property
    def is_known(self) -> bool:
        """Whether it is declared; benchmarks of other tools may not be."""
        return bool(self.metrics)

    @cached_property
    def swept(self) -> str:
        """Name of the axis along which its figures are a curve; empty if there is none."""
        return next((axis.name for axis in self.axes if axis.swept), "")

    @cached_property
    def units(self) -> Mapping[str, str]:
        """Axis -> unit."""
        return {axis.name: axis.unit for axis in self.axes}

    @cached_property
    def defaults(self) -> Mapping[str, ParamValue]:
        """Axis -> its value if a study names none; without the axes that `points` gives."""
        return {axis.name: axis.default for axis in self.axes if axis.default is not None}

    @cached_property
    def computed(self) -> frozenset[str]:
        """Axes whose values `points` gives."""
        return frozenset(axis.name for axis in self.axes if axis.default is None)

    @cached_property
    def derived(self) -> frozenset[str]:
        """Computed axes that only follow from the placement: their values do not distinguish cases."""
        return frozenset(axis.name for axis in self.axes if axis.default is None and not axis.identifies)

    @cached_property
    def problem_axes(self) -> frozenset[str]:
        """Axes that say which problem is solved, by its name or by its size: their levels are no alternatives."""
        return frozenset(
            axis.name
            for axis in self.axes
            if axis.numbers or axis.identifies or (axis.values and set(axis.values) <= self.parts.keys())
        )

    @property
    def main_kernel(self) -> str:
        """Its main kernel: the last one of its first metric, else its last one, as triad; empty for none."""
        kernels = self.metrics[0].kernels or self.kernels if self.metrics else self.kernels
        return kernels[-1] if kernels else ""

    @property
    def between_two(self) -> bool:
        """Whether its figures are curves over the size of messages between two ranks, in patterns."""
        size = self.message_size
        return size is not None and size.swept and self.axis("message-pattern") is not None

    @property
    def sizes_itself(self) -> bool:
        """Whether it chooses its working set from the machine's caches."""
        return any(axis.default is None and axis.unit for axis in self.axes)

    def problem(self, params: Params) -> dict[str, ParamValue]:
        """The params without those that only follow from the placement: equal for cases of the same problem."""
        return {name: value for name, value in params.items() if name not in self.derived}

    def grown(self, problem: Params, times: float) -> dict[str, ParamValue] | None:
        """The axes of a problem with `times` the memory; None if there is none, as between two named sizes."""
        larger = self.larger
        if larger is None:
            return None
        if not larger.axis:
            return dict(problem)
        value = problem.get(larger.axis)
        if not larger.step:
            grain = int(problem.get(larger.grain, 1)) if isinstance(larger.grain, str) else larger.grain
            return {larger.axis: max(1, round(float(value or 0) * times**larger.power / grain)) * grain}
        levels = next(axis.values for axis in self.axes if axis.name == larger.axis)
        if value not in levels:  # an import may have another size
            return None
        steps = math.log(times, larger.step)
        place = levels.index(value) + round(steps)
        exists = math.isclose(steps, round(steps), abs_tol=1e-9) and 0 <= place < len(levels)
        return {larger.axis: levels[place]} if exists else None

    def is_grown(self, params: Params, base: Params, times: float) -> bool:
        """Whether a problem is the base problem with `times` the memory."""
        before = self.problem(base)
        has_all = self.scaled.keys() <= before.keys()  # imported figures may lack some
        grown = self.grown(before, times) if has_all else None
        return grown is not None and {**before, **grown} == self.problem(params)

    def axis(self, role: AxisRole) -> Axis | None:
        """The axis that has this role; None if none has."""
        return next((axis for axis in self.axes if axis.role == role), None)

    def metrics_of(self, kernel: str, params: Params) -> tuple[Metric, ...]:
        """The metrics of one kernel at a point of the axes, in the order of `metrics`."""
        return tuple(metric for metric in self.metrics if _counts(metric, kernel, params))

    def headline_of(self, kernel: str, params: Params) -> Metric | None:
        """The first of `metrics_of`; None if there is none. It is called very often, hence the loop."""
        for metric in self.metrics:
            if _counts(metric, kernel, params):
                return metric
        return None

    def headline_name(self, kernel: str, params: Params, metric: str) -> str:
        """Name of the first metric of an estimate's kernel and params; `metric` is the estimate's own.

        If there is none, as for patterns of other tools, it is `metric` itself; but empty if the benchmark is ours
        and has no such metric, as one of pairs has no `latency-t-max`.
        """
        first = self.headline_of(kernel, params)
        if first:
            return first.name
        return metric if not self.is_known or any(metric == each.name for each in self.metrics) else ""


def _term(term: tuple[int | float, int, int | dict[str, int]], numbers: Numbers) -> float:
    numerator, denominator, powers = term
    named = {_ORDER: powers} if isinstance(powers, int) else powers
    product = math.prod(numbers[name] ** power for name, power in named.items() if power)
    return float(numerator * product / denominator)


def _counts(metric: Metric, kernel: str, params: Params) -> bool:
    if metric.kernels and kernel not in metric.kernels:
        return False
    for axis, values in metric.when.items():  # noqa: SIM110 (half the time of `all`)
        if params.get(axis) not in values:
            return False
    return True


#: Every declaration that runs have brought into this process, by its key. Content decides the key: runs that
#: declare a benchmark differently have an entry each.
_KEPT: dict[str, Declaration] = {}


def keep(declaration: Declaration) -> str:
    """Keep a declaration for `kept`, and how its units are shown; return its key."""
    if declaration.key not in _KEPT:
        _KEPT[declaration.key] = declaration
        for metric in declaration.metrics:
            units.show(metric.unit, metric.prefix)
    return declaration.key


def kept(key: str) -> Declaration:
    """Return the declaration with a key that `keep` has returned; one without axes and metrics for other words."""
    return _KEPT.get(key) or undeclared(key)


def undeclared(name: str) -> Declaration:
    """Return the declaration of a benchmark of which nothing is known, as those of other tools."""
    return Declaration(name=name, title=name)
