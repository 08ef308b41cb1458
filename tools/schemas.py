"""The published JSON Schemas (2020-12), generated from the types into `schema/`: tools/schemas.py.

They are of the records, of declarations, and of `assay show --json`; tests hold them and the types equal.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from assay.catalogue import topics
from assay.model.declaration import Declaration
from assay.model.law import Model, Unfitted
from assay.model.record import RECORD_SCHEMA, Record
from assay.model.result import RESULT_SCHEMA, Analysis

#: Also in native/declarations.cmake.
DECLARATION_SCHEMA = 1
_REFERENCE = "#/$defs/{name}"


def records_schema() -> str:
    """Schema of one line of records.jsonl, pretty-printed, with a final newline."""
    (reference,), components = msgspec.json.schema_components((Record,), ref_template=_REFERENCE)
    return _document(f"records:{RECORD_SCHEMA}", "Assay records: one JSON object a line", reference, components)


def types() -> list[type[Model]]:
    """The types of results of laws, and of curves without a fit, in the order of their names."""
    named = (each for module in topics.modules("models").values() for each in vars(module).values())
    kinds = {each for each in named if isinstance(each, type) and issubclass(each, Model)} | {Unfitted}
    found = [kind for kind in kinds if kind.__struct_config__.tag != kind.__name__]
    return sorted(found, key=lambda kind: str(kind.__struct_config__.tag))


def analysis_schema() -> str:
    """Schema of what `assay show --json` prints, pretty-printed, with a final newline."""
    (reference, *models), components = msgspec.json.schema_components(
        (Analysis, *types()), ref_template=_REFERENCE
    )
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


def main() -> None:
    """Write the three schemas."""
    folder = Path(__file__).resolve().parents[1] / "schema"
    made = {"records": records_schema(), "declaration": declaration_schema(), "analysis": analysis_schema()}
    for name, content in made.items():
        (folder / f"{name}.schema.json").write_text(content, "utf-8")


if __name__ == "__main__":
    main()
