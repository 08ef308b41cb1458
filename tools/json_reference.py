"""The reference of `assay show --json`, from its schema: tools/json_reference.py > docs/show-json.md."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).resolve().parents[1] / "schema" / "analysis.schema.json"
HEAD = """# The fields of `assay show --json`

Written by `tools/json_reference.py` from `schema/analysis.schema.json`; a test holds the two equal. All values
are in SI base units. A field in *italics* can be absent."""
#: A field in the section `Attributes` of a description: its name and what follows, up to the next one.
FIELD = re.compile(r"^ {0,4}(\w+): (.*?)(?=^ {0,4}\w+: |\Z)", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Print the page."""
    print("\n\n".join([HEAD, *sections(json.loads(SCHEMA.read_text("utf-8")))]))


def sections(schema: dict[str, Any]) -> Iterator[str]:
    """A section for the document, then one for each type in it, in order of appearance."""
    kinds, waiting = schema["$defs"], [_named(schema["$ref"])]
    for name in waiting:  # grows
        kind = kinds[name]
        words, _, attributes = kind.get("description", "").partition("Attributes:")
        meanings = {field: " ".join(text.split()) for field, text in FIELD.findall(_outdented(attributes))}
        waiting += dict.fromkeys(each for each in _types(kind.get("properties", {})) if each not in waiting)
        rows = "\n".join(
            f"| {f'`{field}`' if field in kind.get('required', ()) else f'*`{field}`*'} | {_type(of)} | "
            f"{_cell(meanings.get(field, ''))} |"
            for field, of in kind.get("properties", {}).items()
        )
        table = f"\n\n| field | type | what |\n|---|---|---|\n{rows}" if rows else ""
        yield f"## {name}\n\n{' '.join(words.split())}{table}".strip()


def _outdented(text: str) -> str:
    return re.sub(r"^ {4,8}(?=\w+: )", "", text, flags=re.MULTILINE)


def _types(node: Any) -> Iterator[str]:  # noqa: ANN401 (JSON)
    """Names of all types that a part of the schema refers to."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield _named(node["$ref"])
        for each in node.values():
            yield from _types(each)
    elif isinstance(node, list):
        for each in node:
            yield from _types(each)


def _named(reference: str) -> str:
    return reference.rpartition("/")[2]


def _type(node: dict[str, Any]) -> str:
    """The type of a field in words."""
    match node:
        case {"$ref": reference}:
            words = f"[{_named(reference)}](#{_named(reference).lower()})"
        case {"anyOf": kinds}:
            words = " or ".join(dict.fromkeys(map(_type, kinds)))
        case {"enum": values}:
            words = ", ".join(f"`{each}`" for each in values)
        case {"type": "array", "items": dict(items)}:
            words = f"list of {_type(items)}"
        case {"type": "array", "prefixItems": items}:
            words = f"list: {', '.join(map(_type, items))}"
        case {"type": "object", "additionalProperties": dict(items)}:
            words = f"name → {_type(items)}"
        case _:
            words = node.get("type", "any")
    return words


def _cell(words: str) -> str:
    return words.replace("|", "\\|")


if __name__ == "__main__":
    main()
