"""What rests on figures that are not to be used is marked everywhere, by the record."""

import io
import json
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.unit.test_conclusions import AS_PUBLISHED, FASTER, two_networks
from tests.unit.test_report_summary import moved_cores

from assay import store
from assay.analyse import analyse, conclude, examine
from assay.analyse.evidence import Evidence
from assay.cli import assay
from assay.model.flaw import Flaw
from assay.model.run import Run
from assay.report import html, repetition, terminal


def of_flaw(flaw: Flaw, run: Run) -> Evidence:
    """The evidence of the run, had it this flaw."""
    if flaw == "disturbed":
        return examine(moved_cores(run, len(run.launches) // 2 + 1))
    evidence = examine(run)
    if flaw == "misplaced":
        first, *others = evidence.measured
        proven = first.estimate.placement.proven
        assert proven
        astray = msgspec.structs.replace(
            first.estimate.placement, proven=msgspec.structs.replace(proven, as_asked=False)
        )
        moved = msgspec.structs.replace(first, estimate=msgspec.structs.replace(first.estimate, placement=astray))
        return msgspec.structs.replace(evidence, measured=(moved, *others))
    return evidence


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("flaw", ["", "disturbed", "misplaced"])
def test_conclusions_and_rows_on_figures_that_are_not_to_be_used_are_marked(flaw: Flaw, tmp_path: Path) -> None:
    run = store.load(two_networks(tmp_path, AS_PUBLISHED))
    analysis = conclude(of_flaw(flaw, run))
    found = analysis.repetition
    assert found
    assert analysis.flaw == flaw
    measured = [each for each in found.conclusions if each.quantity]
    assert {each.flaw for each in measured} == {flaw}
    assert {each.flaw for each in found.conclusions if not each.quantity} <= {""}
    assert {each.flaw for each in found.rows if each.ours} == {flaw}
    assert {each.flaw for each in found.rows if not each.ours} <= {""}
    assert next(each for each in found.conclusions if each.conclusion.says == FASTER).truth == "holds"
    console = Console(width=200, record=True, file=io.StringIO())
    terminal.render(run, analysis, console)
    shown, page = console.export_text(), html.render(run, analysis)
    words = repetition.FLAWS[flaw] if flaw else "do not use:"
    assert (words in shown) == bool(flaw)
    assert page.count('<li class="vague"><span translate="no">') == len(measured) * bool(flaw)
    assert (f"{repetition.MARKS['holds']} holds ({words})" in page) == bool(flaw)


def test_the_json_of_a_disturbed_run_has_its_flaw(tmp_path: Path) -> None:
    path = two_networks(tmp_path, AS_PUBLISHED)
    quiet = json.loads(CliRunner().invoke(assay, ["show", str(path), "--json"]).stdout)
    assert (quiet["flaw"], {each["flaw"] for each in quiet["repetition"]["conclusions"]}) == ("", {""})
    run = store.load(path)
    assert analyse(moved_cores(run, len(run.launches) // 2 + 1)).flaw == "disturbed"
