"""Vega: specifications drawn as SVG beforehand, and the library itself for the page."""

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import vl_convert
from markupsafe import Markup

from assay.report.charts.theme import SCHEMA, narrowed
from assay.report.raw import compressed
from assay.report.section import Figure, Spec

_VERSION = SCHEMA.rsplit("/v", 1)[-1].removesuffix(".json")
#: Accessibility attributes of single marks: the static drawing is one image with one text alternative.
_MARK_WORDS = re.compile(r' (?:aria-[a-z]+|role|pointer-events)="[^"]*"')
_IDS = re.compile(r'(\bid="|url\(#|href="#)')


@dataclass(frozen=True)
class Drawn:
    """A figure ready for the page.

    Attributes:
        figure: what it is.
        wide: SVG for a page or a screen.
        narrow: SVG for a phone.
        spec: the specification as JSON.
        patch: members that make the specification the phone's, as JSON.
    """

    figure: Figure
    wide: Markup
    narrow: Markup
    spec: str
    patch: str


@dataclass(frozen=True)
class Library:
    """The Vega library: gzip in base64, and the hash by which the page's policy lets it run."""

    text: str
    sha256: str


def drawn(figure: Figure) -> Drawn:
    """The figure drawn twice."""
    small = narrowed(figure.spec)
    patch = {name: part for name, part in small.items() if part != figure.spec.get(name)}
    return Drawn(
        figure,
        svg(figure.spec, f"{figure.id}-w-"),
        svg(small, f"{figure.id}-n-"),
        json_block(figure.spec),
        json_block(patch),
    )


def svg(spec: Spec, prefix: str) -> Markup:
    """The chart as SVG; its colours stay CSS variables of the page, its ids get the prefix."""
    text: str = vl_convert.vegalite_to_svg(spec, vl_version=_version())
    text = _IDS.sub(rf"\g<1>{prefix}", _MARK_WORDS.sub("", text))
    return Markup(text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1))  # noqa: S704 (Vega escapes)


def json_block(value: Any) -> str:  # noqa: ANN401 (any JSON)
    """JSON that cannot end the script element that holds it."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028")


@cache
def library() -> Library:
    """The library that vl-convert carries, of the same version as the drawings."""
    source: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return Library(compressed(source.encode()), script_hash(source))


def script_hash(source: str) -> str:
    """The hash of an inline script as a Content-Security-Policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


@cache
def _version() -> str:
    versions: list[str] = vl_convert.get_vegalite_versions()
    return next(version for version in reversed(versions) if version.split(".")[0] == _VERSION)
