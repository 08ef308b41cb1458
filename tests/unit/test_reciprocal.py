"""A machine shown as a rate and as a time: every generic table, rule, chart and export says the same of both.

The programs here are declared twice, as turns per second and as seconds per turn, and are simulated with the same
samples. What is generic is found by its place, so a new section, rule, chart or export is tried too, or named here
as not yet tried.
"""

import io
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.simulation import simulated_run

import assay
from assay import store
from assay.analyse import analyse, examine
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.findings import rules
from assay.analyse.repetition import _Own, _row
from assay.catalogue import benchmarks, topics
from assay.cli import assay as command
from assay.compare import figure_rows, page, terminal
from assay.compare.runs import against
from assay.compare.sides import Sides, sides
from assay.compare.statements import statements
from assay.model.benchmark import Benchmark
from assay.model.compared import Compared
from assay.model.declaration import Axis, Metric
from assay.model.errors import ThresholdError
from assay.model.imported import Figure
from assay.model.law import Prediction
from assay.model.plan import Measure, Study
from assay.model.quantity import Quantity
from assay.model.repetition import Repetition
from assay.model.result import Analysis, Estimate, Limit
from assay.model.run import Run
from assay.plan import Options
from assay.plan.factors import parse
from assay.report import selection
from assay.report import terminal as report_terminal
from assay.report.charts.heatmap import Cell, heatmap
from assay.report.section import Section
from assay.report.sections import sections
from assay.simulation import Law, programs
from assay.simulation.rates import Setting, Workload

SOURCE = Path(assay.__file__).parent
GENERIC = ("health", "comparisons", "interchange", "scaling")
KINDS = ("rate", "time")
METRICS = {
    "rate": Metric("figure", "1/s", "higher", "turns", "turns", role="solution-rate"),
    "time": Metric("figure", "s", "lower", "turns", "turns", role="solution-time"),
}
MACHINE = "pack:1 numa:1(memory=8GB) l3:1(size=32MB) l2:4(size=1MB) l1:1(size=32kB) core:1 pu:1"
SPEEDS = {"a": 1.0, "b": 0.97, "c": 1.01, "d": 0.8, "e": 1.0, "f": 1.02}
LEVELS = {"sleep": {"levels": {"on": "idle --on", "off": "idle --off 0"}}}
#: Generic modules of charts that nothing here draws, and why.
NOT_DRAWN = {
    "report/charts/heatmap.py": "tried by itself below",
    "report/charts/lines.py": "draws laws of messages and curves of cores, whose sections are of other topics",
    "report/charts/shares.py": "draws parts of a whole, of which none is better",
}
#: Words that state the direction itself.
DIRECTIONS = {
    "minimum": "best",
    "maximum": "best",
    "Left is better.": "",
    "reaches": "has",
    "takes": "has",
    "% less)": "% off)",
    "% more)": "% off)",
}
_SIZE = re.compile(r"\b\d+ (?:[KM]i)?B\b")
_NUMBER = re.compile(r"[×+-]?\d[\d,.]*(?:e[-+]?\d+)?(?: ?(?:[pnuµm]?s|[kMG]?/s|Hz|%))?(?!\w)")  # noqa: RUF001


def turns(setting: Setting) -> Workload:
    """Turns that more cores do faster, a clever method too, and large ones more slowly."""
    cores = len(setting.request.cpus)
    speed = cores / (1 + 0.2 * (cores - 1)) * (1.4 if setting.params["method"] == "clever" else 1.0)
    seconds = (1 + int(setting.params.get("bytes", 0)) / 1e6) / speed
    return Workload({"turn": {"turns": 1e6}}, {"turn": seconds})


def declared(shape: str, kind: str) -> Benchmark:
    axes = [Axis("method", "how", ("plain", "clever"), "plain")]
    axes += [Axis("bytes", "size", (1024,), 1024, unit="B", swept=True)] if shape == "swept" else []
    return Benchmark(
        name=f"{shape}_{kind}",
        title="Turns",
        measures="turns",
        source="none",
        program=f"{shape}_{kind}",
        kernels=("turn",),
        axes=tuple(axes),
        metrics=(METRICS[kind],),
        memory_bytes=lambda _params, _placement: 2**20,
        launcher="mpi" if shape == "ranks" else "direct",
    )


def study(kind: str) -> Study:
    measures = (
        Measure(f"whole_{kind}", ("all", "half", "one-core"), axes={"method": ("plain", "clever")}),
        Measure(f"swept_{kind}", ("all", "one-core"), axes={"bytes": (1024, 65536, 2**20)}),
        Measure(f"ranks_{kind}", ("1x1@1", "2x1@1", "4x1@1", "4x1@2")),
    )
    return Study("Turns", "How fast?", measures, launches=6)


