"""Running torch on the CPU while each tensor claims a device, so that composites are judged by what they call.

A label sits on the storage; `C` plays the accelerator, `H` the CPU, and `ANY` is worn by what a composite makes for
itself (constants, wrapped numbers), which is allowed everywhere. Below autograd each aten operation is judged by
`meet` and the rows of aten.json; the first clash stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from devlint.semantics.meeting import meet
from devlint.semantics.operand import Clash, Meets, Operand, Relation
from devlint.semantics.operation import Dim, DType, Elements, Operation
from devlint.semantics.record.row import tensors_in

C, H, ANY = "cuda", "cpu", "any"

Lookup = Callable[[str], Operation]


class Clashed(Exception):
    """The labelled run met a device error."""

    def __init__(self, kind: str, operation: str) -> None:
        super().__init__(f"{operation}: {kind}")
        self.kind = kind
        self.operation = operation


class Labels(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A run in which storages carry device labels.

    `seen` lists the operations at which two labelled tensors met.
    """

    def __init__(self, lookup: Lookup) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._lookup = lookup
        self._labels: dict[int, str] = {}
        self._alive: list[torch.UntypedStorage] = []
        self.seen: list[str] = []

    def put(self, tensor: torch.Tensor, label: str) -> None:
        """Label a strided tensor; others have no single storage and stay `ANY`."""
        if tensor.layout is not torch.strided or tensor.is_nested:
            return
        storage = tensor.untyped_storage()
        self._alive.append(storage)
        self._labels[storage._cdata] = label

    def of(self, tensor: torch.Tensor) -> str:
        if tensor.layout is not torch.strided or tensor.is_nested:
            return ANY
        return self._labels.get(tensor.untyped_storage()._cdata, ANY)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = str(func).removeprefix("aten.").removesuffix(".default")
        operands = list(self._operands(func, args, kwargs))
        device = self._judge(name, operands)
        result = func(*args, **kwargs)
        crosses = kwargs.get("device") is not None
        for tensor in tensors_in(result):
            strided = tensor.layout is torch.strided and not tensor.is_nested
            if strided and tensor.untyped_storage()._cdata not in self._labels:
                self.put(tensor, ANY if crosses else device)
        return result

    def _operands(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Operand[str]]:
        arguments = func._schema.arguments
        given = {a.name: value for a, value in zip(arguments, args, strict=False)} | dict(kwargs)
        for role, value in given.items():
            for tensor in tensors_in(value):
                yield operand(role, tensor, self.of(tensor))

    def _judge(self, name: str, operands: list[Operand[str]]) -> str:
        labelled = [o.device for o in operands if o.device != ANY]
        if len(labelled) > 1:
            self.seen.append(name)
        verdict = meet(self._lookup(name), operands, relate, H)
        if isinstance(verdict, Clash):
            raise Clashed(verdict.kind, name)
        device = verdict.device if isinstance(verdict, Meets) else None
        return device if device not in (None, ANY) else next(iter(labelled), ANY)


def relate(a: str, b: str) -> Relation:
    """Two labels; `ANY` agrees with both."""
    return Relation.SAME if a == b or ANY in (a, b) else Relation.DIFFERENT


def operand(role: str, tensor: torch.Tensor, device: str) -> Operand[str]:
    """A real tensor as the judge sees it."""
    kind = DType.BOOL if tensor.dtype is torch.bool else DType.OTHER
    if not tensor.dtype.is_floating_point and not tensor.dtype.is_complex and kind is DType.OTHER:
        kind = DType.INT
    return Operand(
        role,
        device,
        Dim.NONZERO if tensor.dim() else Dim.ZERO,
        Elements.ONE if tensor.numel() == 1 else Elements.MANY,
        kind,
    )
