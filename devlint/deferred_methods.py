"""Dataclasses whose methods are compiled when they are first called.

``dataclasses`` writes the text of ``__init__``, ``__repr__``, ``__eq__`` and the like for each class, and compiles it.
For LibCST's nodes and the classes of an analysis that is a third of what their import takes, and a run calls few of
them: the nodes that it makes itself are made without a constructor.
"""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator
from typing import Any

_COMPILER = "_create_fn"
"""Python's own function that compiles one method of a dataclass. Since 3.13, which has it no more, all methods of a
class are compiled at once, and nothing is deferred."""

_changing = threading.RLock()


@contextlib.contextmanager
def deferred_methods() -> Iterator[None]:
    """The dataclasses that are defined meanwhile compile each of their methods at its first call."""
    with _changing:
        compiler = vars(dataclasses).get(_COMPILER)
        if compiler is None:
            yield
            return
        setattr(dataclasses, _COMPILER, _deferring(compiler))
        try:
            yield
        finally:
            setattr(dataclasses, _COMPILER, compiler)


def _deferring(compiler: Callable[..., Any]) -> Callable[..., Any]:
    def deferred(name: str, *arguments: Any, **settings: Any) -> Any:
        compiled: Any = None

        def method(self: Any, *args: Any, **named: Any) -> Any:
            nonlocal compiled
            if compiled is None:
                compiled = compiler(name, *arguments, **settings)
                compiled.__qualname__ = method.__qualname__
                _put_in_place(type(self), name, method, compiled)
            return compiled(self, *args, **named)

        method.__name__ = name
        return method

    return deferred


def _put_in_place(cls: type, name: str, method: object, compiled: object) -> None:
    """The compiled method takes the place of the deferred one in the class that has it."""
    for one in cls.__mro__:
        if vars(one).get(name) is method:
            setattr(one, name, compiled)
            return
