"""Runs that earlier versions packed: they load, and say the same figures as when they were measured, to the digit.

They are runs that the gallery had, and a node study on the simulated machine, all of the version before schema 2
of `assay show --json`. `expected.json.xz` is what that version made of them: ids of estimates, comparisons,
models, points and predictions with [value, lower, upper]. Since then the kernel's command line was cut to the
words that later versions record, and the others were packed with `--share`: their host is `node01`, also in ids.
"""

import json
import lzma
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tools.schemas import analysis_schema

from assay import store
from assay.analyse import analyse
from assay.model.result import Analysis
from assay.model.text import encoded
from assay.report import html

RUNS = Path(__file__).parents[1] / "runs"
PUBLISHED = Path(__file__).parents[2] / "schema" / "analysis.schema.json"
EXPECTED: dict[str, dict[str, Any]] = json.loads(lzma.decompress((RUNS / "expected.json.xz").read_bytes()))
#: Logarithms and fits may differ in the last digits from processor to processor.
FITTED = 1e-9

Triple = list[float | None]


def packed(name: str) -> Path:
    """The archive of a run."""
    return RUNS / f"{name}.tar.xz"


@cache
def analysed(name: str) -> Analysis:
    return analyse(store.load(packed(name)))


@cache
def shown(name: str) -> dict[str, Any]:
    """What `assay show --json` prints."""
    document: dict[str, Any] = json.loads(encoded(analysed(name)))
    return document


def triple(quantity: dict[str, Any] | None) -> Triple:
    """[value, lower, upper] as before schema 2: no ends where the source printed none."""
    if quantity is None:
        return [None, None, None]
    ends = quantity["basis"] != "imported"
    return [quantity["value"], *(quantity[end] if ends else None for end in ("lo", "hi"))]


def quantities(part: object) -> Iterator[Triple]:
    """Every quantity in a part of a document; bare numbers are their own ends, as they were."""
    if isinstance(part, dict):
        if part.keys() == {"value", "lo", "hi", "unit", "basis"}:
            yield triple(part)
        else:
            yield from (found for each in part.values() for found in quantities(each))
    elif isinstance(part, list):
        yield from (found for each in part for found in quantities(each))
    elif isinstance(part, float):
        yield [part, part, part]


def close(one: Triple, other: Triple) -> bool:
    return one == pytest.approx(other, rel=FITTED, abs=0)


@pytest.mark.parametrize("name", EXPECTED)
def test_medians_and_intervals_are_the_same_to_the_digit(name: str) -> None:
    found = {each["id"]: triple(each["value"]) for each in shown(name)["estimates"]}
    assert found == EXPECTED[name]["estimates"]


@pytest.mark.parametrize("name", EXPECTED)
def test_comparisons_and_predictions_are_the_same(name: str) -> None:
    document, expected = shown(name), EXPECTED[name]
    ratios = {each["id"]: triple(each["value"]) for each in document["comparisons"]}
    assert ratios.keys() == expected["comparisons"].keys()
    assert all(close(ratios[each], before) for each, before in expected["comparisons"].items())
    predictions = {
        each["id"]: [triple(each[key]) for key in ("predicted", "value")] for each in document["predictions"]
    }
    assert predictions.keys() == expected["predictions"].keys()
    for each, before in expected["predictions"].items():
        assert all(close(*both) for both in zip(predictions[each], before, strict=True))


@pytest.mark.parametrize("name", EXPECTED)
def test_laws_find_what_they_found(name: str) -> None:
    expected = EXPECTED[name]
    models = {each["id"]: each for each in shown(name)["models"]}
    assert [each for each in models if each in expected["models"]] == list(expected["models"])  # laws are added
    for each, parameters in expected["models"].items():
        own = [*quantities({key: value for key, value in models[each].items() if key != "points"})]
        assert all(any(close(one, before) for one in own) for before in parameters), each
        assert (models[each]["type"] == "unfitted") == (not parameters)
        points = [triple(point["value"]) for point in models[each]["points"]]
        assert all(close(*both) for both in zip(points, expected["points"][each], strict=True)), each


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_shown_follows_the_published_schema(name: str) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(PUBLISHED.read_text("utf-8")))
    validator.validate(shown(name))


def test_the_published_schema_is_the_one_of_the_types_and_refuses_others() -> None:
    assert PUBLISHED.read_text("utf-8") == analysis_schema()
    schema = json.loads(PUBLISHED.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = shown("node")
    first, model = document["estimates"][0], document["models"][0]
    for wrong in (
        document | {"schema": "2"},
        {key: value for key, value in document.items() if key != "noise"},
        document | {"estimates": [first | {"value": [1.0, 0.9, 1.1]}]},
        document | {"estimates": [first | {"value": first["value"] | {"basis": "guessed"}}]},
        document | {"models": [model | {"type": "no-such-law"}]},
        document | {"models": [{key: value for key, value in model.items() if key != "plateaus"}]},
    ):
        assert not validator.is_valid(wrong)


@pytest.mark.parametrize("name", ["node", "multi-pair"])
@pytest.mark.usefixtures("undrawn_here")
def test_earlier_runs_are_still_reported(name: str) -> None:
    assert "<!doctype html>" in html.render(store.load(packed(name)), analysed(name))
