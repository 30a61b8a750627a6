"""Whether a value starts on the CPU, as far as one function says."""

from __future__ import annotations

import ast

from planting.places import creates, is_loader
from planting.source import File
from planting.stranded import KEEPS, Flow


def cpu_start(file: File, flow: Flow, node: ast.expr) -> bool:
    """Whether a value is on the CPU: made there in the function, or handed out by a loader."""
    seen: set[str] = set()
    while True:
        if creates(file, node):
            return True
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in KEEPS:
                node = value
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                if any(_loop_of(file, n, name) for n in flow.nodes):
                    return flow.stores(name) <= 2
                store = flow.only_store(name)
                if store is None:
                    return False
                node = store
            case _:
                return False


def starts_elsewhere(file: File, flow: Flow, moved: ast.expr, value: ast.expr) -> bool:
    """Whether what ``moved`` moves is on the CPU without it: ``value`` was made there, or drawn from a loader.

    A parameter may have been there all along.
    """
    if not isinstance(value, ast.Name):
        return cpu_start(file, flow, value)
    if any(_loop_of(file, node, value.id) or _drawn(file, flow, node, value.id) for node in flow.nodes):
        return flow.stores(value.id) <= 2
    others = flow.stores_but(value.id, moved)
    return others is not None and len(others) == 1 and (cpu_start(file, flow, others[0]) or _is_built(others[0]))


def _is_built(node: ast.expr) -> bool:
    """``Net(3)``, ``models.Net(3)``: an object of a class that is written as one."""
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name[:1].isupper()


def _drawn(file: File, flow: Flow, node: ast.AST, name: str) -> bool:
    """``inputs, labels = batch`` of a loader's batch."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Name)
        and any(isinstance(n, ast.Name) and n.id == name for target in node.targets for n in ast.walk(target))
        and any(_loop_of(file, n, node.value.id) for n in flow.nodes)
    )


def _loop_of(file: File, node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.For)
        and is_loader(file, node.iter)
        and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.target))
    )
