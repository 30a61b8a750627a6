"""Device parameters that a definition takes and never reads, where nothing else determines the signature."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.known_classes import listed_kind
from devlint.placement.syntax.nodes import body_of, code_of, is_name, parameters_of, semantic_children
from devlint.records import dataclass
from devlint.source.bare.nodes import is_bare

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import FunctionInfo
    from devlint.placement.declarations.index import FileIndex


@dataclass(frozen=True, slots=True, eq=False)
class Ignored:
    """``overwritten`` is the assignment that replaces the parameter before it is read; None if there is none."""

    parameter: cst.Param
    overwritten: cst.Assign | None
    kept_absent: cst.Assign | None = None
    """The one assignment of it, which only its being None leads to."""


_NO_CONTRACT = frozenset(
    {"staticmethod", "classmethod", "no_grad", "inference_mode", "enable_grad", "lru_cache", "cache", "script"}
)
"""Decorators that do not require a certain signature."""

_UNUSED = re.compile(r"\b(unused|not used|ignored?|ignores|deprecated|compatib\w*|legacy|placeholder|ARG00\d)\b", re.I)
"""Words that document a parameter as unused."""

_READS_NAMES = frozenset({"locals", "vars", "eval", "exec"})


def ignored_device_parameters(info: FunctionInfo, index: FileIndex) -> Iterator[Ignored]:
    """The device parameters that the body never reads, if nothing else determines the signature.

    One that the body replaces by a device of its own is lost whoever determines the signature.
    """
    node = info.node
    if not isinstance(node, cst.FunctionDef) or not any(names_device(p) for p in parameters_of(node)):
        return
    if _is_stub(node) or documented_as_unused(node):
        return
    determined = _signature_is_determined(info, index)
    found = [_ignored(node, parameter) for parameter in parameters_of(node) if names_device(parameter)]
    if any(found) and not any(mentions(node.body, name) for name in _READS_NAMES):
        yield from (one for one in found if one is not None and (not determined or _names_cuda(one.overwritten)))


def _names_cuda(assignment: cst.Assign | None) -> bool:
    return assignment is not None and "cuda" in code_of(assignment.value)


def names_device(parameter: cst.Param) -> bool:
    name = parameter.name.value
    if name == "device":
        annotation = code_of(parameter.annotation.annotation) if parameter.annotation is not None else ""
        return "bool" not in annotation
    return (
        name.endswith("_device")
        and parameter.annotation is not None
        and "torch.device" in code_of(parameter.annotation.annotation)
    )


def _signature_is_determined(info: FunctionInfo, index: FileIndex) -> bool:
    """Whether a base, a function of the same name, a decorator or an indirect call determines the signature."""
    node = info.node
    assert isinstance(node, cst.FunctionDef)
    if node.params.star_kwarg is not None or isinstance(node.params.star_arg, cst.Param):
        return True
    if not keeps_contract(info):
        return True
    if info.name in index.indirect and info.name != "__init__":
        return True
    if info.name.startswith("__") and info.name != "__init__":
        return True
    if info.owner is not None and _may_override(info):
        return True
    return info.name != "__init__" and index.defined[info.name] > 1


def keeps_contract(info: FunctionInfo) -> bool:
    """Whether no decorator may ask for the signature, or fill in an argument."""
    return all(decorator.rsplit(".", 1)[-1] in _NO_CONTRACT for decorator in info.decorators)


def _may_override(info: FunctionInfo) -> bool:
    """Whether a base may define the method: one that is not fully known, or one that does (fixture `signatures`)."""
    owner = info.owner
    assert owner is not None
    if not owner.complete:
        return True
    parents = owner.parents
    if info.name == "__init__":
        # Classes with a common base share the signature of their constructor, be it one of a file that is not indexed
        # because it has no tensors (fixture `signatures`).
        unlisted = any(listed_kind(base) is None for base in owner.resolved_bases if isinstance(base, str))
        return bool(parents) or unlisted or (bool(owner.node.bases) and not owner.is_module)
    library = any(not _is_plain(base) for base in owner.bases)
    public_hook = library and not info.name.startswith("_") and info.name in _HOOKS
    return public_hook or any(parent.method(info.name) is not None for parent in parents)


_HOOKS = frozenset({"to", "to_empty", "cuda", "forward", "transfer_batch_to_device", "step"})
"""Methods of library base classes that may take a device."""


def _is_plain(base: object) -> bool:
    return base in ("object", "abc.ABC")


def _is_stub(node: cst.FunctionDef) -> bool:
    """Whether the body is only docstrings, ``pass``, ``...``, constants and ``raise``."""
    return all(_does_nothing(statement) for statement in body_of(node.body))


def _does_nothing(statement: cst.CSTNode) -> bool:
    if isinstance(statement, (cst.Pass, cst.Raise)):
        return True
    value = statement.value if isinstance(statement, (cst.Expr, cst.Return)) else statement
    return value is None or isinstance(
        value, (cst.SimpleString, cst.ConcatenatedString, cst.Ellipsis, cst.Name, cst.Integer, cst.Float)
    )


def documented_as_unused(node: cst.FunctionDef) -> bool:
    """Whether the docstring, or a comment on a line about the device, says that the parameter is not used."""
    docstring = node.get_docstring() or ""
    # Comments need layout. Without it the parameter is reported as ignored, and the rule reads the comments.
    lines = [] if is_bare(node) else cst.Module(body=[]).code_for_node(node).splitlines()
    said = [line for line in (*docstring.splitlines(), *lines) if "device" in line.lower()]
    return any(_UNUSED.search(line) for line in said)


def _ignored(node: cst.FunctionDef, parameter: cst.Param) -> Ignored | None:
    name = parameter.name.value
    statements = list(body_of(node.body))
    for position, statement in enumerate(statements):
        if not mentions(statement, name):
            continue
        replaces = (
            isinstance(statement, cst.Assign)
            and any(isinstance(t.target, cst.Name) and t.target.value == name for t in statement.targets)
            and not mentions(statement.value, name)
        )
        if replaces and isinstance(statement, cst.Assign):
            return Ignored(parameter, statement)
        kept = _kept_where_absent(statements[position:], name)
        return Ignored(parameter, None, kept) if kept is not None else None
    return Ignored(parameter, None)


def _kept_where_absent(statements: list[cst.CSTNode], name: str) -> cst.Assign | None:
    """``if device is None: self.device = device``, where nothing else reads it: the test is the wrong way round."""
    kept: list[cst.Assign] = []
    stack = statements[::-1]  # mostly the first one reads it
    while stack:
        current = stack.pop()
        if type(current) is cst.If and _asks_for_none(current.test, name):
            inside = [part for part in body_of(current.body) if mentions(part, name)]
            keeps = [part for part in inside if isinstance(part, cst.Assign) and is_name(part.value, name)]
            if len(keeps) < len(inside) or any(
                mentions(target.target, name) for one in keeps for target in one.targets
            ):
                return None
            kept += keeps
            stack += [current.orelse] if current.orelse is not None else []
        elif is_name(current, name):
            return None
        elif type(current) is cst.Attribute or type(current) is cst.Arg:
            stack.append(current.value)
        else:
            stack += semantic_children(current)
    return kept[0] if len(kept) == 1 else None


def _asks_for_none(test: cst.CSTNode, name: str) -> bool:
    match test:
        case cst.Comparison(
            left=cst.Name(value=left),
            comparisons=[
                cst.ComparisonTarget(operator=cst.Is() | cst.Equal(), comparator=cst.Name(value="None")),
            ],
        ):
            return left == name
        case cst.UnaryOperation(operator=cst.Not(), expression=cst.Name(value=tested)):
            return tested == name
        case _:
            return False


def mentions(node: cst.CSTNode, name: str) -> bool:
    """Whether the node contains the variable ``name``; keywords and attributes of that name do not count."""
    stack = [node]
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is cst.Name:
            if current.value == name:  # type: ignore[attr-defined]
                return True
        elif kind is cst.Attribute or kind is cst.Arg:
            stack.append(current.value)  # type: ignore[attr-defined]
        else:
            stack.extend(semantic_children(current))
    return False
