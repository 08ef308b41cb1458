"""The published JSON Schema of the records, generated from the types in `assay.model.record`."""

import json

import msgspec

from assay.model.record import RECORD_SCHEMA, Record


def records_schema() -> str:
    """JSON Schema (2020-12) of one line of records.jsonl, pretty-printed, with a final newline."""
    (reference,), components = msgspec.json.schema_components((Record,), ref_template="#/$defs/{name}")
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:assay:records:{RECORD_SCHEMA}",
        "title": "Assay records: one JSON object a line",
        **reference,
        "$defs": components,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
