"""Contradictions in the declaration of an application that types cannot express."""

import re
from collections.abc import Iterator

from assay.model.application import ELAPSED, PLACES, Application, Check, Input, filled, placeholders
from assay.model.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9-]*", re.ASCII)
#: Options of every program.
_OPTIONS = frozenset(("help", "describe", "cpus", "memory", "precision", "min-samples", "max-samples"))
_OPTIONS |= {"seconds", "case", "expect-ranks", "network", "library"}
#: Variables that only the starter sets, for each placement.
_STARTERS = frozenset(("OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND"))
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*", re.ASCII)
#: Longer texts must be files: a command line cannot hold them.
_MOST_TEXT = 64 * 1024


def refuse_faults(app: Application, path: object) -> None:
    """Raise UsageError for a pattern without its group, an unknown placeholder, and the like."""
    why = next(_contradictions(app), "")
    if why:
        raise UsageError(f"application '{path}' cannot be used", why=why, remedy="see docs/applications.md")


def _contradictions(app: Application) -> Iterator[str]:
    """Each contradiction as text."""
    yield from _wrong_names(app)
    yield from _wrong_patterns(app)
    yield from _wrong_places(app)
    for check in app.verify:
        yield from _wrong_check(app, check)
    for name, each in app.inputs.items():
        yield from _wrong_input(name, each)
    for name in app.beside.figures if app.beside else ():
        if name not in app.figures:
            yield f"'{name}' in beside is no figure of the program; known: {', '.join(app.figures)}"


def _wrong_names(app: Application) -> Iterator[str]:
    for kind, names in (("parameter", app.parameters), ("figure", app.figures)):
        for name in names:
            if not _NAME.fullmatch(name):
                yield f"'{name}' is not a name of a {kind}: small letters, digits and - after a letter"
            if name in _OPTIONS | PLACES | {ELAPSED}:
                yield f"a {kind} must not be called '{name}': that word has its meaning already"
    for name in app.environment:
        if not _VARIABLE.fullmatch(name):
            yield f"'{name}' is not a name of an environment variable"
        if name in _STARTERS or name.startswith("ASSAY_"):
            yield f"Assay sets {name} itself, for each placement"


def _wrong_patterns(app: Application) -> Iterator[str]:
    grouped = {f"figures.{name}.pattern": each.pattern for name, each in app.figures.items()}
    grouped |= {f"verify '{each.about}'": each.pattern for each in app.verify if each.pattern}
    grouped |= {"version": app.version} if app.version else {}
    for where, pattern in grouped.items():
        yield from _wrong_pattern(where, pattern, groups=1)
    for check in app.verify:
        for pattern in (check.present, check.absent, check.versions):
            usual = filled(pattern, dict.fromkeys(placeholders(pattern), "0"))
            yield from _wrong_pattern(f"verify '{check.about}'", usual, groups=None)


def _wrong_pattern(where: str, pattern: str, groups: int | None) -> Iterator[str]:
    try:
        found = re.compile(pattern, re.MULTILINE).groups
    except re.error as error:
        yield f"{where} is not a regular expression: {error}"
        return
    if groups is not None and found != groups:
        yield f"{where} has {found} groups, and needs one, around the number: {pattern}"


def _wrong_places(app: Application) -> Iterator[str]:
    for name in placeholders(app.needs.program):
        if name not in app.parameters:
            yield f"'{{{name}}}' in needs.program is not a parameter; known: {', '.join(sorted(app.parameters))}"
    known = app.parameters.keys() | PLACES
    for where, templates in {
        "command": app.command,
        "environment": tuple(app.environment.values()),
        "prologue": (app.prologue,),
    }.items():
        for name in (name for each in templates for name in placeholders(each)):
            if name not in known:
                yield f"'{{{name}}}' in {where} is not a parameter; known: {', '.join(sorted(known))}"


def _wrong_check(app: Application, check: Check) -> Iterator[str]:
    kinds = [bool(check.pattern) or check.value is not None, bool(check.present), bool(check.absent)]
    if sum(kinds) != 1:
        yield f"verify '{check.about}' needs one of pattern with value, present, and absent"
    if bool(check.pattern) != (check.value is not None):
        yield f"verify '{check.about}' needs both pattern and value"
    if check.versions and not app.version:
        yield f"verify '{check.about}' is known for some versions, and no pattern finds the version"
    for name in check.when:
        if name not in app.parameters:
            yield f"verify '{check.about}' holds when '{name}' has a value, which is not a parameter"


def _wrong_input(name: str, each: Input) -> Iterator[str]:
    if "/" in name or name in {"", ".", ".."}:
        yield f"input '{name}' is not a name of a file"
    if bool(each.text) == bool(each.file):
        yield f"input '{name}' needs one of text and file"
    if each.file and not re.fullmatch(r"[0-9a-f]{64}", each.sha256):
        yield f"input '{name}' is a file and needs its sha256"
    if len(each.text) > _MOST_TEXT:
        yield f"input '{name}' has more than 64 KiB of text: make it a file"
