"""What stands around a transfer whose result nothing keeps: a second one, or the loop that its receiver comes from."""

from __future__ import annotations

import libcst as cst

from devlint.placement.declarations.evidence_conventions import names_a_batch
from devlint.placement.declarations.evidence_names import names_a_module
from devlint.placement.syntax.nodes import body_of, code_of, descend, dotted, parameters_of
from devlint.repairs.bound_names import path_to


def is_made_again(call: cst.CSTNode, receiver: str, definition: cst.CSTNode) -> bool:
    """``x.to(device)``, and ``x = x.to(device)`` before anything else says ``x``: the first one is left over."""
    if not isinstance(definition, cst.FunctionDef):
        return False
    path = path_to(definition, call)
    block = next((node for node in reversed(path) if isinstance(node, cst.BaseSuite)), None)
    behind = False
    for statement in body_of(block) if block is not None else ():
        if behind and _mentions(statement, receiver):
            return _assigns(statement, receiver, code_of(call))
        behind = behind or any(statement is node for node in path)
    return False


def _assigns(statement: cst.CSTNode, receiver: str, transfer: str) -> bool:
    match statement:
        case cst.Assign(targets=[only], value=value) if code_of(only.target) == receiver:
            return any(isinstance(node, cst.Call) and code_of(node) == transfer for node in descend(value))
        case _:
            return False


def _mentions(node: cst.CSTNode, receiver: str) -> bool:
    kinds = (cst.Name, cst.Attribute, cst.Subscript)
    root = receiver.partition(".")[0].partition("[")[0]
    return any(isinstance(part, kinds) and code_of(part) in (receiver, root) for part in descend(node))


def item_of_loop(call: cst.CSTNode, name: str, definition: cst.CSTNode) -> str | None:
    """The item that a loop's variable is, where nothing but the loop's own container is read behind ``call``.

    ``xs[i]`` in ``for i, x in enumerate(xs)``, ``batch[key]`` in ``for key, x in batch.items()``; empty where it has no
    such words. None where ``name`` is no variable of a loop around ``call``, or is read again before it is bound anew.
    """
    path = path_to(definition, call) if isinstance(definition, cst.FunctionDef) else []
    loop = next((node for node in reversed(path) if isinstance(node, cst.For) and _binds(node.target, name)), None)
    if loop is None or not isinstance(definition, cst.FunctionDef) or _is_read_behind(call, name, loop, definition):
        return None
    match loop.target, loop.iter:
        case (
            cst.Tuple(elements=[cst.Element(value=cst.Name(value=key)), cst.Element(value=cst.Name(value=item))]),
            cst.Call(func=function, args=arguments),
        ) if item == name:
            if dotted(function) == "enumerate" and len(arguments) == 1:
                container = dotted(arguments[0].value)
            else:
                of_items = isinstance(function, cst.Attribute) and function.attr.value == "items" and not arguments
                container = dotted(function.value) if of_items and isinstance(function, cst.Attribute) else None
            return f"{container}[{key}]" if container is not None else ""
        case _:
            return ""


def result_of_comprehension(call: cst.CSTNode, name: str, definition: cst.CSTNode) -> str | None:
    """How the comprehension around ``call`` that binds ``name`` is kept: ``xs = [x.to(device) for x in xs]``.

    Empty where what it goes over has no name; None where there is no such comprehension.
    """
    path = path_to(definition, call) if isinstance(definition, cst.FunctionDef) else []
    around = next((node for node in reversed(path) if isinstance(node, cst.BaseComp)), None)
    if around is None or not _binds(around.for_in.target, name):
        return None
    over = around.for_in.iter
    match over:
        case cst.Call(func=cst.Attribute(value=held, attr=cst.Name(value="items")), args=[]) if isinstance(
            around, cst.DictComp
        ):
            over = held
    container = dotted(over)
    written = code_of(around)
    return f"{container} = {written}" if container is not None and "#" not in written else ""


def is_item_handed_back(call: cst.CSTNode, name: str, definition: cst.CSTNode, *, rebound: bool = False) -> bool:
    """``for x in xs: if hasattr(x, "to"): x.to(device)``, then ``return xs``: a helper for what it is given.

    ``rebound``: ``for k, v in batch.items(): v = v.to(device)``, which gives a value of a batch to the loop alone.

    That an item is asked for its ``to`` says that there are others: it is data, and no list of modules. Where tensors
    are told apart, what is left are objects that move in place.
    """
    if not isinstance(definition, cst.FunctionDef):
        return False
    path = path_to(definition, call)
    loop = next((node for node in reversed(path) if isinstance(node, cst.For) and _binds(node.target, name)), None)
    tests = [node.test for node in path if isinstance(node, cst.If)]
    if loop is None:
        return False
    asked = any(_asks_for_a_transfer(part, name) for test in tests for part in descend(test))
    if any(_asks_for_its_type(part, name) for part in descend(loop)):
        return False
    over, by_name = loop.iter, False
    match over:
        case cst.Call(func=cst.Attribute(value=held, attr=cst.Name(value="items" | "values")), args=[]):
            over, by_name = held, rebound
        case cst.Call(func=cst.Name(value="enumerate"), args=[only]):
            over = only.value
    given = {parameter.name.value for parameter in parameters_of(definition)}
    if not asked and not (by_name and isinstance(over, cst.Name) and names_a_batch(over.value)):
        return False
    if not isinstance(over, cst.Name) or over.value not in given or names_a_module(over.value.removesuffix("s")):
        return False
    returned = (node.value for node in descend(definition.body) if isinstance(node, cst.Return))
    return any(isinstance(value, cst.Name) and value.value == over.value for value in returned)


def _asks_for_a_transfer(node: cst.CSTNode, name: str) -> bool:
    match node:
        case cst.Call(
            func=cst.Name(value="hasattr"),
            args=[cst.Arg(value=cst.Name(value=asked)), cst.Arg(value=cst.SimpleString(value=attribute))],
        ):
            return asked == name and attribute.strip("\"'") in ("to", "cuda")
        case _:
            return False


def _asks_for_its_type(node: cst.CSTNode, name: str) -> bool:
    """``isinstance(x, Tensor)``, ``torch.is_tensor(x)``, ``type(x)``."""
    if not isinstance(node, cst.Call) or not node.args or code_of(node.args[0].value) != name:
        return False
    return (dotted(node.func) or "").rpartition(".")[2] in ("isinstance", "is_tensor", "type")


def _binds(target: cst.CSTNode, name: str) -> bool:
    return any(isinstance(node, cst.Name) and node.value == name for node in descend(target))


def _is_read_behind(call: cst.CSTNode, name: str, loop: cst.For, definition: cst.FunctionDef) -> bool:
    """Whether the iteration, or what comes behind the loop, reads the name after the call.

    A loop or a comprehension that binds it anew reads another value.
    """
    rebinding = [
        id(inner)
        for node in descend(definition)
        if node is not loop and _binds_anew(node, name)
        for inner in descend(node)
    ]
    own = {id(node) for node in descend(call)} | set(rebinding)
    behind = False
    for node in descend(definition):
        behind = behind or node is call
        if behind and isinstance(node, cst.Name) and node.value == name and id(node) not in own:
            return True
    return False


def _binds_anew(node: cst.CSTNode, name: str) -> bool:
    match node:
        case cst.For(target=target):
            return _binds(target, name)
        case cst.ListComp(for_in=clause) | cst.SetComp(for_in=clause) | cst.GeneratorExp(for_in=clause):
            return _binds(clause.target, name)
        case _:
            return False
