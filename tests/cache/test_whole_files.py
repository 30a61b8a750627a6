"""What is read of another file without being named there, and in which order files are read."""

from __future__ import annotations

import pytest

from devlint.cache.entries import Entry
from devlint.configuration.codes import all_codes
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.task import FileTask, Gate
from devlint.pipeline.workspaces import forget
from devlint.source.tree import WORKING_TREE
from tests.cache.conftest import Project
from tests.cache.test_edits import FILES, deep  # noqa: F401

UNTOLD = '''import torch
from torch import nn


class Part(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.scale = torch.ones(size)

    def forward(self, x):
        return self._scaled(x, 2) + _shifted(x, self)

    def _scaled(self, what, much):
        return _grown(what, much) * self.scale


class Wider(Part):
    def _scaled(self, what, much):
        return what


def _grown(what, much):
    return what


def _shifted(what, holder):
    """Shifts.

    Args:
        what (int): how far
    """
    return _grown(what, holder.scale)


def told(x: torch.Tensor):
    return x * torch.ones(3)


def apart(thing):
    return None
'''

READERS = {
    "pkg/first.py": "import torch\nfrom pkg.untold import told\n\n\ndef f(x):\n    return told(x)\n",
    "pkg/second.py": "import torch\nfrom pkg.untold import _shifted\n\n\ndef g(x, y):\n    return _shifted(x, y)\n",
    "pkg/third.py": "import torch\nfrom pkg.untold import Wider\n\n\nclass C(Wider):\n    def forward(self, x):\n"
    "        return super().forward(self._scaled(x, x))\n",
}
"""They read a file of definitions of whose parameters nothing is known but by others of the file."""


@pytest.fixture
def untold(deep: Project) -> Project:  # noqa: F811
    deep.write("pkg/untold.py", UNTOLD)
    for name, text in READERS.items():
        deep.write(name, text)
    deep.lint()
    return deep


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def apart(thing):", "def later(x):\n    return _grown(x.cuda(), 3)\n\n\ndef apart(thing):"),
        ("def apart(thing):\n    return None", "def apart(thing):\n    return _shifted(thing.cuda(), thing)"),
        ("def apart(thing):", "class Widest(Part):\n    def _scaled(self, what, much):\n        return what.cuda()\n"),
    ],
)
def test_what_is_gathered_from_a_whole_file_depends_on_what_is_new_there(untold: Project, old: str, new: str) -> None:
    untold.replace("pkg/untold.py", old, new)
    untold.agrees()
    assert "pkg/second.py" in untold.analysed


def test_the_types_of_a_docstring_are_computed_again(untold: Project) -> None:
    untold.replace("pkg/untold.py", "how far", "how far it goes")
    untold.agrees()
    assert "pkg/second.py" not in untold.analysed
    untold.replace("pkg/untold.py", "what (int)", "what (torch.Tensor)")
    untold.agrees()
    assert "pkg/second.py" in untold.analysed


WORKER = """class Worker:
    def rest(self):
        value = 1
        return value
"""

TRAINER = """import torch
from torch import nn
from pkg.worker import Worker


class Trainer(Worker):
    def fit(self):
        self.net = nn.Linear(3, 3).to("cuda")

    def predict(self):
        return self.net(torch.zeros(3, 3))
"""


def test_what_a_body_of_a_base_does_not_mention_it_may_mention_tomorrow(deep: Project) -> None:  # noqa: F811
    deep.write("pkg/worker.py", WORKER)
    deep.write("pkg/trainer.py", TRAINER)
    assert "pkg/trainer.py" in {finding.place.path for finding in deep.agrees()}
    deep.replace("pkg/worker.py", "value = 1", "value = 2")
    deep.agrees()
    assert "pkg/trainer.py" not in deep.analysed
    deep.replace("pkg/worker.py", "value = 2", "value = self.net.cpu()")
    assert "pkg/trainer.py" not in {finding.place.path for finding in deep.agrees()}
    assert "pkg/trainer.py" in deep.analysed


def _entry(project: Project, file: str) -> Entry:
    path = project.root / file
    gate = Gate(frozenset(all_codes()))
    task = FileTask(str(path), file, file, file, gate, cwd=str(project.root), recorded=True)
    record = analyse_file(task).record
    assert record is not None
    return Entry.of(record, task)


def test_dependencies_are_the_same_whatever_was_analysed_before(untold: Project) -> None:
    """What a body shows is kept for all that ask for it: each of them depends on the body."""
    files = sorted([*FILES, *READERS, "pkg/untold.py"])
    everything = [str(untold.root / file) for file in files]
    forget(WORKING_TREE, everything, recorded=True)
    together = [_entry(untold, file) for file in files]
    for file, entry in zip(files, together, strict=True):
        forget(WORKING_TREE, everything, recorded=True)
        assert _entry(untold, file) == entry
