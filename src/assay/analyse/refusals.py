"""Figures of a source that are of another processor, operating system or level than the run to be compared."""

from assay.analyse import source_levels
from assay.model.families import family
from assay.model.result import Estimate
from assay.model.run import Run
from assay.model.text import text

_SYSTEM, _PROCESSOR = "system", "processor"


def needs(printed: Estimate, source: Run, run: Run) -> str:
    """Return what a figure of a source needs and the run is not; empty if they can be compared.

    Args:
        printed: the figure.
        source: whose machine has the processor that is met by role; rows of others need themselves.
        run: that is compared with it.
    """
    level = printed.factors.get(_SYSTEM, "")
    wanted, own = family(_SYSTEM, level), _system(run)
    is_varied = any(each.name == _SYSTEM for each in run.plan.factors)
    if wanted and own and wanted != own and not is_varied:
        return text("it needs system {name}", name=level)
    models = str(printed.params.get(_PROCESSOR, ""))
    if models and not any(_has(models, each) for each in (_model(source), _model(run))):
        return text("it needs processor {name}", name=models)
    return source_levels.refusal(printed, source, run)


def _system(run: Run) -> str:
    """Family of its operating system; empty if it is unknown. Assay measures on Linux only."""
    if not run.imported:
        return "Linux"
    fact = run.imported.facts.get(_SYSTEM, {}).get("operating system")
    return family(_SYSTEM, str(fact.value)) if fact else ""


def _model(run: Run) -> str:
    """Model of its processor; empty if it is unknown."""
    if run.imported:
        facts = run.imported.facts.get(_PROCESSOR, {})
        found = facts.get("model")
        return str(found.value) if found else ""
    machines = (each.fact(_PROCESSOR, "model").value for each in run.machines.values())
    return str(next(machines, ""))


def _has(names: str, model: str) -> bool:
    """Whether a model is one of `EPYC 7551, 7351`."""
    return any(name.split()[-1] in model.replace(",", " ").split() for name in names.split(","))
