"""Plain lists whose items are layers as a rule: the list is named after them, and what lies in it is called.

The classes of other libraries, and those that come in as arguments, are not known: names and uses are all there is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.declarations.evidence_modules import LAYER_ATTRIBUTES
from devlint.placement.domain.abstract_values import Container, Module, Opaque, UnknownValue, Value
from devlint.placement.syntax.nodes import code_of, descend, dotted, names_in

if TYPE_CHECKING:
    from devlint.placement.declarations.definitions import ClassInfo

_LAYERS = re.compile(
    r"(^|_)((sub)?layers|(res)?blocks|convs?|conv_layers|encoders|decoders|experts|branches|stages|(batch_?)?norms|bns"
    r"|linears|attentions|attns|mlps|fcs|projections|projs|(block|layer|module|bn|conv|norm)_?list|modules)$"
)
"""Names of attributes that hold submodules in nine of ten Modules or more; functions and transforms have others."""


_WITHOUT_STATE = re.compile(
    r"loss|criteri|metric|activation|transform|augment|regulari|penalt|dropout|pool|callback|hook"
)
"""Names of modules that hold neither parameters nor buffers as a rule."""


def hold_nothing_by_name(attribute: str) -> bool:
    """Whether modules of any class are called what those are that hold no state: ``losses``, ``activations``."""
    return _WITHOUT_STATE.search(attribute.lower()) is not None


def are_layers_by_name(attribute: str, held: Container, info: ClassInfo) -> bool:
    """Whether a list that is filled with something unknown holds layers as a rule, and a method calls its items."""
    return (
        _LAYERS.search(attribute.strip("_").lower()) is not None
        and held.keys is None
        and bool(held.values)
        and all(_may_be_layer(value) for value in held.values)
        and any(_calls_items(method.node, attribute) for method in info.methods.values() if method.name != "__init__")
    )


def are_layers_by_use(attribute: str, held: Value, info: ClassInfo) -> bool:
    """Whether a list that the constructor is handed, by its annotation, holds what is used as layers alone are.

    A method calls its items, and what layers alone have is read of them: ``sum(part.out_features for part in parts)``.
    """
    given = held.provenance.first.node if isinstance(held, Opaque) and held.provenance is not None else None
    if not isinstance(given, cst.Param) or given.annotation is None or hold_nothing_by_name(attribute):
        return False
    stated = given.annotation.annotation
    root = dotted(stated.value if isinstance(stated, cst.Subscript) else stated)
    methods = [method.node for method in info.methods.values()]
    return (
        root in _LISTS
        and any(_calls_items(method.node, attribute) for method in info.methods.values() if method.name != "__init__")
        and any(_reads_of_items(method, {f"self.{attribute}", given.name.value}) for method in methods)
    )


_LISTS = frozenset({"list", "List", "typing.List"})


def _reads_of_items(method: cst.CSTNode, containers: set[str]) -> bool:
    """``for part in parts: width += part.out_features``."""
    for node in descend(method):
        match node:
            case cst.For(target=target, iter=over, body=body):
                pass
            case cst.ListComp(elt=body, for_in=loop) | cst.GeneratorExp(elt=body, for_in=loop):
                target, over = loop.target, loop.iter
            case _:
                continue
        if not any(isinstance(part, _NAMED) and code_of(part) in containers for part in descend(over)):
            continue
        names = names_in(target)
        for part in descend(body):
            match part:
                case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=read)):
                    if name in names and read in LAYER_ATTRIBUTES:
                        return True
    return False


_NAMED = (cst.Name, cst.Attribute)


def _may_be_layer(value: Value) -> bool:
    return isinstance(value, UnknownValue) or (isinstance(value, Module) and value.holds_state is not False)


def _calls_items(method: cst.CSTNode, attribute: str) -> bool:
    """``for block in self.blocks: x = block(x)``, ``self.blocks[i](x)``, ``[block(x) for block in self.blocks]``."""
    for node in descend(method):
        match node:
            case cst.For(target=target, iter=over, body=body) if _goes_over(over, attribute):
                if _calls_one_of(body, target):
                    return True
            case cst.ListComp(elt=body, for_in=loop) | cst.GeneratorExp(elt=body, for_in=loop) if _goes_over(
                loop.iter, attribute
            ):
                if _calls_one_of(body, loop.target):
                    return True
            case cst.Call(func=cst.Subscript(value=value)) if code_of(value) == f"self.{attribute}":
                return True
    return False


def _goes_over(node: cst.BaseExpression, attribute: str) -> bool:
    """``self.blocks``, ``enumerate(self.blocks)``, ``zip(self.blocks, skips)``."""
    return any(isinstance(part, cst.Attribute) and code_of(part) == f"self.{attribute}" for part in descend(node))


def _calls_one_of(body: cst.CSTNode, target: cst.CSTNode) -> bool:
    names = names_in(target)
    return any(
        isinstance(part, cst.Call) and isinstance(part.func, cst.Name) and part.func.value in names
        for part in descend(body)
    )