class Shown(NamedTuple):
    """A run and a slower one of the same machine, as rates or as times."""

    kind: str
    path: Path
    run: Run
    analysis: Analysis
    evidence: Evidence
    slower: Run
    compared: Compared
    sides: Sides

    def plain(self, words: str) -> str:
        """The words without numbers, and without what names the kind or the run."""
        for run, name in ((self.run, "first"), (self.slower, "second")):
            words = words.replace(run.info.id, name).replace(f"({run.info.id[-4:]})", f"({name})")
        for word, other in {f"_{self.kind}": "", f"-{self.kind}": "", **DIRECTIONS}.items():
            words = words.replace(word, other)
        words = _SIZE.sub(
            lambda size: "size " + size[0].translate(str.maketrans("0123456789", "abcdefghij")), words
        )
        return re.sub(r" +", " ", _NUMBER.sub("#", words)).strip()

    def all_plain(self, lines: Iterable[str]) -> list[str]:
        return [plain for line in lines if (plain := self.plain(line))]


def measured(kind: str, folder: Path, speed: float, seed: int) -> Path:
    law = Law(
        slow_hosts={host: speed * own for host, own in SPEEDS.items()},
        commands={"idle --on": 1.0, "idle --off 0": 0.9},
    )
    factors = parse(["sleep=on,off"], study(kind), LEVELS)
    options = Options(hosts=tuple(SPEEDS), factors=factors, seed=5)
    return simulated_run(folder, law, description=MACHINE, study=study(kind), options=options, seed=seed)


@pytest.fixture(scope="module", autouse=True)
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shown]]:
    known = dict(programs._programs())
    shapes = {f"{shape}_{kind}": declared(shape, kind) for shape in ("whole", "swept", "ranks") for kind in KINDS}
    with pytest.MonkeyPatch.context() as patch:
        for name, benchmark in shapes.items():
            patch.setitem(benchmarks._declared, name, benchmark)
        patch.setattr(programs, "_programs", lambda: known | dict.fromkeys(shapes, turns))
        benchmarks.of.cache_clear()
        yield {kind: _shown(kind, tmp_path_factory.mktemp(kind)) for kind in KINDS}
    benchmarks.of.cache_clear()


def _shown(kind: str, folder: Path) -> Shown:
    path = measured(kind, folder, 1.0, 1)
    run, slower = store.load(path), store.load(measured(kind, folder, 0.9, 3))
    (compared,) = against([slower], run)
    evidence = examine(run)
    analysis = msgspec.structs.replace(analyse(run), repetition=repeated(evidence.measured))
    return Shown(kind, path, run, analysis, limited(evidence), slower, compared, sides([run, slower]))


def repeated(measured: Iterable[Measured]) -> Repetition:
    """A publication of some figures: twice as good as those of the run, the same, half; one was not measured."""
    rows = []
    for each, speed in zip(measured, (2.0, 1.0, 0.5, 0.0), strict=False):
        value, better = each.estimate.value, each.estimate.better
        assert value
        theirs = value.value * (speed or 1.0) ** (1 if better == "higher" else -1)
        published = msgspec.structs.replace(each.estimate, value=Quantity(theirs, theirs, theirs, value.unit))
        figure = Figure(each.estimate.kernel, each.estimate.metric, value.unit, theirs, f"{theirs:.3g}")
        own = _Own(value, value.has_interval, each.estimate.id, each.estimate.launches)
        rows.append(_row([(published, figure)], own if speed else _Own(reason="not measured")))
    return Repetition("turns", "Turns", tuple(rows))


def limited(evidence: Evidence) -> Evidence:
    """The evidence with a limit that one figure exceeds, and with predictions that hold, and that do not."""
    first, second, third = evidence.measured[:3]
    better = 0.8 if first.estimate.better == "higher" else 1 / 0.8
    limit = Limit(better * (first.estimate.median or 0.0), "given", "a promise", "user")
    exceeding = msgspec.structs.replace(first, estimate=msgspec.structs.replace(first.estimate, exceeds=limit))
    return msgspec.structs.replace(
        evidence,
        measured=(exceeding, *evidence.measured[1:]),
        predictions=(predicted(second.estimate, 1.0), predicted(third.estimate, 0.5)),
    )


