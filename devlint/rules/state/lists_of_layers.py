"""Plain lists whose items are layers as a rule: the list is named after them, and what lies in it is called.

The classes of other libraries, and those that come in as arguments, are not known: names and uses are all there is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import Container, Module, UnknownValue, Value
from devlint.placement.syntax.nodes import code_of, descend, names_in

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
