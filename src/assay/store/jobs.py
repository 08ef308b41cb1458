"""Jobs that were submitted: the folder `jobs` beside the runs, three files for each."""

from pathlib import Path

import msgspec

from assay.model.job import JOB_VARIABLE, Submitted
from assay.store.files import write_atomically, write_error
from assay.store.folder import run_ids

_FOLDER = "jobs"


class _Begun(msgspec.Struct):
    environment: dict[str, str] = {}


def job_file(name: str, suffix: str, folder: Path) -> Path:
    """Path of a job's file in the folder of runs: `.sh` its script, `.out` what it prints, `.json` its record."""
    return folder.absolute() / _FOLDER / f"{name}{suffix}"


def save_script(name: str, script: str, folder: Path) -> Path:
    """Write the script of a job; UnfitEnvironmentError where the folder cannot be written."""
    path = job_file(name, ".sh", folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(path, error) from error
    write_atomically(path, script.encode())
    return path


def save_job(job: Submitted, folder: Path) -> None:
    """Write the record of a job whose script is kept; UnfitEnvironmentError where it cannot be written."""
    content = msgspec.json.format(msgspec.json.encode(job), indent=2) + b"\n"
    write_atomically(job_file(job.name, ".json", folder), content)


def jobs(folder: Path) -> tuple[Submitted, ...]:
    """Every job of the folder of runs, oldest first; a file that is no record of one is passed over."""
    found = []
    for path in (folder / _FOLDER).glob("*.json"):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Submitted))
        except (OSError, msgspec.MsgspecError):
            continue
    return tuple(sorted(found, key=lambda job: job.submitted))


def runs_of(submitted: tuple[Submitted, ...], folder: Path) -> dict[str, Path]:
    """Name of a job -> directory of the run that it makes; none for a job that has not begun one."""
    begun = {job.name: folder / job.run for job in submitted if job.run}
    if len(begun) < len(submitted):
        began = {_job_of(folder / run_id): folder / run_id for run_id in run_ids(folder)}
        begun |= {job.name: began[job.name] for job in submitted if job.name in began}
    return begun


def _job_of(path: Path) -> str:
    try:
        return msgspec.json.decode((path / "run.json").read_bytes(), type=_Begun).environment.get(JOB_VARIABLE, "")
    except (OSError, msgspec.MsgspecError):
        return ""
