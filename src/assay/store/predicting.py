"""Find the runs that hold predictions."""

from pathlib import Path

from assay.store.folder import run_ids

_PREDICTION = b'"type":"prediction"'


def predicting(folder: Path) -> tuple[Path, ...]:
    """Runs in the folder that hold a prediction, oldest first."""
    runs = (folder / name for name in run_ids(folder))
    return tuple(run for run in runs if _holds_one(run / "records.jsonl"))


def _holds_one(records: Path) -> bool:
    try:
        with records.open("rb") as lines:
            return any(line.startswith(b"{" + _PREDICTION) for line in lines)
    except OSError:
        return False
