"""CSV and JSON for other programs, and the printed report."""

import csv
import io
import json
import re
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from tests.simulation import simulated_run
from tests.unit.report_example import estimate, example

from assay import store
from assay.analyse import analyse
from assay.model.quantity import Quantity, exact
from assay.model.result import Analysis, Limit
from assay.report import formatting, terminal
from assay.topics.interchange.exports import csv_ as tables


def _printed(width: int = 80, encoding: str = "utf-8") -> str:
    here = example()
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True)
    terminal.render(here.run, here.analysis, Console(file=stream, width=width, markup=False, highlight=False))
    written = stream.buffer.getvalue()
    assert isinstance(written, bytes)
    return written.decode(encoding)


def test_csv_has_a_row_for_each_estimate_and_comes_back_exactly() -> None:
    analysis = example().analysis
    rows = list(csv.DictReader(io.StringIO("".join(tables.figures(example().run, analysis)), newline="")))
    assert len(rows) == len(analysis.estimates)
    for row, e in zip(rows, analysis.estimates, strict=True):
        assert row["id"] == e.id
        for name in ("median", "lo", "hi", "min", "max", "p99", "precision"):
            wanted = getattr(e, name)
            assert (float(row[name]) if row[name] else None) == wanted
        assert (float(row["limit"]) if row["limit"] else None) == (e.limit.value if e.limit else None)
        assert row["status"] == e.status
        assert row["reason"] == (e.reason or "")
        assert dict(pair.split("=") for pair in row["params"].split()) == {k: str(v) for k, v in e.params.items()}
        assert row["as_asked"] == "True"


def test_samples_csv_has_every_sample_undivided() -> None:
    run = example().run
    rows = list(csv.DictReader(io.StringIO("".join(tables.samples(run)), newline="")))
    series = [s for records in run.launches for case in records.cases for s in case.series]
    assert [float(row["seconds"]) for row in rows] == [value for s in series for value in s.seconds]
    assert [float(row["start_s"]) for row in rows] == [value for s in series for value in s.start_s]
    assert {row["phase"] for row in rows} == {"warmup", "measured"}


def test_a_comma_or_a_quote_in_a_text_keeps_its_column() -> None:
    analysis = example().analysis
    odd = msgspec.structs.replace(analysis.estimates[0], reason='a "quoted", and\nbroken reason')
    written = tables.figures(example().run, msgspec.structs.replace(analysis, estimates=(odd,)))
    (row,) = csv.DictReader(io.StringIO("".join(written), newline=""))
    assert row["reason"] == 'a "quoted", and\nbroken reason'


def test_json_has_the_stable_form() -> None:
    document = json.loads(msgspec.json.encode(example().analysis))
    assert document["schema"] == 2
    assert {"run", "study", "estimates", "models", "comparisons", "findings"} <= set(document)
    first = document["estimates"][0]
    assert {
        "id", "benchmark", "kernel", "metric", "unit", "better", "params", "placement", "factors", "state",
        "value", "min", "max", "p99", "launches", "samples", "stop", "limit", "status",
        "reason",
    } <= set(first)  # fmt: skip
    assert set(first["value"]) == {"value", "lo", "hi", "unit", "basis"}
    assert {"label", "hosts", "cpus", "memory"} <= set(first["placement"])
    assert set(first["limit"]) == {
        "value", "source", "of", "kind", "scope", "framed", "reference", "measured_by", "burst",
    }  # fmt: skip
    assert msgspec.json.decode(json.dumps(document), type=Analysis) == example().analysis


def test_the_printed_report_fits_eighty_columns_and_shows_figures_with_their_ranges() -> None:
    text = _printed()
    assert max(map(len, text.splitlines())) <= 80
    assert "42.2 GB/s" in text
    assert "41.5 to 42.7 n=3" in text
    assert "[59.0, 60.7] n=6" in text
    assert "limit 44.0 GB/s (measured)" in text


def test_the_printed_report_shows_findings_and_what_is_missing() -> None:
    flat = re.sub(r"\s+", " ", _printed())
    assert "problem Candidate: The cores changed between two states" in flat
    assert "next: compile with -mnontemporal" in flat
    assert "1 case failed: result wrong by 0.5" in flat
    assert "this machine has one thread a core" in flat
    assert "line 17: torn off" in flat
    assert "3 of 12 launches disturbed" in flat


