"""The third-party programs of a study."""

from assay.catalogue import benchmarks
from assay.model.application import Application
from assay.model.plan import Study


def foreign_programs(study: Study) -> tuple[str, ...]:
    """Names of the third-party programs that a study starts, without those of applications."""
    found = (benchmarks.get(measure.benchmark).foreign for measure in study.measure)
    return tuple(dict.fromkeys(name for each in found if each and each.tool for name in each.executables))


def applications(study: Study) -> tuple[Application, ...]:
    """The applications of a study, in its order."""
    found = (benchmarks.get(name).foreign for name in dict.fromkeys(each.benchmark for each in study.measure))
    return tuple(each.application for each in found if each and each.application)
