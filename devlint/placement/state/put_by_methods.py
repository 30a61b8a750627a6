"""What the methods of an object put into it for the others to read, in a place that no single call decides.

``self.losses = []`` in the constructor, ``self.losses.append(loss)`` in a step, ``np.mean(self.losses)`` at the end of
the epoch; ``self.out = self.net(x)`` in one method, ``self.out.numpy()`` in another.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

from devlint.placement.declarations.self_attributes import any_item, container_of
from devlint.placement.domain.abstract_values import (
    NONE,
    Constant,
    Container,
    Host,
    Module,
    Opaque,
    Self,
    Tensor,
    Value,
)
from devlint.placement.domain.class_facts import is_registered
from devlint.placement.domain.lattice import UNKNOWN, Device, Known, is_of_module, is_set_as_device, leaves
from devlint.placement.domain.value_join import join_values
from devlint.placement.state.held_modules import is_called_here
from devlint.placement.syntax.nodes import descend, dotted
from devlint.records import replace

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
    from devlint.placement.interpreter.interpreter import Interpreter


def note_filled(interp: Interpreter, container: cst.BaseExpression, item: Value, node: cst.CSTNode) -> None:
    """Record what a method puts into a container of its object; ``node`` is the call, or the target, that does."""
    root: cst.BaseExpression = container
    while isinstance(root, (cst.Attribute, cst.Subscript)):
        root = root.value
    if interp.info is None or not isinstance(root, cst.Name):
        return
    name = container_of(container, root.value)
    if name is not None and isinstance(interp.state.values.get(root.value), Self):
        interp.object_stores.filled.setdefault((interp.info.qualname, name), {})[id(node)] = item


def as_filled(interp: Interpreter, info: ClassInfo, name: str, container: Container) -> Container:
    """The container that the constructor makes, with what the other methods have put into it.

    What is empty at first is filled in, unless some of what is put there is in a place that depends on a call of the
    method that does. Modules that a Module keeps in this way are a fault by themselves.
    """
    if not begins_empty_again(info, name):
        return container
    if container.values and container.keys is not None:
        items = zip(container.items, container.keys, strict=True)
        filled = tuple(_filled(interp, info, (f"{name}[{key!r}]", any_item(name)), item) for item, key in items)
        return replace(container, items=filled, rest=_filled(interp, info, _items_of(info, name), container.rest))
    whole = _filled(interp, info, (name,), container)
    return (
        whole if whole.rest is None else replace(whole, rest=_filled(interp, info, _items_of(info, name), whole.rest))
    )


def _items_of(info: ClassInfo, name: str) -> tuple[str, ...]:
    """The names of the items into which some method puts something."""
    found = {put for method in info.mentioning(name) for put in method.fillings if put.startswith(f"{name}[")}
    return tuple(sorted(found))


Filled = TypeVar("Filled", bound="Value | None")


def _filled(interp: Interpreter, info: ClassInfo, names: tuple[str, ...], container: Filled) -> Filled:
    """An empty container with what methods put into what has one of these names."""
    if not isinstance(container, Container) or container.values:
        return container
    items: list[Value] = []
    for name in names:
        put = _put_into(interp, info, name)
        if put is None or not all(map(_tells, put)) or (info.is_module and any(isinstance(p, Module) for p in put)):
            return container
        items += put
    return replace(container, rest=reduce(partial(join_values, None), items)) if items else container


def _put_into(interp: Interpreter, info: ClassInfo, name: str) -> list[Value] | None:
    """What other methods put into a container; None where some of it is not known."""
    items: list[Value] = []
    for one, method in _filling(interp, info, name):
        stores = (interp.program.holder(one) or interp.program).stores_of(method)
        put = stores.filled.get((method.qualname, name), {}) if stores is not None else {}
        if len(put) != len(method.fillings[name]):
            return None
        items += put.values()
    return items


def begins_empty_again(info: ClassInfo, name: str) -> bool:
    """Whether what other methods store under the name is empty too: ``self.losses = []`` when an epoch begins."""
    return all(
        _is_empty(expression)
        for _, method in info.storing_later(name)
        for expression in method.stored_expressions.get(name, (None,))
    )


def stored_by_all(interp: Interpreter, info: ClassInfo, name: str) -> Value | None:
    """What methods store under an attribute that the constructor leaves out, or sets to None, for another one to read.

    None where some of it is not known, or is no tensor: no tensor is called.
    """
    methods = info.storing_later(name)
    if not methods or any(method is interp.info for _, method in methods) or is_called_here(interp, name):
        return None
    values: list[Value] = []
    for one, method in methods:
        stores = (interp.program.holder(one) or interp.program).stores_of(method)
        stored = stores.later.get((method.qualname, name), {}) if stores is not None else {}
        if len(stored) != len(method.stored_expressions.get(name, ())):
            return None
        values += (value for value in stored.values() if value != NONE)
    if not values or not all(isinstance(value, (Tensor, Opaque)) and _tells(value) for value in values):
        return None
    return reduce(partial(join_values, None), values)


def registered_by_methods(interp: Interpreter, info: ClassInfo, name: str) -> Tensor | Module | None:
    """The parameter, or the submodule, that methods of a Module make: ``reset_parameters``, ``build``.

    What a method makes that the constructor calls is registered on every object: from then on no plain tensor can be
    stored under the name.
    """
    methods = info.storing_later(name)
    if not info.is_module or any(method is interp.info for _, method in methods):
        return None
    init = info.method("__init__")
    called = [pair for pair in methods if init is not None and init.mentions(pair[1].name)]
    methods = called or methods
    if not all(map(partial(_makes_an_object, name), methods)):
        return None
    values: list[Value] = []
    for one, method in methods:
        stores = (interp.program.holder(one) or interp.program).stores_of(method)
        stored = stores.later.get((method.qualname, name), {}) if stores is not None else {}
        values += (value for value in stored.values() if value != NONE)
    first = next(iter(values), None)
    if not all(isinstance(value, (Tensor, Module)) and is_registered(value) for value in values):
        return None
    return first if isinstance(first, (Tensor, Module)) else None


def _makes_an_object(name: str, holder_and_method: tuple[ClassInfo, FunctionInfo]) -> bool:
    """Whether some of what a method stores is of what a class gives, as it is spelt: ``nn.Parameter(w).fill_(1.0)``."""
    stored = (one for one in holder_and_method[1].stored_expressions.get(name, ()) if one is not None)
    parts = (part for expression in stored for part in (expression, *descend(expression)))
    called = (dotted(part.func) or "" for part in parts if isinstance(part, cst.Call))
    return any(one.rpartition(".")[2][:1].isupper() for one in called)


def _is_empty(node: cst.BaseExpression | None) -> bool:
    match node:
        case cst.List(elements=elements) | cst.Dict(elements=elements):
            return not elements
        case cst.Call(func=cst.Name("list" | "dict" | "set" | "deque" | "OrderedDict"), args=arguments):
            return all(argument.keyword is not None for argument in arguments)
    return False


def _filling(interp: Interpreter, info: ClassInfo, name: str) -> Iterator[tuple[ClassInfo, FunctionInfo]]:
    attribute = name.partition("[")[0]
    for method in info.mentioning(attribute):
        one = method.owner
        if method is interp.info or method.name == "__init__" or one is None:
            continue
        if name in method.fillings and info.runs(one, method):
            yield one, method


def _tells(item: Value) -> bool:
    """Whether a reader knows where it is: not what the method was called with."""
    match item:
        case Tensor(device=device) | Opaque(device=device):
            return all(map(_is_the_same_for_all, leaves(device)))
        case Container():
            return all(map(_tells, item.values))
        case Host() | Constant() | Module():
            return True
    return False


def _is_the_same_for_all(device: Device) -> bool:
    return device != UNKNOWN and (isinstance(device, Known) or is_of_module(device) or is_set_as_device(device))
