"""The cache where a run is about a text, or about what is new."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.api import lint_source
from devlint.cache.earlier import EarlierResults
from devlint.check import Request, check
from devlint.finding import Finding
from devlint.gate.wanted import Wanted
from devlint.pipeline.task import FileReport, FileTask
from tests.cache.conftest import HELPER, NET, Project
from tests.gate.conftest import Repo


def _new(project: Project, cached: bool = True) -> list[Finding]:
    project.analysed.clear()
    wanted = Wanted(diff_base="main")
    return list(check(Request((".",), project.root, jobs=1, wanted=wanted, cached=cached)).findings)


@pytest.fixture
def repo(project: Project) -> Repo:
    """The project in a repository, on a branch that has changed nothing yet; main is known to the cache."""
    repo = Repo(project.root)
    repo.git("init", "-q", "-b", "main")
    repo.commit()
    repo.git("checkout", "-q", "-b", "branch")
    project.lint()
    return repo


def test_without_a_change_nothing_is_analysed(project: Project, repo: Repo) -> None:
    assert _new(project) == []
    assert project.analysed == []


def test_a_changed_file_is_analysed_once_and_never_in_the_base(project: Project, repo: Repo) -> None:
    project.replace(
        "pkg/loose.py", "        return x * mask", "        more = torch.ones(5)\n        return x * mask + more"
    )
    (found,) = _new(project)
    assert project.analysed == ["pkg/loose.py"]
    assert found.place.line == 8
    assert _new(project) == [found]
    assert project.analysed == []
    assert _new(project, cached=False) == [found]


def test_what_a_changed_helper_makes_of_another_file_is_new(project: Project, repo: Repo) -> None:
    project.replace("pkg/helper.py", "    return 2", "    return torch.ones(2)")
    project.write("pkg/user.py", NET.replace("Base, make", "Base, scale").replace("make(3)", "scale()"))
    before = _new(project, cached=False)
    assert [finding.place.path for finding in before] == ["pkg/user.py"]
    assert _new(project) == before
    repo.commit()
    project.lint()
    repo.git("checkout", "-q", "main")
    project.write("pkg/user.py", NET.replace("Base, make", "Base, scale").replace("make(3)", "scale()"))
    assert _new(project) == _new(project, cached=False)


def test_a_helper_that_loses_what_made_a_finding_and_a_file_that_goes(project: Project, repo: Repo) -> None:
    project.replace("pkg/helper.py", "torch.zeros(n)", "n")
    assert _new(project) == _new(project, cached=False) == []
    (project.root / "pkg/helper.py").unlink()
    assert _new(project) == _new(project, cached=False)
    project.write("pkg/helper.py", HELPER)
    assert _new(project) == []


def _of_text(project: Project, text: str, cached: bool = True) -> list[Finding]:
    project.analysed.clear()
    return lint_source(text, project.root / "pkg/net.py", cwd=project.root, cached=cached)


def test_a_text_is_known_by_what_it_holds(project: Project) -> None:
    text = NET + "\n\nlast = 1\n"
    first = _of_text(project, text)
    assert [finding.code for finding in first] == ["DEV101"]
    assert project.analysed == ["pkg/net.py"]
    assert _of_text(project, text) == first
    assert project.analysed == []
    project.replace("pkg/helper.py", "torch.zeros(n)", "n")
    assert _of_text(project, text) == _of_text(project, text, cached=False) == []


def test_a_text_that_is_no_longer_its_file_says_nothing_of_the_file(project: Project) -> None:
    assert _of_text(project, "import torch\n") == []
    assert [finding.place.path for finding in project.agrees()] == ["pkg/loose.py", "pkg/net.py"]
    assert _of_text(project, NET) == [finding for finding in project.lint() if finding.place.path == "pkg/net.py"]


def test_without_being_asked_nothing_is_written(project: Project, tmp_path: Path) -> None:
    _of_text(project, NET, cached=False)
    assert not list(tmp_path.rglob(".devlint_cache"))


def test_in_the_base_nothing_is_asked_of_those_that_read_what_has_not_changed(project: Project, repo: Repo) -> None:
    project.replace("pkg/helper.py", "    return 2", "    return 3")
    project.replace("pkg/net.py", "make(3)", "make(4)")
    repo.commit()
    repo.git("checkout", "-q", "-b", "later")
    project.lint()
    asked: list[str] = []
    reports = EarlierResults.known

    def watched(self: EarlierResults, tasks: list[FileTask]) -> tuple[list[FileReport], list[FileTask]]:
        asked.extend(Path(task.path).name for task in tasks)
        return reports(self, tasks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EarlierResults, "known", watched)
        found = _new(project)
        assert project.analysed == []
        assert found == _new(project, cached=False)
    assert sorted(asked) == ["helper.py", "net.py"], "not loose.py, which reads a class of helper.py"
