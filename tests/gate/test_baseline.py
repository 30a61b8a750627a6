"""What a run with a baseline reports, and what becomes of the baseline."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from devlint.gate.baseline_file import BaselineError
from devlint.gate.wanted import BaselineUse
from tests.gate.conftest import discarded, places, run

NAME = ".devlint-baseline.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two files with three findings, all known; the configuration names the baseline."""
    root = tmp_path / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "pyproject.toml").write_text(f'[tool.devlint]\nbaseline = "{NAME}"\n')
    (root / "pkg/a.py").write_text(discarded("one", "two"))
    (root / "pkg/b.py").write_text(discarded("three"))
    write(root)
    return root


def write(root: Path, *paths: str) -> None:
    assert run(root, *paths, use=BaselineUse.WRITE).exit_code == 0


def entries(root: Path, name: str = NAME) -> list[tuple[str, str, int]]:
    document = json.loads((root / name).read_text())
    return [(entry["path"], entry["scope"], entry.get("count", 1)) for entry in document["entries"] if entry]


def test_what_is_known_is_counted_and_not_shown(project: Path) -> None:
    result = run(project)
    assert (result.findings, result.hidden.baselined, result.exit_code, result.notes) == ((), 3, 0, ())
    assert places(run(project, baseline="")) == ["pkg/a.py:one", "pkg/a.py:two", "pkg/b.py:three"]


def test_a_baseline_that_nobody_names_is_not_used(project: Path) -> None:
    (project / "pyproject.toml").write_text("")
    assert len(run(project).findings) == 3
    assert run(project, baseline=NAME).hidden.baselined == 3


def test_moves_reformatting_and_a_new_name_are_not_new(project: Path) -> None:
    text = discarded("two", "renamed").replace("import torch\n", "import torch\n\n# a comment\n\n\n")
    (project / "pkg/a.py").write_text(text.replace("x.cuda()", "x . cuda(\n    )"))
    (project / "pkg/b.py").rename(project / "pkg/moved.py")
    result = run(project)
    assert (places(result), result.hidden.baselined, result.notes) == ([], 3, ())


def test_a_second_like_bug_in_a_function_is_new_and_it_is_the_later_one(project: Path) -> None:
    text = discarded("one", "two").replace("    x.cuda()\n", "    x.cuda()\n    x.cuda()\n", 1)
    (project / "pkg/a.py").write_text(text)
    result = run(project)
    assert [(f.place.path, f.scope, f.place.line) for f in result.findings] == [("pkg/a.py", "one", 6)]


def test_another_bug_is_new(project: Path) -> None:
    (project / "pkg/a.py").write_text(discarded("one", "two").replace("x.cuda()", "x.cpu()", 1))
    assert places(run(project)) == ["pkg/a.py:one"]


def test_a_copy_is_new_while_the_original_is_there(project: Path) -> None:
    (project / "pkg/c.py").write_text(discarded("one"))
    assert places(run(project)) == ["pkg/c.py:one"]


@pytest.mark.parametrize("paths", [["pkg/a.py"], ["pkg/b.py"], ["pkg/c.py"], ["pkg/c.py", "pkg/a.py"], ["."]])
@pytest.mark.parametrize("original_is_gone", [False, True])
def test_a_file_is_judged_the_same_alone_and_with_the_project(
    project: Path, paths: list[str], original_is_gone: bool
) -> None:
    (project / "pkg/c.py").write_text(discarded("one"))
    if original_is_gone:
        (project / "pkg/a.py").write_text(discarded("two"))
    whole = places(run(project))
    assert whole == ([] if original_is_gone else ["pkg/c.py:one"])
    result = run(project, *paths)
    assert places(result) == [place for place in whole if place.split(":")[0] in paths or paths == ["."]]


def test_entries_that_stand_for_nothing_are_told_in_one_line(project: Path) -> None:
    (project / "pkg/a.py").write_text(discarded("one"))
    (project / "pkg/b.py").unlink()
    result = run(project)
    assert result.exit_code == 0
    assert result.notes == (f"{NAME}: 2 entries stand for no finding any more; `devlint baseline prune` removes them",)


def test_a_run_over_some_files_does_not_judge_the_entries_of_others(project: Path) -> None:
    (project / "pkg/b.py").write_text("import torch\n")
    assert run(project, "pkg/a.py").notes == ()
    assert len(run(project, "pkg/b.py").notes) == 1
    assert len(run(project, "pkg").notes) == 1


