"""JUnit XML, which CI systems show: a test case for each case of the plan, each figure and each finding."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from assay.model.exports import Export
from assay.model.result import Analysis, Estimate, Finding, Outcome
from assay.model.run import Run
from assay.model.units import count_of

#: What XML 1.0 cannot hold.
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def figures(run: Run, analysis: Analysis) -> Iterator[str]:
    """What fails: a case that went wrong, a figure above its ceiling, a problem that was observed or confirmed."""
    suites = ET.Element("testsuites")
    for name, cases in (
        ("cases", [_case(each) for each in analysis.outcomes]),
        ("figures", [_figure(each) for each in analysis.estimates if each.value]),
        ("findings", [_finding(each) for each in analysis.findings]),
    ):
        suite = ET.SubElement(suites, "testsuite", name=f"{run.info.study}: {name}", tests=str(len(cases)))
        suite.set("errors", "0")
        for verdict in ("failure", "skipped"):
            count = sum(case.find(verdict) is not None for case in cases)
            suite.set("failures" if verdict == "failure" else verdict, str(count))
        if run.info.started:
            suite.set("timestamp", run.info.started[:19])
        suite.extend(cases)
    ET.indent(suites)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield ET.tostring(suites, encoding="unicode") + "\n"


def _case(outcome: Outcome) -> ET.Element:
    made = _test("cases", outcome.case)
    if outcome.status in {"failed", "invalid", "timed-out"}:
        _verdict(made, "failure", outcome.status, outcome.reason)
    elif outcome.status != "complete":
        _verdict(made, "skipped", outcome.status, outcome.reason)
    return made


def _figure(e: Estimate) -> ET.Element:
    made = _test(f"figures.{e.benchmark}", e.id)
    ends = "" if e.lo is None or e.hi is None else f" ({e.lo!r} to {e.hi!r}, {e.basis})"
    if e.exceeds:
        _verdict(made, "failure", "exceeds", f"{e.median!r} {e.unit} exceeds {e.exceeds.value!r}: {e.exceeds.of}")
    limit = f"\nlimit: {e.limit.value!r} {e.unit} ({e.limit.of})" if e.limit else ""
    told = f"{e.median!r} {e.unit}{ends}, {count_of(e.launches, 'launch')}{limit}"
    ET.SubElement(made, "system-out").text = _whole(told)
    return made


def _finding(finding: Finding) -> ET.Element:
    made = _test(f"findings.{finding.rule}", finding.id)
    if finding.severity == "problem" and finding.status in {"confirmed", "observed"}:
        _verdict(made, "failure", finding.status, finding.claim)
    elif finding.status in {"candidate", "not assessed"}:
        _verdict(made, "skipped", finding.status, finding.claim)
    told = (f"{finding.status}: {finding.claim}", finding.statistic, finding.threshold, finding.next)
    ET.SubElement(made, "system-out").text = _whole("\n".join(filter(None, told)))
    return made


def _test(group: str, name: str) -> ET.Element:
    return ET.Element("testcase", classname=f"assay.{group}", name=_whole(name))


def _verdict(case: ET.Element, verdict: str, kind: str, words: str) -> None:
    """What became of a case; one that was skipped has no type in the schema."""
    made = ET.SubElement(case, verdict, message=_whole(f"{kind}: {words}" if verdict == "skipped" else words))
    if verdict == "failure":
        made.set("type", kind)


def _whole(words: str) -> str:
    return _NO_CHARACTER.sub("?", words)


export = Export("cases, figures and findings as test cases, for CI", figures)
