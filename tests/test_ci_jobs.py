"""The job texts of the README, their shell lines run as the services run them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from devlint.cache.reading import parsed, read_sealed
from tests.gate.conftest import ENVIRONMENT, Repo, discarded

ROOT = Path(__file__).parents[1]
JOBS: list[dict[Any, Any]] = [
    yaml.safe_load(block)
    for block in re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    if "--diff-base" in block
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A search path on which ``devlint`` and ``pip`` are those of the Python that runs the tests."""
    programs = tmp_path_factory.mktemp("bin")
    for name in ("devlint", "pip"):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {name} "$@"\n')
        (programs / name).chmod(0o755)
    return f"{programs}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def origin(tmp_path: Path) -> Repo:
    """What the service holds: main with a finding, and a branch that adds one and moves the other."""
    origin = Repo.make(tmp_path / "origin", {"pkg/__init__.py": "", "pkg/net.py": discarded("known")})
    origin.branch()
    origin.commit(
        **{"pkg/net.py": "import torch\n", "pkg/moved.py": discarded("known"), "pkg/new.py": discarded("new")}
    )
    origin.git("checkout", "-q", "-b", "harmless", "main")
    origin.commit(**{"pkg/harmless.py": "import torch\n"})
    origin.git("checkout", "-q", "main")
    origin.commit(**{"pkg/theirs.py": discarded("since")})
    return origin


def run_lines(lines: list[str], cwd: Path, path: str, **variables: str) -> tuple[int, str]:
    """Run lines one after the other as ``bash -e`` does; the code of the first that fails, and all output."""
    told = ""
    names = ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "GITLAB_CI")
    kept = {name: value for name, value in ENVIRONMENT.items() if name not in names}
    for line in lines:
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", line],
            cwd=cwd,
            env={**kept, "PATH": path, "PYTHONPATH": str(ROOT), "PIP_NO_INDEX": "1", **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        told += done.stdout + done.stderr
        if done.returncode:
            return done.returncode, told
    return 0, told


def scopes(sarif: Path) -> list[str]:
    (run,) = json.loads(sarif.read_text())["runs"]
    return [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]


def github() -> tuple[list[dict[str, Any]], list[str]]:
    """The steps of the workflow, and the shell lines among them."""
    steps: list[dict[str, Any]] = JOBS[0]["jobs"]["devlint"]["steps"]
    return steps, [step["run"] for step in steps if "run" in step]


@pytest.mark.parametrize(("branch", "code"), [("work", 1), ("harmless", 0)])
def test_github_gates_a_pull_request(origin: Repo, tmp_path: Path, path: str, branch: str, code: int) -> None:
    steps, lines = github()
    assert steps[0]["with"]["fetch-depth"] == 0
    clone = Repo(tmp_path / "workspace")
    origin.git("clone", "-q", origin.root.as_uri(), str(clone.root))
    # What is checked out is a merge of the branch into its base, on no branch.
    clone.git("checkout", "-q", "--detach", "origin/main")
    clone.git("merge", "-q", "--no-ff", f"origin/{branch}", "-m", "merge")
    summary = tmp_path / "summary.md"
    about = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_WORKSPACE": str(clone.root)}
    done, told = run_lines(lines, clone.root, path, GITHUB_BASE_REF="main", **about)
    assert done == code, told
    assert told.count("::warning ") == code
    assert ("file=pkg/new.py,line=5" in told) is (code == 1)
    found = {"pkg/theirs.py", *(["pkg/moved.py", "pkg/new.py"] if code else ["pkg/net.py"])}
    assert set(scopes(clone.root / "devlint.sarif")) == found
    upload = steps[[step.get("run", "").endswith("--exit-zero") for step in steps].index(True) + 1]
    assert upload["with"]["sarif_file"] == "devlint.sarif"


def test_github_uploads_after_a_push(origin: Repo, tmp_path: Path, path: str) -> None:
    steps, _ = github()
    lines = [step["run"] for step in steps if "run" in step and "if" not in step]
    origin.git("clone", "-q", origin.root.as_uri(), str(tmp_path / "workspace"))
    done, told = run_lines(lines, tmp_path / "workspace", path, GITHUB_ACTIONS="true")
    assert done == 0, told
    assert set(scopes(tmp_path / "workspace/devlint.sarif")) == {"pkg/net.py", "pkg/theirs.py"}


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_what_is_restored_spares_the_analysis_of_what_has_not_changed(
    origin: Repo, tmp_path: Path, path: str, service: str
) -> None:
    if service == "github":
        steps, _ = github()
        (kept,) = [step["with"]["path"] for step in steps if step.get("uses", "").startswith("actions/cache@")]
        lines = [step["run"] for step in steps if "run" in step and "if" not in step]
    else:
        (kept,) = JOBS[1]["devlint"]["cache"]["paths"]
        lines = JOBS[1]["devlint"]["script"]
    first, second = tmp_path / "first", tmp_path / "second"
    for clone in (first, second):
        origin.git("clone", "-q", origin.root.as_uri(), str(clone))
    assert run_lines(lines, first, path)[0] == 0
    (second / "pkg/own.py").write_text(discarded("own"))
    (first / kept).rename(second / kept)
    known = _learnt(second / kept)
    assert known
    assert run_lines(lines, second, path)[0] == 0
    new = [entry for entry in _learnt(second / kept) if entry not in known]
    assert len(new) == 1, "the file that is new, and no other"
    assert set(scopes(second / "devlint.sarif")) == {"pkg/net.py", "pkg/theirs.py", "pkg/own.py"}


def _learnt(cache: Path) -> list[str]:
    """The lint results in a cache, as they are written there."""
    packs = [parsed(read_sealed(pack)[0]) for pack in cache.glob("*/packs/*.json")]
    return [text for pack in packs for texts in pack.values() for text in texts]


@pytest.mark.parametrize(("branch", "code"), [("work", 1), ("harmless", 0), ("main", 0)])
def test_gitlab_gates_a_merge_request(origin: Repo, tmp_path: Path, path: str, branch: str, code: int) -> None:
    job = JOBS[1]["devlint"]
    assert job["variables"]["GIT_DEPTH"] == "0"
    clone = Repo(tmp_path / "builds")
    origin.git("clone", "-q", origin.root.as_uri(), str(clone.root))
    clone.git("checkout", "-q", "--detach", f"origin/{branch}")
    about = {"GITLAB_CI": "true", "CI_PROJECT_DIR": str(clone.root)}
    if branch != "main":
        about["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = clone.git("merge-base", "origin/main", "HEAD")
    done, told = run_lines(job["script"], clone.root, path, **about)
    assert done == code, told
    assert ("pkg/new.py:5:5: DEV201 warning" in told) is (code == 1)
    assert "moved.py" not in told
    report = json.loads((clone.root / job["artifacts"]["reports"]["codequality"]).read_text())
    (sarif,) = job["artifacts"]["paths"]
    uris = scopes(clone.root / sarif)
    assert {issue["location"]["path"] for issue in report} == set(uris)
    assert len(report) == len(uris) == (1 if branch == "harmless" else 2)
