"""Runs, imports and published systems side by side: their labels, their figures, and the words of curves."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath

import msgspec

from assay import references, store
from assay.analyse import conclude, repetition, source_levels, taken
from assay.analyse.evidence import Evidence
from assay.analyse.flaws import flaw
from assay.analyse.messages.steps import MessageLaw
from assay.compare import levels
from assay.compare.curves import RANKS, cpus_of_rank
from assay.compare.meeting import ANYTHING, Declared
from assay.compare.phrases import number
from assay.compare.records import PLACE, PROGRAM, RUN, Curve, CurvePair, MessageCurve, SideBySide
from assay.compare.runs import together
from assay.model import roles
from assay.model.compared import Compared, Yardstick
from assay.model.errors import UsageError
from assay.model.grouping import grouped
from assay.model.imported import UNSTATED
from assay.model.repetition import Repetition
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.text import joined, text
from assay.report import formatting, messages, selection
from assay.report.vocabulary import known

#: The common beginning of file names, one a line, up to a mark between words.
_BEGUN = re.compile(r"(.*\w)[-_. ].*(?:\n\1[-_. ].*)*")
#: The name of a tool is not the name of a system.
_TOOL = re.compile(r"(?i)osu|imb|imb-mpi1|np|netpipe|stream|hpl|himeno")
#: How cores are added along a curve.
_ADDED = {"cores": text("compact"), "spread": text("spread")}
#: Maximum number of systems on a page.
MOST = 50


class Side(msgspec.Struct, frozen=True):
    """A run with its analysis, its label, and the ratios of its machine to the first one.

    `blocks`: of a level of whole runs: block -> its run. The figures are then those of the level.
    """

    run: Run
    analysis: Analysis
    label: str
    yardsticks: tuple[Yardstick, ...] = ()
    blocks: dict[int, "Side"] = {}

    @property
    def singly(self) -> "tuple[Side, ...]":
        """The side; of a level, its runs."""
        return tuple(self.blocks.values()) or (self,)


class Sides(msgspec.Struct, frozen=True, dict=True):
    """One side or several, with their comparison.

    Attributes:
        sides: the base first.
        found: curves and other figures side by side.
        compared: each other run with the base, figure by figure, with the very comparisons that `found` has.
        taken: which networks were taken for which, as sentences.
        factor: whose levels the sides are; empty if they are runs.
        left_out: runs that are in no block of the levels.
        earlier: other runs, which show the variance from run to run.
        repeated: what all levels together repeat of the publications whose study their runs repeat.
    """

    sides: tuple[Side, ...]
    found: SideBySide
    compared: tuple[Compared, ...] = ()
    taken: tuple[str, ...] = ()
    factor: str = ""
    left_out: tuple[Run, ...] = ()
    earlier: tuple[Run, ...] = ()
    repeated: tuple[Repetition, ...] = ()

    @property
    def singly(self) -> tuple[Side, ...]:
        """All runs: the sides, or those of the levels."""
        return tuple(each for side in self.sides for each in side.singly)

    @property
    def runs(self) -> list[Run]:
        """All runs, those of levels too."""
        return [side.run for side in self.singly]

    @cached_property
    def by_run(self) -> dict[str, Side]:
        """Id of a run -> its side."""
        return {side.run.info.id: side for side in self.sides}

    @cached_property
    def curves(self) -> dict[str, Curve]:
        """Id -> curve."""
        return {curve.id: curve for curve in self.found.curves}

    @cached_property
    def of_messages(self) -> dict[str, MessageCurve]:
        """Id -> curve of messages."""
        return {name: curve for name, curve in self.curves.items() if isinstance(curve, MessageCurve)}

    @cached_property
    def have_common(self) -> bool:
        """Whether two runs have a quantity in common, also where their curves share no value."""
        found = self.found
        charts = grouped(found.curves, _shown_by).values()
        return bool(
            found.pairs
            or found.shared
            or found.law_figures
            or any(each.differ == RUN for each in found.contrasts)
            or any(len({curve.run for curve in of}) > 1 for of in charts)
        )

    @property
    def without_samples(self) -> bool:
        """Whether one side has imported or published figures."""
        return any(
            e.basis == "imported" for side in self.sides for e in side.analysis.estimates if e.median is not None
        )

    def law(self, curve: Curve) -> MessageLaw | None:
        """Return the law that was fitted to a curve of messages, or None."""
        name = curve.law if isinstance(curve, MessageCurve) else ""
        models = self.by_run[curve.run].analysis.models
        return next((each for each in models if isinstance(each, MessageLaw) and each.id == name), None)

    @cached_property
    def estimates(self) -> dict[str, dict[str, Estimate]]:
        """Id of a run -> id of an estimate -> the estimate."""
        return {side.run.info.id: {e.id: e for e in side.analysis.estimates} for side in self.sides}

    def estimate(self, run: str, name: str) -> Estimate:
        """Return an estimate of a run."""
        return self.estimates[run][name]

    def members(self, curve: Curve) -> tuple[Estimate, ...]:
        """Return the figures of a curve in the order of its axis."""
        return tuple(self.estimate(curve.run, name) for name in curve.of)

    def at(self, curve: Curve, value: int) -> Estimate:
        """Return the figure of a curve at one of its values."""
        return self.estimate(curve.run, curve.of[curve.at.index(value)])

    def label(self, run: str) -> str:
        """Return the label of a run; empty if there is a single run."""
        return self.by_run[run].label if len(self.sides) > 1 else ""

    def subject(self, pair: CurvePair, curve: Curve) -> str:
        """Return the words in which this curve differs from the other one."""
        if pair.differ == PLACE:
            return where(self.members(curve)[0])
        if pair.differ == PROGRAM:
            return messages.BY[curve.benchmark]
        if pair.differ in curve.params:
            return number(pair.differ, curve.params[pair.differ])
        if pair.differ != RUN:
            return f"{pair.differ} {curve.factors.get(pair.differ, '')}"
        if pair.exact:
            return self.label(curve.run)
        return text("{value} ({basis})", value=self.label(curve.run), basis=self.place(curve))

    def context(self, pair: CurvePair) -> str:
        """Return what both curves share: `In qdr, between two nodes`; empty if that is clear."""
        base = self.curves[pair.b]
        levels = [f"{name} {level}" for name, level in base.factors.items() if name != pair.differ and pair.exact]
        levels += [number(name, value) for name, value in base.params.items() if name != pair.differ]
        if not isinstance(base, MessageCurve):
            places = {each.place for each in self.found.curves if each.axis == base.axis}
            return joined(", ", (self.where(base) if pair.exact and len(places) > 1 else "", *levels))
        label = self.label(base.run) if pair.differ != RUN else ""
        if not pair.exact:
            place = "between" if base.between else "inside"
        else:
            place = "" if pair.differ == PLACE or base.label == UNSTATED else where(self.members(base)[0])
        begin = location(label, place, exact=pair.exact)
        return joined(", ", (begin, "" if pair.differ == PROGRAM else self._by(pair), joined(", ", levels)))

    def _by(self, pair: CurvePair) -> str:
        """`by TCP` if the two runs have curves of several programs; else empty."""
        base = self.curves[pair.b]
        runs = {base.run, self.curves[pair.a].run}
        several = len({each.benchmark for each in self.of_messages.values() if each.run in runs}) > 1
        return text("by {program}", program=messages.BY[base.benchmark]) if several else ""

    def place(self, curve: Curve, *, bare: bool = False) -> str:
        """Return the place and levels of a curve: `two nodes (cores near the card)`, `all cores, pages huge`.

        If `bare`, the cores stand without the nodes.
        """
        levels = [f"{name} {level}" for name, level in curve.factors.items() if level]
        params = [number(name, value) for name, value in curve.params.items()]
        tcp = [messages.BY[curve.benchmark]] if roles.by_sockets(self.members(curve)[0]) else []
        state = [known(f"{curve.state} cores")] if curve.state else []
        words = [*tcp, *levels, *params, *state]
        if bare:
            return joined(", ", (ends(self.members(curve)[0])[1], *words))
        return joined(", ", ["" if words and curve.label == UNSTATED else self.where(curve), *words])

    def where(self, curve: Curve) -> str:
        """Return the partners of messages; else the cores (without their number on that axis) and the memory."""
        first = self.members(curve)[0]
        if isinstance(curve, MessageCurve):
            return where(first)
        if curve.axis == RANKS and first.placement.laid_out:
            each = cpus_of_rank(first)
            return joined(", ", (text("{count} cpu each|{count} cpus each", count=each), formatting.memory(first)))
        cores = _ADDED.get(curve.place) or messages.cores(first.placement.label, ())
        return joined(", ", (cores if curve.place else "", formatting.memory(first)))

    def series(self, curves: Iterable[Curve]) -> dict[str, str]:
        """Return the names of curves in one chart, by id: the run, and the place if the run has several."""
        curves = tuple(curves)
        single = {run for run, of in selection.grouped(curves, lambda curve: curve.run).items() if len(of) == 1}
        same = len({each.place for each in curves}) == 1
        between = all(isinstance(each, MessageCurve) and each.between for each in curves)
        names: dict[str, str] = {}
        for curve in curves:
            label = self.label(curve.run)
            by_run = curve.run in single and label and same
            names[curve.id] = joined(
                ": ", [label, "" if by_run else self.place(curve, bare=bool(label) and between)]
            )
        return names


def _shown_by(curve: Curve) -> tuple[object, ...]:
    """The quantity and the axis of a curve."""
    of_messages = (curve.pattern, curve.between) if isinstance(curve, MessageCurve) else ()
    return curve.benchmark, curve.kernel, curve.metric, curve.axis, of_messages


def location(label: str, place: str, *, exact: bool = True) -> str:
    """`In qdr, between two nodes`. If not `exact`, `place` is the kind of both places: `between` or `inside`."""
    if not exact and label:
        return text("In {run}, between nodes" if place == "between" else "In {run}, inside a node", run=label)
    if not exact:
        return text("Between nodes" if place == "between" else "Inside a node")
    if label and place:
        return text("In {run}, between {partners}", run=label, partners=place)
    if label:
        return text("In {run}", run=label)
    return text("Between {partners}", partners=place) if place else ""


def ends(estimate: Estimate) -> tuple[str, str]:
    """Return the partners and their cores in words; see `assay.report.messages.ends`."""
    word = estimate.placement.word
    if word.share == "one-core" and word.group == "numa" and word.index is not None and word.nodes:
        return text("two nodes"), text("cores of NUMA node {number}", number=str(word.index))
    return messages.ends(estimate)


def where(estimate: Estimate) -> str:
    """Return the same as one phrase."""
    place, cores = ends(estimate)
    return text("{value} ({basis})", value=place, basis=cores) if cores else place


def sides(
    runs: Sequence[Run],
    given: Mapping[str, float] = {},
    declared: Declared = ANYTHING,
    earlier: Collection[Run] = (),
) -> Sides:
    """Analyse the runs and compare them; ratios are to the first.

    The label of a reference is its own or its name, of an import its title or file, of a run its machine, of a
    level of whole runs its factor and its name.

    Args:
        runs: the first one is the base.
        given: limits that the user states; see `assay.analyse.analyse`.
        declared: differences that are intended or accepted, and names of networks.
        earlier: other runs, which show the variance from run to run.

    Raises:
        UsageError: the same run is named twice, there are too many, no system has a network of these names, or a
            guarded kind differs and was not declared.
    """
    names = [run.info.id for run in runs]
    twice = next((name for name in names if names.count(name) > 1), "")
    if twice:
        raise UsageError(f"'{twice}' is named twice", why="each system can be named once")
    if len(runs) > MOST:
        raise UsageError(f"{len(runs)} runs are more than {MOST}", why="so many curves cannot be distinguished")
    found = together(runs, declared, earlier, given)
    labels = _labels([each.run for each in found.evidence], declared.factor)
    yardsticks = ((), *(each.yardsticks for each in found.compared))
    return Sides(
        tuple(
            msgspec.structs.replace(_side(each, label), yardsticks=of)
            for each, label, of in zip(found.evidence, labels, yardsticks, strict=True)
        ),
        found.found,
        tuple(found.compared),
        taken.sentences((labels[base], labels[own], pair) for base, own, pair in found.networks),
        declared.factor,
        tuple(found.left_out),
        tuple(earlier),
        tuple(_repeated(found.evidence, declared.factor)) if declared.factor else (),
    )


def _repeated(found: Sequence[Evidence], factor: str) -> Iterator[Repetition]:
    """What all levels together repeat of each publication that names one of these levels."""
    for name in dict.fromkeys(each.run.plan.reference for each in found):
        source = store.load(references.path(name)) if name in references.names() else None
        if source and any((factor, each.run.plan.levels[factor]) in _met(source, each.run) for each in found):
            yield repetition.repeated(levels.beside(found, factor), name)


def _met(source: Run, run: Run) -> Collection[tuple[str, str]]:
    return source_levels.own(source, run).values()


def _side(evidence: Evidence, label: str) -> Side:
    """A run with its findings; or a level, whose figures are of several runs, with the findings of each run."""
    if not evidence.blocks:
        return Side(evidence.run, conclude(evidence), label)
    blocks = {
        number: _of_level(_side(each, text("{level}, run {run}", level=label, run=each.run.info.id)), evidence)
        for number, each in evidence.blocks.items()
    }
    one = next(each.analysis for each in blocks.values() if each.run is evidence.run)
    analysis = msgspec.structs.replace(
        one,
        estimates=tuple(each.estimate for each in evidence.measured),
        members=tuple(each.estimate for _, each in evidence.members),
        models=evidence.models,
        comparisons=(),
        predictions=(),
        repetition=repetition.of(evidence),
        flaw=flaw(evidence),
    )
    return Side(evidence.run, analysis, label, (), blocks)


def _of_level(side: Side, level: Evidence) -> Side:
    """A run of a level. Its figures have the ends of the level: its own launches need not be enough for any."""
    found = level.estimates
    estimates = (
        msgspec.structs.replace(each, value=found[each.id].value) if each.value and each.id in found else each
        for each in side.analysis.estimates
    )
    analysis = msgspec.structs.replace(side.analysis, estimates=tuple(estimates))
    return msgspec.structs.replace(side, analysis=analysis)


def is_reference(run: Run) -> bool:
    """Whether it is a published system that comes with Assay."""
    return bool(run.imported) and run.info.id in references.names()


def _labels(runs: Sequence[Run], factor: str) -> list[str]:
    """A label for each run, or for the level that each run has; no two are equal."""
    if factor:
        return [f"{factor} {run.plan.levels[factor]}" for run in runs]
    wanted = [_label(run) for run in runs]
    return [
        name if wanted.count(name) == 1 else f"{name} ({run.info.id[-4:]})"
        for name, run in zip(wanted, runs, strict=True)
    ]


def _label(run: Run) -> str:
    if run.imported is None:
        return run.plan.machine
    if is_reference(run):
        return run.imported.label or run.info.id
    if run.imported.titled:
        return run.imported.title
    return _called([PurePath(source.name).stem for source in run.imported.sources])


def _called(stems: Sequence[str]) -> str:
    """One name for several files: `gbe` for `gbe_bw` and `gbe_latency`, else that of the first: `osu_bw etc.`."""
    if len(stems) == 1:
        return stems[0]
    begun = _BEGUN.fullmatch("\n".join(stems))
    return begun[1] if begun and not _TOOL.fullmatch(begun[1]) else f"{stems[0]} etc."
