"""The page of several runs: curves over each other, tables side by side, and where each figure comes from."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import resources

import jinja2

from assay import __version__
from assay.report import choose, vega, words
from assay.report.several import origins, tables
from assay.report.several.section import topics
from assay.report.several.statements import NO_SAMPLES, are_without_samples, bend, statements
from assay.report.several.together import Together

_KINDS = {
    "bandwidth": "Bandwidth",
    "latency": "Latency",
    "crossover": "Where one overtakes another",
    "bend": "Where a curve bends",
}


def render(together: Together) -> str:
    """The whole page: it loads nothing, and its scripts run by their hash alone."""
    with ThreadPoolExecutor(1) as pool:
        library = pool.submit(vega.library)
        said = statements(together)
        every = [e for side in together.sides for e in choose.measured(side.analysis.estimates)]
        page = {
            "title": f"{words.listed(side.label for side in together.sides)} side by side",
            "sides": together.sides,
            "lead": _lead(together),
            "notices": [NO_SAMPLES] if are_without_samples(every) else [],
            "statements": {
                _KINDS[kind]: [each.text for each in of]
                for kind, of in choose.grouped(said, lambda each: each.kind).items()
            },
            "systems": origins.systems(together),
            "topics": topics(together),
            "laws": tables.laws(together),
            "bends": [bend(together, each) for each in together.several.bends],
            "alike": tables.alike(together),
            "states": origins.states(together),
            "origins": origins.origins(together),
            "conclusions": origins.conclusions(together),
            "version": __version__,
        }
        script = _file("several.js")
        policy = {"script_hashes": [vega.script_hash(script), library.result().sha256]}
        return _template().render(page | policy, library=library.result().text, script=script)


def _lead(together: Together) -> str:
    """What is beside what, and what ratios are to."""
    curves = words.count(len(together.several.ways), "curve", "curves")
    base = together.sides[0].label
    what = f"{curves} of messages" if together.several.ways else "No curve of messages"
    return (
        f"{what} of {words.count(len(together.sides), 'system', 'systems')} lie over each other here, with tables "
        f"side by side. Where a ratio has one base for all, it is {base}, which was named first. Curves of two "
        "systems are compared where the place and the factors are the same, else the best way of each."
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("assay.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {"style": _file("report.css"), "own_style": _file("several.css")}
    return environment.get_template("several.html")


def _file(name: str) -> str:
    return resources.files("assay.report").joinpath("templates", name).read_text("utf-8")
