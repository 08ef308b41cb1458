"""Runs and published systems that share a page: what each is called, and its figures by curve."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from assay.model.benchmark import ParamValue
from assay.model.imported import UNSTATED
from assay.model.result import Analysis, Estimate
from assay.model.run import Run
from assay.model.several import PLACE, PROGRAM, RUN, Beside, Several, Way
from assay.model.text import Joined, Phrase, joined, text
from assay.report import choose, messages, words
from assay.report.vocabulary import known

#: What names of files begin with, a line each, as far as a mark between words goes.
_BEGUN = re.compile(r"(.*\w)[-_. ].*(?:\n\1[-_. ].*)*")
#: Of a tool, which names no system.
_TOOL = re.compile(r"(?i)osu|imb|imb-mpi1|np|netpipe|stream|hpl|himeno")
_NODE = re.compile(r"one-core:numa:(\d+)@(\d+)")


@dataclass(frozen=True)
class Side:
    """A run with what may be said of it, and its name in a few letters."""

    run: Run
    analysis: Analysis
    label: str


@dataclass(frozen=True)
class Together:
    """Several sides, or a single one, with what they show beside each other."""

    sides: tuple[Side, ...]
    several: Several

    @cached_property
    def by_run(self) -> dict[str, Side]:
        """Id of a run -> its side."""
        return {side.run.info.id: side for side in self.sides}

    @cached_property
    def ways(self) -> dict[str, Way]:
        """Id -> curve."""
        return {way.id: way for way in self.several.ways}

    @cached_property
    def _estimates(self) -> dict[str, dict[str, Estimate]]:
        return {side.run.info.id: {e.id: e for e in side.analysis.estimates} for side in self.sides}

    def estimate(self, run: str, name: str) -> Estimate:
        """An estimate of a run."""
        return self._estimates[run][name]

    def members(self, way: Way) -> tuple[Estimate, ...]:
        """The figures of a curve by size."""
        return tuple(self.estimate(way.run, name) for name in way.of)

    def at(self, way: Way, size: int) -> Estimate:
        """The figure of a curve at a size that it has."""
        return self.estimate(way.run, way.of[way.sizes.index(size)])

    def label(self, way: Way) -> str:
        """Name of the curve's run; empty where there is a single one."""
        return self.label_of(way.run)

    def label_of(self, run: str) -> str:
        """Name of a run; empty where there is a single one."""
        return self.by_run[run].label if len(self.sides) > 1 else ""

    def subject(self, beside: Beside, way: Way) -> str:
        """What tells this curve of the two from the other one."""
        if beside.differ == PLACE:
            return where(self.at(way, way.sizes[0]))
        if beside.differ == PROGRAM:
            return messages.BY[way.benchmark]
        if beside.differ in way.axes:
            return _axis(beside.differ, way.axes[beside.differ])
        if beside.differ != RUN:
            return f"{beside.differ} {way.factors.get(beside.differ, '')}"
        if beside.exact:
            return self.label(way)
        return text("{value} ({basis})", value=self.label(way), basis=self.way(way))

    def context(self, beside: Beside) -> str:
        """What both curves share: `In qdr, between two nodes`; empty where that needs no word."""
        base = self.ways[beside.b]
        label = self.label(base) if beside.differ != RUN else ""
        over = joined(
            ", ",
            [
                *(
                    f"{name} {level}"
                    for name, level in base.factors.items()
                    if name != beside.differ and beside.exact
                ),
                *(_axis(name, value) for name, value in base.axes.items() if name != beside.differ),
            ],
        )
        if not beside.exact:
            place = "between" if base.between else "inside"
        else:
            place = "" if beside.differ == PLACE or base.label == UNSTATED else where(self.at(base, base.sizes[0]))
        within = _within(label, place, exact=beside.exact)
        return joined(", ", (within, "" if beside.differ == PROGRAM else self.by(beside), over))

    def by(self, beside: Beside) -> str:
        """`by TCP`, where the runs of the two have curves of several programs; else nothing."""
        base = self.ways[beside.b]
        runs = {base.run, self.ways[beside.a].run}
        several = len({each.benchmark for each in self.several.ways if each.run in runs}) > 1
        return text("by {program}", program=messages.BY[base.benchmark]) if several else ""

    def place(self, way: Way) -> str:
        """Between whom, without which of their cores."""
        found = messages.where(self.at(way, way.sizes[0]))
        return found.parts[0] if isinstance(found, Joined) else found

    def way(self, way: Way) -> str:
        """Between whom and over what, within its run: `two nodes, cores near the card`."""
        levels = [f"{name} {level}" for name, level in way.factors.items() if level]
        axes = [_axis(name, value) for name, value in way.axes.items()]
        tcp = ["TCP"] if way.benchmark == "tcp" else []
        state = [known(f"{way.state} cores")] if way.state else []
        told = [*tcp, *levels, *axes, *state]
        place = "" if told and way.label == UNSTATED else where(self.at(way, way.sizes[0]))
        return joined(", ", [place, *told])

    def _short(self, way: Way, beside: Iterable[Way]) -> str:
        """The way without what all of them share."""
        told = self.way(way)
        return _bare(told) if self.label(way) and all(each.between for each in beside) else told

    def series(self, ways: Iterable[Way]) -> dict[str, str]:
        """Way -> name of its curve where these are drawn together: its run, and the way where that has several."""
        ways = tuple(ways)
        alone = {run for run, of in choose.grouped(ways, lambda way: way.run).items() if len(of) == 1}
        names: dict[str, str] = {}
        for way in ways:
            label = self.label(way)
            same = len({each.place for each in ways}) == 1
            told = "" if way.run in alone and label and same else self._short(way, ways)
            names[way.id] = joined(": ", [label, told])
        return names


