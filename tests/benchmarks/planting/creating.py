"""Mutants of creations, indexes written in, loads and host reads: single expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from planting.mutant import Mutant, planted
from planting.places import FACTORIES, creates, device_argument, has_dimensions, move
from planting.source import File, Scope
from planting.stranded import Flow


def device_dropped(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    """drop-device: ``torch.zeros(n, device=x.device)`` -> ``torch.zeros(n)``.

    The result has a dimension, is never moved or read on the host, and meets a tensor of the function's device in an
    operation that wants them together, goes into a layer or a model, or is returned. No default device is set
    around it.
    """
    if "set_default_device" in ast.unparse(scope.node) or _default_device(file, flow):
        return
    for node in flow.nodes:
        if isinstance(node, ast.Call) and file.dotted(node.func) in FACTORIES and has_dimensions(file, node):
            keyword = device_argument(file, node)
            if keyword is not None and flow.stranded(node):
                yield planted("drop-device", file, scope, (file.without_keyword(node, keyword),))


def _default_device(file: File, flow: Flow) -> bool:
    return any(
        isinstance(node, ast.With) and any("device" in ast.unparse(item.context_expr) for item in node.items)
        for node in flow.nodes
    )


def index_written(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    """index: the device that a move or a creation is given -> ``"cuda:0"``, or the move -> ``.cuda(0)``.

    The device was a name or a tensor's own, so the code served any; now it fails without CUDA and on other indexes.
    """
    yield from _written("index", "cuda:0", "cuda(0)", file, scope, flow)


def accelerator_named(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    """name: the device that a move or a creation is given -> ``"cuda"``, or the move -> ``.cuda()``.

    Now the code fails without CUDA, and on every index but the current one.
    """
    yield from _written("name", "cuda", "cuda()", file, scope, flow)


def _written(kind: str, name: str, method: str, file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    if "cuda" in scope.qualname.lower() or "gpu" in scope.qualname.lower():
        return
    for node in flow.nodes:
        one = move(file, node)
        if one is not None and one.argument is not None and not isinstance(one.argument, ast.Constant | ast.Call):
            yield planted(kind, file, scope, (file.replaced(one.argument, f'"{name}"'),))
            if len(one.call.args) == 1 and not one.call.keywords and one.call.func.attr == "to":  # type: ignore[attr-defined]
                yield planted(kind, file, scope, (file.replaced(one.call, f"{file.operand(one.value)}.{method}"),))
        elif isinstance(node, ast.Call) and file.dotted(node.func) in FACTORIES:
            keyword = device_argument(file, node)
            if keyword is not None and not isinstance(keyword.value, ast.Constant | ast.Call):
                yield planted(kind, file, scope, (file.replaced(keyword.value, f'"{name}"'),))


def map_location_dropped(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    """load: ``torch.load(f, map_location=...)`` -> ``torch.load(f)``.

    The location was no None. What was saved on a GPU is put back there, and cannot be read without one.
    """
    for node in flow.nodes:
        if isinstance(node, ast.Call) and file.dotted(node.func) == "torch.load":
            for keyword in node.keywords:
                none = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
                if keyword.arg == "map_location" and not none:
                    yield planted("load", file, scope, (file.without_keyword(node, keyword),))


def cpu_dropped(file: File, scope: Scope, flow: Flow) -> Iterator[Mutant]:
    """numpy: ``x.detach().cpu().numpy()`` -> ``x.detach().numpy()``.

    ``x`` was not made on the CPU in this function, nor brought there by another statement of it.
    """
    for node in flow.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="numpy")):
                pass
            case _:
                continue
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            if value.func.attr == "cpu" and not value.args and not value.keywords:
                if not _is_host(file, flow, value.func.value):
                    yield planted("numpy", file, scope, (file.replaced(value, file.operand(value.func.value)),))
                break
            if value.func.attr not in ("detach", "float", "clone", "squeeze", "contiguous"):
                break
            value = value.func.value


def _is_host(file: File, flow: Flow, node: ast.expr) -> bool:
    """Whether a value may be on the CPU already, by what the function does to its name."""
    while isinstance(node, ast.Call | ast.Subscript | ast.Attribute):
        if creates(file, node):
            return True
        inner = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Attribute) and node.attr == "cpu":
            return True
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return False
        node = inner
    if not isinstance(node, ast.Name):
        return True
    stores = [
        n.value
        for n in flow.nodes
        if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == node.id for t in n.targets)
    ]
    text = " ".join(ast.unparse(store) for store in stores)
    return (
        ".cpu(" in text
        or "numpy" in text
        or '"cpu"' in text
        or "'cpu'" in text
        or any(creates(file, s) for s in stores)
    )
