"""The part a file plays."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from devlint.source.role import Role, role_of

GUARD = "import torch\n\nif __name__ == '__main__':\n    main()\n"
TRIED_OUT = "from .layers import Block\n\nif __name__ == '__main__':\n    print(Block(3))\n"


@pytest.mark.parametrize(
    ("path", "text", "role"),
    [
        ("pkg/net.py", "", Role.LIBRARY),
        ("pkg/latest.py", "", Role.LIBRARY),
        ("pkg/contest_runner.py", "", Role.LIBRARY),
        ("pkg/workbench.py", "", Role.LIBRARY),
        ("train.py", GUARD, Role.SCRIPT),
        ("train.py", "if '__main__' == __name__:\n    pass\n", Role.SCRIPT),
        ("train.py", "def f():\n    if __name__ == '__main__':\n        pass\n", Role.LIBRARY),
        ("examples/train.py", "", Role.SCRIPT),
        ("pkg/net.py", TRIED_OUT, Role.LIBRARY),
        ("pkg/net.py", TRIED_OUT.replace("from .", "from pkg."), Role.SCRIPT),
        ("pkg/net.py", "def main():\n    pass\n\n" + TRIED_OUT, Role.SCRIPT),
        ("pkg/net.py", "import argparse\n" + TRIED_OUT, Role.SCRIPT),
        ("pkg/net.py", "from sys import argv\nimport fire\n" + TRIED_OUT, Role.SCRIPT),
        ("scripts/net.py", TRIED_OUT, Role.SCRIPT),
        ("setup.py", "", Role.SCRIPT),
        ("tests/test_net.py", GUARD, Role.TEST),
        ("pkg/tests/data.py", "", Role.TEST),
        ("net_test.py", "", Role.TEST),
        ("conftest.py", "", Role.TEST),
        ("test_net.py", "", Role.TEST),
        ("pkg/test_time_augmentation.py", "", Role.LIBRARY),
        ("tests/test_time_augmentation.py", "", Role.TEST),
        ("test_models/heads/utils.py", "", Role.TEST),
        ("pkg/test_functions/base.py", "", Role.LIBRARY),
        ("test_of_mine/train.py", "", Role.LIBRARY),
        ("benchmarks/run.py", GUARD, Role.BENCHMARK),
        ("bench_net.py", "", Role.BENCHMARK),
        ("tests/benchmarks/run.py", "", Role.TEST),
        ("tests/demo.ipynb", "", Role.NOTEBOOK),
    ],
)
def test_role(path: str, text: str, role: Role) -> None:
    assert role_of(PurePath(path), text) is role
