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


def _loop_of(file: File, node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.For)
        and is_loader(file, node.iter)
        and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node.target))
    )
