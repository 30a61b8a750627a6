"""Torch takes seconds to import its compiler: a lifted call does without, and one that asks for it gets a whole one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import torch
from torch import nn
from devlint.runtime.lifting.calls import Lifter
from devlint.runtime.simulated import SimulatedMachine

class Net(nn.Module):
    def __init__(self, optimizes):
        super().__init__()
        self.a, self.optimizes = nn.Linear(3, 3), optimizes
    def forward(self, x):
        assert x.is_cuda
        if self.optimizes:
            torch.optim.SGD(self.parameters())
        return self.a(x)

lifter = Lifter(print, SimulatedMachine(2), torch.device("cuda:0"))
with lifter.active():
    Net(False)(torch.rand(4, 3)).sum().backward()
    assert "torch._dynamo" not in sys.modules
    Net(True)(torch.rand(4, 3))
    assert "torch._dynamo" in sys.modules
assert lifter.lifted == 2, lifter.not_lifted
from torch._dynamo.testing import CompileCounter
graphs, linear, x = CompileCounter(), nn.Linear(3, 3), torch.ones(2, 3)
compiled = torch.compile(lambda x: linear(x).to(x.device) + torch.ones(3), backend=graphs, fullgraph=True)
assert torch.equal(compiled(x), linear(x) + 1)
assert graphs.frame_count == 1, graphs.frame_count
"""


def test_a_compiler_that_a_lifted_call_imports_compiles_what_comes_later() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
