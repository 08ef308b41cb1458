"""Vega: charts drawn as SVG, and the library for the page."""

import base64
import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import msgspec
import vl_convert
from markupsafe import Markup

from assay.machine.memory import address_space
from assay.model.errors import UnfitEnvironmentError
from assay.model.folders import cache_folder
from assay.model.text import encoded
from assay.report.charts.theme import SCHEMA, Spec, narrowed
from assay.report.raw import compressed
from assay.report.section import Figure
from assay.store.files import kept

_VERSION = SCHEMA.rsplit("/v", 1)[-1].removesuffix(".json")
#: Accessibility attributes of groups of marks: the static drawing is one image with one text alternative.
_MARK_WORDS = re.compile(r' (?:aria-[a-z]+|role|pointer-events)="[^"]*"')
#: A chart's own pixel is 1/96 inch, a point of print 1/72; a PNG has 300 dots an inch.
_POINTS, _PPI = 0.75, 300
#: With less address space vl-convert's engine can end the whole process: it did with 64 GiB, not with 80 GiB.
_ADDRESS_SPACE = 2**37
#: With more drawings in the cache, the older half is removed. A page has about 20.
_MOST_DRAWINGS = 2000
_VARIABLE = re.compile(r"var\(--([a-z0-9-]+)\)")
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
_COLOUR = re.compile(r"--([a-z0-9-]+): (#[0-9a-f]{6})")
_IDS = re.compile(r'(\bid="|url\(#|href="#)')


class Drawn(msgspec.Struct, frozen=True):
    """A figure ready for the page.

    Attributes:
        figure: that was drawn.
        wide: SVG for a page or a screen.
        narrow: SVG for a phone; empty if a phone shows the wide one.
        spec: the specification as JSON.
        patch: members of the specification that differ for a phone, as JSON.
    """

    figure: Figure
    wide: Markup
    narrow: Markup
    spec: str
    patch: str


class Library(msgspec.Struct, frozen=True):
    """The Vega library: gzip in base64, and the hash by which the page's policy lets it run."""

    text: str
    sha256: str


def drawn(figure: Figure, *, twice: bool = True, draw: Callable[[Spec], str] | None = None) -> Drawn:
    """Draw the figure, with `twice` for a phone too; `draw` replaces `plain`."""
    small = narrowed(figure.spec)
    patch = {name: part for name, part in small.items() if part != figure.spec.get(name)}
    return Drawn(
        figure,
        svg(figure.spec, f"{figure.id}-w-", draw),
        svg(small, f"{figure.id}-n-", draw) if twice else Markup(),
        json_block(figure.spec),
        json_block(patch),
    )


def svg(spec: Spec, prefix: str, draw: Callable[[Spec], str] | None = None) -> Markup:
    """Return the chart as SVG; its colours stay CSS variables of the page, its ids get the prefix."""
    text = _IDS.sub(rf"\g<1>{prefix}", _MARK_WORDS.sub("", (draw or plain)(spec)))
    return Markup(text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1))  # noqa: S704 (Vega escapes)


def plain(spec: Spec) -> str:
    """Return the chart as Vega draws it, without a description of each mark, which takes a fifth of the time.

    It is empty unless `can_draw`. Drawings are kept in the user's cache: the engine needs a second to start, and
    the report of a run is written again and again.
    """
    quiet = spec | {"config": spec.get("config", {}) | {"aria": False}}
    name = hashlib.sha256(_maker().encode() + encoded(quiet)).hexdigest()
    return kept(_drawings() / f"{name}.svg.gz", lambda: engine_drawn(quiet))


def engine_drawn(spec: Spec) -> str:
    """Return the chart as the engine draws it; the first of a process takes half a second, whatever is in it."""
    if not can_draw():
        return ""
    text: str = vl_convert.vegalite_to_svg(spec, vl_version=_version())
    return text


def _drawings() -> Path:
    return cache_folder() / "report" / "drawings"


def forget_drawings() -> None:
    """Remove drawings from the cache if they are many: the oldest ones."""
    with suppress(OSError):
        there = list(_drawings().iterdir())
        if len(there) > _MOST_DRAWINGS:
            there.sort(key=lambda file: file.stat().st_mtime)
            for file in there[: -_MOST_DRAWINGS // 2]:
                file.unlink(missing_ok=True)


def can_draw() -> bool:
    """Whether there is enough address space for the engine, which would else end the process."""
    limit = address_space()
    return limit is None or limit.size_bytes >= _ADDRESS_SPACE


def exported(figure: Figure, form: str, size: str) -> bytes:
    """Return the figure as a file for a paper: on white, in light colours, as wide as a column or a page."""
    if not can_draw():
        why = "the address space of this process is limited (ulimit -v)"
        raise UnfitEnvironmentError("charts cannot be drawn", why=why, remedy="ulimit -v unlimited")
    spec = narrowed(figure.spec) if size == "column" else figure.spec
    text = _VARIABLE.sub(lambda found: _light()[found[1]], encoded(spec).decode())
    plain = msgspec.json.decode(text) | {"background": "#ffffff", "padding": 4}
    plain["config"] = {name: part for name, part in plain["config"].items() if name != "background"}
    if form == "png":
        raster: bytes = vl_convert.vegalite_to_png(plain, vl_version=_version(), scale=_POINTS, ppi=_PPI)
        return raster
    drawn: str = vl_convert.vegalite_to_svg(plain, vl_version=_version())
    if form == "svg":
        return drawn.encode()
    printed: bytes = vl_convert.svg_to_pdf(_SIZE.sub(lambda found: _in_points(*found.groups()), drawn, count=1))
    return printed


def _in_points(width: str, height: str) -> str:
    """The size of a drawing on paper, in points."""
    return f'width="{_POINTS * float(width):g}" height="{_POINTS * float(height):g}"'


@cache
def _light() -> dict[str, str]:
    """The page's colours in light, by the name of the variable: the first block of its style."""
    style = resources.files("assay.report").joinpath("templates", "report.css").read_text("utf-8")
    return dict(_COLOUR.findall(style.partition("}")[0]))


def json_block(value: Any) -> str:  # noqa: ANN401 (any JSON)
    """Return JSON that cannot end the script element around it."""
    return encoded(value).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028")


@cache
def library() -> Library:
    """Return the library of vl-convert, of the same version as the drawings.

    Its source is kept in the user's cache: vl-convert takes a second and 100 MB to make it.
    """
    source = kept(cache_folder() / "report" / f"{_maker()}.js.gz", _bundle)
    return Library(compressed(source.encode()), script_hash(source))


def _bundle() -> str:
    if not can_draw():
        return ""
    source: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=_version())
    return source


def script_hash(source: str) -> str:
    """Return the hash of an inline script for a Content-Security-Policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


@cache
def _maker() -> str:
    """The versions of Vega-Lite and of vl-convert, on which drawings and the library depend."""
    return f"vega-{_version()}-of-vl-convert-{metadata.version('vl-convert-python')}"


@cache
def _version() -> str:
    versions: list[str] = vl_convert.get_vegalite_versions()
    return next(version for version in reversed(versions) if version.split(".")[0] == _VERSION)
