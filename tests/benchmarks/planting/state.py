"""Mutants of a Module's state: what is kept where ``Module.to`` does not see it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from planting.mutant import Mutant, planted
from planting.places import FACTORIES, has_dimensions
from planting.source import File, Scope

_WITHOUT_PLACE = frozenset(
    "shape size dtype device item tolist numel dim ndim to cpu copy_ data numpy type_as cuda".split()
)
_WITHOUT_PARAMETERS = re.compile(
    r"(.*Pool\w*|Dropout.*|Identity|Upsample|Flatten|Softmax|Tanh|Sigmoid|.*U|.*Pad\w*|Unfold)"
)
_OF_EACH_ELEMENT = frozenset("log exp sqrt neg abs float double half long int bool detach clone to".split())
_OF_LISTS = frozenset({"append", "extend", "insert", "pop"})


def unregistered(file: File, scope: Scope, methods: tuple[Scope, ...]) -> Iterator[Mutant]:
    """unregister: ``self.register_buffer("mask", m)`` -> ``self.mask = m``.

    ``m`` is no None and, as far as is told, no scalar tensor (which may meet others anywhere); the class has no
    ``_apply`` or ``to`` of its own, and another method computes with ``self.mask`` without moving it. As an index in
    brackets it may stay on the CPU, and as a condition or an argument of ``all`` and ``any`` it is read from
    anywhere, so these are no such uses; nor is ``int(self.mask[0])``, or a store of items. It is the only registration
    of that name, but for those in the other arm of an ``if``: after ``register_buffer("mask", None)`` in the
    constructor ``self.mask = m`` stores a buffer too, since ``Module.__setattr__`` looks the name up among them.
    """
    if any(one.node.name in ("_apply", "to", "cuda") for one in methods):
        return
    registered = [(one, node, name, value) for one in methods for node, name, value in _registered(one)]
    for owner, node, name, value in registered:
        if owner is not scope or not name.isidentifier() or _is_scalar(file, value):
            continue
        if any(n == name and not _excludes(file, other, node) for _, other, n, _ in registered if other is not node):
            continue
        readers = [one for one in methods if one is not scope and _reads(file, one, name)]
        if readers and _stores(methods, name) == 0:
            text = f"self.{name} = {file.text(value)}"
            if "\n" in text and not text.rstrip().endswith((")", "]")):
                continue
            yield planted("unregister", file, scope, (file.replaced(node, text),), also=tuple(readers))


def _registered(scope: Scope) -> Iterator[tuple[ast.Expr, str, ast.expr]]:
    """The statements that register a buffer, with its name and its tensor."""
    for node in ast.walk(scope.node):
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id="self"), attr="register_buffer"),
                    args=[ast.Constant(value=str() as name), *rest],
                    keywords=keywords,
                )
            ):
                values = [*rest[:1], *(k.value for k in keywords if k.arg == "tensor")]
                if len(values) == 1:
                    yield node, name, values[0]


def _excludes(file: File, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements are in different arms of one ``if``, so that only one of them runs."""
    arms = _arms(file, one)
    return any(branch in arms and arms[branch] is not arm for branch, arm in _arms(file, other).items())


def _arms(file: File, statement: ast.stmt) -> dict[ast.If, list[ast.stmt]]:
    """The conditions that a statement is below, and which arm of each."""
    found: dict[ast.If, list[ast.stmt]] = {}
    node: ast.AST = statement
    while node in file.parents:
        parent = file.parents[node]
        if isinstance(parent, ast.If) and node is not parent.test:
            found[parent] = parent.body if node in parent.body else parent.orelse
        node = parent
    return found


