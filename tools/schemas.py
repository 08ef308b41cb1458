"""The published JSON Schemas (2020-12), generated from the types: of the records, and of `assay show --json`."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from assay.model.declaration import Declaration
from assay.model.law import Model
from assay.model.record import RECORD_SCHEMA, Record
from assay.model.result import RESULT_SCHEMA, Analysis

#: Also in native/declarations.cmake.
DECLARATION_SCHEMA = 1
_REFERENCE = "#/$defs/{name}"


def records_schema() -> str:
    """Schema of one line of records.jsonl, pretty-printed, with a final newline."""
    (reference,), components = msgspec.json.schema_components((Record,), ref_template=_REFERENCE)
    return _document(f"records:{RECORD_SCHEMA}", "Assay records: one JSON object a line", reference, components)


def analysis_schema(laws: Sequence[type[Model]]) -> str:
    """Schema of what `assay show --json` prints, pretty-printed, with a final newline.

    Args:
        laws: types of the models that may stand in it, as `assay.analyse.models.types` finds them.
    """
    (reference, *models), components = msgspec.json.schema_components((Analysis, *laws), ref_template=_REFERENCE)
    components["Analysis"]["properties"]["models"]["items"] = {"anyOf": models}
    del components["Model"]
    return _document(f"analysis:{RESULT_SCHEMA}", "What assay show --json prints", reference, components)


def declaration_schema() -> str:
    """Schema of what a program prints by `--describe`, and of a plan's declarations, with a final newline."""
    (reference,), components = msgspec.json.schema_components((Declaration,), ref_template=_REFERENCE)
    return _document(f"declaration:{DECLARATION_SCHEMA}", "Declaration of a benchmark", reference, components)


def _document(name: str, title: str, reference: dict[str, Any], components: dict[str, Any]) -> str:
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:assay:{name}",
        "title": title,
        **reference,
        "$defs": components,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
