"""Small faults of a source file: a border, an operator, a number, a condition turned; never a text or a type.

Each mutant is a splice of the source: lines keep their numbers, and what changed is shown as it stands.
"""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_COMPARED = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_COMPUTED = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
}
_SWAPPED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
}
#: Calls whose arguments say something and decide nothing.
_SAYING = frozenset({"TypeVar", "NamedTuple", "cast", "print"})


@dataclass(frozen=True)
class Mutant:
    """A source file with one fault.

    Attributes:
        file: path of the file, relative to the root.
        line: of the fault, from 1.
        change: the line, with what was and what replaces it in brackets.
        begin: offset of the replaced bytes.
        end: their end.
        replacement: what replaces them.
    """

    file: str
    line: int
    change: str
    begin: int
    end: int
    replacement: bytes

    def applied(self, source: bytes) -> bytes:
        """Return the source with the fault."""
        return source[: self.begin] + self.replacement + source[self.end :]


class _Source:
    """Bytes of a file, and the places of its nodes."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.bytes = file, source
        self._starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]

    def begin(self, node: ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr) -> int:
        return self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def mutant(self, begin: int, end: int, replacement: str) -> Mutant:
        """Return the mutant with this replacement of these bytes."""
        number = bisect_right(self._starts, begin)
        line = self._starts[number - 1]
        last = self.bytes.find(b"\n", end)
        parts = (self.bytes[line:begin], self.bytes[begin:end], self.bytes[end : last if last >= 0 else None])
        before, old, after = (each.decode() for each in parts)
        change = " ".join(f"{before}[{old} -> {replacement}]{after}".partition("  #")[0].split())
        return Mutant(self.file, number, change, begin, end, replacement.encode())

    def between(self, left: ast.expr, right: ast.expr, swap: tuple[str, str]) -> Iterator[Mutant]:
        """Yield the mutant with another operator between two operands."""
        begin, end = self.end(left), self.begin(right)
        words = rf"\b{swap[0]}\b".replace(" ", r"\s+") if swap[0][0].isalpha() else re.escape(swap[0])
        found = re.search(words.encode(), self.bytes[begin:end])
        if found:
            yield self.mutant(begin + found.start(), begin + found.end(), swap[1])


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Return the mutants of a file, in the order of its lines."""
    place = _Source(file, source)
    faults = (fault for node in _deciding(ast.parse(source)) for fault in _faults(node, place))
    return sorted(faults, key=lambda each: (each.begin, each.replacement))


def _deciding(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that decide or compute: no annotations, decorators, texts or names of types."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.expr):
            yield node
        left_out = _left_out(node)
        left += [child for child in ast.iter_child_nodes(node) if not any(child is each for each in left_out)]


def _left_out(node: ast.AST) -> list[ast.AST | None]:
    """Parts of a node that decide nothing."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return [*node.decorator_list, node.returns]
        case ast.ClassDef():
            return [*node.decorator_list, *node.bases, *node.keywords]
        case ast.arg() | ast.AnnAssign():
            return [node.annotation]
    return list(ast.iter_child_nodes(node)) if _says(node) else []


def _says(node: ast.AST) -> bool:
    """Whether a node makes a text, names a type, or checks."""
    match node:
        case ast.JoinedStr() | ast.Assert() | ast.Raise() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _SAYING
        case ast.keyword(arg="strict"):  # of zip: a check
            return True
        case ast.Subscript(value=ast.Name(id=name)):
            return name[:1].isupper() and not name.isupper()
    return False


def _faults(node: ast.expr, place: _Source) -> Iterator[Mutant]:
    match node:
        case ast.Compare():
            for operator, (left, right) in zip(node.ops, pairwise((node.left, *node.comparators)), strict=True):
                yield from place.between(left, right, _COMPARED[type(operator)])
        case ast.BinOp() if type(node.op) in _COMPUTED and not (_is_text(node.left) or _is_text(node.right)):
            yield from place.between(node.left, node.right, _COMPUTED[type(node.op)])
        case ast.BoolOp():
            swap = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in pairwise(node.values):
                yield from place.between(left, right, swap)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            begin = place.begin(node)
            yield place.mutant(begin, begin + (3 if isinstance(node.op, ast.Not) else 1), "")
        case ast.Constant(value=bool() | int() | float() as value):
            yield place.mutant(place.begin(node), place.end(node), _other(value))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _SWAPPED:
            end = place.end(node.func)
            yield place.mutant(end - len(name), end, _SWAPPED[name])


def _other(value: float) -> str:
    """Return the next integer, one and a half times a number, or the other truth."""
    if isinstance(value, bool):
        return str(not value)
    return str(value + 1) if isinstance(value, int) else repr(1.5 * value or 1.0)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
