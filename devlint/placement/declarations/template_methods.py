"""Template methods: an inherited ``forward`` hands its own inputs to a method that the class overrides."""

from __future__ import annotations

import libcst as cst

from devlint.placement.declarations.definitions import ClassInfo, FunctionInfo
from devlint.placement.syntax.nodes import descend, is_name, parameters_of


def is_step_of_forward(owner: ClassInfo, method: FunctionInfo) -> bool:
    """Whether an inherited ``forward`` calls this method with nothing but inputs of its own."""
    forward = owner.method("forward")
    if not owner.is_module or forward is None or forward.owner is owner or method.is_static:
        return False
    # What mentions no such attribute is not parsed.
    return forward.mentions(method.name) and _hands_inputs_to(forward, method.name)


def _hands_inputs_to(forward: FunctionInfo, name: str) -> bool:
    parameters = [parameter.name.value for parameter in parameters_of(forward.node)]
    if not parameters:
        return False
    me, inputs = parameters[0], set(parameters[1:])
    declared = forward.node.params
    several = declared.star_arg.name.value if isinstance(declared.star_arg, cst.Param) else None
    options = declared.star_kwarg.name.value if declared.star_kwarg is not None else None
    for child in descend(forward.node.body):
        if not isinstance(child, cst.Call) or not isinstance(child.func, cst.Attribute) or not child.args:
            continue
        receiver = child.func.value
        if child.func.attr.value != name or not isinstance(receiver, cst.Name) or receiver.value != me:
            continue
        given = [a for a in child.args if not (a.star == "**" and is_name(a.value, options))]
        if given and all(
            is_name(a.value, several) if a.star else isinstance(a.value, cst.Name) and a.value.value in inputs
            for a in given
        ):
            return True
    return False


def is_abstract(method: FunctionInfo) -> bool:
    """Whether subclasses say what the method gives: it is declared abstract, or raises NotImplementedError alone."""
    if any(decorator.rsplit(".", 1)[-1] == "abstractmethod" for decorator in method.decorators):
        return True
    if not isinstance(method.node, cst.FunctionDef):
        return False
    body = method.node.body.body
    last = body[-1] if body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    if len(body) > 2 or not isinstance(last, cst.Raise) or last.exc is None:
        return False
    raised = last.exc.func if isinstance(last.exc, cst.Call) else last.exc
    return isinstance(raised, cst.Name) and raised.value == "NotImplementedError"
