"""A legacy constructor such as `torch.Tensor` or `torch.FloatTensor` is asked for a device it cannot make.

## What it does

Finds `torch.Tensor(..., device=...)`, `torch.FloatTensor(..., device=...)` and their kin with a device that is not the
CPU, and calls of `torch.cuda.FloatTensor(...)` and the other constructors of the `torch.cuda` family.

## Why is this bad

The legacy constructors are bound to one device type. A `device=` of another type raises
"legacy constructor expects device type: cpu but device type: cuda was passed".

The `torch.cuda.*Tensor` constructors put the tensor on the current CUDA device, whatever the device of the data
beside it, and raise on a machine without CUDA: a warning.

## Example

```python
import torch


def offsets(count: int):
    start = torch.Tensor([0.0] * count, device="cuda")
    scale = torch.cuda.FloatTensor(count)
    return start, scale
```

## Use instead

```python
import torch


def offsets(count: int, device: torch.device):
    start = torch.tensor([0.0] * count, device=device)
    scale = torch.empty(count, device=device)
    return start, scale
```

## When it is right

- `torch.Tensor([1, 2, 3], device="cpu:0")` is legal: the type is the constructor's own.
- `torch.cuda.FloatTensor(n, device="cuda:1")` is legal, and still limited to CUDA.
- A class that calls kernels of an extension named for CUDA runs nowhere else: the confidence of `torch.cuda.IntTensor`
  is low there.
- The constructor is only named, for `isinstance` or as a type to convert to.

## Fix safety

A suggestion. `torch.tensor` infers the dtype from its data where a legacy constructor has one of its own: of a float64
array `torch.FloatTensor` makes float32, so the repair names the dtype. A size (`torch.Tensor(3, 4)`) becomes
`torch.empty(3, 4)`.

## How a run confirms it

The call raises. For the `torch.cuda` family: it raises in a process without CUDA, or its result is on another index
than the tensors it meets.

## Known problems

After `torch.set_default_tensor_type` to a CUDA type, `torch.Tensor(device="cuda")` is legal; such calls are not
reported where the change is visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from devlint.drafts.changes import Replace
from devlint.drafts.draft import Draft, Repair
from devlint.drafts.wording import code_of, quoted
from devlint.finding import Applicability, Confidence, Severity
from devlint.placement.domain.abstract_values import Constant, Container, Host, Tensor
from devlint.placement.domain.lattice import Device, Known, SameAs, describe, leaves
from devlint.placement.syntax.device_words import is_named_for_accelerator
from devlint.rules.rule import Rule
from devlint.source.role import Role

if TYPE_CHECKING:
    from devlint.drafts.changes import Change
    from devlint.placement.domain.events import Called, Created
    from devlint.placement.domain.scope import Scope


class LegacyConstructorWithDevice(Rule):
    code = "DEV102"
    name = "legacy-constructor-with-device"
    severity = Severity.ERROR

    def __init__(self) -> None:
        self._of_cuda: list[tuple[str, Draft]] = []
        """By class or function: constructors of the current CUDA device."""
        self._with_kernels: set[str] = set()
        """Classes and functions that call what is named for one accelerator: they run nowhere else."""

    def called(self, event: Called) -> Iterable[Draft]:
        library = event.name.rpartition(".")[0]
        if library and not event.name.startswith("torch.") and is_named_for_accelerator(library):
            self._with_kernels.add(_definition(event.scope))
        return ()

    def finish(self) -> Iterable[Draft]:
        for definition, draft in self._of_cuda:
            yield replace(draft, confidence=Confidence.LOW) if definition in self._with_kernels else draft

    def created(self, event: Created) -> Iterable[Draft]:
        factory = event.factory
        if factory.default == "current_cuda":
            self._of_cuda += ((_definition(event.scope), draft) for draft in _cuda_constructor(event))
        elif factory.legacy and factory.default != "self" and event.named is not None and not event.in_context:
            device = _refused(event)
            if device is not None:
                yield Draft(
                    # The argument: there this finding supersedes the one that it names a device.
                    node=event.named.node,
                    scope=event.scope,
                    message=f"`{factory.name}` makes CPU tensors only; with a device on {describe(device)} it raises",
                    confidence=Confidence.HIGH,
                    repair=Repair(
                        Applicability.SUGGESTION, _instead(event, code_of(event.named.node)), _in_lower_case(event)
                    ),
                )


def _definition(scope: Scope) -> str:
    return scope.class_name or scope.qualname


def _cuda_constructor(event: Created) -> Iterable[Draft]:
    written = "cuda" in code_of(event.call.node.func) or event.imported
    if not written or event.call.keyword("device") is not None:
        # Reached through a name of the file's own, chosen elsewhere: the choice is where to look. A device that is
        # named is where it allocates.
        return
    yield Draft(
        node=event.node,
        scope=event.scope,
        severity=Severity.WARNING,
        message=f"{quoted(event.call.node.func, event.factory.name)} allocates on the current CUDA device, "
        "not where the data beside it is, and raises on a machine without CUDA",
        # A script has one place for everything, and may well mean the current device.
        confidence=Confidence.LOW if event.scope.role in (Role.SCRIPT, Role.NOTEBOOK) else Confidence.MEDIUM,
        repair=Repair(Applicability.SUGGESTION, _instead(event, "...")),
    )


def _refused(event: Created) -> Device | None:
    """The device named, where the constructor cannot make it."""
    if not isinstance(event.value, Tensor):
        return None
    for leaf in leaves(event.value.device):
        if isinstance(leaf, SameAs) or (isinstance(leaf, Known) and not leaf.on_cpu):
            return leaf
    return None


def _in_lower_case(event: Created) -> tuple[Change, ...]:
    """`torch.Tensor([1.0], ...)` as `torch.tensor(...)`, where the data alone gives the same dtype."""
    import libcst as cst

    from devlint.placement.syntax.nodes import dotted

    function, given = event.call.node.func, event.call.positional
    module, _, name = (dotted(function) or "").rpartition(".")
    if name != "Tensor" or not module or len(given) != 1 or not isinstance(given[0].node, cst.List):
        return ()
    if not all(isinstance(element.value, cst.Float) for element in given[0].node.elements):
        return ()
    return (Replace(function, f"{module}.tensor"),)


def _instead(event: Created, device: str) -> str:
    """What makes the same tensor there: of data `torch.tensor` with the dtype, of a size `torch.empty`."""
    makes = event.factory.makes
    stated = f"dtype={makes}, " if makes else ""
    if "indices" in event.factory.parameters:
        return f"`torch.sparse_coo_tensor(indices, values, size, {stated}device={device})`"
    data = f"`torch.tensor(data, dtype={makes or 'torch.get_default_dtype()'}, device={device})`"
    size = f"`torch.empty(size, {stated}device={device})`"
    given = event.call.positional
    value = given[0].value if given else None
    is_number = isinstance(value, Constant) or (isinstance(value, Host) and value.number)
    if any(argument.star for argument in event.call.arguments) or len(given) > 1 or is_number:
        return size
    if isinstance(value, Container) or (isinstance(value, Host) and value.numpy):
        return data
    return f"{data}, or {size} where a size was given"
