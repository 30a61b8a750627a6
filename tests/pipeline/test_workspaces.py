"""What is known of other files is kept from one file to the next, and no file is told anything else by that."""

from __future__ import annotations

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from devlint.configuration.codes import all_codes
from devlint.pipeline.file_report import analyse_file
from devlint.pipeline.postponed import Postponed
from devlint.pipeline.task import FileReport, FileTask, Gate
from devlint.placement.declarations.definitions import FunctionInfo
from devlint.placement.interpreter.interpreter import Interpreter
from devlint.placement.project.module_analysis import ModuleAnalysis
from devlint.source.tree import Tree, WorkingTree

FILES = {
    "pkg/__init__.py": "",
    "pkg/ops.py": """
        import torch

        def make(n):
            return torch.zeros(n)

        def even(n, x):
            return x if n == 0 else odd(n - 1, x)

        def odd(n, x):
            return make(3) if n == 0 else even(n - 1, x)

        def counter(n):
            mask = torch.ones(n)
            def inside(x):
                return mask
            return inside
    """,
    "pkg/base.py": """
        import torch
        from pkg.ops import make

        class Base(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.build()

            def build(self):
                self.register_buffer("scale", None)
                self.offset = make(4)

            def shifted(self, x):
                self.scale = make(2)
                return x * self.scale + self.later()

            def later(self):
                return self.offset
    """,
    "first.py": """
        import torch
        from pkg.ops import even, odd

        def f(x: torch.Tensor):
            return x + odd(1, x)

        def g(x: torch.Tensor):
            return x + even(1, x)
    """,
    "second.py": """
        import torch
        from pkg.base import Base
        from pkg.ops import counter, even

        class Net(Base):
            def forward(self, x):
                return self.shifted(x) + x @ self.offset

        def g(x: torch.Tensor):
            return x + even(1, x) + counter(3)(x)
    """,
    "third.py": """
        import torch
        import first
        from pkg.base import Base

        def h(x: torch.Tensor):
            return x * first.g(x) * Base().later()
    """,
    "round.py": """
        import torch
        from back import again, helped

        def own(n):
            return torch.zeros(n)

        def f(x: torch.Tensor):
            return x + again(3) + helped(3)
    """,
    "back.py": """
        import torch
        from pkg.ops import make
        from round import own

        def again(n):
            return own(n)

        def helped(n):
            return make(n)
    """,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(dedent(text))
    (tmp_path / "setup.cfg").write_text("")
    return tmp_path


def report(root: Path, name: str, tree: Tree, leads_back: bool = False, may_wait: bool = False) -> FileReport:
    gate = Gate(frozenset(all_codes()))
    task = FileTask(str(root / name), name, name, name, gate, cwd=str(root), recorded=True, leads_back=leads_back)
    return analyse_file(replace(task, may_wait=may_wait), tree)


def known(found: FileReport) -> tuple[object, ...]:
    """Findings, and what they rest on; in what order things were asked is not told."""
    record = found.record
    assert record is not None
    dependencies = record.dependencies
    return (
        found.findings,
        dependencies.parsed,
        dependencies.located,
        dependencies.packages,
        dependencies.probed,
        dependencies.rooted,
    )


NAMES = sorted(name for name, text in FILES.items() if text)


def test_no_order_of_the_files_changes_what_is_said_of_one(project: Path) -> None:
    alone = {name: known(report(project, name, WorkingTree())) for name in NAMES}
    said = {finding.code for findings, *_ in alone.values() for finding in findings}  # type: ignore[attr-defined]
    assert "DEV101" in said
    for names in itertools.islice(itertools.permutations(NAMES), 0, None, 211):
        tree = WorkingTree()
        for name in names:
            assert known(report(project, name, tree)) == alone[name], names


def walked(root: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the walks of each definition from now on."""
    counted = Counter[str]()
    walk = ModuleAnalysis._evaluate

    def counting(self: ModuleAnalysis, info: FunctionInfo) -> Interpreter:
        assert self.file is not None
        counted[f"{self.file.relative_to(root).as_posix()}:{info.qualname}"] += 1
        return walk(self, info)

    monkeypatch.setattr(ModuleAnalysis, "_evaluate", counting)
    return counted


def test_what_one_file_asked_serves_the_next(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, counted = WorkingTree(), walked(project, monkeypatch)
    for name in ("fourth.py", "fifth.py"):
        (project / name).write_text("from pkg.base import Base\nimport torch\n\ndef f():\n    return Base().later()\n")
        report(project, name, tree)
    assert counted["pkg/base.py:Base.later"] == 1
    assert counted["pkg/ops.py:make"] == 1
    assert (counted["fourth.py:f"], counted["fifth.py:f"]) == (1, 1)


def test_files_that_lead_back_are_asked_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, counted = WorkingTree(), walked(project, monkeypatch)
    findings = report(project, "round.py", tree).findings
    assert [(finding.code, finding.place.line) for finding in findings] == [("DEV101", 6), ("DEV101", 9)]
    before = counted["pkg/ops.py:make"]
    report(project, "round.py", tree)
    assert counted["pkg/ops.py:make"] > before


def test_after_a_failure_nothing_is_kept(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = WorkingTree()
    (project / "fourth.py").write_text("from pkg.ops import make\nimport torch\n\ndef f():\n    return make(3)\n")
    alone = known(report(project, "fourth.py", tree))
    walk = ModuleAnalysis._evaluate

    def fails(self: ModuleAnalysis, info: FunctionInfo) -> Interpreter:
        if info.qualname == "odd":
            raise KeyError("odd")
        return walk(self, info)

    with monkeypatch.context() as broken:
        broken.setattr(ModuleAnalysis, "_evaluate", fails)
        assert [finding.code for finding in report(project, "first.py", tree).findings] == ["DEV902"]
    counted = walked(project, monkeypatch)
    assert known(report(project, "fourth.py", tree)) == alone
    assert counted["pkg/ops.py:make"] == 1


def test_threads_do_not_share_what_they_know(project: Path) -> None:
    alone = {name: known(report(project, name, WorkingTree())) for name in NAMES}

    def run(names: list[str]) -> bool:
        tree = WorkingTree()
        return all(known(report(project, name, tree)) == alone[name] for name in names)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, [NAMES[i:] + NAMES[:i] for i in range(len(NAMES))]))


@pytest.mark.parametrize("leads_back", [False, True])
def test_whether_files_led_back_before_makes_no_difference(project: Path, leads_back: bool) -> None:
    led = set()
    for name in NAMES:
        expected = report(project, name, WorkingTree())
        guessed = report(project, name, WorkingTree(), leads_back)
        assert guessed.findings == expected.findings, name
        assert guessed.record is not None
        assert expected.record is not None
        assert guessed.record.leads_back is expected.record.leads_back, name
        led.update([name] if guessed.record.leads_back else [])
    assert led == {"round.py"}


@pytest.mark.parametrize("position", range(len(NAMES)))
def test_a_file_that_leads_back_may_wait_and_changes_nothing_of_the_others(project: Path, position: int) -> None:
    others = [name for name in NAMES if name != "round.py"]
    alone = {name: known(report(project, name, WorkingTree())) for name in NAMES}
    tree = WorkingTree()
    for name in others[:position]:
        assert known(report(project, name, tree, may_wait=True)) == alone[name], name
    with pytest.raises(Postponed):
        report(project, "round.py", tree, may_wait=True)
    for name in others[position:]:
        assert known(report(project, name, tree, may_wait=True)) == alone[name], name
    assert report(project, "round.py", tree, leads_back=True).findings == alone["round.py"][0]


def test_what_is_known_of_others_outlives_a_file_that_waits(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, counted = WorkingTree(), walked(project, monkeypatch)
    for name in ("fourth.py", "fifth.py"):
        (project / name).write_text("from pkg.base import Base\nimport torch\n\ndef f():\n    return Base().later()\n")
    report(project, "fourth.py", tree)
    with pytest.raises(Postponed):
        report(project, "round.py", tree, may_wait=True)
    report(project, "fifth.py", tree)
    assert counted["pkg/base.py:Base.later"] == 1


def test_what_gives_nothing_is_walked_where_it_may_read_what_it_is_handed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pkg" / "notes.py").write_text(
        "import numpy\nfrom pkg.ops import make\n\ndef note(n):\n    make(n)\n\ndef kept(x):\n    numpy.asarray(x)\n"
    )
    (project / "fourth.py").write_text(
        "import torch\nfrom pkg.notes import kept, note\n\ndef f(x: torch.Tensor):\n    note(3)\n    kept(x.cuda())\n"
    )
    counted = walked(project, monkeypatch)
    (finding,) = report(project, "fourth.py", WorkingTree()).findings
    assert finding.code == "DEV403"
    assert (counted["pkg/notes.py:note"], counted["pkg/ops.py:make"], counted["pkg/notes.py:kept"]) == (0, 0, 1)


def test_of_a_file_that_led_back_one_analysis_is_saved(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = walked(project, monkeypatch)
    report(project, "round.py", WorkingTree())
    assert counted.pop("round.py:f") == 2, "as if alone, and alone"
    report(project, "round.py", WorkingTree(), leads_back=True)
    assert counted["round.py:f"] == 1