def predicted(estimate: Estimate, share: float) -> Prediction:
    """A prediction that a figure takes this share of its time."""
    assert estimate.value
    factor = 1 / share if estimate.better == "higher" else share
    value = estimate.value.scaled(factor, estimate.unit)
    error = (
        0.0 if share == 1 else (estimate.value.lo / value.hi if factor < 1 else estimate.value.hi / value.lo) - 1
    )
    deviation = 1 / factor - 1
    return Prediction(
        f"turns/{share}", "turns", "turns", value, (), (None,), "", estimate.id, estimate.value, deviation, error
    )


#: Of pairs with programs of others, which these runs do not have: `test_beside` tries rates and times.
OF_OTHER_PROGRAMS = {"slower_than_peer", "programs"}


def modules(kind: topics.Kind) -> list[str]:
    """Names of the modules of a kind in the generic topics."""
    return [name for name, path in topics.found(kind).items() if any(f".{topic}." in path for topic in GENERIC)]


def lines_of(section: Section) -> Iterator[str]:
    yield from (*section.meaning, *section.sentences, *section.summary)
    yield from (f"{each.label} {each.estimate.id}" for each in section.headlines)
    for table in section.tables:
        yield from (" | ".join(row) for row in table.rows)
    for figure in section.figures:
        yield figure.result
        yield from drawn(figure.spec)


