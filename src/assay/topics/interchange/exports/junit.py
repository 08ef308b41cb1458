"""JUnit XML, which CI systems show: a test case for each case of the plan, figure, comparison and finding."""

import re
from collections.abc import Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from assay.model.answers import Decided, Export
from assay.model.comparison import Comparison
from assay.model.result import Analysis, Burst, Estimate, Finding, Outcome
from assay.model.run import Run
from assay.model.units import count_of
from assay.report import verdicts

#: What XML 1.0 cannot hold.
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Result of a figure above its limit, by the burst of a shaper that explains it.
_EXCEEDING: dict[Burst, str] = {"": "failure", "unknown": "skipped", "fits": ""}


def figures(run: Run, analysis: Analysis) -> Iterator[str]:
    """Write test cases; failed cases, figures above their limit, and observed or confirmed problems fail.

    A figure that is the burst of a traffic shaper passes; one that may be a burst is skipped.
    """
    suites = (
        ("cases", [_case(each) for each in analysis.outcomes]),
        ("figures", [_figure(each) for each in (*analysis.estimates, *analysis.members) if each.value]),
        ("comparisons", [_comparison(each) for each in analysis.comparisons if each.varied]),
        ("findings", [_finding(each) for each in analysis.findings]),
    )
    named = [(f"{run.info.study}: {name}", cases) for name, cases in suites if cases or name != "comparisons"]
    yield _written(named, run.info.started)


def judged(name: str, figures: Iterable[Decided]) -> str:
    """Return a document with a test case for each figure."""
    return _written([(name, [_judged(each) for each in figures])])


def _written(suites: Sequence[tuple[str, Sequence[ET.Element]]], started: str = "") -> str:
    found = ET.Element("testsuites")
    for name, cases in suites:
        suite = ET.SubElement(found, "testsuite", name=name, tests=str(len(cases)))
        suite.set("errors", "0")
        for verdict in ("failure", "skipped"):
            count = sum(case.find(verdict) is not None for case in cases)
            suite.set("failures" if verdict == "failure" else verdict, str(count))
        if started:
            suite.set("timestamp", started[:19])
        suite.extend(cases)
    ET.indent(found)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(found, encoding="unicode")}\n'


def _judged(each: Decided) -> ET.Element:
    test = _test(f"comparisons.{each.group}", each.name)
    if each.verdict:
        _verdict(test, each.verdict, "slower" if each.verdict == "failure" else "undecided", each.words)
    ET.SubElement(test, "system-out").text = _whole(each.words)
    return test


def _case(outcome: Outcome) -> ET.Element:
    test = _test("cases", outcome.case)
    if outcome.status in {"failed", "invalid", "timed-out"}:
        _verdict(test, "failure", outcome.status, outcome.reason)
    elif outcome.status != "complete":
        _verdict(test, "skipped", outcome.status, outcome.reason)
    return test


def _figure(e: Estimate) -> ET.Element:
    test = _test(f"figures.{e.benchmark}", e.id)
    ends = "" if e.lo is None or e.hi is None else f" ({e.lo!r} to {e.hi!r}, {e.basis})"
    limit = f"\nlimit: {e.limit.value!r} {e.unit} ({e.limit.of})" if e.limit else ""
    if e.exceeds:
        limit = f"\nexceeds: {e.exceeds.value!r} {e.unit} ({e.exceeds.of})"
        if verdict := _EXCEEDING[e.exceeds.burst]:
            _verdict(
                test, verdict, "exceeds", f"{e.median!r} {e.unit} exceeds {e.exceeds.value!r}: {e.exceeds.of}"
            )
    output = f"{e.median!r} {e.unit}{ends}, {count_of(e.launches, 'launch')}{limit}"
    ET.SubElement(test, "system-out").text = _whole(output)
    return test


def _comparison(each: Comparison) -> ET.Element:
    """A difference is no failure, because each level may be the better one; one that is not decided is skipped."""
    test = _test(f"comparisons.{each.differ}", each.id)
    if each.lack:
        _verdict(test, "skipped", each.verdict, verdicts.missing(each))
    p = "" if each.adjusted_p is None else f", p {each.adjusted_p!r} among {each.among}"
    ends = f"({each.lo!r} to {each.hi!r}, {each.value.basis})"
    output = f"{each.level} / {each.base}: {each.ratio!r} {ends}, {each.verdict}{p}"
    ET.SubElement(test, "system-out").text = _whole(output)
    return test


def _finding(finding: Finding) -> ET.Element:
    test = _test(f"findings.{finding.rule}", finding.id)
    if finding.severity == "problem" and finding.status in {"confirmed", "observed"}:
        _verdict(test, "failure", finding.status, finding.claim)
    elif finding.status == "candidate" or not finding.assessed:
        _verdict(test, "skipped", finding.status, finding.claim)
    output = (f"{finding.status}: {finding.claim}", finding.statistic, finding.threshold, finding.next)
    ET.SubElement(test, "system-out").text = _whole("\n".join(filter(None, output)))
    return test


def _test(group: str, name: str) -> ET.Element:
    return ET.Element("testcase", classname=f"assay.{group}", name=_whole(name))


def _verdict(case: ET.Element, verdict: str, kind: str, words: str) -> None:
    """Add the result of a case; a skipped one has no type in the schema."""
    result = ET.SubElement(case, verdict, message=_whole(f"{kind}: {words}" if verdict == "skipped" else words))
    if verdict == "failure":
        result.set("type", kind)


def _whole(words: str) -> str:
    return _NO_CHARACTER.sub("?", words)


export = Export("cases, figures and findings as test cases, for CI", figures)
