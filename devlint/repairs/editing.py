"""Changes of nodes as edits of the text: the one place that knows commas, parentheses, line ends and indentation.

A change whose nodes are not found in the text as they were parsed, or that would take a comment away, comes to no edit
at all: the repair is then a message only. Edits are in UTF-8 offsets into the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import libcst as cst

from devlint.drafts.changes import (
    AssignResult,
    Change,
    ChooseInBody,
    DropArgument,
    DropCall,
    IndentRest,
    InsertBefore,
    MoveBefore,
    RegisterBuffer,
    Replace,
    ReturnAtEnd,
    SetArgument,
    Suffix,
    Surround,
    TransferTo,
    WrapStored,
)
from devlint.finding import Edit
from devlint.placement.syntax.nodes import binds_like_a_name, code_of, descend
from devlint.placement.syntax.positions import Positions
from devlint.repairs.attribute_stores import stored_once
from devlint.repairs.bound_names import bound_in
from devlint.repairs.layout import CannotEdit, Layout, TextEdit, Whole
from devlint.repairs.statement_edits import chosen_in_body, indented_rest, inserted_before, moved_before


class Editor:
    """Makes edits of one file's changes."""

    def __init__(self, text: str, positions: Positions, whole: Whole | None = None) -> None:
        self._text = text
        self._layout = Layout(text, positions, whole)

    def edits(self, changes: Iterable[Change]) -> tuple[Edit, ...]:
        """The edits of one repair in order of place; none if one of its changes cannot be made."""
        try:
            made = dict.fromkeys(edit for change in changes for edit in self._edits(change))
        except CannotEdit:
            return ()
        found = sorted(made, key=lambda edit: edit[:2])
        if any(later[0] < earlier[1] for earlier, later in pairwise(found)):
            return ()
        return tuple(self._encoded(edit) for edit in found)

    def _edits(self, change: Change) -> Iterator[TextEdit]:
        match change:
            case Replace(node, text):
                yield (*self._layout.span(node), text)
            case Surround(node, before, after):
                start, end = self._layout.outer(node)
                yield from ((at, at, text) for at, text in ((start, before), (end, after)) if text)
            case Suffix(node, text):
                start, end = self._layout.outer(node)
                if self._is_unpacked(start):
                    raise CannotEdit
                if binds_like_a_name(node):
                    yield end, end, text
                else:
                    yield start, start, "("
                    yield end, end, f"){text}"
            case SetArgument(call, keyword, text):
                yield from self._set_argument(call, keyword, text)
            case DropArgument(call, value):
                yield self._layout.without_comment(*self._argument(call, value))
            case DropCall(call):
                if not isinstance(call.func, cst.Attribute):
                    raise CannotEdit
                yield self._layout.without_comment(self._layout.outer(call.func.value)[1], self._layout.span(call)[1])
            case ReturnAtEnd(function, text):
                yield from self._return_at_end(function, text)
            case AssignResult(call, target):
                yield self._keep(call, target)
            case TransferTo(call, device):
                yield from self._transfer(call, device)
            case WrapStored(stored, before):
                yield from self._wrap_stored(stored, before)
            case RegisterBuffer(target):
                yield from self._register_buffer(target)
            case InsertBefore(node, lines):
                yield from inserted_before(self._layout, node, lines)
            case MoveBefore(node, before):
                yield from moved_before(self._layout, node, before)
            case IndentRest(node, header):
                yield from indented_rest(self._layout, node, header)
            case ChooseInBody(default):
                yield from chosen_in_body(self._layout, default)

    def _is_unpacked(self, start: int) -> bool:
        """Whether an unpacked argument begins there, as in ``f(*pair)``: what would change stands elsewhere."""
        before = self._text[:start].rstrip()
        return before.endswith("*") and before.rstrip("*").rstrip().endswith(("(", ","))

    def _set_argument(self, call: cst.Call, keyword: str, text: str) -> Iterator[TextEdit]:
        given = next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == keyword), None)
        if given is not None:
            yield (*self._layout.outer(given.value), text)
            return
        if any(arg.star == "**" for arg in call.args):
            # It may hold this argument already.
            raise CannotEdit
        added = f"{keyword}={text}"
        _, end = self._layout.span(call)
        closing = end - 1
        if not call.args:
            yield closing, closing, added
            return
        last = call.args[-1]
        start, end = self._layout.span(last)
        if isinstance(last.value, cst.GeneratorExp) and not last.value.lpar:
            yield start, start, "("
            yield end, end, f"), {added}"
        elif self._layout.begins_line(closing) and self._layout.begins_line(start):
            # One argument a line: it gets its own line, behind the comment of the one before.
            trailing = isinstance(last.comma, cst.Comma)
            if not trailing:
                yield end, end, ","
            at = self._layout.line_end(end)
            yield at, at, f"{self._layout.newline(at)}{self._layout.indent(start)}{added}{',' * trailing}"
        else:
            yield end, end, f", {added}"

    def _argument(self, call: cst.Call, value: cst.BaseExpression) -> tuple[int, int]:
        """The part of a call that goes with one argument."""
        index = next((index for index, arg in enumerate(call.args) if arg.value is value), None)
        if index is None:
            raise CannotEdit
        start, end = self._layout.span(call.args[index])
        if index:
            return self._layout.span(call.args[index - 1])[1], end
        if len(call.args) > 1:
            return start, self._layout.span(call.args[1])[0]
        return start, self._layout.span(call)[1] - 1

    def _return_at_end(self, function: cst.FunctionDef, value: str) -> Iterator[TextEdit]:
        text = f"return {value}"
        for node in descend(function.body, into_definitions=False):
            if isinstance(node, cst.Return):
                yield (*self._layout.span(node), text)
        last = function.body.body[-1]
        if isinstance(last, cst.SimpleStatementLine):
            last = last.body[-1]
        if isinstance(last, cst.Return):
            return
        _, end = self._layout.span(last)
        if isinstance(function.body, cst.SimpleStatementSuite):
            yield end, end, f"; {text}"
            return
        at = self._layout.line_end(end)
        start, _ = self._layout.span(function.body.body[0])
        yield at, at, f"{self._layout.newline(at)}{self._layout.indent(start)}{text}"

    def _keep(self, call: cst.Call, target: cst.BaseExpression) -> TextEdit:
        function = self._layout.enclosing(call, cst.FunctionDef)
        free = isinstance(target, cst.Name) and isinstance(function, cst.FunctionDef)
        if not isinstance(self._layout.parents.get(call), cst.Expr) or (
            free and not bound_in(code_of(target), cst.ensure_type(function, cst.FunctionDef))
        ):
            # A name of the module would become the function's own.
            raise CannotEdit
        at = self._layout.outer(call)[0]
        return at, at, f"{self._layout.source(target)} = "

    def _transfer(self, call: cst.Call, device: str) -> Iterator[TextEdit]:
        if not isinstance(call.func, cst.Attribute) or any(arg.star for arg in call.args):
            raise CannotEdit
        yield (*self._layout.span(call.func.attr), "to")
        given = next((arg for arg in call.args if arg.keyword is None or arg.keyword.value == "device"), None)
        if given is not None:
            yield (*self._layout.outer(given.value), device)
        elif call.args:
            start, _ = self._layout.span(call.args[0])
            yield start, start, f"{device}, "
        else:
            end = self._layout.span(call)[1] - 1
            yield end, end, device

    def _register_buffer(self, target: cst.Attribute) -> Iterator[TextEdit]:
        statement = self._layout.enclosing(target, cst.BaseSmallStatement)
        if not isinstance(statement, (cst.Assign, cst.AnnAssign)) or statement.value is None:
            raise CannotEdit
        targets = statement.targets if isinstance(statement, cst.Assign) else ()
        own = isinstance(target.value, cst.Name) and target.value.value == "self"
        if (
            any(written.target is not target for written in targets)
            or not own
            or not self._is_first_store(statement, target)
        ):
            raise CannotEdit
        start, end = self._layout.outer(statement.value)
        if isinstance(statement.value, (cst.Tuple, cst.Yield)) and not statement.value.lpar:
            raise CannotEdit
        first, _, _ = self._layout.without_comment(self._layout.span(statement)[0], start)
        yield first, start, f'self.register_buffer("{target.attr.value}", '
        yield end, end, ", persistent=False)"

    def _wrap_stored(self, target: cst.CSTNode, before: str) -> Iterator[TextEdit]:
        statement = self._layout.enclosing(target, cst.BaseSmallStatement)
        if not isinstance(statement, (cst.Assign, cst.AnnAssign)) or statement.value is None:
            raise CannotEdit
        one = not isinstance(statement, cst.Assign) or (len(statement.targets) == 1)
        mine = statement.target if isinstance(statement, cst.AnnAssign) else statement.targets[0].target
        if not one or mine is not target or (isinstance(statement.value, cst.Tuple) and not statement.value.lpar):
            raise CannotEdit
        start, end = self._layout.outer(statement.value)
        yield start, start, before
        yield end, end, ")"

    def _is_first_store(self, statement: cst.CSTNode, target: cst.Attribute) -> bool:
        """Whether nothing else in the class gives it this attribute, and the module is set up when this does.

        ``register_buffer`` refuses a name that the object has, and an object whose ``Module.__init__`` has not run.
        """
        function = self._layout.enclosing(target, cst.FunctionDef)
        if not isinstance(function, cst.FunctionDef) or function.name.value != "__init__":
            return False
        start, _ = self._layout.span(statement)
        if not stored_once(self._text, start, target.attr.value):
            return False
        calls = (node for node in descend(function.body) if isinstance(node, cst.Call))
        return any(code_of(call.func).endswith(".__init__") and self._layout.span(call)[0] < start for call in calls)

    def _encoded(self, edit: TextEdit) -> Edit:
        start, end, text = edit
        first = len(self._text[:start].encode("utf-8", "surrogatepass"))
        return Edit(first, first + len(self._text[start:end].encode("utf-8", "surrogatepass")), text)