def drawn(part: Any) -> Iterator[str]:  # noqa: ANN401 (any part of a specification)
    """The texts of the data of a chart, in their order."""
    if isinstance(part, dict):
        for name, inner in part.items():
            if name == "values" and isinstance(inner, list) and all(isinstance(each, dict) for each in inner):
                yield from (" ".join(each for each in row.values() if isinstance(each, str)) for row in inner)
            else:
                yield from drawn(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from drawn(inner)


def test_the_same_machine_has_the_same_times(shown: dict[str, Shown]) -> None:
    rates, times = (shown[kind].analysis.estimates for kind in KINDS)
    assert [1 / (each.median or 0.0) for each in rates] == pytest.approx([each.median for each in times])


@pytest.mark.parametrize("name", [name for name in modules("sections") if name not in OF_OTHER_PROGRAMS])
def test_a_section_of_a_generic_topic_is_the_same_for_both(name: str, shown: dict[str, Shown]) -> None:
    wanted = topics.modules("sections")[name].declared.id
    rates, times = (
        each.all_plain(lines_of(section))
        for each in map(shown.get, KINDS)
        if each
        for section in sections(each.run, each.analysis)
        if section.id == wanted
    )
    assert rates, "the section was not tried"
    assert rates == times


def test_so_is_the_section_of_a_benchmark_without_its_own(shown: dict[str, Shown]) -> None:
    def general(each: Shown) -> list[str]:
        found = [section for section in sections(each.run, each.analysis) if section.id.endswith(each.kind)]
        assert len(found) == 3
        return each.all_plain(line for section in found for line in lines_of(section))

    assert general(shown["rate"]) == general(shown["time"])


#: Rules that judge no figure: cases without one, limits without a law, folders.
WITHOUT_FIGURES = {"not_measured", "unknown_limit", "folder_left"}


@pytest.mark.parametrize("name", modules("rules"))
def test_a_rule_of_a_generic_topic_finds_the_same(name: str, shown: dict[str, Shown]) -> None:
    (rule,) = (each for each in rules() if each.name == name)

    def found(each: Shown) -> list[tuple[str, ...]]:
        every = [finding for finding in rule.assess(each.evidence) if finding.status != "not assessed"]
        return [(each.plain(one.id), one.severity, one.status, str(len(one.evidence))) for one in every]

    assert found(shown["rate"]) == found(shown["time"])
    assert found(shown["rate"]) or name in WITHOUT_FIGURES | OF_OTHER_PROGRAMS, "the rule was not tried"


def test_comparisons_of_a_run_have_the_same_verdicts(shown: dict[str, Shown]) -> None:
    rates, times = (
        [(each.plain(one.id), one.verdict) for one in each.analysis.comparisons]
        for each in map(shown.get, KINDS)
        if each
    )
    assert rates == times
    assert {verdict for _, verdict in rates} >= {"faster", "slower"}


@pytest.mark.parametrize("name", modules("exports"))
def test_an_export_has_the_same_words_in_the_same_order(name: str, shown: dict[str, Shown]) -> None:
    export = topics.modules("exports")[name].export

    def words(each: Shown) -> list[str]:
        parts = list(export.figures(each.run, each.analysis))
        text = "".join(part for part in parts if isinstance(part, str))
        assert text or name == "parquet", "the export was not tried"  # columns of figures, without a verdict
        unlike = re.compile(r'"?(higher|lower|1/s|s|solution-rate|solution-time)"?(?=[,}\s"])')
        return each.all_plain(unlike.sub("", text).splitlines())

    if name in {"json_", "csv_", "openmetrics"}:
        assert len(words(shown["rate"])) == len(words(shown["time"]))
    else:
        assert failures(words(shown["rate"])) == failures(words(shown["time"]))


def failures(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if "testcase" in line]


def test_two_runs_are_compared_alike_in_the_terminal_and_on_a_page(shown: dict[str, Shown]) -> None:
    def said(each: Shown) -> list[str]:
        console = Console(file=io.StringIO(), width=200)
        figure_rows.render(
            each.compared, console, everything=True, curves=lambda: terminal.render(each.sides, console)
        )
        text = console.file.getvalue()  # type: ignore[attr-defined] # a StringIO
        body = re.sub(r"<(script|style).*?</\1>", "", page.render(each.sides), flags=re.DOTALL)
        return each.all_plain([*text.splitlines(), *re.sub(r"<[^>]+>", "\n", body).splitlines()])

    rates, times = map(said, map(shown.__getitem__, KINDS))
    assert [line for line in rates if "faster" in line or "slower" in line] == [
        line for line in times if "faster" in line or "slower" in line
    ]


def test_two_runs_have_the_same_verdicts_and_as_many_sentences(shown: dict[str, Shown]) -> None:
    rates, times = (
        [(each.plain(pair.a.id), pair.comparison.verdict) for pair in each.compared.pairs]
        for each in map(shown.__getitem__, KINDS)
    )
    assert rates == times
    assert {verdict for _, verdict in rates} == {"slower"}
    said = [[each.kind for each in statements(shown[kind].sides)] for kind in KINDS]
    assert len(said[0]) == len(said[1]) > 0


@pytest.mark.parametrize(("threshold", "fails"), [("5%", True), ("20%", False)])
def test_a_gate_passes_both_or_none(
    threshold: str, *, fails: bool, shown: dict[str, Shown], monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in map(shown.__getitem__, KINDS):
        monkeypatch.chdir(each.path.parent)
        other = str(each.path.parent / each.slower.info.id)
        result = CliRunner().invoke(command, ["compare", str(each.path), other, "--fail-below", threshold])
        assert isinstance(result.exception, ThresholdError) == fails, result.output


def test_the_terminal_names_the_same_nodes_and_figures(shown: dict[str, Shown]) -> None:
    def said(each: Shown) -> list[str]:
        console = Console(file=io.StringIO(), width=200)
        report_terminal.render(each.run, each.analysis, console)
        return each.all_plain(console.file.getvalue().splitlines())  # type: ignore[attr-defined] # a StringIO

    assert len(said(shown["rate"])) == len(said(shown["time"]))


def test_the_middle_of_an_even_number_of_nodes_is_the_same_node(shown: dict[str, Shown]) -> None:
    def hosts(each: Shown) -> list[tuple[str, ...]]:
        return [one.placement.hosts for one in selection.middle(each.analysis.estimates)]

    assert hosts(shown["rate"]) == hosts(shown["time"])


def test_every_generic_chart_is_drawn_here_or_named(shown: dict[str, Shown]) -> None:
    ran = set[str]()

    def seen(frame: FrameType, _event: str, _arg: object) -> None:
        ran.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        for each in shown.values():
            sections(each.run, each.analysis)
            page.render(each.sides)
    finally:
        sys.setprofile(before)
    files = [*(SOURCE / "report" / "charts").glob("*.py"), SOURCE / "compare" / "charts.py"]
    files += [path for topic in GENERIC for path in (SOURCE / "topics" / topic).rglob("*.py")]
    charts = {str(path.relative_to(SOURCE)) for path in files if ") -> Spec:" in path.read_text()}
    assert charts - {str(Path(each).relative_to(SOURCE)) for each in ran if each.startswith(str(SOURCE))} == (
        NOT_DRAWN.keys()
    )


def test_a_heat_map_is_dark_where_it_is_slow() -> None:
    values = {("a", "b"): 2.0, ("a", "c"): 4.0, ("b", "c"): 8.0}

    def darkest(spec: dict[str, Any]) -> str:
        scale = next(
            layer["encoding"]["color"]["scale"] for layer in spec["layer"] if "color" in layer["encoding"]
        )
        at_low = scale["range"][0] == "#123a5c"
        assert scale["range"][0 if at_low else -1] == "#123a5c"
        return "low" if at_low else "high"

    def cells(power: int) -> list[Cell]:
        return [Cell(*at, value**power, "", "", "") for at, value in values.items()]

    titles = ("row", "column", "value")
    assert darkest(heatmap(cells(1), titles, "higher")) == "low"
    assert darkest(heatmap(cells(-1), titles, "lower")) == "high"
