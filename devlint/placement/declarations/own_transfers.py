"""What a class moves itself, when it overrides `_apply`, `to` or `cuda`."""

from __future__ import annotations

from functools import partial

import libcst as cst

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.declarations.known_classes import ClassKind
from devlint.placement.syntax.nodes import FunctionNode, descend, parameters_of, string_value

_OVERRIDDEN = ("_apply", "to", "cuda")
_BY_NAME = frozenset({"getattr", "setattr", "vars", "__dict__", "__setattr__", "__getattribute__", "tree_map"})
"""Ways to reach attributes that are not named."""


def moves_itself(info: ClassInfo, name: str) -> bool:
    """Whether an override in the class, or above it, may move this attribute: it names it, or what it names is open.

    An override that moves other attributes by their names, and calls the inherited one, leaves it where it is
    (fixture `overridden_transfers`). So does one of a class without bases that are not in sight, which inherits none
    (fixture `left_by_own_transfers`).
    """
    overrides = [method for one in info.order for way in _OVERRIDDEN if (method := one.methods.get(way)) is not None]
    if not overrides:
        return False
    find = partial(_any_may_move, info, overrides, name)
    return find() if info.linkage is None else info.linkage.query(("moves itself", info, name), find, True)


def _any_may_move(info: ClassInfo, overrides: list[FunctionInfo], name: str) -> bool:
    if info.kind is ClassKind.PLAIN:
        # No base in sight or out of it moves anything else.
        return _hands_on(info, name) or any(
            _is_open(info, method) or _may_move(info, method, name) for method in overrides
        )
    return any(not _goes_on(method) or _may_move(info, method, name) for method in overrides)


def _is_open(info: ClassInfo, override: FunctionInfo) -> bool:
    """Whether it hands the object to other code, goes through it as a whole, or calls what is not in sight."""
    first = parameters_of(override.header)[:1]
    me = first[0].name.value if first and override.has_receiver else ""
    of_attributes: set[int] = set()
    for child in descend(override.node.body):
        match child:
            case cst.Call(func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=called))):
                if owner == me and info.method(called) is None:
                    return True
            case cst.Attribute(value=cst.Name() as owner) | cst.Return(value=cst.Name() as owner):
                of_attributes.add(id(owner))
            case cst.Name(value=read) if read == me and id(child) not in of_attributes:
                return True
    return not me


def _hands_on(info: ClassInfo, name: str) -> bool:
    """Whether a constructor may keep the attribute's value somewhere else as well, where it is moved from."""
    for method in info.constructors:
        if any(isinstance(value, cst.Name) for value in method.stored_expressions.get(name, ())):
            return True
        for child in descend(method.node.body):
            match child:
                case (
                    cst.Arg(value=cst.Attribute(value=cst.Name(), attr=cst.Name(value=read)))
                    | cst.Element(value=cst.Attribute(value=cst.Name(), attr=cst.Name(value=read)))
                    | cst.DictElement(value=cst.Attribute(value=cst.Name(), attr=cst.Name(value=read)))
                ) if read == name:
                    return True
    return False


def _goes_on(override: FunctionInfo) -> bool:
    """Whether it calls the inherited one: an override that replaces it altogether is trusted."""
    return any(isinstance(child, cst.Name) and child.value == "super" for child in descend(override.node.body))


_TELLING = frozenset({cst.Call, cst.Subscript, cst.Name, cst.Attribute})
"""The nodes that tell what a method moves; of the others ``isinstance`` is slow, for LibCST's abstract classes."""


def _may_move(info: ClassInfo, override: FunctionInfo, name: str) -> bool:
    reached: set[str] = set()
    pending = [override]
    walked: list[FunctionInfo] = []
    while pending:
        method = pending.pop()
        walked.append(method)
        told: set[int] = set()
        for child in descend(method.node.body):
            if type(child) not in _TELLING:
                continue
            if isinstance(child, (cst.Call, cst.Subscript)) and (named := _literally_named(child)) is not None:
                told.add(id(named[0]))
                reached.add(named[1])
            if isinstance(child, cst.Name) and child.value in _BY_NAME and id(child) not in told:
                return True
            if isinstance(child, cst.Attribute) and isinstance(child.value, cst.Name):
                reached.add(child.attr.value)
                called = info.method(child.attr.value)
                if called is not None and called not in walked and called not in pending:
                    pending.append(called)
    return name in reached or _is_kept_by_name(info, name)


def _literally_named(node: cst.Call | cst.Subscript) -> tuple[cst.Name, str] | None:
    """The way by name and the attribute that it reaches, where a literal says which: ``self.__dict__.pop("cache")``,
    ``self.__dict__["cache"]``, ``setattr(self, "cache", None)``. An override that drops a cache moves nothing else
    (fixture `drops_a_cache`)."""
    if isinstance(node, cst.Subscript):
        indexes = [element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)]
        way, key = node.value, indexes[0] if len(indexes) == 1 else None
    elif isinstance(node.func, cst.Attribute):
        way, key = node.func.value, node.args[0].value if node.args else None
    else:
        way, key = node.func, node.args[1].value if len(node.args) > 1 else None
    name = way.attr if isinstance(way, cst.Attribute) else way
    if not isinstance(name, cst.Name) or name.value not in _BY_NAME or not isinstance(key, cst.SimpleString):
        return None
    text = string_value(key.value)
    return (name, text) if isinstance(text, str) else None


def _is_kept_by_name(info: ClassInfo, name: str) -> bool:
    """Whether some method hands the attribute's name on as a text: `self.register_memory("v", 0.0)`.

    As the key of a dict the text names an item of that: `logged.update({"variance": self.variance.mean()})`.
    """
    return any(
        _hands_on_the_text(method, name)
        for one in info.order
        for method in one.methods.values()
        if method.name == "__init__" or method.mentions(name)
    )


def _hands_on_the_text(method: FunctionInfo, name: str) -> bool:
    return name in method.find(_texts_beside_keys)


def _texts_beside_keys(method: FunctionNode) -> frozenset[str | bytes]:
    """The strings in a method but for keys: of a dict that is written out, or of an item that is read or stored."""
    keys: set[int] = set()
    said: list[cst.SimpleString] = []
    for node in descend(method.body):
        match node:
            case cst.SimpleString():
                said.append(node)
            case cst.DictElement(key=key):
                keys.add(id(key))
            case cst.Subscript(value=read) if not _reaches_by_name(read):
                keys.update(id(one.slice.value) for one in node.slice if isinstance(one.slice, cst.Index))
    return frozenset(string_value(one.value) for one in said if id(one) not in keys)


def _reaches_by_name(node: cst.BaseExpression) -> bool:
    """``self.__dict__["table"]`` reads the attribute itself, as does ``self._buffers["table"]``."""
    return isinstance(node, cst.Attribute) and node.attr.value.startswith("_")