@pytest.mark.parametrize(
    "settings", [{"select": ["DEV1"]}, {"min_severity": "error", "min_confidence": "high"}, {"exclude": ["pkg/a.py"]}]
)
def test_what_a_run_does_not_show_is_not_stale(project: Path, settings: dict[str, Any]) -> None:
    (project / "pkg/c.py").write_text("import torch\n\nmodel = torch.load('weights.pt')\n")
    write(project)
    result = run(project, **settings)
    if "exclude" in settings:
        assert result.notes == (
            f"{NAME}: 2 entries stand for no finding any more; `devlint baseline prune` removes them",
        )
    else:
        assert result.notes == ()


def test_a_file_that_cannot_be_read_is_2_and_its_entries_stay(project: Path) -> None:
    (project / "pkg/b.py").write_bytes(b"import torch\n\xff\n")
    result = run(project)
    assert ([finding.code for finding in result.findings], result.exit_code, result.notes) == (["DEV902"], 2, ())
    for use in (BaselineUse.WRITE, BaselineUse.PRUNE):
        assert run(project, use=use).exit_code == 2
        assert ("pkg/b.py", "three", 1) in entries(project)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_where_something_could_not_be_looked_at_nothing_is_called_stale(project: Path) -> None:
    (project / "pkg/b.py").unlink()
    os.mkfifo(project / "pkg/pipe.py")
    result = run(project, ".", "pkg/pipe.py")
    assert (result.exit_code, result.notes) == (2, ())
    assert run(project, ".", "pkg/pipe.py", use=BaselineUse.WRITE).exit_code == 2
    assert ("pkg/b.py", "three", 1) in entries(project)


def test_a_syntax_error_can_be_known(project: Path) -> None:
    (project / "pkg/b.py").write_text("import torch\nprint torch\n")
    assert [finding.code for finding in run(project).findings] == ["DEV901"]
    write(project)
    assert run(project).findings == ()


def test_writing_some_files_keeps_what_is_known_of_the_others(project: Path) -> None:
    (project / "pkg/a.py").write_text(discarded("two", "new"))
    (project / "pkg/b.py").write_text(discarded("three", "other"))
    write(project, "pkg/a.py")
    assert entries(project) == [("pkg/a.py", "new", 1), ("pkg/a.py", "two", 1), ("pkg/b.py", "three", 1)]


def test_writing_some_rules_keeps_what_is_known_of_the_others(project: Path) -> None:
    before = (project / NAME).read_text()
    assert run(project, use=BaselineUse.WRITE, select=["DEV1"]).exit_code == 0
    assert (project / NAME).read_text() == before


def test_pruning_forgets_what_is_gone_and_follows_what_has_moved(project: Path) -> None:
    (project / "pkg/a.py").write_text(discarded("renamed", imports="import torch\n\n"))
    (project / "pkg/c.py").write_text(discarded("new").replace("cuda", "cpu"))
    (project / "pkg/b.py").rename(project / "pkg/moved.py")
    result = run(project, use=BaselineUse.PRUNE)
    assert result.notes == (f"{NAME}: 1 of 3 entries removed, 2 followed to where the code is now",)
    assert entries(project) == [("pkg/a.py", "renamed", 1), ("pkg/moved.py", "three", 1)]
    assert places(run(project)) == ["pkg/c.py:new"]


def test_a_count_goes_down_when_one_of_two_is_repaired(project: Path) -> None:
    twice = discarded("one").replace("    x.cuda()\n", "    x.cuda()\n    x.cuda()\n")
    (project / "pkg/a.py").write_text(twice)
    write(project)
    assert ("pkg/a.py", "one", 2) in entries(project)
    (project / "pkg/a.py").write_text(discarded("one"))
    run(project, use=BaselineUse.PRUNE)
    assert ("pkg/a.py", "one", 1) in entries(project)


def test_the_paths_do_not_depend_on_the_working_directory(project: Path) -> None:
    before = (project / NAME).read_text()
    assert run(project / "pkg").hidden.baselined == 3
    assert run(project.parent, "project").hidden.baselined == 3
    write(project / "pkg")
    assert (project / NAME).read_text() == before
    (project / "pkg/b.py").unlink()
    assert len(run(project / "pkg").notes) == len(run(project.parent, "project").notes) == 1


def test_each_file_is_held_against_the_baseline_of_its_own_configuration(project: Path) -> None:
    part = project / "part"
    part.mkdir()
    (part / "devlint.toml").write_text('baseline = "known.json"\n')
    (part / "c.py").write_text(discarded("one"))
    with pytest.raises(BaselineError, match=r"part/known.json: no such baseline; `devlint baseline write` makes one"):
        run(project)
    write(project)
    assert entries(part, "known.json") == [("part/c.py", "one", 1)]
    assert run(project).hidden.baselined == 4
