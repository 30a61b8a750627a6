"""One call of a library function, read through its table row: the relevant argument, the device, the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from devlint.placement.domain.abstract_values import (
    Argument,
    Constant,
    Container,
    DeviceName,
    Host,
    Instance,
    Module,
    Opaque,
    Tensor,
    Value,
)
from devlint.placement.domain.call_site import CallSite
from devlint.placement.domain.device_names import name_of_constant
from devlint.placement.domain.events import Sink
from devlint.placement.domain.lattice import UNKNOWN, Device
from devlint.placement.state.devices import resolve_device
from devlint.placement.syntax.nodes import code_of
from devlint.records import dataclass
from devlint.semantics.library_rows import Effect

if TYPE_CHECKING:
    from devlint.placement.interpreter.interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A call for which a library table has a row."""

    interp: Interpreter
    node: cst.Call
    site: CallSite
    effect: Effect
    name: str
    """The full name of a function or class; the bare name of a method."""
    receiver: Value | None = None

    @property
    def code(self) -> str:
        return code_of(self.node.func)

    def argument(self) -> Argument | None:
        """The argument that the effect is about; None if it is not given."""
        if self.effect.argument:
            # If the effect names a device argument, ``position`` is that argument's.
            return self.site.argument(self.effect.argument, 0 if self.effect.device else self.effect.position)
        return self.site.positional[0] if self.site.positional else None

    def is_unknown(self) -> bool:
        """Whether an argument is, or may be, given for which the row does not hold."""
        if self.effect.only and not self._begins_as_told():
            return True
        return bool(self.effect.unless) and (self.site.unpacks or any(map(self._is_given, self.effect.unless)))

    def _begins_as_told(self) -> bool:
        first = self.site.positional[0].value if self.site.positional else None
        text = first.value if isinstance(first, Constant) else None
        return isinstance(text, str) and text.startswith(self.effect.only)

    def _is_given(self, option: str) -> bool:
        keyword, _, wanted = option.partition("=")
        given = self.site.keyword(keyword)
        if given is None:
            return False
        told = given.value.value if isinstance(given.value, Constant) else ...
        return str(told) == wanted if wanted else told is not None and told is not False


def told_place(call: LibraryCall) -> Device | None:
    """The device that an argument names; None if it is not given."""
    if not call.effect.device:
        return None
    argument = call.site.argument(call.effect.device, call.effect.position)
    if argument is None or (isinstance(argument.value, Constant) and argument.value.value is None):
        return None
    if call.effect.map and not isinstance(argument.value, DeviceName):
        # ``device_map="auto"`` is not a device, nor is a dict of several.
        named = name_of_constant(argument.value) if isinstance(argument.value, Constant) else None
        return named.device if named is not None else UNKNOWN
    return resolve_device(call.interp, argument.value, argument.node, Sink.ARGUMENT, call.site)


def place_of(value: Value | None) -> Device:
    return value.device if isinstance(value, (Instance, Module, Tensor, Opaque)) else UNKNOWN


def given_back(call: LibraryCall, one: Callable[[str], Value]) -> Value:
    words = call.effect.gives
    return one(words[0]) if len(words) == 1 else Container(tuple(map(one, words)), None, None, "tuple")


def one_value(word: str, device: Device, tensor: Tensor, fields: frozenset[str] = frozenset()) -> Value:
    match word:
        case "tensor":
            return tensor
        case "batch":
            return Opaque(device, tensor.provenance, fields=fields)
        case "module":
            return Module(device, provenance=tensor.provenance)
        case _:
            return Instance(word) if "." in word else Host()
