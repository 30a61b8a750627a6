"""The screen never hides a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.rules.engine import lint_module
from devlint.source.decoding import decode
from devlint.source.gate import Refusal, parse_tree
from devlint.source.role import Role
from devlint.source.screen import may_hold_findings

ROOT = Path(__file__).parents[2]
SCREENED = [
    file
    for directory in ("devlint", "fixtures", "tests")
    for file in sorted((ROOT / directory).rglob("*.py"))
    if not may_hold_findings(decode(file.read_bytes()))
]


def test_the_rules_have_nothing_to_say_of_what_is_screened_out() -> None:
    assert len(SCREENED) > 10
    for file in SCREENED:
        text = decode(file.read_bytes()).text
        tree = parse_tree(text)
        assert not isinstance(tree, Refusal)
        assert lint_module(tree, text, str(file), Role.LIBRARY) == [], file


@pytest.mark.parametrize(
    ("data", "passes"),
    [
        (b"import torch\n", True),
        (b"import pytorch_lightning\n", True),
        (b"from .base import Base\nclass Net(Base):\n    def forward(self, x):\n        return x\n", True),
        (b"x = 1\n", False),
        (b"# coding: utf-7\nimport +AHQAbwByAGMAaA-\n", True),
    ],
)
def test_what_passes(data: bytes, passes: bool) -> None:
    assert may_hold_findings(decode(data)) is passes
