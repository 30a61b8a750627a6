"""Questions for the type of a tensor's device that the walk can answer: the tensor was made on the CPU in this call.

``x2 = torch.zeros(n)`` followed by ``if x2.is_cuda: x2 = x2.cuda()`` leaves it where it is. What an object keeps
between its methods, and what a caller hands over, may have been moved: of those nothing is answered.
"""

from __future__ import annotations

from devlint.placement.domain.abstract_values import Constant, Container, DeviceName, Tensor, Truth, Value
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import Provenance, StepKind

_KEPT = (StepKind.STORED, StepKind.REGISTERED, StepKind.GIVEN, StepKind.WRAPPED)

_OPEN = Truth(about_device=True)


def of_attribute(owner: Value, name: str) -> Truth:
    """``x.is_cuda``, ``x.is_cpu``."""
    if isinstance(owner, Tensor) and owner.device == CPU and _was_made_here(owner.provenance):
        return Truth(name == "is_cpu", about_device=True)
    return _OPEN


def of_comparison(symbol: str, left: Value, right: Value) -> Truth:
    """``x.device.type == "cuda"``, ``"cuda" in x.device.type``, ``x.device.type in ("cuda", "xpu")``."""
    if symbol in ("in", "not in"):
        found = _is_one_of(left, right) if isinstance(right, Container) else _holds_text(right, left)
        return _OPEN if found is None else Truth(found is (symbol == "in"), about_device=True)
    if symbol not in ("==", "!="):
        return _OPEN
    asked, other = (left, right) if _is_asked(left) else (right, left)
    named = _type_named(other)
    if not _is_asked(asked) or named is None:
        return _OPEN
    return Truth((named == "cpu") is (symbol == "=="), about_device=True)


def of_method(name: str, asked: DeviceName, site: CallSite) -> Truth | None:
    """``x.device.type.startswith("cuda")``; None for other methods."""
    if name not in ("startswith", "endswith") or not site.positional:
        return None
    beginning = site.positional[0].value
    if not _is_asked(asked) or not isinstance(beginning, Constant) or not isinstance(beginning.value, str):
        return _OPEN
    return Truth(getattr("cpu", name)(beginning.value), about_device=True)


def _is_asked(value: Value) -> bool:
    """The device of a tensor that was made on the CPU in this call, or its type."""
    return isinstance(value, DeviceName) and value.device == CPU and _was_made_here(value.provenance)


def _was_made_here(provenance: Provenance | None) -> bool:
    if provenance is None or provenance.alternatives:
        return False
    return provenance.first.kind is StepKind.MADE and provenance.find(*_KEPT) is None


def _type_named(value: Value) -> str | None:
    if isinstance(value, Constant) and isinstance(value.value, str):
        return value.value.partition(":")[0]
    if isinstance(value, DeviceName) and value.is_object:
        return getattr(value.device, "type", None)
    return None


def _is_one_of(asked: Value, listed: Container) -> bool | None:
    """``x.device.type in ("cuda", "xpu")``."""
    named = [_type_named(item) for item in listed.items]
    if not _is_asked(asked) or listed.rest is not None or None in named:
        return None
    return "cpu" in named


def _holds_text(value: Value, part: Value) -> bool | None:
    if not _is_asked(value) or not isinstance(part, Constant) or not isinstance(part.value, str):
        return None
    return part.value in "cpu"
