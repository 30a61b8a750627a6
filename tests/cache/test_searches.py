"""Searches of a package for a word: a changed file is all that is read again, and what it says counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

import devlint.source.word_search
from devlint.cache.earlier import EarlierResults
from devlint.finding import Confidence
from devlint.source.tree import WorkingTree
from tests.cache.conftest import Project
from tests.cache.test_comparisons import Repo, _new

APART = """import torch


def weigh(x: torch.Tensor):
    return x * torch.ones(4)


def run():
    return weigh(torch.zeros(4))
"""

HOST_NET = """import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(4)


def fit(chosen, net, x):
    chosen.zero_grad()
    net(x).sum().backward()
"""


@pytest.fixture
def searched(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The directories that are walked, after the first run; a helper of the project is only used in its own file."""
    project.write("pkg/apart.py", APART)
    project.write("pkg/more/__init__.py", "")
    project.write("pkg/more/other.py", "import torch\n\nsome = torch\n")
    project.lint()
    assert "pkg/apart.py" in project.analysed
    walked: list[str] = []
    original = WorkingTree.files_under

    def watched(self: WorkingTree, directory: str) -> Iterator[str]:
        walked.append(directory)
        return original(self, directory)

    monkeypatch.setattr(WorkingTree, "files_under", watched)
    monkeypatch.setattr(devlint.source.word_search, "_ends", WeakKeyDictionary())
    return walked


def _told(project: Project) -> bool:
    """Whether the helper's mismatch is reported, with the cache as without it."""
    return any(finding.place.path == "pkg/apart.py" for finding in project.agrees())


def test_a_changed_file_without_the_word_searches_nothing(project: Project, searched: list[str]) -> None:
    project.replace("pkg/more/other.py", "some", "more")
    project.lint()
    assert project.analysed == ["pkg/more/other.py"]
    assert searched == []


def test_a_word_that_another_file_gets_and_loses_counts(project: Project, searched: list[str]) -> None:
    assert not _told(project)
    project.replace("pkg/more/other.py", "some", "weigh")
    assert _told(project)
    assert "pkg/apart.py" in project.analysed
    project.write("pkg/more/plain.py", "another = weigh\n")
    project.replace("pkg/more/other.py", "weigh", "some")
    assert _told(project)
    project.write("pkg/more/plain.py", "another = 1\n")
    assert not _told(project)


def test_while_the_word_is_where_it_was_nothing_is_searched(project: Project, searched: list[str]) -> None:
    project.write("pkg/more/plain.py", "another = weigh\n")
    assert _told(project)
    searched.clear()
    project.replace("pkg/more/plain.py", "another", "yet_another")
    project.replace("pkg/more/other.py", "some", "more")
    project.lint()
    assert project.analysed == ["pkg/more/other.py", "pkg/more/plain.py"]
    assert searched == []
    project.replace("pkg/more/plain.py", "weigh", "weight")
    assert not _told(project)


def test_a_file_that_is_never_linted_is_watched_in_every_later_run(project: Project, searched: list[str]) -> None:
    """What the table keeps of a search is not lost in a run that makes none."""
    project.write("pkg/more/plain.py", "another = 1\n")
    for text in ("some = 2", "some = 3"):
        project.write("pkg/more/other.py", f"import torch\n\n{text}\n")
        assert project.lint("pkg/apart.py", "pkg/more/other.py") == []
    project.write("pkg/more/plain.py", "another = weigh\n")
    assert [f.place.path for f in project.lint("pkg/apart.py", "pkg/more/other.py")] == ["pkg/apart.py"]


@pytest.mark.parametrize("name", ["my-script.py", "a.b.py", "stub.pyi"])
def test_a_new_file_counts_whatever_its_name(project: Project, searched: list[str], name: str) -> None:
    project.write(f"pkg/more/{name}", "another = weigh\n")
    assert [f.place.path for f in project.lint("pkg/apart.py")] == ["pkg/apart.py"]
    (project.root / "pkg/more" / name).unlink()
    assert project.lint("pkg/apart.py") == []


def test_a_helper_that_is_in_no_package_searches_nothing(project: Project, searched: list[str]) -> None:
    project.write("script.py", APART)
    project.agrees()
    searched.clear()
    project.replace("pkg/more/other.py", "some", "weigh")
    project.lint()
    assert "script.py" not in project.analysed


def test_another_checkout_need_not_have_the_word_in_the_same_file(
    project: Project, searched: list[str], tmp_path: Path
) -> None:
    shared = str(tmp_path / "shared")
    project.write("pkg/more/plain.py", "another = weigh\n")
    assert project.lint(cache_dir=shared)
    project.write("pkg/more/plain.py", "another = 1\n")
    project.write("pkg/more/far.py", "another = weigh\n")
    assert "pkg/apart.py" in {finding.place.path for finding in project.lint(cache_dir=shared)}
    assert "pkg/apart.py" not in project.analysed
    (project.root / "pkg/more/far.py").unlink()
    assert "pkg/apart.py" not in {finding.place.path for finding in project.agrees(cache_dir=shared)}


def test_a_comparison_searches_nothing_where_no_changed_file_has_the_word(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(project.root)
    repo.git("init", "-q", "-b", "main")
    project.write("pkg/apart.py", APART)
    project.write("pkg/other.py", "import torch\n\nsome = torch\n")
    repo.commit()
    project.lint()
    asked: list[str] = []
    reports = EarlierResults.known

    def watched(self, tasks):  # type: ignore[no-untyped-def]
        asked.extend(Path(task.path).name for task in tasks)
        return reports(self, tasks)

    monkeypatch.setattr(EarlierResults, "known", watched)
    project.replace("pkg/other.py", "some", "more")
    assert _new(project) == []
    assert asked == ["other.py"], "the changed file alone"
    project.replace("pkg/other.py", "more", "weigh")
    found = _new(project)
    assert [finding.place.path for finding in found] == ["pkg/apart.py"]
    assert found == _new(project, cached=False)


def test_a_package_that_names_a_device_no_longer_works_on_the_host(project: Project) -> None:
    project.write("alone/__init__.py", "")
    project.write("alone/net.py", HOST_NET)
    project.write("alone/plain.py", "some = 1\n")
    told = [finding for finding in project.agrees(min_confidence="low") if finding.place.path == "alone/net.py"]
    assert [finding.confidence for finding in told] == [Confidence.LOW]
    project.write("alone/plain.py", "some = 'cuda'\n")
    told = [finding for finding in project.agrees(min_confidence="low") if finding.place.path == "alone/net.py"]
    assert [finding.confidence for finding in told] == [Confidence.HIGH]


def test_a_module_that_appears_lets_a_file_be_imported(project: Project) -> None:
    project.write("pkg/net.py", "from .parts.heads import Head\n" + HOST_NET)
    project.write("pkg/parts/__init__.py", "DEFAULT = 'cuda'\n")
    told = [finding for finding in project.agrees(min_confidence="low") if finding.place.path == "pkg/net.py"]
    assert [finding.confidence for finding in told] == [Confidence.LOW]
    project.write("pkg/parts/heads.py", "Head = 1\n")
    told = [finding for finding in project.agrees(min_confidence="low") if finding.place.path == "pkg/net.py"]
    assert [finding.confidence for finding in told] == [Confidence.HIGH]
