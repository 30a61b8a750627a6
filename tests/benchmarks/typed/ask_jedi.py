"""Run by the Python of jedi's environment: asks jedi about files, one JSON line for each answer.

python ask_jedi.py DIRECTORY SITE_PACKAGES_OR_EMPTY < paths, one a line
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import jedi  # type: ignore[import-not-found]

Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def main() -> None:
    directory, packages = Path(sys.argv[1]), sys.argv[2]
    paths = [str(directory), *([packages] if packages else [])]
    project = jedi.Project(str(directory), sys_path=[*paths, *[p for p in sys.path if "lib/python" in p]])
    for path in sys.stdin.read().splitlines():
        text = (directory / path).read_text(encoding="utf-8")
        script = jedi.Script(text, path=str(directory / path), project=project)
        for qualname, node in functions(ast.parse(text), ""):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            for argument in arguments:
                ask(path, qualname, argument.arg, lambda a=argument, s=script: s.infer(a.lineno, a.col_offset))
            column = node.col_offset + (10 if isinstance(node, ast.AsyncFunctionDef) else 4)
            ask(path, qualname, "return", lambda n=node, c=column, s=script: results(s.infer(n.lineno, c)))


def results(names: list) -> list:  # type: ignore[type-arg]
    return [result for name in names for result in name.execute()]


def ask(path: str, qualname: str, name: str, infer) -> None:  # type: ignore[no-untyped-def]
    try:
        told = sorted({found.get_type_hint() or found.name for found in infer()})
    except Exception:  # jedi fails on some programs, in many ways
        return
    if told:
        print(json.dumps([path, qualname, name, told]), flush=True)


def functions(tree, prefix):  # type: ignore[no-untyped-def]
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            # The line of the definition, not of its first decorator.
            yield prefix + node.name, node
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.stmt, ast.ExceptHandler)):
            yield from functions(node, prefix)


main()
