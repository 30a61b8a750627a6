"""The hooks, run by the real pre-commit program from a git checkout of this repository.

The environment of the hooks is built once, by pip, from a package index.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.gate.conftest import ENVIRONMENT, Repo, discarded

ROOT = Path(__file__).parents[1]

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
    pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed"),
]


@dataclass(frozen=True)
class Hooks:
    """Where pre-commit gets the hooks from, and where it keeps their environment."""

    url: Path
    revision: str
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        names = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
        kept = {name: value for name, value in ENVIRONMENT.items() if name not in names}
        return {**kept, "PRE_COMMIT_HOME": str(self.home), "PRE_COMMIT_COLOR": "never"}

    def run(self, repo: Repo, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pre_commit", *arguments]
        return subprocess.run(
            command, cwd=repo.root, env=self.environment, capture_output=True, text=True, timeout=300, check=False
        )


@pytest.fixture(scope="session")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Hooks:
    """A clone of this repository with the working tree as it is committed in it, and its hooks installed."""
    scratch = tmp_path_factory.mktemp("pre-commit")
    checkout = _checkout(scratch / "devlint")
    found = Hooks(checkout.root, checkout.git("rev-parse", "HEAD"), scratch / "home")
    repo = configured(scratch / "installing", found)
    done = found.run(repo, "install-hooks")
    assert done.returncode == 0, done.stdout + done.stderr
    return found


def _checkout(target: Path) -> Repo:
    if not (ROOT / ".git").exists():  # an unpacked source archive
        shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns("__pycache__", ".*cache", "fixtures", "tests"))
        return Repo.make(target)
    repo = Repo(ROOT)
    repo.git("clone", "-q", "--no-hardlinks", str(ROOT), str(target))
    clone = Repo(target)
    listed = repo.git("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, target / name
        copy.unlink(missing_ok=True)
        if os.path.lexists(source):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy, follow_symlinks=False)
    clone.commit()
    return clone


def configured(root: Path, hooks: Hooks, *names: str) -> Repo:
    """A repository whose pre-commit runs some hooks."""
    uses = [{"id": name} for name in names or ("devlint",)]
    config = {"repos": [{"repo": str(hooks.url), "rev": hooks.revision, "hooks": uses}]}
    return Repo.make(root, {".pre-commit-config.yaml": yaml.safe_dump(config)})


@pytest.fixture
def repo(hooks: Hooks, tmp_path: Path) -> Repo:
    return configured(tmp_path / "repo", hooks)


def lines(done: subprocess.CompletedProcess[str], word: str) -> list[str]:
    return [line for line in done.stdout.splitlines() if word in line]


def test_the_environment_holds_no_torch(hooks: Hooks) -> None:
    packages = {path.name.lower() for path in hooks.home.glob("repo*/py_env-*/lib/python*/site-packages/*")}
    assert {"libcst", "devlint"} <= packages
    assert not {name for name in packages if name.startswith("torch")}


def test_a_commit_with_a_bug_is_refused(hooks: Hooks, repo: Repo) -> None:
    assert hooks.run(repo, "install").returncode == 0
    repo.write(**{"net.py": discarded("bug")})
    repo.git("add", "-A")
    commit = ["git", "commit", "-m", "a bug"]
    done = subprocess.run(commit, cwd=repo.root, env=hooks.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "net.py:5:5: DEV201 warning [discarded-transfer]" in done.stderr
    repo.write(**{"net.py": discarded("bug").replace("    x.cuda()", "    x = x.cuda()")})
    repo.git("add", "-A")
    done = subprocess.run(commit, cwd=repo.root, env=hooks.environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "Passed" in done.stderr) == (0, True)


def test_only_what_is_staged_is_judged(hooks: Hooks, repo: Repo) -> None:
    repo.write(**{"net.py": discarded("staged")})
    repo.git("add", "-A")
    repo.write(**{"net.py": "import torch\n"})
    done = hooks.run(repo, "run")
    assert done.returncode == 1
    assert lines(done, "DEV201") == [lines(done, "net.py:5:5")[0]]
    assert (repo.root / "net.py").read_text() == "import torch\n"


def test_what_is_not_staged_is_not_judged(hooks: Hooks, repo: Repo) -> None:
    repo.write(**{"net.py": "import torch\n"})
    repo.git("add", "-A")
    repo.write(**{"net.py": discarded("unstaged"), "other.py": discarded("untracked")})
    done = hooks.run(repo, "run")
    assert (done.returncode, len(lines(done, "Passed"))) == (0, 1)
    assert "unstaged" in (repo.root / "net.py").read_text()


def test_a_part_of_a_file_can_be_staged(hooks: Hooks, repo: Repo) -> None:
    repo.commit(**{"net.py": discarded("one", "two").replace("    x.cuda()\n", "")})
    repo.write(**{"net.py": discarded("one", "two")})
    patch = repo.git("diff", "-U0", "net.py").split("\n@@")
    assert len(patch) == 3  # the header and two hunks
    (repo.root.parent / "part.patch").write_text("\n@@".join(patch[:2]) + "\n")
    repo.git("apply", "--cached", "--unidiff-zero", str(repo.root.parent / "part.patch"))
    done = hooks.run(repo, "run")
    assert done.returncode == 1
    assert len(lines(done, "net.py:5:5: DEV201")) == len(lines(done, "DEV201")) == 1


def test_files_that_the_configuration_excludes_are_left_out(hooks: Hooks, repo: Repo) -> None:
    repo.write(**{"pyproject.toml": '[tool.devlint]\nextend-exclude = ["vendored/"]\n'})
    repo.write(**{"vendored/net.py": discarded("theirs")})
    repo.git("add", "-A")
    done = hooks.run(repo, "run", "--verbose")
    assert done.returncode == 0
    assert "no file left: all that were found are excluded" in done.stdout


def test_without_a_python_file_there_is_nothing_to_do(hooks: Hooks, repo: Repo) -> None:
    repo.write(README="another text\n")
    repo.git("add", "-A")
    done = hooks.run(repo, "run")
    assert done.returncode == 0
    assert "(no files to check)Skipped" in done.stdout
    repo.commit()
    assert hooks.run(repo, "run").returncode == 0


def test_ten_thousand_files(hooks: Hooks, repo: Repo) -> None:
    for number in range(100):
        (repo.root / f"package_with_a_long_name_{number:03}").mkdir()
    for number in range(10_000):
        path = repo.root / f"package_with_a_long_name_{number % 100:03}" / f"module_with_a_long_name_{number:05}.py"
        path.write_text(f"NUMBER = {number}\n")
    repo.write(**{"package_with_a_long_name_042/zebra.py": discarded("bug")})
    repo.git("add", "-A")
    done = hooks.run(repo, "run")
    assert done.returncode == 1
    assert len(lines(done, "DEV201")) == 1


def test_known_findings_are_left_out(hooks: Hooks, repo: Repo) -> None:
    known = '{"path": "net.py", "scope": "known", "code": "DEV201", "text": "x.cuda()"}'
    repo.write(**{"known.json": f'{{"version": 1,\n"entries": [\n{known},\n{{}}\n]}}\n'})
    repo.write(**{"pyproject.toml": '[tool.devlint]\nbaseline = "known.json"\n'})
    repo.write(**{"net.py": discarded("known"), "other.py": discarded("unstaged")})
    repo.git("add", "pyproject.toml", "known.json", "net.py")
    done = hooks.run(repo, "run")
    assert done.returncode == 0, done.stdout


def test_the_fixing_hook_repairs_and_stops_the_commit_once(hooks: Hooks, tmp_path: Path) -> None:
    repo = configured(tmp_path / "repo", hooks, "devlint-fix")
    repo.write(**{"net.py": "import torch\n\nSIZE = 3  # noqa: DEV101\n"})
    repo.git("add", "-A")
    done = hooks.run(repo, "run")
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert (repo.root / "net.py").read_text() == "import torch\n\nSIZE = 3\n"
    repo.git("add", "-A")
    assert hooks.run(repo, "run").returncode == 0
