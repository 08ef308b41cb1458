"""The tests near a line: those that ran it, by the contexts of coverage, the most specific first."""

import ast
import re
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from coverage import CoverageData

#: Seconds of a test that was not timed.
_UNTIMED_S = 1.0


class Near:
    """Which tests are near which lines.

    Args:
        root: of the sources; tests are named relative to it.
        coverage: file of coverage with a context for each test.
        times: JUnit file of the same run.
        most_s: the tests near a line take at most so many seconds.
    """

    def __init__(self, root: Path, coverage: Path, times: Path, most_s: float) -> None:
        self._root, self._most_s = root, most_s
        self.seconds = dict(_times(times))
        data = CoverageData(str(coverage))
        data.read()
        self._tests: dict[str, dict[int, set[str]]] = {}
        lines = Counter[str]()
        for file in data.measured_files():
            at = {line: _named(contexts) for line, contexts in data.contexts_by_lineno(file).items()}
            self._tests[Path(file).relative_to(root).as_posix()] = at
            lines.update(test for tests in at.values() for test in tests)
        self._lines = lines
        self._of_file: dict[str, list[str]] = defaultdict(list)
        for test in sorted(lines):
            self._of_file[test.partition("::")[0]].append(test)
        self._reads: dict[tuple[str, str, str], set[int]] = {}
        for file in self._tests:
            self._reads |= _reads(file, (root / file).read_bytes())

    @property
    def tests(self) -> set[str]:
        """Every test that ran a measured line."""
        return set(self._lines)

    def of(self, file: str, line: int, without: Iterable[str] = ()) -> list[str]:
        """Return the tests near a line, the most specific first.

        A line that runs at import has the tests of the lines that use its names. A fixture or a cache runs a line
        for the first of its tests only: the other tests of that file follow.
        """
        at = self._tests.get(file, {})
        direct = at.get(line, set())
        for user, places in () if direct else self._users(file, line):
            direct = direct.union(*(self._tests.get(user, {}).get(place, set()) for place in places))
        direct = direct or set().union(*at.values())
        files = {test.partition("::")[0] for test in direct}
        others = {test for each in files for test in self._of_file[each]} - direct
        words = self._words(file, line)
        ordered = (*self._by_focus(direct, file, words), *self._by_focus(others, file, words))
        left_out, chosen, total_s = set(without), list[str](), 0.0
        for test in ordered:
            seconds = self._time(test)
            if test not in left_out and (not chosen or total_s + seconds <= self._most_s):
                chosen.append(test)
                total_s += seconds
        return chosen

    def _time(self, test: str) -> float:
        return self.seconds.get(test, _UNTIMED_S)

    def _by_focus(self, tests: Iterable[str], file: str, words: set[str]) -> list[str]:
        """Tests that share words with the line's function come first, then those whose file imports its file."""
        module = file.removeprefix("src/").removesuffix(".py").replace("/", ".")

        def rank(test: str) -> tuple[int, bool, float, str]:
            shared = len(words & _words_of(test))
            far = module not in self._imports(test.partition("::")[0])
            return -shared, far, self._lines[test] * (1 + self._time(test)), test

        return sorted(tests, key=rank)

    @cache  # noqa: B019 (one object)
    def _imports(self, test_file: str) -> frozenset[str]:
        """The modules that a file of tests imports."""
        found = set[str]()
        path = self._root / test_file
        for node in ast.walk(ast.parse(path.read_bytes() if path.exists() else b"")):
            if isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        return frozenset(found)

    def _words(self, file: str, line: int) -> set[str]:
        """The words in the names of a line's file and of the functions around it."""
        tree = ast.parse((self._root / file).read_bytes())
        around = [
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        return set().union(*map(_words_of, (Path(file).stem, *around)))

    def _users(self, file: str, line: int) -> Iterator[tuple[str, set[int]]]:
        """The lines that use the names which a statement at the top of a file defines; in it and in others."""
        module = re.sub(r"^src/|\.py$", "", file).replace("/", ".")
        for statement in ast.parse((self._root / file).read_bytes()).body:
            if not statement.lineno <= line <= (statement.end_lineno or 0):
                continue
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                yield file, set(range(line, (statement.end_lineno or 0) + 1))
            for name in _defined(statement):
                yield file, self._reads.get(("", name, file), set())
                for user in self._tests:
                    yield user, self._reads.get((module, name, user), set())


@cache
def _words_of(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]{4,}", name.rpartition("/")[2].lower()))


def _named(contexts: Iterable[str]) -> set[str]:
    return {context.rpartition("|")[0] for context in contexts if context}


def _defined(statement: ast.stmt) -> set[str]:
    return {
        node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _reads(file: str, source: bytes) -> dict[tuple[str, str, str], set[int]]:
    """(Module, name, file) -> the lines of the file that read this name of a module; of its own where it is empty.

    Of a name that only other constants read, the lines that read those.
    """
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    origin = {each.asname or each.name: (node.module or "", each.name) for node in imports for each in node.names}
    reads = defaultdict[tuple[str, str], set[int]](set)
    constants = defaultdict[tuple[str, str], set[str]](set)
    for statement in tree.body:
        names = _defined(statement) if isinstance(statement, ast.Assign | ast.AnnAssign) else set()
        for node in ast.walk(statement):
            match node:
                case ast.Name(id=name, ctx=ast.Load()):
                    key = origin.get(name, ("", name))
                case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in origin:
                    key = (".".join(origin[name]), attribute)
                case _:
                    continue
            reads[key].add(node.lineno)
            constants[key] |= names
    for key, names in constants.items():
        reads[key] = reads[key].union(*(reads.get(("", name), set()) for name in names))
    return {(*key, file): lines for key, lines in reads.items()}


def _times(junit: Path) -> Iterator[tuple[str, float]]:
    for case in ET.parse(junit).getroot().iter("testcase"):  # noqa: S314 (our own file)
        file = case.get("classname", "").replace(".", "/")
        yield f"{file}.py::{case.get('name')}", float(case.get("time", "0"))
