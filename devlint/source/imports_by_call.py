"""Modules that a call imports and an assignment names: ``torch = pytest.importorskip("torch")``.

Such an assignment does what ``import torch`` does, so it is read as one. The calls are known by their last name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

IMPORT_THE_NAMED = frozenset({"import_module", "importorskip", "__import__"})
"""Calls that give the module whose name is their first argument: `importlib`, `pytest`, and the builtin."""

IMPORT_KNOWN = {
    "try_import_torch": ("torch", "torch.nn"),  # ray.rllib.utils.framework, ray 0.8 to 2.40
}
"""Calls that give the same modules each time, in this order."""

CALLS = IMPORT_THE_NAMED | IMPORT_KNOWN.keys()


def modules_by_call(called: str, argument: object) -> tuple[str, ...]:
    """The modules that a call gives, by the last name of what is called and the value of its first argument."""
    if called not in IMPORT_THE_NAMED:
        return IMPORT_KNOWN.get(called, ())
    plain = isinstance(argument, str) and all(part.isidentifier() for part in argument.split("."))
    whole = plain and (called != "__import__" or "." not in str(argument))  # ``__import__("a.b")`` gives ``a``
    return (str(argument),) if whole else ()


def bound(names: Iterable[str | None], modules: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Pairs of a local name and the module it stands for; a target that is no name has None."""
    targets = list(names)
    if len(targets) == len(modules):
        yield from ((name, module) for name, module in zip(targets, modules, strict=True) if name is not None)
