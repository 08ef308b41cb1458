"""What rests on figures that are not to be used is marked everywhere, by the record, and nothing else is."""

import dataclasses
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rich.console import Console
from tests.contradictions_of_runs import of_repetition
from tests.unit.test_conclusions import AS_PUBLISHED, FASTER, two_networks
from tests.unit.test_report_summary import moved_cores

from assay import store
from assay.analyse import conclude, examine
from assay.analyse.estimates import Measured
from assay.analyse.evidence import Evidence
from assay.analyse.flaws import flaws
from assay.cli import assay
from assay.model.flaw import Flaw
from assay.model.plan import Case
from assay.model.repetition import Repetition
from assay.model.run import CaseRecords, Run
from assay.model.traffic import HostTraffic
from assay.report import html, repetition, terminal

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
LEO, PCCLUSTER = GALLERY / "like-leo-simulated.tar.xz", GALLERY / "like-cs-pccluster2.tar.xz"


def misplaced(evidence: Evidence, case: str) -> Evidence:
    """The evidence, had this case run on other cpus."""

    def moved(one: Measured) -> Measured:
        placement = one.estimate.placement
        if one.estimate.case != case or not placement.proven:
            return one
        astray = replace(placement, proven=replace(placement.proven, as_asked=False))
        return replace(one, estimate=replace(one.estimate, placement=astray))

    return replace(evidence, measured=tuple(map(moved, evidence.measured)))


def detoured(run: Run, devices: tuple[str, str], wanted: Callable[[Case], bool]) -> Run:
    """The run, had the messages of these cases used the second device in place of the first."""
    asked, took = devices

    def host(one: HostTraffic) -> HostTraffic:
        counted = one.interfaces
        return replace(one, interfaces={**counted, asked: counted[took], took: counted[asked]})

    def case(one: CaseRecords) -> CaseRecords:
        if one.traffic is None or not wanted(run.plan.case(one.header.case)):
            return one
        return replace(one, traffic=replace(one.traffic, hosts=tuple(map(host, one.traffic.hosts))))

    launches = (replace(each, cases=tuple(map(case, each.cases))) for each in run.launches)
    return replace(run, launches=tuple(launches))


