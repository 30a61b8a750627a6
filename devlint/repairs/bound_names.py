"""Whether a name has one value from one place of a function to another, by its syntax alone.

A repair that inserts `x.device` relies on it. ``at`` is always the node where the name is to be used.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.syntax.nodes import body_of, descend, names_in, semantic_children

_BLOCKS = (cst.For, cst.While)
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def is_untouched(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether a parameter still has the caller's value: nothing binds it before ``at``, nor in a loop around ``at``."""
    return not bindings_before(name, function, at)


def bindings_before(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> list[cst.CSTNode]:
    """The bindings of a name that may have happened by the time ``at`` is evaluated, in the order of the source."""
    return [binding for binding in _bindings(name, function) if _may_run_before(binding, function, at)]


def is_untouched_since(name: str, start: cst.CSTNode, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether nothing binds the name inside of ``start``, a statement around ``at``, before ``at``."""
    inside = {id(node) for node in descend(start)}
    return not any(
        id(binding) in inside and _may_run_before(binding, function, at) for binding in _bindings(name, function)
    )


def is_bound_before(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether a statement that always runs before ``at`` assigns to the name, or a loop around it does."""
    if any(isinstance(node, cst.For) and _names(node.target, name) for node in path_to(function, at)):
        return True
    return any(
        isinstance(statement, cst.Assign) and any(_names(target.target, name) for target in statement.targets)
        for statement in _always_before(function, at)
    )


def stays_bound(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether the name has a value at ``at`` (a parameter, or bound before) and nothing binds it afterwards."""
    order = {id(node): index for index, node in enumerate(descend(function.body))}
    here = order.get(id(at), -1)
    if any(order.get(id(binding), here) > here for binding in _bindings(name, function)):
        return False
    return name in _parameters(function) or is_bound_before(name, function, at)


def expression_stays_bound(code: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether every name of an expression stays bound from ``at`` on; names of the module are taken to."""
    names = names_in(cst.parse_expression(code))
    return all(stays_bound(name, function, at) for name in names if bound_in(name, function))


def is_mentioned(name: str, function: cst.FunctionDef) -> bool:
    """Whether the name occurs in the function at all, its parameters included."""
    return any(isinstance(node, cst.Name) and node.value == name for node in descend(function))


def is_always_before(node: cst.CSTNode, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether ``node`` is evaluated on every path to ``at``."""
    return any(_holds(statement, node) for statement in _always_before(function, at))


def is_dereferenced_before(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether every path to the end of ``at`` reads an attribute of the name, so that None would have failed there."""
    return any(_reads_attribute(name, part) for part in (*_always_before(function, at), at))


def may_be_none(name: str, function: cst.FunctionDef) -> bool:
    """Whether a parameter's default is None, or the function compares it with None."""
    every = function.params
    for parameter in (*every.posonly_params, *every.params, *every.kwonly_params):
        if (
            parameter.name.value == name
            and isinstance(parameter.default, cst.Name)
            and parameter.default.value == "None"
        ):
            return True
    return any(_is_compared_with_none(name, node) for node in descend(function.body))


def is_behind_a_test(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether ``at`` stands in an arm that is only taken where the name holds something: `if x is not None:`."""
    path = path_to(function, at)
    for node in path:
        if isinstance(node, (cst.If, cst.IfExp)):
            body = any(part is node.body for part in path)
            if (body and _holds_something(name, node.test)) or (
                any(part is node.orelse for part in path) and _is_none(name, node.test)
            ):
                return True
    return False


def is_asked_for_another_type(name: str, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether ``at`` stands in an arm that is taken for what is no tensor: ``if isinstance(x, float) or len(x) == 1:``.

    Of what is bound anew in the arm nothing is known (fixture `repairs_by_type`).
    """
    path = path_to(function, at)
    tests = (node for node in path if isinstance(node, (cst.If, cst.IfExp)) and any(part is node.body for part in path))
    return any(_may_be_of_another_type(name, node.test) for node in tests)


def _may_be_of_another_type(name: str, test: cst.BaseExpression) -> bool:
    match test:
        case cst.BooleanOperation(left=left, right=right):
            return _may_be_of_another_type(name, left) or _may_be_of_another_type(name, right)
        case cst.Call(func=cst.Name(value="isinstance"), args=[cst.Arg(value=cst.Name(value=asked)), kind]):
            named = names_in(kind.value)
            return asked == name and not any("ensor" in one or "arameter" in one for one in named)
        case _:
            return False


def is_filled_in(name: str, function: cst.FunctionDef, binding: cst.CSTNode) -> bool:
    """Whether a binding stands in the arm that is taken where the name holds nothing: `if x is None: x = ...`."""
    path = path_to(function, binding)
    arms = (node for node in path if isinstance(node, cst.If) and any(part is node.body for part in path))
    return any(_is_none(name, node.test) for node in arms)


def _holds_something(name: str, test: cst.BaseExpression) -> bool:
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return _holds_something(name, test.left) or _holds_something(name, test.right)
    return _is_compared_with_none(name, test) and isinstance(_operator(test), cst.IsNot)


def _is_none(name: str, test: cst.BaseExpression) -> bool:
    return _is_compared_with_none(name, test) and isinstance(_operator(test), cst.Is)


def _is_compared_with_none(name: str, node: cst.CSTNode) -> bool:
    match node:
        case cst.Comparison(left=cst.Name(value=left), comparisons=[only]):
            return left == name and isinstance(only.comparator, cst.Name) and only.comparator.value == "None"
        case _:
            return False


def _operator(test: cst.BaseExpression) -> cst.BaseCompOp | None:
    return test.comparisons[0].operator if isinstance(test, cst.Comparison) else None


def bound_in(name: str, function: cst.FunctionDef) -> bool:
    """Whether the name is local to the function, or declared global or nonlocal: assigning to it changes no other."""
    return name in _parameters(function) or any(
        not isinstance(binding, (cst.CompFor, cst.Del)) for binding in _bindings(name, function)
    )


def _parameters(function: cst.FunctionDef) -> set[str]:
    every = function.params
    parameters = [*every.posonly_params, *every.params, *every.kwonly_params, every.star_arg, every.star_kwarg]
    return {parameter.name.value for parameter in parameters if isinstance(parameter, cst.Param)}


def _bindings(name: str, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    """Every node of the function that binds the name anew, or deletes it."""
    for node in descend(function.body, into_definitions=False):
        match node:
            case cst.Assign(targets=targets) if any(_names(target.target, name) for target in targets):
                yield node
            case cst.AnnAssign(target=target) | cst.AugAssign(target=target) if _names(target, name):
                yield node
            case cst.For(target=target) | cst.CompFor(target=target) | cst.NamedExpr(target=target) if _names(
                target, name
            ):
                yield node
            case cst.With(items=items) if any(item.asname and _names(item.asname.name, name) for item in items):
                yield node
            case cst.Del(target=target) if _names(target, name):
                yield node
            case cst.ImportAlias() if (node.evaluated_alias or node.evaluated_name.split(".")[0]) == name:
                yield node
            case cst.ExceptHandler(name=cst.AsName(name=cst.Name(value=bound))) if bound == name:
                yield node
            case cst.MatchAs(name=cst.Name(value=bound)) | cst.MatchStar(name=cst.Name(value=bound)) if bound == name:
                yield node
            case cst.Global(names=names) | cst.Nonlocal(names=names) if any(i.name.value == name for i in names):
                yield node
            case _:
                inner = [
                    child for child in semantic_children(node) if isinstance(child, (cst.FunctionDef, cst.ClassDef))
                ]
                yield from (child for child in inner if child.name.value == name)


def _names(target: cst.CSTNode, name: str) -> bool:
    """Whether a target binds the name: itself, or in a tuple; not an item or attribute of it."""
    match target:
        case cst.Name(value=value):
            return value == name
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            return any(_names(element.value, name) for element in elements)
        case cst.StarredElement(value=value):
            return _names(value, name)
        case _:
            return False


def _may_run_before(binding: cst.CSTNode, function: cst.FunctionDef, at: cst.CSTNode) -> bool:
    """Whether a binding may have happened by the time ``at`` is evaluated."""
    around = path_to(function, at)
    if any(isinstance(node, _BLOCKS) and _holds(node, binding) for node in around):
        return True
    if isinstance(binding, cst.CompFor):
        # Its names are the comprehension's own, in all of it and nowhere else.
        return any(isinstance(node, _COMPREHENSIONS) and _holds(node, binding) for node in around)
    if isinstance(binding, (cst.For, cst.With)) and binding in around:
        return True
    if binding in around:
        # In the very assignment: its value is evaluated before its targets are bound.
        return False
    if isinstance(binding, (cst.Global, cst.Nonlocal)):
        return True
    order = {id(node): index for index, node in enumerate(descend(function.body))}
    return order.get(id(binding), 0) < order.get(id(at), 0)


def _always_before(function: cst.FunctionDef, at: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The simple statements, and headers, that have run whenever ``at`` is reached: those before it in its blocks."""
    around = path_to(function, at)
    for node in around:
        if not isinstance(node, cst.BaseSuite):
            if isinstance(node, (cst.If, cst.While)) and not any(node.test is part for part in around):
                yield node.test
            elif isinstance(node, cst.For):
                yield node.iter
            continue
        for statement in body_of(node):
            if any(statement is part for part in around):
                break
            if isinstance(statement, cst.BaseSmallStatement):
                yield statement
            elif isinstance(statement, cst.If):
                yield statement.test
            elif isinstance(statement, cst.With):
                yield from statement.items
            elif isinstance(statement, cst.For):
                yield statement.iter


def path_to(function: cst.FunctionDef, at: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes from the function's body down to ``at``; empty where it stands elsewhere."""
    path: list[cst.CSTNode] = []

    def search(node: cst.CSTNode) -> bool:
        path.append(node)
        if node is at or any(search(child) for child in semantic_children(node)):
            return True
        path.pop()
        return False

    search(function.body)
    return path


def _holds(node: cst.CSTNode, inner: cst.CSTNode) -> bool:
    return any(child is inner for child in descend(node))


def _reads_attribute(name: str, node: cst.CSTNode) -> bool:
    """Whether evaluating the node always reads an attribute of the name."""
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, cst.Attribute) and isinstance(current.value, cst.Name) and current.value.value == name:
            return True
        if isinstance(current, cst.BooleanOperation):
            stack.append(current.left)
        elif isinstance(current, cst.IfExp):
            stack.append(current.test)
        elif isinstance(current, _COMPREHENSIONS):
            stack.append(current.for_in.iter)
        elif not isinstance(current, (cst.Lambda, cst.FunctionDef, cst.ClassDef, cst.Comparison)):
            stack.extend(semantic_children(current))
        elif isinstance(current, cst.Comparison):
            stack.append(current.left)
    return False
