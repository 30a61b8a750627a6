"""Mutants of helpers: the bug is in one file, the caller that suffers from it in another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from planting.creating import device_dropped
from planting.mutant import Mutant, Span, planted
from planting.source import File, Scope
from planting.stranded import Flow, is_tensor_type


@dataclass(frozen=True)
class Helper:
    """A module-level function whose result a mutation leaves on the CPU."""

    path: str
    name: str
    mutant: Mutant


@dataclass(frozen=True)
class Known:
    """The helpers of a release by file and name, and the ways to them."""

    helpers: dict[tuple[str, str], list[Helper]]
    exports: dict[tuple[str, str], tuple[str, str]]

    def found(self, module: str, name: str) -> list[Helper]:
        place = (f"{module}.py", name)
        for _ in range(4):
            if place in self.helpers:
                return self.helpers[place]
            init = (place[0].removesuffix(".py") + "/__init__.py", place[1])
            following = self.exports.get(place) or self.exports.get(init)
            if following is None:
                return []
            place = following
        return []


def helpers(file: File) -> Iterator[Helper]:
    """far-cpu: ``return x`` -> ``return x.cpu()``. far-device: a helper's ``device=`` dropped, as drop-device.

    far-cpu: the function has one return, of what torch computed from its arguments or of an annotated ``-> Tensor``,
    and never speaks of the CPU or the host. In both a caller in another file computes with the result and with a tensor
    of its own device (see :func:`callers`).
    """
    for scope in file.scopes():
        if scope.owner is not None or scope.node.decorator_list:
            continue
        flow = Flow(file, scope)
        found = [replace(one, kind="far-device") for one in device_dropped(file, scope, flow)]
        found += _returned_on_cpu(file, scope, flow)
        for mutant in found:
            yield Helper(file.path, scope.node.name, mutant)


def _returned_on_cpu(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    returns = [node for node in flow.nodes if isinstance(node, ast.Return)]
    text = file.text(scope.node)
    if len(returns) != 1 or any(word in text for word in (".cpu(", "numpy", '"cpu"', "'cpu'", "yield", "device")):
        return
    value = returns[0].value
    if value is None or isinstance(value, ast.Tuple):
        return
    annotated = scope.node.returns is not None and is_tensor_type(scope.node.returns)
    if annotated or flow.flows(value, set(), flow.placed):
        simple = isinstance(value, ast.Name | ast.Call | ast.Subscript | ast.Attribute)
        written = f"{file.text(value)}.cpu()" if simple else f"({file.text(value)}).cpu()"
        yield planted("far-cpu", file, scope, (file.replaced(value, written),))


def exports(file: File) -> dict[tuple[str, str], tuple[str, str]]:
    """Where a package's ``__init__`` has its names from: (file, name) to (file, name)."""
    if PurePosixPath(file.path).name != "__init__.py":
        return {}
    return {
        (file.path, name): (f"{module}.py", dotted.rsplit(".", 1)[-1])
        for name, dotted in file.names.items()
        if (module := _module_path(file.path, dotted)) is not None
    }


def callers(file: File, known: Known) -> Iterator[Mutant]:
    """The mutants of helpers that a function of ``file`` suffers from.

    It calls the helper by its imported name, and the result meets a tensor of the function's device in an operation
    that wants them together. That it is returned does not count here.
    """
    imported = {
        name: found
        for name, dotted in file.names.items()
        for path in [_module_path(file.path, dotted)]
        if path is not None
        for found in [known.found(path, dotted.rsplit(".", 1)[-1])]
        if found
    }
    if not imported:
        return
    for scope in file.scopes():
        calls = [
            node
            for node in ast.walk(scope.node)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in imported
        ]
        if not calls:
            continue
        flow = Flow(file, scope)
        for call in calls:
            assert isinstance(call.func, ast.Name)
            if flow.stranded(call, returned=False):
                for helper in imported[call.func.id]:
                    here = Span(file.path, scope.first, scope.last)
                    own = helper.mutant
                    yield replace(own, counted=(*own.counted, here), original=(*own.original, here), caller=file.path)


def _module_path(importer: str, dotted: str) -> str | None:
    """``pkg/ops`` for ``from .ops import f`` in ``pkg/net.py``; None where it leads out of the release."""
    level = len(dotted) - len(dotted.lstrip("."))
    parts = dotted[level:].split(".")[:-1]
    if not level:
        return "/".join(parts) or None
    base = PurePosixPath(importer).parent
    for _ in range(level - 1):
        base = base.parent
    return str(base.joinpath(*parts))
