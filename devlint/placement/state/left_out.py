"""Arguments that a helper makes where they are left out, and that no call leaves out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from devlint.placement.domain.abstract_values import Container, Instance, Module, Opaque, Tensor, Value
from devlint.placement.domain.events import DeviceMismatch
from devlint.placement.domain.lattice import CPU, UNKNOWN, Anchor, GuardKind, Symbol, assume, guards_of, leaves
from devlint.placement.domain.symbols import HANDED_ON

Arguments = Mapping[str, Sequence[Value]]
"""By the keys of parameters: what each call gives."""


def is_never_left_out(event: DeviceMismatch, arguments: Arguments, is_direct: Callable[[str], bool]) -> bool:
    """Whether what meets is on the CPU only where an argument is None, and each call gives one.

    ``if weight is None: weight = torch.ones(n)`` in a helper whose callers fill it in themselves. ``is_direct`` tells
    of a definition whether all of its calls are in sight.
    """
    for operand in (event.offending, event.other):
        value = operand.value
        before = after = value.device if isinstance(value, (Tensor, Opaque)) else UNKNOWN
        for guard in guards_of(before):
            absent = guard.kind is GuardKind.IS_NONE and guard.subject is not None
            if absent and guard.subject is not None and _is_always_given(guard.subject, arguments, is_direct):
                after = assume(after, guard, False)
        if CPU in leaves(before) and CPU not in leaves(after):
            return True
    return False


def _is_always_given(subject: Symbol, arguments: Arguments, is_direct: Callable[[str], bool]) -> bool:
    """Whether no call gives None, or an argument of the caller's own that may be None itself."""
    if subject.anchor is not Anchor.PARAMETER or not is_direct(subject.key.split(":", 1)[0]):
        return False
    handed_on = {id(value) for value in arguments.get(HANDED_ON, ())}
    given = arguments.get(subject.key, ())
    return bool(given) and all(
        isinstance(one, (Tensor, Module, Container, Instance)) and id(one) not in handed_on for one in given
    )
