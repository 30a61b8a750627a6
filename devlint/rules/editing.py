"""Changes of nodes made edits of the text: the one place that knows commas, parentheses, line ends and indentation.

A change whose nodes are not found in the text as they were parsed, or that would take a comment away, comes to no edit
at all: the repair is then told in words only. Edits are in UTF-8 offsets into the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

import libcst as cst

from devlint.finding import Edit
from devlint.placement.positions import Positions
from devlint.placement.syntax import code_of, descend, semantic_children
from devlint.rules.bound_names import bound_in
from devlint.rules.changes import (
    Change,
    DropArgument,
    DropCall,
    Keep,
    RegisterBuffer,
    Replace,
    ReturnAtEnd,
    SetArgument,
    Suffix,
    Surround,
    Transfer,
    WrapStored,
)

_Edit = tuple[int, int, str]
"""Start and end in characters, and the new text."""


class Impossible(Exception):
    """The change cannot be made here without harm."""


class Editor:
    """Makes edits of one file's changes."""

    def __init__(self, tree: cst.Module, text: str, positions: Positions) -> None:
        self._tree = tree
        self._text = text
        self._positions = positions

    def edits(self, changes: Iterable[Change]) -> tuple[Edit, ...]:
        """The edits of one repair in order of place; none if one of its changes cannot be made."""
        try:
            made = dict.fromkeys(edit for change in changes for edit in self._edits(change))
        except Impossible:
            return ()
        found = sorted(made, key=lambda edit: edit[:2])
        if any(later[0] < earlier[1] for earlier, later in pairwise(found)):
            return ()
        return tuple(self._encoded(edit) for edit in found)

    def _edits(self, change: Change) -> Iterator[_Edit]:
        match change:
            case Replace(node, text):
                yield (*self._span(node), text)
            case Surround(node, before, after):
                start, end = self._outer(node)
                yield from ((at, at, text) for at, text in ((start, before), (end, after)) if text)
            case Suffix(node, text):
                start, end = self._outer(node)
                if _binds_like_a_name(node):
                    yield end, end, text
                else:
                    yield start, start, "("
                    yield end, end, f"){text}"
            case SetArgument(call, keyword, text):
                yield from self._set_argument(call, keyword, text)
            case DropArgument(call, value):
                yield self._without_comment(*self._argument(call, value))
            case DropCall(call):
                if not isinstance(call.func, cst.Attribute):
                    raise Impossible
                yield self._without_comment(self._outer(call.func.value)[1], self._span(call)[1])
            case ReturnAtEnd(function, text):
                yield from self._return_at_end(function, text)
            case Keep(call, target):
                yield self._keep(call, target)
            case Transfer(call, device):
                yield from self._transfer(call, device)
            case WrapStored(stored, before):
                yield from self._wrap_stored(stored, before)
            case RegisterBuffer(target):
                yield from self._register_buffer(target)

    def _set_argument(self, call: cst.Call, keyword: str, text: str) -> Iterator[_Edit]:
        given = next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == keyword), None)
        if given is not None:
            yield (*self._outer(given.value), text)
            return
        if any(arg.star == "**" for arg in call.args):
            # It may hold this argument already.
            raise Impossible
        added = f"{keyword}={text}"
        _, end = self._span(call)
        closing = end - 1
        if not call.args:
            yield closing, closing, added
            return
        last = call.args[-1]
        start, end = self._span(last)
        if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
            yield start, start, "("
            yield end, end, f"), {added}"
        elif self._begins_line(closing) and self._begins_line(start):
            # One argument a line: it gets its own line, behind the comment of the one before.
            trailing = isinstance(last.comma, cst.Comma)
            if not trailing:
                yield end, end, ","
            at = self._line_end(end)
            yield at, at, f"{self._newline(at)}{self._indent(start)}{added}{',' * trailing}"
        else:
            yield end, end, f", {added}"

    def _argument(self, call: cst.Call, value: cst.BaseExpression) -> tuple[int, int]:
        """The part of a call that goes with one argument."""
        index = next((index for index, arg in enumerate(call.args) if arg.value is value), None)
        if index is None:
            raise Impossible
        start, end = self._span(call.args[index])
        if index:
            return self._span(call.args[index - 1])[1], end
        if len(call.args) > 1:
            return start, self._span(call.args[1])[0]
        return start, self._span(call)[1] - 1

    def _return_at_end(self, function: cst.FunctionDef, value: str) -> Iterator[_Edit]:
        text = f"return {value}"
        for node in descend(function.body, into_definitions=False):
            if isinstance(node, cst.Return):
                yield (*self._span(node), text)
        last = function.body.body[-1]
        if isinstance(last, cst.SimpleStatementLine):
            last = last.body[-1]
        if isinstance(last, cst.Return):
            return
        _, end = self._span(last)
        if isinstance(function.body, cst.SimpleStatementSuite):
            yield end, end, f"; {text}"
            return
        at = self._line_end(end)
        start, _ = self._span(function.body.body[0])
        yield at, at, f"{self._newline(at)}{self._indent(start)}{text}"

    def _keep(self, call: cst.Call, target: cst.BaseExpression) -> _Edit:
        function = self._enclosing(call, cst.FunctionDef)
        free = isinstance(target, cst.Name) and isinstance(function, cst.FunctionDef)
        if not isinstance(self._parents.get(call), cst.Expr) or (
            free and not bound_in(code_of(target), cst.ensure_type(function, cst.FunctionDef))
        ):
            # A name of the module would become the function's own.
            raise Impossible
        at = self._outer(call)[0]
        return at, at, f"{self._source(target)} = "

    def _transfer(self, call: cst.Call, device: str) -> Iterator[_Edit]:
        if not isinstance(call.func, cst.Attribute) or any(arg.star for arg in call.args):
            raise Impossible
        yield (*self._span(call.func.attr), "to")
        given = next((arg for arg in call.args if arg.keyword is None or arg.keyword.value == "device"), None)
        if given is not None:
            yield (*self._outer(given.value), device)
        elif call.args:
            start, _ = self._span(call.args[0])
            yield start, start, f"{device}, "
        else:
            end = self._span(call)[1] - 1
            yield end, end, device

    def _register_buffer(self, target: cst.Attribute) -> Iterator[_Edit]:
        statement = self._enclosing(target, cst.BaseSmallStatement)
        if not isinstance(statement, (cst.Assign, cst.AnnAssign)) or statement.value is None:
            raise Impossible
        targets = statement.targets if isinstance(statement, cst.Assign) else ()
        own = isinstance(target.value, cst.Name) and target.value.value == "self"
        if (
            any(written.target is not target for written in targets)
            or not own
            or not self._is_first_store(statement, target)
        ):
            raise Impossible
        start, end = self._outer(statement.value)
        if isinstance(statement.value, (cst.Tuple, cst.Yield)) and not statement.value.lpar:
            raise Impossible
        first, _, _ = self._without_comment(self._span(statement)[0], start)
        yield first, start, f'self.register_buffer("{target.attr.value}", '
        yield end, end, ", persistent=False)"

    def _wrap_stored(self, target: cst.CSTNode, before: str) -> Iterator[_Edit]:
        statement = self._enclosing(target, cst.BaseSmallStatement)
        if not isinstance(statement, (cst.Assign, cst.AnnAssign)) or statement.value is None:
            raise Impossible
        one = not isinstance(statement, cst.Assign) or (len(statement.targets) == 1)
        mine = statement.target if isinstance(statement, cst.AnnAssign) else statement.targets[0].target
        if not one or mine is not target or (isinstance(statement.value, cst.Tuple) and not statement.value.lpar):
            raise Impossible
        start, end = self._outer(statement.value)
        yield start, start, before
        yield end, end, ")"

    def _is_first_store(self, statement: cst.CSTNode, target: cst.Attribute) -> bool:
        """Whether nothing else in the class gives it this attribute, and the module is set up when this does.

        ``register_buffer`` refuses a name that the object has, and an object whose ``Module.__init__`` has not run.
        """
        function, owner = self._enclosing(target, cst.FunctionDef), self._enclosing(target, cst.ClassDef)
        if not isinstance(function, cst.FunctionDef) or owner is None or function.name.value != "__init__":
            return False
        name = target.attr.value
        for node in descend(owner):
            if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)) and node is not statement:
                stored = node.target
                mine = isinstance(stored, cst.Attribute) and stored is not target and stored.attr.value == name
                if mine or (isinstance(stored, cst.Name) and stored.value == name and self._is_of_class(node, owner)):
                    return False
            elif isinstance(node, cst.FunctionDef) and node.name.value == name:
                return False
        start, _ = self._span(statement)
        calls = (node for node in descend(function.body) if isinstance(node, cst.Call))
        return any(code_of(call.func).endswith(".__init__") and self._span(call)[0] < start for call in calls)

    def _is_of_class(self, node: cst.CSTNode, owner: cst.CSTNode) -> bool:
        return self._enclosing(node, cst.FunctionDef, cst.ClassDef) is owner

    def _enclosing(self, node: cst.CSTNode, *kinds: type) -> cst.CSTNode | None:
        """The innermost node of a kind around this one."""
        parent = self._parents.get(node)
        while parent is not None and not isinstance(parent, kinds):
            parent = self._parents.get(parent)
        return parent

    @cached_property
    def _parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        return {child: node for node in descend(self._tree) for child in semantic_children(node)}

    def _source(self, node: cst.CSTNode) -> str:
        start, end = self._outer(node)
        self._without_comment(start, end)
        return self._text[start:end]

    def _without_comment(self, start: int, end: int) -> _Edit:
        """A removal, unless a comment would go with it. A `#` in a string is taken for one: no harm in that."""
        if "#" in self._text[start:end]:
            raise Impossible
        return start, end, ""

    def _span(self, node: cst.CSTNode) -> tuple[int, int]:
        span = self._positions.span(node, self._text)
        if span is None:
            raise Impossible
        return span

    def _outer(self, node: cst.CSTNode) -> tuple[int, int]:
        """The node with its own parentheses."""
        start, end = self._span(node)
        for _ in getattr(node, "lpar", ()):
            opening, closing = self._opening(start), _CLOSING.match(self._text, end)
            if closing is None or opening < 0:
                raise Impossible
            start, end = opening, closing.end()
        return start, end

    def _opening(self, at: int) -> int:
        """Where the parenthesis stands that opens before ``at`` with nothing but blanks and comments between; or -1."""
        opening = self._text.rfind("(", 0, at)
        while opening >= 0 and _GAP.fullmatch(self._text, opening + 1, at):
            if "#" not in self._text[self._line_start(opening) : opening]:
                return opening
            opening = self._text.rfind("(", 0, opening)
        return -1

    def _begins_line(self, at: int) -> bool:
        return not self._text[self._line_start(at) : at].strip()

    def _indent(self, at: int) -> str:
        """The blanks before what begins its line there."""
        indent = self._text[self._line_start(at) : at]
        if indent.strip():
            raise Impossible
        return indent

    def _line_start(self, at: int) -> int:
        return max(self._text.rfind("\n", 0, at), self._text.rfind("\r", 0, at)) + 1

    def _line_end(self, at: int) -> int:
        found = _NEWLINE.search(self._text, at)
        return found.start() if found else len(self._text)

    def _newline(self, at: int) -> str:
        """The line end that stands there, or, at the end of the text, the one of the text."""
        found = _NEWLINE.match(self._text, at) or _NEWLINE.search(self._text)
        return found[0] if found else "\n"

    def _encoded(self, edit: _Edit) -> Edit:
        start, end, text = edit
        first = len(self._text[:start].encode("utf-8", "surrogatepass"))
        return Edit(first, first + len(self._text[start:end].encode("utf-8", "surrogatepass")), text)


_NEWLINE = re.compile(r"\r\n|\r|\n")
_GAP = re.compile(r"(?:[ \t\f\r\n]|\\(?=[\r\n])|#[^\r\n]*)*")
_CLOSING = re.compile(_GAP.pattern + r"\)")


def _binds_like_a_name(node: cst.BaseExpression) -> bool:
    """Whether a dot behind the expression belongs to all of it."""
    return bool(node.lpar) or isinstance(
        node, (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.List, cst.Dict, cst.Set, cst.ListComp)
    )
