"""Whether the figures of a run are to be used, from its records."""

from collections.abc import Iterable

from assay.analyse.evidence import Evidence
from assay.analyse.findings import concerned
from assay.model.flaw import Flaw
from assay.model.result import Estimate


def flaw(evidence: Evidence) -> Flaw:
    """Return why figures are not to be used: of a level of whole runs, that of its first run with one."""
    if evidence.blocks:
        return next(filter(None, map(flaw, evidence.blocks.values())), "")
    measured = [each.estimate for each in evidence.measured if each.estimate.median is not None]
    if evidence.run.imported or not measured:
        return ""
    if any(map(is_misplaced, measured)):
        return "misplaced"
    if any(each.severity == "problem" for each in concerned(evidence, "figures")):
        return "misnamed"
    return "disturbed" if evidence.noise.spoils else ""


def flaws(evidence: Evidence, figures: Iterable[Estimate]) -> dict[str, Flaw]:
    """Return id -> why it is not to be used, of those figures that are not: only noise is of all.

    Args:
        evidence: of the run; of a level of whole runs, noise of one of them is of the level.
        figures: of the run, or each following from one of it, as a rate of messages from their time.
    """
    if evidence.run.imported:
        return {}
    runs = tuple(evidence.blocks.values()) or (evidence,)
    astray = {case for each in runs for case in _astray(each)}
    noise: Flaw = "disturbed" if any(each.noise.spoils for each in runs) else ""

    def why(estimate: Estimate) -> Flaw:
        if is_misplaced(estimate):
            return "misplaced"
        return "misnamed" if estimate.case in astray else noise

    return {each.id: found for each in figures if (found := why(each))}


def is_misplaced(estimate: Estimate) -> bool:
    """Whether its programs did not run on the cpus asked."""
    proven = estimate.placement.proven
    return proven is not None and not proven.as_asked


def _astray(evidence: Evidence) -> Iterable[str]:
    """The cases whose figures are not what they are called."""
    found = [each for each in concerned(evidence, "figures") if each.severity == "problem"]
    return (
        evidence.estimates[name].case for each in found for name in each.evidence if name in evidence.estimates
    )
