"""What is read of a file that another one imports."""

from __future__ import annotations

import ast

import pytest

from devlint.source.program import program_of

IMPORTS = "from .base import Base"


def defined(text: str) -> list[str]:
    program = program_of(text)
    assert program is not None
    assert program.tree is not None
    return [node.name for node in program.tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]


@pytest.mark.parametrize("method", ["forward(self, x)", "forward(\n        self, x\n    )"])
def test_a_module_is_read_that_does_not_name_torch(method: str) -> None:
    assert defined(f"{IMPORTS}\n\nclass Mean(Base):\n    def {method}:\n        return x\n") == ["Mean"]


@pytest.mark.parametrize("body", ["def load(self):\n        pass", "forward = None"])
def test_of_other_files_that_do_not_name_torch_the_imports_are_read(body: str) -> None:
    assert defined(f"{IMPORTS}\n\nclass Settings(Base):\n    {body}\n") == []


def test_a_file_that_names_torch_is_read_as_a_whole() -> None:
    assert defined("import torch\n\ndef load(): pass\n") == ["load"]