def _axis(name: str, value: ParamValue) -> str:
    """`16 ranks`, `window 64`."""
    return words.count(int(value), "rank", "ranks") if name == messages.RANKS else f"{name} {value}"


def _within(label: str, place: str, *, exact: bool) -> str:
    """`In qdr, between two nodes`; `place` may be a word for a kind of places where these are not the same."""
    if not exact and label:
        return text("In {run}, between nodes" if place == "between" else "In {run}, inside a node", run=label)
    if not exact:
        return text("Between nodes" if place == "between" else "Inside a node")
    if label and place:
        return text("In {run}, between {partners}", run=label, partners=place)
    if label:
        return text("In {run}", run=label)
    return text("Between {partners}", partners=place) if place else ""


def _bare(told: str) -> str:
    """Of a way between nodes what tells it from others."""
    place, *rest = told.parts if isinstance(told, Joined) else (told,)
    cores = place.parameters["basis"] if isinstance(place, Phrase) and "basis" in place.parameters else ""
    return joined(", ", (f"{cores}" if not isinstance(cores, str) else cores, *rest))


def where(estimate: Estimate) -> str:
    """Between whom, for a reader who knows no placement words."""
    bound = _NODE.fullmatch(estimate.placement.label)
    if bound:
        cores = text("cores of NUMA node {number}", number=bound[1])
        return text("{value} ({basis})", value=text("two nodes"), basis=cores)
    named = messages.where(estimate)
    if not isinstance(named, Joined):
        return named
    place, *rest = named.parts
    return text("{value} ({basis})", value=place, basis=joined(", ", rest)) if rest else place


def together(pairs: Iterable[tuple[Run, Analysis]], several: Several) -> Together:
    """The runs with names: of a reference its own, of an import its title or file, of others their machine."""
    pairs = tuple(pairs)
    wanted = [_label(run) for run, _ in pairs]
    labels = [
        name if wanted.count(name) == 1 else f"{name} ({run.info.id[-4:]})"
        for name, (run, _) in zip(wanted, pairs, strict=True)
    ]
    return Together(
        tuple(Side(run, analysis, label) for (run, analysis), label in zip(pairs, labels, strict=True)), several
    )


def is_reference(run: Run) -> bool:
    """Whether it is a published system that comes with Assay."""
    return bool(run.imported) and run.path.endswith(".toml")


def _label(run: Run) -> str:
    if run.imported is None:
        return run.plan.machine
    if is_reference(run):
        return run.info.id
    files = [PurePath(source.name).name for source in run.imported.sources]
    made = run.imported.title.endswith(f": {', '.join(files)}")
    return _called([PurePath(name).stem for name in files]) if made else run.imported.title


def _called(stems: Sequence[str]) -> str:
    """One name for files: `gbe` of `gbe_bw` and `gbe_latency`, else that of the first: `osu_bw etc.`."""
    if len(stems) == 1:
        return stems[0]
    begun = _BEGUN.fullmatch("\n".join(stems))
    return begun[1] if begun and not _TOOL.fullmatch(begun[1]) else f"{stems[0]} etc."
