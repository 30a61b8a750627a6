"""The Python names of aten operations and one parameter list for all overloads of a name.

Source: `variants`, `python_module` and the schemas of native_functions.yaml. A function's `self` is called `input` in
Python. Overloads with named dimensions are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torchgen.model import Argument, Variant  # type: ignore[import-untyped]

from devlint.semantics.generate.aten import Overload
from devlint.semantics.operation import Parameter

Kind = Literal["tensor", "tensors", "other"]

MODULES = {
    None: "torch",
    "nn": "torch.nn.functional",
    "linalg": "torch.linalg",
    "fft": "torch.fft",
    "special": "torch.special",
    "sparse": "torch.sparse",
    "nested": "torch.nested",
}


@dataclass
class PythonName:
    """One name a user calls, with the overloads behind it."""

    name: str
    overloads: list[Overload] = field(default_factory=list)

    @property
    def is_method(self) -> bool:
        return self.name.startswith("Tensor.")

    def rename(self, argument: str) -> str:
        """The Python name of an aten argument."""
        return "input" if argument == "self" and not self.is_method else argument

    def functional(self) -> list[Overload]:
        """The overloads without `out=`."""
        return [o for o in self.overloads if not o.function.func.arguments.out]


def python_names(overloads: dict[str, Overload]) -> dict[str, PythonName]:
    """Every public function and method that is an aten operation."""
    found: dict[str, PythonName] = {}
    for overload in overloads.values():
        if any("Dimname" in str(a.type) for a in overload.function.func.arguments.flat_all):
            continue
        for name in _names(overload):
            found.setdefault(name, PythonName(name)).overloads.append(overload)
    return {name: n for name, n in sorted(found.items()) if n.functional()}


def _names(overload: Overload) -> Iterator[str]:
    function = overload.function
    base = str(function.func.name.name)
    module = function.python_module
    if Variant.function in function.variants:
        short = base.removeprefix(f"{module}_") if module else base
        for qualified in {f"{MODULES[module]}.{short}", f"torch.nn.functional.{short}"}:
            if qualified.startswith(MODULES[module]) or module is None:
                target = lookup(qualified)
                if target is not None and not hasattr(target, "__code__"):
                    yield qualified
    if Variant.method in function.variants and hasattr(torch.Tensor, base):
        yield f"Tensor.{base}"


def lookup(qualified: str) -> object | None:
    """The object a dotted torch name stands for."""
    found: object = torch
    parts = qualified.split(".")
    if parts[0] == "Tensor":
        found = torch.Tensor
    for part in parts[1:]:
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def parameters(name: PythonName) -> tuple[Parameter, ...]:
    """One parameter list for all overloads, the one with most tensors as its base."""
    functional = name.functional()
    base = max(functional, key=lambda o: (len(o.tensors), len(o.function.func.arguments.flat_positional)))
    positional = [_parameter(name, a) for a in base.function.func.arguments.flat_positional]
    keywords: dict[str, Parameter] = {}
    for overload in functional:
        arguments = overload.function.func.arguments
        kw_only = {a.name for a in arguments.flat_kwarg_only}
        for position, argument in enumerate(a for a in arguments.flat_positional if a.name not in kw_only):
            new = _parameter(name, argument)
            if position >= len(positional):
                positional.append(new)
            elif new.name not in (positional[position].name, *positional[position].also):
                old = positional[position]
                positional[position] = replace(old, also=(*old.also, new.name))
        for argument in arguments.flat_kwarg_only:
            keywords.setdefault(argument.name, replace(_parameter(name, argument), keyword_only=True))
    outs = [o.function.func.arguments.out for o in name.overloads if o.function.func.arguments.out]
    if outs and not name.is_method:
        kind: Kind = "tensor" if any(len(out) == 1 for out in outs) else "tensors"
        keywords["out"] = Parameter("out", kind, keyword_only=True)
    taken = {p.name for p in positional}
    return (*positional, *(p for p in keywords.values() if p.name not in taken))


def _parameter(name: PythonName, argument: Argument) -> Parameter:
    kind: Kind = "other"
    if argument.type.is_tensor_like():
        kind = "tensors" if argument.type.is_list_like() else "tensor"
    return Parameter(name.rename(argument.name), kind)
