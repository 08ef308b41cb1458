"""Runs that Assay did not measure: output of other tools, stored as imported.json, and published references."""

from collections.abc import Sequence
from pathlib import Path

from assay import __version__
from assay.catalogue import benchmarks
from assay.model.imported import Imported, case_of
from assay.model.plan import PLAN_SCHEMA, Plan
from assay.model.run import RUN_SCHEMA, Ending, Run, RunInfo
from assay.store.files import write_json
from assay.store.folder import beginning, new_run

FILE = "imported.json"
_STUDY = "import"


def save_import(imported: Imported, command: Sequence[str], folder: Path | None = None) -> Path:
    """Write an import into the folder of runs; returns the directory of the new run.

    Raises:
        UnfitEnvironmentError: the folder cannot be written.
    """
    path, info = new_run(_STUDY, command, folder)
    with beginning(path):
        write_json(path / FILE, imported)
        write_json(path / "run.json", info)
    return path


def reference(name: str, published: Imported, path: Path) -> Run:
    """A published system as a run."""
    info = RunInfo(RUN_SCHEMA, name, "reference", "", __version__, (), {}, {})
    return as_run(path, info, published)


def as_run(path: Path, info: RunInfo, imported: Imported) -> Run:
    """An import as a run: its cases are those of its figures, and it has no launches."""
    cases = {
        case.id: case for table in imported.tables for case in (case_of(table, each) for each in table.figures)
    }
    plan = Plan(
        schema=PLAN_SCHEMA,
        study=info.study,
        title=imported.title,
        question=imported.question,
        machine=imported.machine,
        hosts=tuple(dict.fromkeys(host for table in imported.tables for host in table.hosts)),
        seed=0,
        precision=0.0,
        launches=0,
        budget_s=None,
        estimate_s=0.0,
        min_samples=0,
        max_samples=0,
        probe_cpus=(),
        cases=tuple(cases.values()),
        order=(),
        declarations=tuple(
            benchmarks.of(name).declaration for name in dict.fromkeys(table.benchmark for table in imported.tables)
        ),
    )
    ending = Ending("complete", info.started, 0.0, {})
    return Run(str(path), info, plan, {}, (), ending, imported=imported)