def test_a_terminal_that_knows_no_unicode_gets_plain_ascii() -> None:
    text = _printed(encoding="ascii")
    assert text.isascii()
    assert "?" not in text


def test_an_interval_and_a_range_look_different() -> None:
    ranged = formatting.shown(estimate("stream/all/x", "triad", 4.215e10))
    interval = Quantity(4.215e10, 0.985 * 4.215e10, 1.012 * 4.215e10, "B/s", "interval")
    sure = formatting.shown(estimate("stream/all/x", "triad", 4.215e10, value=interval, launches=6))
    assert ranged
    assert sure
    assert ranged.full == "42.1 GB/s (41.5 to 42.7, range of 3 launches)"
    assert sure.ends == "[41.5, 42.7]"
    assert sure.basis == "95 % interval, 6 launches"


def test_a_single_launch_claims_no_interval() -> None:
    alone = formatting.shown(estimate("stream/all/x", "triad", 4.2e10, value=exact(4.2e10, "B/s"), launches=1))
    assert alone
    assert alone.ends == "no interval"
    assert alone.full == "42.0 GB/s (1 launch)"


@pytest.mark.parametrize(
    ("median", "limit", "better", "share"),
    [(9e9, 1e10, "higher", "90 %"), (2e-7, 1e-7, "lower", "50 %"), (5e8, 1e11, "higher", "0.5 %")],
)
def test_a_share_of_the_limit_is_of_its_rate(median: float, limit: float, better: str, share: str) -> None:
    made = estimate("stream/all/x", "triad", median, better=better)
    assert made.limit
    made = msgspec.structs.replace(made, limit=msgspec.structs.replace(made.limit, value=limit))
    assert formatting.share_text(made) == share


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(1.1e-7, "s", "110 ns"), (2.048e11, "B/s", "205 GB/s"), (999.6e6, "B/s", "1.00 GB/s"), (0.0, "s", "0 s")],
)
def test_quantities_have_three_digits(value: float, unit: str, text: str) -> None:
    assert formatting.quantity(value, unit) == text


def test_the_terminal_names_what_fell_together_and_what_it_was_measured_as(tmp_path: Path) -> None:
    run = store.load(simulated_run(tmp_path))
    assert run.plan.folded
    console = Console(width=200, markup=False, highlight=False, file=io.StringIO())
    with console.capture() as captured:
        terminal.render(run, analyse(run), console)
    text = captured.get()
    assert "equivalent here, measured once: half as one-core" in text
    for fold in run.plan.folded:
        assert fold.request in text
        assert f"as {fold.into}" in text


def test_the_figure_that_set_the_measured_limit_has_no_share_of_it() -> None:
    best = estimate("stream/all/first-touch", "triad", 4e10)
    limit = Limit(4e10, "measured", "the best", "memory", measured_by=best.id)
    best = msgspec.structs.replace(best, limit=limit)
    assert formatting.share_cell(best) == "is the limit"
    assert formatting.share_cell(msgspec.structs.replace(best, id="another")) == "100 %"
    assert formatting.share_cell(msgspec.structs.replace(best, id="another", value=exact(3e10, "B/s"))) == "75 %"
    assert (
        formatting.share_cell(msgspec.structs.replace(best, limit=Limit(4e10, "derived", "channels", "memory")))
        == "100 %"
    )


def test_a_limit_names_the_part_that_it_is_of() -> None:
    of_core = Limit(9e9, "measured", "the best", "memory", "core")
    assert formatting.limit_text(of_core, "B/s") == "9.00 GB/s (measured, one core)"
    assert (
        formatting.limit_text(msgspec.structs.replace(of_core, scope="machine"), "B/s") == "9.00 GB/s (measured)"
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.95, "0.95 s"),
        (9.97, "10 s"),
        (42.4, "42 s"),
        (75.0, "1 min 15 s"),
        (120.0, "2 min"),
        (599.7, "10 min"),
        (3519.0, "59 min"),
        (7260.0, "2 h 1 min"),
        (86400.0, "24 h"),
    ],
)
def test_a_duration_has_no_part_that_is_zero_and_from_ten_minutes_on_no_seconds(value: float, words: str) -> None:
    assert formatting.seconds(value) == words
