"""Finds the places of a program that a mutant changes, and what it changes them to.

Not changed are words, docstrings, annotations, decorators, what an error says, and flags without a result.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

COMPARISONS = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",),
               "is not": ("is",), "is": ("is not",), "not in": ("in",), "in": ("not in",)}  # fmt: skip
OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.Pow: ("**", "*"),
             ast.FloorDiv: ("//", "*"), ast.BitAnd: ("&", "|")}  # fmt: skip
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
FLAGS = {"strict", "frozen", "slots", "dtype"}
"""Keywords of no consequence for a result."""


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes from ``start`` to ``end`` of a module become ``new``."""

    path: str
    line: int
    start: int
    end: int
    old: str
    new: str
    text: str
    """The line that it is in, without its indentation."""
    function: int
    """First line of the function that it is in, with its decorators; 0 outside of functions."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells it from others, wherever the line is."""
        return self.path, self.text, self.old, self.new

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {' '.join(self.old.split())} -> {' '.join(self.new.split())}"


class Finder(ast.NodeVisitor):
    """Collects the mutants of one module."""

    def __init__(self, path: str, source: bytes, optional: set[str]) -> None:
        """``optional`` are the keywords that may be left out."""
        self.found: list[Mutant] = []
        self._path, self._source, self._optional = path, source, optional
        self._lines = source.splitlines(keepends=True)
        self._function = 0

    def _span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        before = [sum(map(len, self._lines[: line - 1])) for line in (node.lineno, node.end_lineno)]
        return before[0] + node.col_offset, before[1] + node.end_col_offset

    def _code(self, node: ast.expr) -> str:
        return self._source[slice(*self._span(node))].decode()

    def _change(self, start: int, end: int, new: str) -> None:
        line = self._source.count(b"\n", 0, start) + 1
        text, old = self._lines[line - 1].decode().strip(), self._source[start:end].decode()
        self.found.append(Mutant(self._path, line, start, end, old, new, text, self._function))

    def _turn(self, left: ast.expr, right: ast.expr, old: str, news: Sequence[str]) -> None:
        """Exchange the operator between two expressions."""
        start, end = self._span(left)[1], self._span(right)[0]
        between = self._source[start:end].decode()
        place = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", between)
        if place is not None and "#" not in between:
            for new in news:
                self._change(start + place.start(), start + place.end(), new)

    def _drop(self, node: ast.expr, kept: ast.expr) -> None:
        """Leave of an expression only one part."""
        self._change(*self._span(node), self._code(kept))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before, self._function = self._function, min([node.lineno, *(each.lineno for each in node.decorator_list)])
        for each in (*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body):
            self.visit(each)
        self._function = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in node.body:
            self.visit(each)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """The text of an error does not count as a result."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Nor are words."""

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if isinstance(value, ast.Compare | ast.BoolOp) or (isinstance(value, ast.Name) and value.id.startswith("is_")):
            self._change(*self._span(value), f"not ({self._code(value)})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        words = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
                 ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}  # fmt: skip
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self._turn(left, right, words[type(operator)], COMPARISONS[words[type(operator)]])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._turn(left, right, old, [new])
            self._change(self._span(left)[0], self._span(right)[1], self._code(left))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(isinstance(each, ast.JoinedStr) or isinstance(getattr(each, "value", 0), str)
                    for each in (node.left, node.right))  # fmt: skip
        if type(node.op) in OPERATORS and not texts:
            old, new = OPERATORS[type(node.op)]
            self._turn(node.left, node.right, old, [new])
            self._drop(node, node.left)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self._drop(node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._change(*self._span(node), str(not node.value))
        elif isinstance(node.value, int):
            self._change(*self._span(node), str(node.value + 1))
        elif isinstance(node.value, float):
            new = node.value + 1 if node.value in (0.0, 1.0) else 1.25 * node.value
            self._change(*self._span(node), repr(new))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in NAMES:
            end = self._span(node.func)[1]
            self._change(end - len(name), end, NAMES[name])
        self.visit(node.func)
        for each in node.args:
            self.visit(each)
        for keyword in node.keywords:
            if keyword.arg in FLAGS:
                continue
            if keyword.arg in self._optional or name == "replace":
                self._drop_keyword(keyword)
            self.visit(keyword.value)

    def _drop_keyword(self, keyword: ast.keyword) -> None:
        end = self._span(keyword.value)[1]
        start = end - len(self._source[:end].split(f"{keyword.arg}=".encode())[-1]) - len(f"{keyword.arg}=")
        found = re.match(rb"\s*,", self._source[end:])
        self._change(start, end + (found.end() if found else 0), "")


def find_mutants(sources: Mapping[str, bytes]) -> list[Mutant]:
    """Return all mutants of modules, by path."""
    trees = {path: ast.parse(source) for path, source in sources.items()}
    optional = {name for tree in trees.values() for node in ast.walk(tree) for name in list_optional(node)}
    found = []
    for path, tree in trees.items():
        finder = Finder(path, sources[path], optional)
        finder.visit(tree)
        found += finder.found
    return found


def list_optional(node: ast.AST) -> Iterator[str]:
    """Yield the fields of a class, or arguments of a function, that have a default."""
    if isinstance(node, ast.ClassDef):
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign) and each.value]
        yield from (each.target.id for each in fields if isinstance(each.target, ast.Name))
    elif isinstance(node, ast.FunctionDef):
        named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        yield from (each.arg for each, default in named if default is not None)
