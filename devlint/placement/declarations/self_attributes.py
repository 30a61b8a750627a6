"""How a method uses the attributes of ``self``, by syntax alone."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.syntax.nodes import FunctionNode, descend, inner_nodes, is_name, path_of, unpacked
from devlint.source.outline import HOOK, REGISTERING, OwnNames


def own_names(node: FunctionNode) -> OwnNames:
    """The same facts that :mod:`devlint.source.outline` reads from :mod:`ast`, read from a LibCST tree."""
    first = node.params.params[:1]
    if not first:
        return OwnNames()
    me = first[0].name.value
    mentioned = frozenset(
        child.attr.value
        for child in descend(node.body)
        if isinstance(child, cst.Attribute) and isinstance(child.value, cst.Name) and child.value.value == me
    )
    stored = frozenset(name for name, _ in _stored(node, me))
    return OwnNames(mentioned, stored, frozenset(_registered(node)), frozenset(_kept(node, me)))


def _kept(node: FunctionNode, me: str) -> Iterator[str]:
    waiting: list[cst.BaseExpression] = []
    for child in descend(node.body):
        if isinstance(child, (cst.Assign, cst.AnnAssign)):
            targets = [one.target for one in child.targets] if isinstance(child, cst.Assign) else [child.target]
            kept = any(isinstance(target, (cst.Attribute, cst.Subscript)) for target in targets)
            waiting += [child.value] if kept and child.value is not None else []
        elif isinstance(child, cst.Call) and _called(child).endswith(HOOK):
            waiting += (argument.value for argument in child.args if argument.keyword is None)
    while waiting:
        match waiting.pop():
            case cst.Attribute(value=cst.Name(value=name), attr=attribute) if name == me:
                yield attribute.value
            case cst.IfExp(body=body, orelse=other):
                waiting += [body, other]
            case cst.Dict(elements=elements) | cst.List(elements=elements) | cst.Tuple(elements=elements):
                waiting += (element.value for element in elements)
            case cst.Subscript(value=table):
                waiting.append(table)
            case cst.Call(args=arguments) as call if _called(call) == "partial":
                waiting += (argument.value for argument in arguments if argument.keyword is None)


def stored_expressions(node: FunctionNode) -> dict[str, tuple[cst.BaseExpression | None, ...]]:
    """What a method assigns to each attribute of ``self``, statement by statement.

    None where no expression of its own is assigned: of what is unpacked that is an item of a tuple, or of a call. Where
    it goes on with what is there, as in ``self.x += y`` and ``out, self.x = self.rnn(y, self.x)``, it is ``self.x``.
    """
    first = node.params.params[:1]
    found: dict[str, tuple[cst.BaseExpression | None, ...]] = {}
    for name, value in _stored(node, first[0].name.value) if first else ():
        found[name] = (*found.get(name, ()), value)
    return found


def calls_of_attributes(node: FunctionNode) -> dict[str, tuple[cst.Call, ...]]:
    """The calls of methods of ``self.name``, by that name, in source order."""
    found: dict[str, list[cst.Call]] = {}
    for child in inner_nodes(node.body):
        if type(child) is not cst.Call or type(child.func) is not cst.Attribute:
            continue
        held = child.func.value
        if type(held) is cst.Attribute and type(held.value) is cst.Name and held.value.value == "self":
            found.setdefault(held.attr.value, []).append(child)
    return {name: tuple(calls) for name, calls in found.items()}


_STAYS = frozenset(
    """
    detach detach_ clone contiguous float half double long int bool requires_grad_ view view_as reshape flatten
    unflatten unsqueeze squeeze expand expand_as repeat repeat_interleave permute transpose t swapaxes movedim roll flip
    """.split()
)
"""Methods of a tensor whose result is where the tensor is: https://docs.pytorch.org/docs/stable/tensors.html"""
_MOVES = frozenset({"to", "move", "moved", "cuda", "cpu", "gpu", "device", "place", "put", "send"})


def updates(node: cst.BaseExpression | None, name: str) -> bool:
    """Whether an expression that is stored as ``self.name`` goes on with what is there: it stays where that is.

    ``self.total + x``; ``self.hidden.detach()``; ``self.table.view(n, -1)``; ``self.queue[1:]``;
    ``torch.cat([self.queue, x])``; ``self.rnn(x, self.hidden)``, of which the first call meets what was there at first.
    """
    if isinstance(node, cst.BinaryOperation):
        return updates(node.left, name) or updates(node.right, name)
    if isinstance(node, cst.Subscript):
        return updates(node.value, name)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        called = node.func.attr.value
        if called in _STAYS:
            return updates(node.func.value, name)
        of_self = isinstance(node.func.value, cst.Name) and not _MOVES & set(called.lower().split("_"))
        return of_self and any(_is_attribute(one, name) for argument in node.args for one in _listed(argument.value))
    return _is_attribute(node, name)


def _listed(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    """What a list is written of, or the expression itself."""
    return tuple(one.value for one in node.elements) if isinstance(node, (cst.List, cst.Tuple)) else (node,)


def is_made_of(node: cst.BaseExpression | None, name: str) -> bool:
    """Whether what is stored as ``self.name`` is made of what was there: as above, or ``self.table.to(x.dtype)``."""
    root = node
    while isinstance(root, (cst.Call, cst.Attribute)) and not _is_attribute(root, name):
        root = root.func if isinstance(root, cst.Call) else root.value
    return _is_attribute(root, name) or updates(node, name)


def _is_attribute(node: cst.CSTNode | None, name: str) -> bool:
    return isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name) and node.attr.value == name


