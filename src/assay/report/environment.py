"""The environment of the page templates: it numbers texts and escapes everything from outside."""

import pickle
from collections.abc import Mapping
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
import jinja2.bccache

from assay import __version__
from assay.model import text as texts
from assay.model.folders import cache_folder
from assay.model.text import Text
from assay.report import vega
from assay.report.languages import LANGUAGES
from assay.report.spoken import Spoken


def environment(**known: object) -> jinja2.Environment:
    """Return the environment of templates with the functions of every page, and `known` names of one page."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("assay.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_put,
        bytecode_cache=_Compiled(),
    )
    made.globals |= {"style": file("report.css"), "text": _text, "json_block": vega.json_block} | known
    return made


def rendered(
    template: jinja2.Template,
    page: dict[str, Any],
    scripts: Mapping[str, str],
    language: str,
    library: vega.Library,
) -> str:
    """Return a whole page that opens in `language`; it loads nothing, and its scripts run by their hash only."""
    return template.render(
        **page,
        **scripts,
        script_hashes=[*map(vega.script_hash, scripts.values()), library.sha256],
        library=library.text,
        version=__version__,
        spoken=Spoken(),
        languages=LANGUAGES,
        wanted=language,
    )


def file(name: str) -> str:
    """Return the content of a file in the folder of the templates."""
    return resources.files("assay.report").joinpath("templates", name).read_text("utf-8")


def _text(template: str, /, **parameters: str | int) -> Text:
    """A text whose template has several lines in the source."""
    return texts.text(" ".join(template.split()), **parameters)


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Compiled templates in the user's cache: compiling takes a third of a second.

    A cache that is damaged or cannot be written costs this time only.
    """

    def __init__(self) -> None:
        super().__init__(str(cache_folder() / "report"), "template-%s")

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Load the compiled template if a whole copy is in the cache."""
        with suppress(OSError, EOFError, ValueError, TypeError, pickle.UnpicklingError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        """Save the compiled template if possible."""
        with suppress(OSError):
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


@jinja2.pass_context
def _put(context: jinja2.runtime.Context, value: object) -> object:
    """The output of a template: texts with their numbers in the page."""
    put: object = context["spoken"].put(value)
    return put
