"""What devlint knows about a storage: the device it claims to be on, and where its content came from.

Kept by the address of the StorageImpl, never by `data_ptr` (all empty tensors share 0). The entry goes when the
StorageImpl goes: a keeper hangs on the storage's Python object, which PyTorch keeps as long as the C++ object lives,
so an address used again cannot inherit a claim. Views, `detach`, `.data` and parameters share the storage and with
it the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

Tensor = torch.Tensor
CPU = torch.device("cpu")

_true_device = torch._C.TensorBase.device.__get__
_untyped_storage = torch._C.TensorBase.untyped_storage


class Claim:
    """``device`` is None for a storage that claims nothing (a real device speaks for itself); ``trace`` belongs to
    the recorder."""

    __slots__ = ("device", "pinned", "trace")

    def __init__(self) -> None:
        self.device: torch.device | None = None
        self.trace: Any = None
        self.pinned = False


claims: dict[int, Claim] = {}


class _Keeper:
    __slots__ = ("address",)

    def __init__(self, address: int) -> None:
        self.address = address

    def __del__(self, forget: Any = claims.pop) -> None:
        forget(self.address, None)


def _address_by_storage(tensor: Tensor) -> int:
    with torch._C.DisableTorchFunction():
        address: int = _untyped_storage(tensor)._cdata
        return address


address_of = getattr(torch._C, "_storage_address", _address_by_storage)
"""The address of a tensor's StorageImpl. Raises for tensors that have none (sparse ones, functorch's wrappers)."""


def true_device(tensor: Tensor) -> torch.device:
    """The device PyTorch itself sees, whatever is claimed."""
    device: torch.device = _true_device(tensor)
    return device


def stored_parts(tensor: Tensor) -> Iterator[Tensor]:
    """The tensors that hold a tensor's data: itself, the values of a sparse or nested one, what a functorch wrapper
    wraps."""
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    if tensor.layout is torch.strided:
        yield tensor.values() if tensor.is_nested else tensor
    elif tensor.layout is torch.sparse_coo:
        yield from (tensor._values(), tensor._indices())
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield from (tensor.values(), tensor.crow_indices(), tensor.col_indices())
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        yield from (tensor.values(), tensor.ccol_indices(), tensor.row_indices())


def claim_of(tensor: Tensor) -> Claim | None:
    """What is known of the tensor's storage; None when nothing is."""
    try:
        return claims.get(address_of(tensor))
    except RuntimeError:
        return _claim_of_parts(tensor)


def _claim_of_parts(tensor: Tensor) -> Claim | None:
    with torch._C.DisableTorchFunction():
        for part in stored_parts(tensor):
            try:
                return claims.get(address_of(part))
            except RuntimeError:
                return None
    return None


def storage_claim(storage: Any) -> Claim:
    """The claim of an `UntypedStorage`, made when there is none."""
    address: int = storage._cdata
    found = claims.get(address)
    if found is None:
        found = claims[address] = Claim()
        storage._devlint_keeper = _Keeper(address)
    return found


def make_claims(tensor: Tensor) -> list[Claim]:
    """The claims of all storages of a tensor, made where there are none."""
    with torch._C.DisableTorchFunction():
        try:
            return [storage_claim(_untyped_storage(tensor))]
        except RuntimeError:
            made = []
            for part in stored_parts(tensor):
                try:
                    made.append(storage_claim(_untyped_storage(part)))
                except RuntimeError:
                    continue
            return made


def set_device(tensor: Tensor, device: torch.device | None) -> None:
    """Let the tensor's storage claim a device; the CPU is what an unlabelled storage is on."""
    if device is None or device.type == "cpu":
        claim = claim_of(tensor)
        if claim is not None:
            claim.device = None
        return
    for claim in make_claims(tensor):
        claim.device = device


def device_of(tensor: Tensor) -> torch.device:
    """The claimed device, else the true one."""
    claim = claim_of(tensor)
    if claim is not None and claim.device is not None:
        return claim.device
    return true_device(tensor)


def forget_devices() -> None:
    """Let no storage claim a device any more: the machine is gone."""
    global _machines_gone
    _machines_gone += 1
    for claim in list(claims.values()):
        claim.device = None


_machines_gone = 0


def of_this_machine() -> Callable[[], bool]:
    """Whether the machine that runs now is still there, asked later.

    What hangs on a graph outlives the machine that hung it there: a loss may go backward when the simulation is over.
    """
    number = _machines_gone
    return lambda: number == _machines_gone