def of_flaw(flaw: Flaw, run: Run) -> Evidence:
    """The evidence of the run, had it this flaw: of all figures, or of the first one of a conclusion."""
    if flaw == "disturbed":
        return examine(moved_cores(run, len(run.launches) // 2 + 1))
    evidence = examine(run)
    if flaw == "misplaced":
        found = conclude(evidence).repetition
        assert found
        of = next(each.of[0] for each in found.conclusions if each.conclusion.says == FASTER)
        return misplaced(evidence, evidence.estimates[of].case)
    return evidence


def marked(found: Repetition) -> dict[Flaw, int]:
    """Flaw -> how many conclusions with figures have it."""
    flaws = [each.flaw for each in found.conclusions if each.quantity]
    return {each: flaws.count(each) for each in flaws}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("flaw", ["", "disturbed", "misplaced"])
def test_conclusions_and_rows_on_figures_that_are_not_to_be_used_are_marked(flaw: Flaw, tmp_path: Path) -> None:
    run = store.load(two_networks(tmp_path, AS_PUBLISHED))
    analysis = conclude(of_flaw(flaw, run))
    found = analysis.repetition
    assert found
    assert analysis.flaw == flaw
    assert not of_repetition(found, analysis)
    assert marked(found).keys() == ({"", "misplaced"} if flaw == "misplaced" else {flaw})
    assert {each.flaw for each in found.rows if each.ours} == marked(found).keys()
    assert {each.flaw for each in found.conclusions if not each.of} <= {""}
    faster = next(each for each in found.conclusions if each.conclusion.says == FASTER)
    assert (faster.truth, faster.flaw) == ("holds", flaw)
    console = Console(width=200, record=True, file=io.StringIO())
    terminal.render(run, analysis, console)
    shown, page = console.export_text(), html.render(run, analysis)
    words = repetition.FLAWS[flaw] if flaw else "do not use:"
    assert (words in shown) == bool(flaw)
    count = marked(found)[flaw] if flaw else 0
    assert page.count('<li class="vague"><span translate="no">') == count
    assert (f"{repetition.MARKS['holds']} holds ({words})" in page) == bool(flaw)


def test_a_misplaced_figure_marks_what_rests_on_it_and_nothing_else() -> None:
    evidence = examine(store.load(LEO))
    case = next(each.estimate.case for each in evidence.measured if each.estimate.benchmark == "linpack_fortran")
    analysis = conclude(misplaced(evidence, case))
    found = analysis.repetition
    assert found
    assert analysis.flaw == "misplaced"
    of = {each.id for each in analysis.estimates if each.case == case}
    on_it = {each.conclusion.says for each in found.conclusions if of & {*each.of}}
    assert {each.conclusion.says for each in found.conclusions if each.flaw} == on_it
    assert {each.own for each in found.rows if each.flaw and each.own} <= of
    assert len(on_it) < len([each for each in found.conclusions if each.quantity]) / 2


@pytest.mark.parametrize("detour", [{}, {"ib0": "eth0"}])
def test_messages_on_another_network_mark_what_is_of_the_network_that_was_asked(
    detour: dict[str, str], tmp_path: Path
) -> None:
    law = dataclasses.replace(AS_PUBLISHED, detours=detour)
    analysis = conclude(examine(store.load(two_networks(tmp_path, law))))
    found = analysis.repetition
    assert found
    assert analysis.flaw == ("misnamed" if detour else "")
    networks = {each.id: each.factors.get("network", "") for each in analysis.estimates}
    rows = [each for each in found.rows if each.own in networks]
    accused = {networks[each.own] for each in rows if each.flaw}
    assert len(accused) == len(detour)
    assert {each.flaw for each in rows if networks[each.own] in accused} <= {"misnamed"}
    assert {each.flaw for each in rows if networks[each.own] not in accused} == {""}
    assert min(int(each.params["bytes"]) for each in rows if "bytes" in each.params) < 4096  # prove no path
    for each in found.conclusions:
        if each.of and networks.keys() >= {*each.of}:
            assert bool(each.flaw) == bool(accused & {networks[of] for of in each.of})


@pytest.mark.parametrize(
    ("path", "devices", "programs", "nodes"),
    [
        (LEO, ("sci0", "eth0"), ("pt2pt", "hpl"), (2, 4, 6, 8, 12)),
        (LEO, ("sci0", "eth0"), ("hpl",), (2, 4, 6, 8, 12)),
        (LEO, ("sci0", "eth0"), ("hpl",), (6,)),
        (LEO, ("sci0", "eth0"), ("pt2pt",), (2,)),
        (PCCLUSTER, ("gbe0", "fe0"), ("pt2pt",), (2,)),
        (PCCLUSTER, ("fe0", "gbe0"), ("tcp",), (2,)),
    ],
)
def test_the_figures_of_messages_on_another_network_are_marked_and_no_others(
    path: Path, devices: tuple[str, str], programs: tuple[str, ...], nodes: tuple[int, ...]
) -> None:
    run = store.load(path)
    (network,) = (each for each in run.plan.factors if each.kind == "network")

    def is_astray(case: Case) -> bool:
        asked = network.devices.get(case.factors.get("network", ""))
        return asked == devices[0] and case.benchmark in programs and len(case.placement.hosts) in nodes

    evidence = examine(detoured(run, devices, is_astray))
    measured = [each.estimate for each in evidence.measured if each.estimate.median is not None]
    astray = {each.id for each in measured if is_astray(run.plan.case(each.case))}
    assert len({each.case for each in measured if each.id in astray}) > 1
    assert flaws(evidence, measured) == dict.fromkeys(astray, "misnamed")
    analysis = conclude(evidence)
    assert analysis.flaw == "misnamed"
    (finding,) = (each for each in analysis.findings if each.severity == "problem" and each.rule == "transport")
    assert (finding.id, {*finding.evidence}) == (f"transport:{devices[0]}", astray)
    assert all((each in finding.claim) == (each in programs) for each in ("pt2pt", "tcp", "hpl"))
    assert analysis.repetition
    for each in analysis.repetition.conclusions:  # rates that follow from times have longer ids
        assert each.flaw == ("misnamed" if any(of.startswith(tuple(astray)) for of in each.of) else "")


def test_the_json_of_a_disturbed_run_has_its_flaw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = two_networks(tmp_path, AS_PUBLISHED)

    def shown() -> tuple[str, set[str]]:
        document = json.loads(CliRunner().invoke(assay, ["show", str(path), "--json"]).stdout)
        return document["flaw"], {each["flaw"] for each in document["repetition"]["conclusions"] if each["of"]}

    assert shown() == ("", {""})
    load, run = store.load, store.load(path)
    moved = moved_cores(run, len(run.launches) // 2 + 1)
    monkeypatch.setattr(store, "load", lambda each: moved if each == path else load(each))
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "without what was shown"))
    assert shown() == ("disturbed", {"disturbed"})
