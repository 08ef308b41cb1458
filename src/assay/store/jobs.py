"""Submitted jobs: the folder `jobs` in the folder of runs, with three files for each job."""

from pathlib import Path

import msgspec

from assay.model.job import JOB_VARIABLE, Submitted
from assay.store.files import write_atomically, write_errors, write_json
from assay.store.folder import begun, run_ids

_FOLDER = "jobs"


def job_file(name: str, suffix: str, folder: Path) -> Path:
    """Path of a job's file in the folder of runs: `.sh` its script, `.out` its output, `.json` its record."""
    return folder.absolute() / _FOLDER / f"{name}{suffix}"


def save_script(name: str, script: str, folder: Path) -> Path:
    """Write the script of a job; UnfitEnvironmentError if the folder cannot be written."""
    path = job_file(name, ".sh", folder)
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, script.encode())
    return path


def save_job(job: Submitted, folder: Path) -> None:
    """Write the record of a job whose script is written; UnfitEnvironmentError if that fails."""
    write_json(job_file(job.name, ".json", folder), job)


def jobs(folder: Path) -> tuple[Submitted, ...]:
    """Every job of the folder of runs, oldest first; other files are ignored."""
    found = []
    for path in (folder / _FOLDER).glob("*.json"):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Submitted))
        except (OSError, msgspec.MsgspecError):
            continue
    return tuple(sorted(found, key=lambda job: job.submitted))


def runs_of(submitted: tuple[Submitted, ...], folder: Path) -> dict[str, Path]:
    """Name of a job -> directory of its run; without jobs that have not begun one."""
    found = {job.name: folder / job.run for job in submitted if job.run}
    if len(found) < len(submitted):
        runs = (folder / run_id for run_id in run_ids(folder))
        of_jobs = {begun(run).environment.get(JOB_VARIABLE, ""): run for run in runs}
        found |= {job.name: of_jobs[job.name] for job in submitted if job.name in of_jobs}
    return found
