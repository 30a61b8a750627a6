"""The chapter "How a file becomes findings" names modules that exist, and the stages in the order of the code."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

from devlint.pipeline import file_report

ROOT = Path(__file__).resolve().parents[2]
HEADING = "## How a file becomes findings\n"
ENTRY_POINT = "analyse_file"


def chapter() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, after = text.partition(HEADING)
    assert after, "the chapter is gone"
    return re.split(r"^## ", after, flags=re.M)[0]


def listed() -> list[tuple[str, str]]:
    """Function and module of each stage that the chapter lists."""
    return re.findall(r"^\d+\. `(\w+)` \(`([\w.]+)`\)", chapter(), re.M)


def called_in_order() -> list[str]:
    """Every function of devlint that an analysis calls by name in ``file_report``, in the order of evaluation."""
    module = ast.parse(inspect.getsource(file_report))
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}

    def calls(node: ast.AST) -> list[str]:
        inner = [name for child in ast.iter_child_nodes(node) for name in calls(child)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            return [*inner, *(calls(functions[name]) if name in functions else [name])]
        return inner

    return calls(functions[ENTRY_POINT])


def test_every_module_of_the_chapter_exists() -> None:
    names = set(re.findall(r"`(devlint(?:\.\w+)+)`", chapter())) - {f"{file_report.__name__}.{ENTRY_POINT}"}
    assert len(names) > 15
    for name in names:
        importlib.import_module(name)


def test_every_stage_of_the_chapter_is_a_function_of_its_module() -> None:
    assert len(listed()) > 10
    for function, module in listed():
        assert inspect.isfunction(getattr(importlib.import_module(module), function))


def test_the_stages_stand_in_the_code_in_the_order_of_the_chapter() -> None:
    stages = [function for function, _ in listed()]
    called = [name for name in dict.fromkeys(called_in_order()) if name in stages]
    assert called == stages


def test_no_stage_is_missing_from_the_chapter() -> None:
    modules = {path.stem for path in (ROOT / "devlint/pipeline/stages").glob("*.py")} - {"__init__"}
    assert modules <= {module.rpartition(".")[2] for _, module in listed()}


def test_the_picture_shows_the_stages_in_the_order_of_the_list() -> None:
    picture = chapter().split("```")[1]
    shown = re.findall(r"\|  (\w+)", picture)
    assert shown == [function for function, _ in listed() if function in shown]
    assert len(shown) > 10
