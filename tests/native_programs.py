"""How tests start a native program and read its output."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import jsonschema

from assay.model.record import End, Header, ProgramRecord, Series, Threads, decode_program_record

_SCHEMA = json.loads((Path(__file__).parents[1] / "schema" / "records.schema.json").read_text())
_VALIDATOR = jsonschema.Draft202012Validator(_SCHEMA)
#: No native program of a test takes nearly so long.
LIMIT_S = 180.0


@dataclass(frozen=True)
class ProgramOutput:
    """The output of a program: its exit code, its records and its messages."""

    exit_code: int
    records: tuple[ProgramRecord, ...]
    words: str

    @property
    def header(self) -> Header:
        """The first header."""
        return next(record for record in self.records if isinstance(record, Header))

    @property
    def ends(self) -> list[End]:
        """How the cases ended, in order."""
        return [record for record in self.records if isinstance(record, End)]

    @property
    def series(self) -> list[Series]:
        """All series, in order."""
        return [record for record in self.records if isinstance(record, Series)]

    @property
    def threads(self) -> list[Threads]:
        """The work of each thread, kernel by kernel."""
        return [record for record in self.records if isinstance(record, Threads)]


def valid_records(stdout: str) -> tuple[ProgramRecord, ...]:
    """Every line, validated with the published schema and decoded."""
    for line in stdout.splitlines():
        _VALIDATOR.validate(json.loads(line))
    return tuple(decode_program_record(line) for line in stdout.splitlines())


def start(*command: str, environment: Mapping[str, str] | None = None) -> ProgramOutput:
    """Run the command to its end."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        env=environment and dict(environment),
    )
    return ProgramOutput(done.returncode, valid_records(done.stdout), done.stderr)
