"""Changes: what a repair does to nodes of the tree. :mod:`devlint.repairs.editing` makes edits of the text of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devlint.records import dataclass

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True, eq=False)
class Replace:
    """Other text in the place of a node; parentheses around it stay."""

    node: cst.CSTNode
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Surround:
    """Text before and after a node, outside of its own parentheses."""

    node: cst.CSTNode
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Suffix:
    """``.to(x.device)`` behind an expression, which gets parentheses where it binds more loosely than a dot."""

    node: cst.BaseExpression
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class SetArgument:
    """A keyword argument of a call: its value replaced where it is given, else added at the end."""

    call: cst.Call
    keyword: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class DropArgument:
    """An argument of a call, named by its value, removed with its comma."""

    call: cst.Call
    value: cst.BaseExpression


@dataclass(frozen=True, slots=True, eq=False)
class DropCall:
    """``x.cpu()`` becomes ``x``."""

    call: cst.Call


@dataclass(frozen=True, slots=True, eq=False)
class ReturnAtEnd:
    """A function ends with ``return text``, and so does each bare ``return`` in it."""

    function: cst.FunctionDef
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class AssignResult:
    """``x.cuda()``, a statement, becomes ``x = x.cuda()``."""

    call: cst.Call
    target: cst.BaseExpression


@dataclass(frozen=True, slots=True, eq=False)
class TransferTo:
    """``.cuda()`` becomes ``.to(device)``, its other arguments kept."""

    call: cst.Call
    device: str


@dataclass(frozen=True, slots=True, eq=False)
class RegisterBuffer:
    """``self.name = value`` in a constructor becomes ``self.register_buffer("name", value, persistent=False)``."""

    target: cst.Attribute


@dataclass(frozen=True, slots=True, eq=False)
class WrapStored:
    """``self.xs = value`` becomes ``self.xs = before value)``; ``target`` is what it is stored to."""

    target: cst.CSTNode
    before: str


@dataclass(frozen=True, slots=True, eq=False)
class InsertBefore:
    """New lines before the statement that a node is in; a tab in them stands for one level of indentation."""

    node: cst.CSTNode
    lines: str


@dataclass(frozen=True, slots=True, eq=False)
class MoveBefore:
    """The statement that a node is in, put before another one of the same block."""

    node: cst.CSTNode
    before: cst.CSTNode


@dataclass(frozen=True, slots=True, eq=False)
class IndentRest:
    """A statement becomes ``header``, ``with ...:``, over what follows in its block."""

    node: cst.CSTNode
    header: str


@dataclass(frozen=True, slots=True, eq=False)
class ChooseInBody:
    """``def f(device=DEFAULT)`` becomes ``def f(device=None)`` with ``if device is None: device = DEFAULT``."""

    default: cst.CSTNode


Change = (
    Replace | Surround | Suffix | SetArgument | DropArgument | DropCall
    | ReturnAtEnd | AssignResult | TransferTo | RegisterBuffer | WrapStored
    | InsertBefore | MoveBefore | IndentRest | ChooseInBody
)  # fmt: skip


def suffixed(node: cst.CSTNode, text: str) -> tuple[Change, ...]:
    """The change that appends text to an expression; empty if the node is none."""
    import libcst as cst

    return (Suffix(node, text),) if isinstance(node, cst.BaseExpression) else ()


def with_argument(node: cst.CSTNode, keyword: str, text: str) -> tuple[Change, ...]:
    """The change that sets a keyword argument of a call; empty if the node is none."""
    import libcst as cst

    return (SetArgument(node, keyword, text),) if isinstance(node, cst.Call) else ()


def keywords_of(node: cst.CSTNode) -> set[str]:
    """The keywords of a call's arguments; empty if the node is no call."""
    import libcst as cst

    arguments = node.args if isinstance(node, cst.Call) else ()
    return {argument.keyword.value for argument in arguments if argument.keyword is not None}
