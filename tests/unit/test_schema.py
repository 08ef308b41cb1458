"""The published schema is the one of the types, and both refuse the same records."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tools.schemas import records_schema

from assay.model.record import RecordError, decode_record

PUBLISHED = Path(__file__).parents[2] / "schema" / "records.schema.json"

#: Records of an example: one program, one case, one rank.
HEADER: dict[str, Any] = {
    "type": "header",
    "schema": 1,
    "benchmark": "stream",
    "case": "stream/all",
    "params": {"stores": "ordinary", "elements": 1000},
    "work": {"triad": {"bytes": 24000}},
    "build": {"compiler": "GNU 12.2.0"},
    "clock": {"name": "steady_clock", "resolution_s": 1e-9, "overhead_s": 2.5e-8},
    "ranks": [
        {
            "rank": 0,
            "host": "n1",
            "boot_id": "6f1e",
            "requested_cpus": [0, 1],
            "cpus": [0, 1],
            "requested_memory": "first-touch",
            "page_nodes": {"0": 4096},
        }
    ],
}
SERIES: dict[str, Any] = {
    "type": "series",
    "kernel": "triad",
    "rank": 0,
    "phase": "measured",
    "iterations": 10,
    "stop": "precision",
    "start_s": [0.5, 0.6],
    "seconds": [0.01, 0.011],
}
VERDICT: dict[str, Any] = {"type": "verdict", "passed": True, "error": 0.0, "tolerance": 1e-13}
END: dict[str, Any] = {"type": "end", "status": "complete"}
PROBE: dict[str, Any] = {"cpus": [0, 1], "iterations": 1000, "seconds": [2.4e-5, 2.5e-5]}
LAUNCH: dict[str, Any] = {
    "type": "launch",
    "id": "000-00",
    "attempt": 0,
    "block": 0,
    "program": "stream",
    "toolchain": "gcc",
    "build": "8eeec874125b3790",
    "cases": ["stream/all"],
    "argv": ["stream", "--case", "stream/all"],
    "environment": {"OMP_NUM_THREADS": "2"},
    "started": "2026-11-20T14:30:00+00:00",
    "exit_code": None,
    "bracket": {
        "before": PROBE,
        "after": None,
        "elapsed_s": 1.5,
        "steal": 0.0,
        "foreign": 0.02,
        "involuntary_switches": -1,
        "load": 0.5,
    },
}
PREDICTION: dict[str, Any] = {
    "type": "prediction",
    "of": "stream/all",
    "metric": "bandwidth",
    "unit": "B/s",
    "value": 2e10,
    "lo": 1.9e10,
    "hi": 2.1e10,
    "basis": "derived",
    "from": ["plateaus"],
}
GOOD = [PREDICTION, HEADER, SERIES, VERDICT, END, LAUNCH, END | {"status": "failed", "reason": "wrong result"}]
BAD = [
    {},
    [],
    {"type": "heading"},
    {key: value for key, value in HEADER.items() if key != "clock"},
    HEADER | {"schema": "1"},
    HEADER | {"params": {"stores": None}},
    HEADER | {"ranks": [{"rank": 0}]},
    SERIES | {"phase": "cooldown"},
    SERIES | {"stop": "bored"},
    SERIES | {"seconds": ["0.01"]},
    SERIES | {"iterations": 1.5},
    VERDICT | {"passed": "yes"},
    END | {"status": "done"},
    PREDICTION | {"basis": "hope"},
    {key: value for key, value in PREDICTION.items() if key != "from"},
    LAUNCH | {"exit_code": "0"},
    LAUNCH | {"bracket": None},
    {key: value for key, value in LAUNCH.items() if key != "argv"},
]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(PUBLISHED.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_schema_is_the_one_of_the_types() -> None:
    assert PUBLISHED.read_text() == records_schema()


@pytest.mark.parametrize("record", GOOD, ids=lambda record: record["type"])
def test_a_good_record_is_taken_by_the_schema_and_by_the_decoder(
    record: dict[str, Any], validator: jsonschema.Draft202012Validator
) -> None:
    validator.validate(record)
    decode_record(json.dumps(record))


@pytest.mark.parametrize("record", BAD, ids=lambda record: json.dumps(record)[:60])
def test_a_bad_record_is_refused_by_the_schema_and_by_the_decoder(
    record: object, validator: jsonschema.Draft202012Validator
) -> None:
    assert not validator.is_valid(record)
    with pytest.raises(RecordError):
        decode_record(json.dumps(record))
