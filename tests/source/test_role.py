"""The part a file plays."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from devlint.source.role import Role, names_a_test, role_of

GUARD = "import torch\n\nif __name__ == '__main__':\n    main()\n"
TRIED_OUT = "from .layers import Block\n\nif __name__ == '__main__':\n    print(Block(3))\n"
SHOWN = """
import torch
from torch import nn

class Net(nn.Module):
    pass

if __name__ == '__main__':
    net = Net()
    print(net(torch.randn(3)).shape)
"""
TESTED = """
import torch

def test_shift():
    assert shift(torch.ones(3)) is not None

if __name__ == '__main__':
    # all of them
    test_shift()
"""

EVALUATED = """
import argparse

def test_one_epoch(net, loader):
    pass

def main():
    test_one_epoch(*argparse.ArgumentParser().parse_args())

if __name__ == '__main__':
    main()
"""


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
        ("net.py", SHOWN, Role.DEMONSTRATED),
        ("pkg/net.py", SHOWN.replace("(nn.Module)", "(pl.LightningModule)"), Role.DEMONSTRATED),
        ("net.py", SHOWN.replace("(nn.Module)", ""), Role.SCRIPT),
        ("net.py", SHOWN + "    net.sum().backward()\n", Role.SCRIPT),
        ("net.py", SHOWN + "    torch.save(net, 'net.pt')\n", Role.SCRIPT),
        ("net.py", SHOWN + "    net.train()\n", Role.SCRIPT),
        ("net.py", SHOWN + "    print(net)\n" * 30, Role.SCRIPT),
        ("net.py", "import click\n" + SHOWN, Role.SCRIPT),
        ("demos/net.py", SHOWN, Role.SCRIPT),
        ("tests/net.py", SHOWN, Role.TEST),
        ("shift.py", TESTED, Role.DEMONSTRATED),
        ("shift.py", TESTED + "    import doctest\n    doctest.testmod()\n", Role.DEMONSTRATED),
        ("shift.py", TESTED + "    shift(torch.ones(3))\n", Role.SCRIPT),
        ("shift.py", TESTED + "    testing(torch.ones(3))\n", Role.SCRIPT),
        ("setup.py", "", Role.SCRIPT),
        ("tests/test_net.py", GUARD, Role.TEST),
        ("pkg/tests/data.py", "", Role.TEST),
        ("net_test.py", "", Role.TEST),
        ("conftest.py", "", Role.TEST),
        ("test_net.py", "", Role.TEST),
        ("test.py", EVALUATED, Role.SCRIPT),
        ("tools/test.py", EVALUATED, Role.SCRIPT),
        ("pkg/eval_test.py", EVALUATED, Role.SCRIPT),
        ("test.py", EVALUATED.replace("argparse", "random").replace("main", "run"), Role.TEST),
        ("test.py", "import pytest\n" + EVALUATED, Role.TEST),
        ("test.py", "import unittest\n" + EVALUATED, Role.TEST),
        ("test_net.py", EVALUATED + "\ndef test_shapes():\n    pass\n", Role.TEST),
        ("tests/test.py", EVALUATED, Role.TEST),
        ("pkg/test_time_augmentation.py", "", Role.LIBRARY),
        ("tests/test_time_augmentation.py", "", Role.TEST),
        ("test_models/heads/utils.py", "", Role.TEST),
        ("pkg/test_functions/base.py", "", Role.LIBRARY),
        ("test_of_mine/train.py", "", Role.LIBRARY),
        ("benchmarks/run.py", GUARD, Role.BENCHMARK),
        ("bench_net.py", "", Role.BENCHMARK),
        ("tests/benchmarks/run.py", "", Role.TEST),
        ("pkg/train.py", "parser = ArgumentParser()\nargs = parser.parse_args()\n", Role.SCRIPT),
        ("pkg/train.py", "args, rest = options().parse_known_args()\n", Role.SCRIPT),
        ("pkg/train.py", "def main():\n    args = parser.parse_args()\n", Role.LIBRARY),
        ("tests/demo.ipynb", "", Role.NOTEBOOK),
    ],
)
def test_role(path: str, text: str, role: Role) -> None:
    assert role_of(PurePath(path), text) is role


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("test", True),
        ("_test_shapes", True),
        ("tests", True),
        ("testing", False),
        ("latest", False),
        ("contest", False),
    ],
)
def test_names_of_tests(name: str, is_one: bool) -> None:
    assert names_a_test(name) is is_one
