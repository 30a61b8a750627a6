"""Sample calls of torch's op_db as text: what to call, its plain arguments, and a slot for each tensor."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from devlint.semantics.generate.conformance.text import NoText, operand_text, plain_text
from devlint.semantics.generate.names import lookup
from devlint.semantics.generate.samples import inputs_of
from devlint.semantics.record.places import real_names
from devlint.semantics.record.row import run, tensors_in

HERE = real_names("cpu", 2)
"""Where every sample is tried before it becomes a row."""

LARGEST = 1600
"""Elements of a tensor a row may need."""


@dataclass(frozen=True)
class Slot:
    """One tensor argument: its maker without the place ("x(2, 3)"), and the maker of a 0-dim tensor of its dtype."""

    full: str
    zero: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """One call. `template` has `{0}`, `{1}` ... where the slots stand."""

    operation: str
    template: str
    slots: tuple[Slot, ...]

    def text(self, operands: Sequence[str]) -> str:
        """The call with these operands; an operand is "c.x(2, 3)"."""
        return self.template.format(*operands)

    def place(self, places: str) -> list[str]:
        """Operands for the slots: `c` on the first accelerator, `h` on the host, `2` on the second; capitals: 0-dim."""
        return [on(slot, place) for slot, place in zip(self.slots, places, strict=True)]


def on(slot: Slot, place: str) -> str:
    """One operand as code."""
    name = {"c": "c", "h": "h", "2": "c1"}[place.lower() if place != "@" else "2"]
    return f"{name}.{slot.zero if place.isupper() or place == '@' else slot.full}"


def runs(code: str) -> Any:
    """What the code gives with everything on the host; None when it fails or gives nothing."""
    torch.manual_seed(0)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run(code, HERE)
    except Exception:
        return None


def calls(most: int = 2, last: bool = False) -> Iterator[tuple[Any, list[Call]]]:
    """Every operation of op_db that can be called by a public name, with up to `most` calls that differ in tensors.

    Of calls that give tensors alike the first sample is taken, or the last.
    """
    seen = set()
    for info in op_db:
        name = public_name(info)
        if name is None or name in seen:
            continue
        found = _different(_texts(info, name), most, last)
        if found:
            seen.add(name)
            yield info, found


def public_name(info: Any) -> str | None:
    """The name a program calls an operation of op_db by; None when it has none."""
    if info.name.rsplit(".", 1)[-1].startswith("_"):
        return None
    name = info.name if info.name.startswith("torch.") else f"torch.{info.name}"
    if lookup(name) is not None and callable(lookup(name)):
        return name
    return f"Tensor.{info.name}" if hasattr(torch.Tensor, info.name) else None


def _different(found: Iterator[Call], most: int, last: bool) -> list[Call]:
    """The calls with most tensors first, one for each way of giving tensors."""
    kinds: dict[tuple[int, bool], Call] = {}
    for call in found:
        kind = (len(call.slots), any(s.shape for s in call.slots))
        if last or kind not in kinds:
            kinds[kind] = call
    ordered = sorted(kinds.values(), key=lambda c: (-min(len(c.slots), 6), not any(s.shape for s in c.slots)))
    return ordered[:most]


def _texts(info: Any, name: str) -> Iterator[Call]:
    for sample in _samples(info):
        # A fixed pattern of numbers is short; the sample's own values serve where it does not suit.
        for literal in (False, True):
            try:
                call = _call(name, (sample.input, *sample.args), sample.kwargs, literal)
            except NoText:
                continue
            if runs(call.text(call.place("h" * len(call.slots)))) is not None:
                yield call
                break


def _samples(info: Any) -> list[Any]:
    # A device named by the sample itself says nothing of placement.
    found = [s for s in inputs_of(info) if "device" not in s.kwargs and "cpu" not in s.args]
    plain = [s for s in found if all(_is_plain(t) for t in tensors_in([s.input, s.args, s.kwargs]))]
    return plain[:: max(1, len(plain) // 16)]


def _is_plain(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided and not tensor.is_nested and 0 < tensor.numel() <= LARGEST


def _call(name: str, args: Sequence[Any], kwargs: dict[str, Any], literal: bool) -> Call:
    slots: list[Slot] = []

    def argument(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            zero = value.flatten()[:1].reshape(())
            slots.append(Slot(operand_text(value, literal), operand_text(zero, literal), tuple(value.shape)))
            return f"{{{len(slots) - 1}}}"
        if isinstance(value, list) or type(value) is tuple:
            inside = ", ".join(argument(v) for v in value)
            return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
        return plain_text(value).replace("{", "{{").replace("}", "}}")

    words = [argument(value) for value in args]
    words += [f"{key}={argument(value)}" for key, value in kwargs.items()]
    if name.startswith("Tensor."):
        return Call(name, f"{words[0]}.{name.removeprefix('Tensor.')}({', '.join(words[1:])})", tuple(slots))
    return Call(name, f"{name}({', '.join(words)})", tuple(slots))


def written(operation: str, text: str) -> Call:
    """A call written by hand: `torch.mm(<x(2, 3)>, <x(3, 2)>)`, tensors between angle brackets."""
    slots: list[Slot] = []

    def slot(found: re.Match[str]) -> str:
        made = runs(f"h.{found[1]}")
        zero = re.sub(r"^(i\(\d+)?.*?(, dtype=.*)?\)$", lambda m: _zero(found[1], m), found[1])
        slots.append(Slot(found[1], zero, tuple(made.shape)))
        return f"{{{len(slots) - 1}}}"

    return Call(operation, re.sub(r"<(\w+\(.*?\))>", slot, text), tuple(slots))


def _zero(maker: str, found: re.Match[str]) -> str:
    """The maker of a 0-dim tensor of the same kind."""
    if maker.startswith("t("):
        return "i(1)" if "." not in maker else "x()"
    return f"{found[1] or maker[:2]}{found[2] or ''})".replace("(, ", "(")
