"""Run by the Python of astroid's environment: asks astroid about files, one JSON line for each answer.

python ask_astroid.py DIRECTORY SITE_PACKAGES_OR_EMPTY < paths, one a line
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import astroid  # type: ignore[import-not-found]
from astroid import nodes


def main() -> None:
    directory, packages = Path(sys.argv[1]), sys.argv[2]
    sys.path[:0] = [str(directory)]
    if packages:
        sys.path.append(packages)
    for path in sys.stdin.read().splitlines():
        module = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        try:
            tree = astroid.MANAGER.ast_from_file(str(directory / path), module, source=True)
        except Exception:
            continue
        for node in tree.nodes_of_class(nodes.FunctionDef):
            qualname = name_of(node)
            arguments = node.args
            for argument in [*arguments.posonlyargs, *(arguments.args or []), *arguments.kwonlyargs]:
                ask(path, qualname, argument.name, lambda a=argument: list(a.infer()))
            if not node.is_generator():
                ask(path, qualname, "return", lambda n=node: list(n.infer_call_result(None)))


def name_of(node) -> str:  # type: ignore[no-untyped-def]
    parts = [node.name]
    scope = node.parent.frame()
    while isinstance(scope, (nodes.FunctionDef, nodes.ClassDef)):
        parts.append(scope.name)
        scope = scope.parent.frame()
    return ".".join(reversed(parts))


def ask(path: str, qualname: str, name: str, infer) -> None:  # type: ignore[no-untyped-def]
    try:
        told = sorted({text for found in infer() if (text := text_of(found, 2))})
    except Exception:  # astroid fails on some programs, in many ways
        return
    if told:
        print(json.dumps([path, qualname, name, told]), flush=True)


def text_of(found, depth: int) -> str:  # type: ignore[no-untyped-def]
    if found is astroid.Uninferable:
        return ""
    if isinstance(found, (nodes.List, nodes.Tuple, nodes.Set)) and depth:
        inner = [
            next((t for one in element.infer() if (t := text_of(one, depth - 1))), "Any") for element in found.elts[:6]
        ]
        return f"{type(found).__name__.lower()}[{', '.join(inner) or 'Any'}]"
    if isinstance(found, (nodes.ClassDef, nodes.FunctionDef, nodes.Module)):
        return "Callable"
    return str(found.pytype()).removeprefix("builtins.")


main()
