"""Small faults for the code, one by one: comparisons, signs, numbers, conditions and calls become their neighbours."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SWAPS: dict[type, type] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult},
    **{ast.Pow: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or},
    ast.Or: ast.And,
}
NAMES = {
    **{"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"},
    **{"argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor", "sum": "mean", "mean": "sum"},
    **{"log": "log1p", "zeros": "ones", "ones": "zeros", "log2": "log10", "log10": "log2"},
}


@dataclass(frozen=True)
class Mutant:
    """One fault: where, the line as it was and as it is now, the first line of the function it is in (or 0)."""

    path: str
    line: int
    function: int
    was: str
    now: str
    start: int
    end: int
    after: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What the table of equivalent mutants names it by."""
        return self.path, self.was, self.now

    def applied(self, source: str) -> str:
        """Give the file with the fault."""
        return source[: self.start] + self.after + source[self.end :]


class Finder(ast.NodeVisitor):
    """Lists the mutants of one file."""

    def __init__(self, path: str, source: str) -> None:
        self.path, self.source, self.function = path, source, 0
        self.found: list[Mutant] = []
        starts = [0]
        for line in source.encode().splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self.starts = starts

    def add(self, old: ast.AST, new: ast.AST | str) -> None:
        """Note the replacement of one node."""
        node: Any = old
        raw = self.source.encode()
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        after = new if isinstance(new, str) else f"({ast.unparse(new)})"
        head, tail = raw[self.starts[node.lineno - 1] : start], raw[end : self.starts[node.end_lineno]]
        was, now = (" ".join((head + middle + tail).decode().split()) for middle in (raw[start:end], after.encode()))
        first, last = len(raw[:start].decode()), len(raw[:end].decode())
        self.found.append(Mutant(self.path, node.lineno, self.function, was, now, first, last, after))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Remember the outermost function; leave annotations and docstrings alone."""
        outer, first = self.function, min([node.lineno, *(d.lineno for d in node.decorator_list)])
        self.function = outer or first
        for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
            self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self.function = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Fields and methods."""
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """The value only, never the annotation."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages are for people; that something is raised is tested by the condition before it."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """They narrow types."""

    def visit_If(self, node: ast.If) -> None:
        """Turn the condition round."""
        if "TYPE_CHECKING" in ast.unparse(node.test):
            return
        self.add(node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Turn the condition round."""
        self.add(node.test, ast.UnaryOp(ast.Not(), node.test))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for its effect is left out; docstrings stay."""
        if isinstance(node.value, ast.Call):
            self.add(node.value, "None")
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Each comparison by its neighbour."""
        for i, op in enumerate(node.ops):
            ops = [*node.ops[:i], SWAPS[type(op)](), *node.ops[i + 1 :]]
            self.add(node, ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Each operator by its opposite."""
        if type(node.op) in SWAPS and not any(_is_text(side) for side in (node.left, node.right)):
            self.add(node, ast.BinOp(node.left, SWAPS[type(node.op)](), node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Each operator by its opposite."""
        if type(node.op) in SWAPS:
            self.add(node, ast.unparse(ast.AugAssign(node.target, SWAPS[type(node.op)](), node.value)))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """And by or."""
        self.add(node, ast.BoolOp(SWAPS[type(node.op)](), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Without the sign, the not or the complement."""
        self.add(node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Numbers grow, truths turn round, sides change; other text is for people."""
        value = node.value
        if isinstance(value, bool):
            self.add(node, str(not value))
        elif isinstance(value, int):
            self.add(node, str(value + 1))
        elif isinstance(value, float):
            self.add(node, repr(value * 2 if value else 1.0))
        elif value in ("left", "right"):
            self.add(node, repr("right" if value == "left" else "left"))

    def visit_Call(self, node: ast.Call) -> None:
        """Smallest by largest, floor by ceiling, ..."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "MetricCard":
            return
        if name in NAMES:
            text = ast.unparse(node.func)
            self.add(node.func, text[: len(text) - len(name)] + NAMES[name])
        self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text for people."""


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def mutants_of(files: Sequence[Path], root: Path) -> list[Mutant]:
    """List every mutant of these files, in the order of the files."""
    found = []
    for path in sorted(set(files)):
        finder = Finder(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        finder.visit(ast.parse(finder.source))
        found += finder.found
    return found
