"""What pages are made with: templates that write texts with their numbers and escape what is from outside."""

from importlib import resources

import jinja2

from assay.model import text as texts
from assay.model.text import Text
from assay.report import vega


def environment(**known: object) -> jinja2.Environment:
    """Templates with what every page needs, and what is `known` to one."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("assay.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_put,
    )
    made.globals |= {"style": file("report.css"), "text": _text, "json_block": vega.json_block} | known
    return made


def file(name: str) -> str:
    """A file beside the templates."""
    return resources.files("assay.report").joinpath("templates", name).read_text("utf-8")


def _text(template: str, /, **parameters: str | int) -> Text:
    """A text whose template is written over several lines."""
    return texts.text(" ".join(template.split()), **parameters)


@jinja2.pass_context
def _put(context: jinja2.runtime.Context, value: object) -> object:
    """What a template writes: texts with their numbers in the page."""
    put: object = context["spoken"].put(value)
    return put