def _is_scalar(file: File, node: ast.expr) -> bool:
    """A constant, or a factory's result that may have no dimension, also after methods that keep it so."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_EACH_ELEMENT:
        node = node.func.value
    if isinstance(node, ast.Constant):
        return True
    return isinstance(node, ast.Call) and file.dotted(node.func) in FACTORIES and not has_dimensions(file, node)


def _reads(file: File, scope: Scope, name: str) -> bool:
    """Whether a method uses a buffer as a tensor of the module's device."""
    uses = [_item(file, n) for n in ast.walk(scope.node) if _is_own(n, name)]
    parents = [file.parents[use] for use in uses]
    moved = any(
        isinstance(parent, ast.Attribute) and parent.attr in ("to", "cpu", "cuda", "type_as") for parent in parents
    )
    return not moved and any(
        not (isinstance(parent, ast.Attribute) and parent.attr in _WITHOUT_PLACE)
        and not _is_index(file, use)
        and not (isinstance(use, ast.Subscript) and isinstance(use.ctx, ast.Store))
        and not _is_condition(use, parent)
        for use, parent in zip(uses, parents, strict=True)
    )


def _item(file: File, use: ast.AST) -> ast.AST:
    """``self.orders[0]`` for the ``self.orders`` in it: what becomes of the item tells how the tensor is used."""
    while isinstance(parent := file.parents[use], ast.Subscript) and parent.value is use:
        use = parent
    return use


def _is_condition(node: ast.AST, parent: ast.AST) -> bool:
    match parent:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
            return test is node
        case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
            return True
        case ast.Call(func=ast.Name(id="bool" | "int" | "float" | "all" | "any")):
            return True
    return False


def _is_index(file: File, node: ast.AST) -> bool:
    while isinstance(node, ast.expr):
        parent = file.parents[node]
        if isinstance(parent, ast.Subscript) and parent.slice is node:
            return True
        node = parent
    return False


def _is_own(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=attr, ctx=ast.Load()):
            return attr == name
    return False


def _stores(methods: tuple[Scope, ...], name: str) -> int:
    return sum(
        isinstance(n, ast.Attribute) and n.attr == name and isinstance(n.ctx, ast.Store)
        for one in methods
        for n in ast.walk(one.node)
    )


def plain_list(file: File, scope: Scope, methods: tuple[Scope, ...]) -> Iterator[Mutant]:
    """plain-list: ``self.blocks = nn.ModuleList([...])`` -> ``self.blocks = [...]``.

    Its members may hold parameters. The class uses it only as lists can be used (append, index, loop over, len), in
    another method too, and registers its members nowhere else.
    """
    for node in ast.walk(scope.node):
        match node:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)],
                value=ast.Call(args=args, keywords=[]) as call,
            ) if file.dotted(call.func) in ("torch.nn.ModuleList", "torch.nn.modules.ModuleList"):
                if len(args) > 1 or _stores(methods, name) != 1:
                    continue
                if args and not _may_hold_parameters(file, args[0]):
                    continue
                uses = [(one, n) for one in methods for n in ast.walk(one.node) if _is_own(n, name)]
                if not all(_as_list(file, use) for _, use in uses):
                    continue
                readers = tuple(one for one in methods if one is not scope and any(who is one for who, _ in uses))
                if readers:
                    text = file.text(args[0]) if args else "[]"
                    if args and not isinstance(args[0], ast.List | ast.ListComp):
                        text = f"[{text}]" if isinstance(args[0], ast.Starred) else f"list({text})"
                    yield planted("plain-list", file, scope, (file.replaced(call, text),), also=readers)


def _may_hold_parameters(file: File, members: ast.expr) -> bool:
    """Whether any member may be more than an activation, a pooling or the like."""
    if isinstance(members, ast.ListComp | ast.GeneratorExp):
        members = ast.List([members.elt], ast.Load())
    if not isinstance(members, ast.List | ast.Tuple):
        return True
    for member in members.elts:
        name = (file.dotted(member.func) or "") if isinstance(member, ast.Call) else ""
        if not (name.startswith("torch.nn.") and _WITHOUT_PARAMETERS.fullmatch(name.split(".")[-1])):
            return True
    return not members.elts


def _as_list(file: File, use: ast.AST) -> bool:
    parent = file.parents[use]
    match parent:
        case ast.Attribute(attr=attr):
            return attr in _OF_LISTS
        case ast.Subscript() | ast.For() | ast.comprehension() | ast.Compare():
            return True
        case ast.Call(func=ast.Name(id="len" | "zip" | "enumerate" | "reversed" | "range" | "any" | "all")):
            return True
    return False
