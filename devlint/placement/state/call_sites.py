"""What the call sites of a file show about a definition's arguments, and about mismatches that depend on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devlint.placement.domain.abstract_values import Constant, Container, Host, Opaque, Tensor, UnknownValue, Value
from devlint.placement.domain.events import DeviceMismatch, Event
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, SameAs, leaves
from devlint.placement.domain.scope import Scope


class ArgumentLog:
    """The arguments at the call sites of one file.

    ``indirect`` are definitions whose callers are not all known. ``only_used_here`` returns whether a public function
    is neither exported by the package nor used in its other files.
    """

    def __init__(self, indirect: frozenset[str], only_used_here: Callable[[str], bool]) -> None:
        self._indirect = indirect
        self._only_used_here = only_used_here
        self._arguments: dict[str, list[Value]] = {}

    def note(self, key: str, value: Value) -> None:
        """Record the argument at one call site for the parameter with this symbol key."""
        self._arguments.setdefault(key, []).append(value)

    def forget(self) -> None:
        """Drop the call sites and ``only_used_here``, which refers to the analysis: the two form a cycle."""
        self._arguments.clear()
        self._only_used_here = _nobody_knows

    def judged(self, event: Event, scope: Scope) -> Event | None:
        """A device mismatch of an argument, checked against the call sites; None if they are complete and rule it out.

        ``scope`` is the evaluated definition; the mismatch may be in a definition that it calls.
        """
        if not isinstance(event, DeviceMismatch):
            return event
        sides = [operand.value for operand in (event.offending, event.other)]
        name = scope.qualname.rsplit(".", 1)[-1]
        private = name.startswith("_") and not name.startswith("__")
        direct = (private or scope.is_nested) and name not in self._indirect
        if any(self._each_call(value, _stays_on_cpu) for value in sides):
            if direct:
                return None
            return replace(event, callers_on_cpu=private or scope.class_name is not None or self._only_used_here(name))
        if any(self._each_call(value, _is_placed_nowhere) for value in sides):
            # All call sites are known, and none passes an argument that could be elsewhere.
            in_sight = direct or (scope.class_name is None and self._only_used_here(name))
            return replace(event, callers_on_cpu=in_sight)
        return event

    def _each_call(self, value: Value, gives: Callable[[Value], bool]) -> bool:
        """Whether every call site in the file passes such an argument for the parameter that this value follows."""
        device = getattr(value, "device", UNKNOWN)
        symbols = [leaf.symbol for leaf in leaves(device) if isinstance(leaf, SameAs)]
        if not symbols or any(symbol.anchor is not Anchor.PARAMETER for symbol in symbols):
            return False
        given = [self._arguments.get(symbol.key, []) for symbol in symbols]
        return all(given) and all(gives(argument) for arguments in given for argument in arguments)


def _nobody_knows(_: str) -> bool:
    return False


def _is_placed_nowhere(value: Value) -> bool:
    """Whether the argument's device is unknown, or is the CPU."""
    return isinstance(value, UnknownValue) or getattr(value, "device", None) == UNKNOWN or _stays_on_cpu(value)


def _stays_on_cpu(value: Value) -> bool:
    """Whether the argument is None, or on the CPU in every arm that is known; also lists and dicts of such values."""
    if isinstance(value, Container):
        items = (*value.items, *((value.rest,) if value.rest is not None else ()))
        return bool(items) and all(_stays_on_cpu(item) for item in items)
    if isinstance(value, (Tensor, Opaque)):
        # Created without a device and then combined with an unknown value: most likely still on the CPU.
        made_bare = isinstance(value, Tensor) and value.provenance is not None and value.provenance.first.bare
        places = set(leaves(value.device))
        return places <= {CPU, UNKNOWN} and (CPU in places or made_bare)
    return isinstance(value, (Constant, Host))
