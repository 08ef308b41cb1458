"""The page of several runs: curves over each other, tables side by side, and where each figure comes from."""

from contextlib import closing
from functools import cache

import jinja2

from assay import __version__
from assay.model.text import text
from assay.report import choose, vega, words
from assay.report.ahead import Ahead
from assay.report.environment import environment, file
from assay.report.languages import LANGUAGES
from assay.report.several import origins, tables
from assay.report.several.section import topics
from assay.report.several.statements import NO_SAMPLES, are_without_samples, bend, statements
from assay.report.several.together import Together
from assay.report.spoken import Spoken

_KINDS = {
    "bandwidth": text("Bandwidth"),
    "latency": text("Latency"),
    "figure": text("Other figures"),
    "crossover": text("Where one overtakes another"),
    "bend": text("Where a curve bends"),
    "saturation": text("Where curves are saturated"),
}


def render(together: Together, language: str = "en", ahead: Ahead | None = None) -> str:
    """The whole page: it loads nothing, and its scripts run by their hash alone.

    It opens in `language` where its reader has chosen none. `ahead`: what was made of it during the analysis.
    """
    with closing(ahead or Ahead(*(side.run for side in together.sides))) as made:
        said = statements(together)
        every = [e for side in together.sides for e in choose.measured(side.analysis.estimates)]
        page = {
            "title": text("{systems} side by side", systems=words.listed(side.label for side in together.sides)),
            "machines": [(side.label, origins.machine(side.run)) for side in together.sides],
            "lead": _lead(together),
            "notices": [NO_SAMPLES] if are_without_samples(every) else [],
            "statements": {
                _KINDS[kind]: [each.text for each in of]
                for kind, of in choose.grouped(said, lambda each: each.kind).items()
            },
            "systems": origins.systems(together),
            "topics": topics(together, made.plotters),
            "laws": tables.laws(together),
            "bends": [bend(together, each) for each in together.several.bends],
            "alike": tables.alike(together),
            "states": origins.states(together),
            "origins": origins.origins(together),
            "conclusions": origins.conclusions(together),
            "version": __version__,
            "spoken": Spoken(),
            "languages": LANGUAGES,
            "wanted": language,
        }
        script = file("report.js")
        policy = {"script_hashes": [vega.script_hash(script), made.library.result().sha256]}
        return _template().render(page | policy, library=made.library.result().text, script=script)


def _lead(together: Together) -> str:
    """What is beside what, and what ratios are to."""
    systems = words.count(len(together.sides), "system", "systems")
    base = together.sides[0].label
    return text(
        "{curves} of messages of {systems} lie over each other here, with tables side by side. Where a ratio has "
        "one base for all, it is {base}, which was named first. Curves of two systems are compared where the "
        "place and the factors are the same, else the best way of each."
        if together.several.ways
        else "No curve of messages of {systems} lie over each other here, with tables side by side. Where a ratio "
        "has one base for all, it is {base}, which was named first. Curves of two systems are compared where "
        "the place and the factors are the same, else the best way of each.",
        curves=words.count(len(together.several.ways), "curve", "curves"),
        systems=systems,
        base=base,
    )


@cache
def _template() -> jinja2.Template:
    return environment(own_style=file("several.css")).get_template("several.html")
