"""Draws the first screens of pages into docs/images: what a reader sees without scrolling, wide and on a phone.

tools/first_screens.py [FOLDER [NAME]...]    writes NAME-wide.png (1280 x 900) and NAME-phone.png (390 x 844)

The node, the networks and the published systems are real: packed runs and references of this repository. The runs
of HPL, of the study of scaling and of a repeated study are of the simulated machine. Needs Chromium, and the
packages of the tests.
"""

import base64
import shutil
import struct
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, Page, sync_playwright
from tests.simulation import simulated_run
from tests.unit.test_hpl import WITH_BLAS
from tests.unit.test_scaling import HOSTS, SHARED, study

from assay import store
from assay.analyse import analyse
from assay.compare import page as comparison
from assay.compare.sides import sides
from assay.report import html

ROOT = Path(__file__).resolve().parents[1]
_SYSTEMS = ("hpcdiy-qdr", "hpcdiy-gbe")
SIZES = {"wide": (1280, 900), "phone": (390, 844)}
#: Pixels as bytes for at most 256 colours: the most frequent visibly different ones; others become the nearest.
_REDUCED = """
async (picture) => {
  const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
  const drawn = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const { width, height } = drawn;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(drawn, 0, 0);
  const { data } = canvas.getImageData(0, 0, width, height);
  const colour = (at) => (data[4 * at] << 16) | (data[4 * at + 1] << 8) | data[4 * at + 2];
  const colours = Array.from({ length: width * height }, (_, at) => colour(at));
  const times = new Map();
  for (const each of colours) times.set(each, (times.get(each) ?? 0) + 1);
  const parts = (each) => [each >> 16, (each >> 8) & 255, each & 255];
  const apart = (a, b) => parts(a).reduce((sum, part, at) => sum + (part - parts(b)[at]) ** 2, 0);
  const palette = [];
  for (const [each] of [...times].sort((a, b) => b[1] - a[1]))
    if (palette.length < 256 && palette.every((one) => apart(one, each) > 150)) palette.push(each);
  const nearest = (each) => palette.reduce((a, one, at) => apart(one, each) < apart(palette[a], each) ? at : a, 0);
  const known = new Map([...times.keys()].map((each) => [each, nearest(each)]));
  const pixels = colours.map((each) => String.fromCharCode(known.get(each)));
  return { width, height, palette, pixels: btoa(pixels.join("")) };
}
"""


def pages(folder: Path) -> dict[str, Callable[[], str]]:
    """Name of each page -> function that makes its HTML."""
    return {
        "node": lambda: _of(ROOT / "tests" / "runs" / "node.tar.xz"),
        "network": lambda: _of(ROOT / "tests" / "runs" / "network-epyc.tar.xz"),
        "like": lambda: _of(ROOT / "docs" / "gallery" / "like-hpcdiy-qdr-simulated.tar.xz"),
        "hpl": lambda: _of(simulated_run(folder / "hpl", study="hpl", options=WITH_BLAS)),
        "scaling": lambda: _of(simulated_run(folder / "scaling", SHARED, study=study(), options=HOSTS)),
        "import": lambda: _of(store.find("epyc-7601")),
        "compare": lambda: comparison.render(sides([store.load(store.find(name)) for name in _SYSTEMS])),
    }


def _of(path: Path) -> str:
    run = store.load(path)
    own = comparison.section(sides([run])) if run.imported else None
    return html.render(run, analyse(run), compared=own)


@contextmanager
def opened(browser: Browser, path: Path, size: tuple[int, int]) -> Iterator[Page]:
    """The page after its charts are drawn."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-figures=live], html:not(:has(.chart))", timeout=120_000)
    page.locator(".languages").evaluate("each => each.remove()")  # not every machine has Japanese fonts
    yield page
    page.close()


def png(width: int, height: int, palette: list[int], pixels: bytes) -> bytes:
    """A PNG with indexed colours."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, len(pixels), width))
    colours = b"".join(each.to_bytes(3, "big") for each in palette)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", head), (b"PLTE", colours), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def main() -> None:
    """Draw every page in every size, and print how many words are visible."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    target.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        made = pages(Path(folder))
        for name in sys.argv[2:] or made:
            path = Path(folder) / f"{name}.html"
            path.write_text(made[name](), encoding="utf-8")
            for size, ends in SIZES.items():
                with opened(browser, path, ends) as page:
                    reduced = page.evaluate(_REDUCED, base64.b64encode(page.screenshot()).decode())
                    pixels = base64.b64decode(reduced.pop("pixels"))
                    (target / f"{name}-{size}.png").write_bytes(png(**reduced, pixels=pixels))
                    words = len(page.inner_text("body").split())
            print(f"{name}: {words} words")


if __name__ == "__main__":
    main()