def _stored(node: FunctionNode, me: str) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    # Types are compared by identity: this asks every node of each constructor.
    for child in inner_nodes(node):
        if type(child) not in _ASSIGNMENTS:
            continue
        targets: list[cst.BaseExpression] = []
        assigned: cst.BaseExpression | None = None
        if isinstance(child, cst.Assign):
            targets, assigned = [target.target for target in child.targets], child.value
        elif isinstance(child, cst.AnnAssign):
            targets, assigned = [child.target], child.value
        elif isinstance(child, cst.AugAssign):
            targets, assigned = [child.target], child.target
        for target in targets:
            unpacks = isinstance(target, (cst.Tuple, cst.List))
            for place, value in enumerate(unpacked(target)):
                if isinstance(value, cst.Attribute) and isinstance(value.value, cst.Name) and value.value.value == me:
                    goes_on = unpacks and isinstance(assigned, cst.Call) and updates(assigned, value.attr.value)
                    yield value.attr.value, value if goes_on else _item(assigned, place) if unpacks else assigned


def _item(assigned: cst.BaseExpression | None, place: int) -> cst.BaseExpression | None:
    """What an unpacking puts in one place: an item of a tuple, ``call()[place]`` of a call, and else nothing known."""
    if isinstance(assigned, (cst.Tuple, cst.List)):
        items = assigned.elements[: place + 1]
        whole = len(items) > place and all(isinstance(item, cst.Element) for item in items)
        return items[place].value if whole else None
    if isinstance(assigned, cst.Call):
        return cst.Subscript(assigned, [cst.SubscriptElement(cst.Index(cst.Integer(str(place))))])
    return None


FILLING = frozenset({"append", "add", "extend", "insert", "appendleft"})
"""Methods by which an item is put into a list, a set or a ``deque``."""


def fillings(node: FunctionNode) -> dict[str, tuple[cst.Call | cst.Subscript, ...]]:
    """Where a method puts items into what ``self`` keeps, by :func:`container_of` it: the calls and the targets.

    ``self.losses.append(loss)``, ``self.losses[step] = loss``, ``self.sums[key] += loss``,
    ``self.history["loss"].append(loss)``.
    """
    found: dict[str, tuple[cst.Call | cst.Subscript, ...]] = {}
    me = _receiver(node)
    for child in inner_nodes(node.body):
        puts: list[tuple[cst.BaseExpression, cst.Call | cst.Subscript]] = []
        if type(child) is cst.Call and type(child.func) is cst.Attribute and child.func.attr.value in FILLING:
            puts.append((child.func.value, child))
        elif type(child) is cst.Assign:
            targets = (place for one in child.targets for place in unpacked(one.target))
            puts += [(target.value, target) for target in targets if isinstance(target, cst.Subscript)]
        elif type(child) is cst.AugAssign and isinstance(child.target, cst.Subscript):
            puts.append((child.target.value, child.target))
        for container, put in puts:
            name = container_of(container, me)
            if name is not None:
                found[name] = (*found.get(name, ()), put)
    return found


def container_of(node: cst.BaseExpression, me: str) -> str | None:
    """The name of a container that ``self`` keeps: ``losses``, ``history['loss']``, and ``history[]`` of any item."""
    if isinstance(node, cst.Attribute):
        return node.attr.value if is_name(node.value, me) else None
    if not isinstance(node, cst.Subscript) or not isinstance(node.value, cst.Attribute) or len(node.slice) != 1:
        return None
    whole, path = container_of(node.value, me), path_of(node)
    if whole is None:
        return None
    return path.removeprefix(f"{me}.") if path is not None else any_item(whole)


def any_item(container: str) -> str:
    """The name of whichever item of a container."""
    return f"{container}[]"


def _receiver(node: FunctionNode) -> str:
    first = node.params.params[:1]
    return first[0].name.value if first else ""


_ASSIGNMENTS = frozenset({cst.Assign, cst.AnnAssign, cst.AugAssign})


def _registered(node: FunctionNode) -> Iterator[str]:
    for child in inner_nodes(node.body):
        if type(child) is cst.Call and _registers(child):
            for argument in child.args:
                yield from _attributes(argument.value)
        elif type(child) is cst.For and any(
            isinstance(inner, cst.Call) and _registers(inner) for inner in descend(child.body)
        ):
            yield from _attributes(child.iter)


def _registers(call: cst.Call) -> bool:
    return _called(call) in REGISTERING


def _called(call: cst.Call) -> str:
    """The last name of what is called."""
    function = call.func
    name = function.attr.value if isinstance(function, cst.Attribute) else getattr(function, "value", "")
    return name if isinstance(name, str) else ""


def _attributes(node: cst.BaseExpression) -> Iterator[str]:
    for child in descend(node):
        if isinstance(child, cst.Attribute) and isinstance(child.value, cst.Name) and child.value.value == "self":
            yield child.attr.value
