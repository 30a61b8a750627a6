"""What the calls in a file say of a definition's arguments, and of the clashes that hang on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from devlint.placement.domain.abstract_values import Constant, Container, Host, Opaque, Tensor, UnknownValue, Value
from devlint.placement.domain.events import DeviceMismatch, Event
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, SameAs, leaves
from devlint.placement.domain.scope import Scope


class ArgumentLog:
    """The arguments seen at the calls of one file.

    ``indirect`` are definitions that anybody may call; ``only_used_here`` says of a public function whether the
    package neither exports it nor uses it elsewhere.
    """

    def __init__(self, indirect: frozenset[str], only_used_here: Callable[[str], bool]) -> None:
        self._indirect = indirect
        self._only_used_here = only_used_here
        self._arguments: dict[str, list[Value]] = {}

    def note(self, key: str, value: Value) -> None:
        """One call: what the parameter of this symbol key was given."""
        self._arguments.setdefault(key, []).append(value)

    def forget(self) -> None:
        """Lets go of the calls, and of the analysis that ``only_used_here`` is of: the two hold each other."""
        self._arguments.clear()
        self._only_used_here = _nobody_knows

    def judged(self, event: Event, scope: Scope) -> Event | None:
        """A clash with an argument in the light of the calls in this file; None where those are all there can be.

        ``scope`` is the definition that was walked; the clash may stand in one that it calls.
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
        if name == "<lambda>" and any(map(self._is_given_nowhere, sides)):
            # Whoever gets it calls it, with tensors of their own.
            return replace(event, callers_on_cpu=True)
        if any(self._each_call(value, _is_placed_nowhere) for value in sides):
            # Where all calls are in sight, none of them says that the argument could be anywhere else.
            in_sight = direct or (scope.class_name is None and self._only_used_here(name))
            return replace(event, callers_on_cpu=in_sight)
        return event

    def _is_given_nowhere(self, value: Value) -> bool:
        """Whether the value follows a parameter and no call in the file is seen."""
        symbols = [leaf.symbol for leaf in leaves(getattr(value, "device", UNKNOWN)) if isinstance(leaf, SameAs)]
        return any(symbol.anchor is Anchor.PARAMETER and symbol.key not in self._arguments for symbol in symbols)

    def _each_call(self, value: Value, gives: Callable[[Value], bool]) -> bool:
        """Whether at each call in the file the parameter that this value follows is given such an argument."""
        device = getattr(value, "device", UNKNOWN)
        symbols = [leaf.symbol for leaf in leaves(device) if isinstance(leaf, SameAs)]
        if not symbols or any(symbol.anchor is not Anchor.PARAMETER for symbol in symbols):
            return False
        given = [self._arguments.get(symbol.key, []) for symbol in symbols]
        return all(given) and all(gives(argument) for arguments in given for argument in arguments)


def _nobody_knows(_: str) -> bool:
    return False


def _is_placed_nowhere(value: Value) -> bool:
    """Nothing is known of where the argument is, or it is on the CPU."""
    return isinstance(value, UnknownValue) or getattr(value, "device", None) == UNKNOWN or _stays_on_cpu(value)


def _stays_on_cpu(value: Value) -> bool:
    """The argument is a CPU tensor, or none at all; a list or dict of such; on the CPU in every arm that is known."""
    if isinstance(value, Container):
        items = (*value.items, *((value.rest,) if value.rest is not None else ()))
        return bool(items) and all(_stays_on_cpu(item) for item in items)
    if isinstance(value, (Tensor, Opaque)):
        # Made without a device and then mixed with what cannot be placed, it is most likely still there.
        made_bare = isinstance(value, Tensor) and value.provenance is not None and value.provenance.first.bare
        places = set(leaves(value.device))
        return places <= {CPU, UNKNOWN} and (CPU in places or made_bare)
    return isinstance(value, (Constant, Host))
