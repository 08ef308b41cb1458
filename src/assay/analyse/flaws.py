"""Whether the figures of a run are to be used, from its records."""

from assay.analyse.evidence import Evidence
from assay.analyse.findings import concerned
from assay.model.flaw import Flaw
from assay.model.result import Estimate


def flaw(evidence: Evidence) -> Flaw:
    """Return why the figures are not to be used: of a level of whole runs, that of its first run with one."""
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


def is_misplaced(estimate: Estimate) -> bool:
    """Whether its programs did not run on the cpus asked."""
    proven = estimate.placement.proven
    return proven is not None and not proven.as_asked
