"""Loops that replace every item of what they go through: after them all of it is where the new items are.

for name in batch:
    if name == "user":
        continue
    if torch.is_tensor(batch[name]):
        batch[name] = batch[name].to(device)

Items that the loop names to pass them over are left as they are: of them nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.placement.declarations.evidence_loops import indexed_by
from devlint.placement.domain.abstract_values import NOTHING, Container, Opaque, Tensor, Value
from devlint.placement.domain.lattice import UNKNOWN, Device
from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.syntax.nodes import body_of, code_of, dotted, literal, path_of
from devlint.records import replace


def settle_replaced_items(interp: Interpreter, node: cst.For) -> None:
    """Puts the whole where the loop has put its items. One that does not run has none to put."""
    found = _replaced(node)
    whole = interp.state.values.get(found[0]) if found is not None and interp.env is not None else None
    if found is None or not isinstance(whole, (Opaque, Container)):
        return
    item = interp.evaluate_quietly(found[1])
    if not isinstance(item, (Tensor, Opaque)) or item.device == UNKNOWN:
        return
    if isinstance(whole, Container):
        device = item.device
        interp.state.store(found[0], whole.with_each(lambda one: _placed(one, device)))
    elif not whole.tensorlike:
        interp.state.store(found[0], replace(whole, device=item.device, provenance=item.provenance))
        for key in _passed_over(node):
            interp.state.store(f"{found[0]}[{key!r}]", NOTHING)


def _placed(item: Value, device: Device) -> Value:
    return replace(item, device=device) if isinstance(item, (Tensor, Opaque)) else item


def _replaced(node: cst.For) -> tuple[str, cst.BaseExpression] | None:
    """The whole, by its path, and the item that takes the place of each; None for any other loop."""
    gone_through = _whole_and_key(node)
    if gone_through is None:
        return None
    for assigned in _always(node.body):
        target = assigned.targets[0].target if len(assigned.targets) == 1 else None
        match target:
            case cst.Subscript(value=whole, slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Name(value=key)))]):
                if (path_of(whole), key) == gone_through:
                    return gone_through[0], assigned.value
    return None


def _whole_and_key(node: cst.For) -> tuple[str, str] | None:
    """``batch`` and ``name``, of ``for name in batch``, ``for name, item in batch.items()``, ``enumerate(batch)``."""
    iterated = node.iter
    match iterated:
        case cst.Call(func=cst.Name(value="list"), args=[copied]):
            iterated = copied.value
    elements = node.target.elements if isinstance(node.target, cst.Tuple) else ()
    key: cst.BaseExpression = node.target
    whole: str | None = None
    match iterated:
        case cst.Call(func=cst.Attribute(value=mapping, attr=cst.Name(value="items")), args=[]) if len(elements) == 2:
            key, whole = elements[0].value, path_of(mapping)
        case cst.Call(func=cst.Name(value="enumerate"), args=[counted]) if len(elements) == 2:
            key, whole = elements[0].value, path_of(counted.value)
        case cst.Call(func=cst.Attribute(value=mapping, attr=cst.Name(value="keys")), args=[]):
            whole = path_of(mapping)
        case cst.Call(func=cst.Name(value="range")):
            whole = indexed_by(iterated)
        case cst.Name() | cst.Attribute():
            whole = path_of(iterated)
    return (whole, key.value) if whole and isinstance(key, cst.Name) else None


def _always(body: cst.BaseSuite) -> Iterator[cst.Assign]:
    """The assignments of each round, those included that only a tensor has, or what is there."""
    for statement in body_of(body):
        if isinstance(statement, cst.Assign):
            yield statement
        elif isinstance(statement, cst.If) and _asks_for_tensor(statement.test):
            yield from _always(statement.body)


def _passed_over(node: cst.For) -> Iterator[object]:
    """The keys of items that the loop passes over: ``if name == "user": continue``, ``if name in ("id", "text"):``."""
    for statement in body_of(node.body):
        match statement:
            case cst.If(test=cst.Comparison(comparisons=[compared])) if _goes_on(statement.body):
                if isinstance(compared.operator, (cst.Equal, cst.In)):
                    yield from _literals(compared.comparator)


def _literals(compared: cst.BaseExpression) -> Iterator[object]:
    elements = compared.elements if isinstance(compared, (cst.Tuple, cst.List, cst.Set)) else ()
    for each in [element.value for element in elements] or [compared]:
        if isinstance(each, cst.SimpleString):
            yield literal(each)


def _goes_on(body: cst.BaseSuite) -> bool:
    """Whether an arm does nothing but go on with the next round."""
    return [type(statement) for statement in body_of(body)] == [cst.Continue]


def _asks_for_tensor(test: cst.BaseExpression) -> bool:
    """Whether what fails the test is left alone because it cannot be moved."""
    match test:
        case cst.BooleanOperation(left=left, right=right):
            return _asks_for_tensor(left) and _asks_for_tensor(right)
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=cst.IsNot(), comparator=cst.Name(value=other))]):
            return other == "None"
        case cst.Call(args=[_, classes]) if dotted(test.func) == "isinstance":
            return "Tensor" in code_of(classes.value)
        case cst.Call():
            return (dotted(test.func) or "").rpartition(".")[2] in ("is_tensor", "hasattr")
    return False
