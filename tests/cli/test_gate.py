"""Baselines and comparisons as they are asked for on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.gate.conftest import discarded

NAME = ".devlint-baseline.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two files with three findings."""
    root = tmp_path / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "pyproject.toml").write_text("")
    (root / "pkg/a.py").write_text(discarded("one", "two"))
    (root / "pkg/b.py").write_text(discarded("three"))
    return root


def test_the_commands(devlint: Run, project: Path) -> None:
    done = devlint("baseline", "prune", cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"devlint: {NAME}: no such baseline; `devlint baseline write` makes one\n"
    done = devlint("baseline", "write", "-q", "pkg/a.py", cwd=project)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        f"devlint: {NAME} now has 2 findings in 1 file; use it with `--baseline {NAME}` or `baseline` in the"
        " configuration\n"
    )
    done = devlint("--write-baseline", cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith("No new device-placement problem found in 2 files")
    assert done.stderr == f"devlint: {NAME} now has 3 findings in 2 files\n"
    done = devlint("baseline", "show", cwd=project)
    assert done.stdout.splitlines() == [
        "pkg/a.py: DEV201 one: x.cuda()", "pkg/a.py: DEV201 two: x.cuda()", "pkg/b.py: DEV201 three: x.cuda()",
    ]  # fmt: skip
    assert done.stderr == "3 known findings in 2 files\n"
    shown = json.loads(devlint("baseline", "show", "--output-format", "json", cwd=project).stdout)
    assert shown[0] == {"path": "pkg/a.py", "scope": "one", "code": "DEV201", "text": "x.cuda()", "count": 1}
    (project / "pkg/b.py").unlink()
    (project / "pkg/c.py").write_text(discarded("new").replace("cuda", "cpu"))
    done = devlint("baseline", "prune", cwd=project)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"devlint: {NAME}: 1 of 3 entries removed\n"
    done = devlint("--baseline", NAME, "--output-format", "json", cwd=project)
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert (document["summary"]["baselined"], [finding["scope"] for finding in document["findings"]]) == (2, ["new"])


def test_writing_and_comparing_do_not_go_together(devlint: Run, project: Path) -> None:
    done = devlint("--write-baseline", "--diff-base", "main", cwd=project)
    assert done.returncode == 2
    assert "--write-baseline writes all findings" in done.stderr


def test_a_path_that_does_not_exist_writes_nothing(devlint: Run, project: Path) -> None:
    done = devlint("baseline", "write", "--baseline", "new.json", "typo.py", cwd=project)
    assert done.returncode == 2
    assert "new.json is not written: nothing was looked at" in done.stderr
    assert not (project / "new.json").exists()
