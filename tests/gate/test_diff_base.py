"""``--diff-base`` on real repositories: what is new since HEAD left another branch."""

from __future__ import annotations

import random
import re
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from devlint.check import Request, check
from devlint.gate.git import GitError
from devlint.gate.matching import Key, match
from devlint.gate.wanted import Wanted
from tests.gate.conftest import ENVIRONMENT, Repo, discarded, places, run

MAKES = "import torch\n\n\ndef make(n, like):\n    return torch.zeros(n, 3{})\n"
USES = """\
import torch
from pkg.helper import make


class Net(torch.nn.Module):
    def forward(self, x):
        return x + make(x.size(0), x)
"""
ON_THE_DEVICE = MAKES.format(", device=like.device")
ON_THE_CPU = MAKES.format("")


def test_nothing_is_new_without_a_change(repo: Repo) -> None:
    repo.branch()
    result = run(repo.root, diff_base="main")
    assert (result.findings, result.hidden.in_base, result.exit_code) == ((), 2, 0)


def test_a_new_bug_in_an_old_file(repo: Repo) -> None:
    repo.branch()
    repo.commit(**{"pkg/old.py": discarded("one", "added", "two")})
    assert repo.new() == ["pkg/old.py:added"]


@pytest.mark.parametrize("state", ["untracked", "staged", "committed"])
def test_a_new_file_in_any_state(repo: Repo, state: str) -> None:
    repo.branch()
    repo.write(**{"pkg/new.py": discarded("added"), "größe/日本.py": discarded("wide")})
    if state != "untracked":
        repo.git("add", "-A")
    if state == "committed":
        repo.commit()
    assert repo.new() == ["größe/日本.py:wide", "pkg/new.py:added"]


def test_what_is_not_committed_counts_too(repo: Repo) -> None:
    repo.write(**{"pkg/old.py": discarded("one", "added", "two")})
    assert repo.new() == ["pkg/old.py:added"]
    repo.git("add", "-A")
    assert repo.new() == ["pkg/old.py:added"]
    repo.write(**{"pkg/old.py": discarded("one")})
    assert repo.new() == []


def test_a_like_bug_in_the_same_function_is_new_once(repo: Repo) -> None:
    text = discarded("one", "two").replace("    x.cuda()\n", "    x.cuda()\n    x.cuda()\n", 1)
    repo.branch()
    repo.commit(**{"pkg/old.py": text})
    (finding,) = run(repo.root, diff_base="main").findings
    assert (finding.scope, finding.place.line) == ("one", 6)


def test_moved_lines_and_another_layout_are_not_new(repo: Repo) -> None:
    text = discarded("two", "one", imports="import torch\n\nSIZE = 3\n").replace(
        "x.cuda()", "x.cuda(\n        # now\n    )"
    )
    repo.branch()
    repo.commit(**{"pkg/old.py": text})
    assert repo.new() == []


def test_a_renamed_file_is_followed(repo: Repo) -> None:
    repo.branch()
    repo.git("mv", "pkg/old.py", "pkg/renamed.py")
    repo.write(**{"pkg/renamed.py": discarded("one", "added", "two")})
    assert repo.new() == ["pkg/renamed.py:added"]
    repo.commit()
    assert repo.new() == ["pkg/renamed.py:added"]
    assert repo.new("pkg/renamed.py") == ["pkg/renamed.py:added"]


def test_a_syntax_error_in_a_renamed_file_is_not_new(repo: Repo) -> None:
    broken = discarded(*(f"f{number}" for number in range(9))) + "\nprint torch\n"
    repo.commit(**{"pkg/broken.py": broken})
    repo.branch()
    repo.git("mv", "pkg/broken.py", "pkg/elsewhere.py")
    repo.commit()
    assert repo.new() == []


def test_a_file_made_anew_under_a_renamed_ones_old_name(repo: Repo) -> None:
    repo.branch()
    repo.git("mv", "pkg/old.py", "pkg/renamed.py")
    repo.write(**{"pkg/old.py": discarded("one", "two")})
    assert len(repo.new()) == 2


def test_a_function_that_moves_between_files_is_not_new(repo: Repo) -> None:
    repo.branch()
    repo.commit(**{"pkg/old.py": discarded("one"), "pkg/new.py": discarded("two")})
    assert repo.new() == []
    assert repo.new("pkg/new.py") == []
    repo.commit(**{"pkg/old.py": discarded("one", "two")})
    assert repo.new() == ["pkg/new.py:two"]
    assert repo.new("pkg/new.py") == ["pkg/new.py:two"]
    assert repo.new("pkg/old.py") == []


def test_a_function_that_moves_out_of_a_deleted_file_is_not_new(repo: Repo) -> None:
    repo.branch()
    filler = "".join(f"\nNUMBER_{number} = {number}\n" for number in range(200))
    (repo.root / "pkg/old.py").unlink()
    repo.commit(**{"pkg/new.py": discarded("two", "three") + filler})
    assert repo.new() == []
    assert repo.new("pkg/new.py") == []


def test_a_helpers_change_shows_in_the_file_that_it_breaks(repo: Repo) -> None:
    repo.commit(**{"pkg/helper.py": ON_THE_DEVICE, "pkg/uses.py": USES})
    repo.branch()
    repo.commit(**{"pkg/helper.py": ON_THE_CPU})
    assert repo.new() == ["pkg/uses.py:Net.forward"]
    assert repo.new("pkg/uses.py") == ["pkg/uses.py:Net.forward"]
    assert repo.new("pkg/old.py") == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_helper_that_was_wrong_already_makes_nothing_new(repo: Repo, jobs: int) -> None:
    repo.commit(**{"pkg/helper.py": ON_THE_CPU, "pkg/uses.py": USES})
    repo.branch()
    repo.commit(**{"pkg/helper.py": ON_THE_CPU + "\n\nSIZE = 3\n"})
    result = run(repo.root, diff_base="main")
    assert (places(result), result.hidden.in_base) == ([], 3)


@pytest.mark.parametrize("way", ["a module shadows it", "a package appears", "a directory appears"])
def test_a_new_file_that_another_import_now_finds(repo: Repo, way: str) -> None:
    uses = USES.replace("pkg.helper", "helper")
    files = {"pyproject.toml": "", "app/uses.py": uses, "helper.py": ON_THE_DEVICE, "app/notes.txt": ""}
    repo.commit(**files)
    repo.branch()
    if way == "a module shadows it":
        repo.commit(**{"app/helper.py": ON_THE_CPU})
    elif way == "a package appears":
        repo.commit(**{"app/helper/__init__.py": ON_THE_CPU})
    else:
        repo.commit(**{"app/helper/readme.txt": "a directory without Python files hides the module"})
    expected = [] if way == "a directory appears" else ["app/uses.py:Net.forward"]
    assert repo.new() == expected


def test_a_deleted_file_that_hid_another(repo: Repo) -> None:
    files = {"pyproject.toml": "", "helper.py": ON_THE_CPU, "app/helper.py": ON_THE_DEVICE}
    repo.commit(**files, **{"app/uses.py": USES.replace("pkg.helper", "helper")})
    repo.branch()
    (repo.root / "app/helper.py").unlink()
    repo.commit()
    assert repo.new() == ["app/uses.py:Net.forward"]


def test_a_deleted_package_marker(repo: Repo) -> None:
    shadow = {"pyproject.toml": "", "app/__init__.py": "", "app/helper.py": ON_THE_DEVICE, "helper.py": ON_THE_CPU}
    repo.commit(**{**shadow, "app/uses.py": USES.replace("pkg.helper", "helper")})
    assert places(run(repo.root, "app")) == ["app/uses.py:Net.forward"]
    repo.branch()
    (repo.root / "app/__init__.py").unlink()
    assert places(run(repo.root, "app")) == []
    repo.commit()
    repo.git("checkout", "-q", "-b", "back")
    repo.commit(**{"app/__init__.py": ""})
    assert repo.new(base="work") == ["app/uses.py:Net.forward"]


KEPT_INSIDE = """\
import torch


def breadth(counts: torch.Tensor) -> torch.Tensor:
    return counts @ torch.arange(counts.shape[1]).float()


def influence(model, rows: list[torch.Tensor]):
    counts = torch.vstack([model(row) for row in rows]).detach().cpu()
    return breadth(counts)
"""


@pytest.mark.parametrize("way", ["the branch exports it", "the branch hides it"])
def test_a_name_that_the_package_begins_to_export(repo: Repo, way: str) -> None:
    kept, exported = "from pkg.influence import influence\n", "from pkg.influence import breadth, influence\n"
    repo.commit(**{"pkg/influence.py": KEPT_INSIDE, "pkg/names.py": kept})
    repo.branch("exporting")
    repo.commit(**{"pkg/names.py": exported})
    if way == "the branch exports it":
        result = run(repo.root, diff_base="main")
        assert (places(result), result.hidden.in_base) == (["pkg/influence.py:breadth"], 2)
    else:
        repo.branch("hiding")
        repo.commit(**{"pkg/names.py": kept})
        result = run(repo.root, diff_base="exporting")
        assert (places(result), result.hidden.in_base) == ([], 2)


def test_main_going_on_does_not_make_its_bugs_new(repo: Repo) -> None:
    repo.branch()
    repo.commit(**{"pkg/work.py": discarded("mine")})
    repo.git("checkout", "-q", "main")
    repo.commit(**{"pkg/theirs.py": discarded("theirs"), "pkg/old.py": discarded("two")})
    repo.git("checkout", "-q", "work")
    assert repo.new() == ["pkg/work.py:mine"]
    repo.git("merge", "-q", "main", "-m", "merge")
    assert repo.new() == ["pkg/work.py:mine"]


@pytest.mark.parametrize("base", ["main", "main~0", "v1", "HEAD~1"])
def test_any_name_of_a_commit_will_do(repo: Repo, base: str) -> None:
    repo.git("tag", "-a", "v1", "-m", "one")
    repo.branch()
    repo.commit(**{"pkg/work.py": discarded("mine")})
    assert repo.new(base=base) == ["pkg/work.py:mine"]


def test_a_detached_head(repo: Repo) -> None:
    repo.branch()
    commit = repo.commit(**{"pkg/work.py": discarded("mine")})
    repo.git("checkout", "-q", "--detach", commit)
    assert repo.new() == ["pkg/work.py:mine"]
    assert repo.new(base=commit) == []


def test_a_second_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "work", str(tmp_path / "second"))
    second = Repo(tmp_path / "second")
    second.commit(**{"pkg/work.py": discarded("mine")})
    assert second.new() == ["pkg/work.py:mine"]
    assert repo.new(base="work") == []


def test_a_run_in_a_subdirectory(repo: Repo) -> None:
    repo.commit(**{"pkg/deep/net.py": discarded("known"), "other/a.py": discarded("moves")})
    repo.branch()
    repo.commit(**{"pkg/deep/net.py": discarded("known", "added"), "other/b.py": discarded("elsewhere")})
    repo.git("config", "diff.relative", "true")
    repo.git("config", "diff.noprefix", "true")
    assert places(run(repo.root / "pkg/deep", diff_base="main")) == ["net.py:added"]
    assert places(run(repo.root / "pkg", "deep", "../other", diff_base="main")) == [
        "../other/b.py:elsewhere", "deep/net.py:added",
    ]  # fmt: skip
    (repo.root / "other/a.py").unlink()
    repo.commit(**{"pkg/deep/moved.py": discarded("moves")})
    assert places(run(repo.root / "pkg/deep", diff_base="main")) == ["net.py:added"]


def test_a_configuration_that_changes_holds_for_both_sides(repo: Repo) -> None:
    repo.commit(**{"pyproject.toml": '[tool.devlint]\nignore = ["DEV2"]\n'})
    repo.branch()
    repo.commit(**{"pyproject.toml": ""})
    assert repo.new() == []


def test_each_side_has_its_own_suppressions(repo: Repo) -> None:
    repo.commit(**{"pkg/old.py": discarded("one").replace("x.cuda()", "x.cuda()  # noqa: DEV201")})
    repo.branch()
    repo.commit(**{"pkg/old.py": discarded("one")})
    assert repo.new() == ["pkg/old.py:one"]


def test_with_a_baseline_a_finding_must_be_in_neither(repo: Repo) -> None:
    repo.branch()
    repo.commit(**{"pkg/work.py": discarded("mine", "accepted")})
    entry = '{"path": "pkg/work.py", "scope": "accepted", "code": "DEV201", "text": "x.cuda()"}'
    repo.write(**{"known.json": f'{{"version": 1, "entries": [\n{entry},\n{{}}]}}'})
    result = run(repo.root, diff_base="main", baseline="known.json")
    assert places(result) == ["pkg/work.py:mine"]
    assert (result.hidden.baselined, result.hidden.in_base) == (1, 2)


def test_ignored_files_are_the_same_on_both_sides_as_helpers_and_new_when_named(repo: Repo) -> None:
    repo.commit(**{".gitignore": "generated.py\n", "pkg/uses.py": USES.replace("helper", "generated")})
    repo.branch()
    repo.write(**{"pkg/generated.py": ON_THE_CPU + discarded("named", imports="")})
    repo.commit(**{"pkg/uses.py": USES.replace("helper", "generated") + "\n\nSIZE = 3\n"})
    assert repo.new() == []
    assert repo.new("pkg/generated.py") == ["pkg/generated.py:named"]


def test_links_lead_to_the_text_of_their_time(repo: Repo) -> None:
    repo.write(**{"shared/helper.py": ON_THE_DEVICE, "pkg/uses.py": USES})
    (repo.root / "pkg/helper.py").symlink_to("../shared/helper.py")
    repo.commit()
    repo.branch()
    repo.commit(**{"shared/helper.py": ON_THE_CPU + "\n\nSIZE = 3\n"})
    assert repo.new() == ["pkg/uses.py:Net.forward"]
    repo.git("checkout", "-q", "-b", "more")
    repo.commit(**{"shared/helper.py": ON_THE_CPU})
    assert repo.new(base="work") == []
    (repo.root / "pkg/helper.py").unlink()
    repo.commit(**{"pkg/helper.py": ON_THE_CPU})
    assert repo.new(base="work") == []


def test_crlf_in_the_working_tree_only_is_no_change(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.branch()
    old = repo.root / "pkg/old.py"
    old.write_bytes(old.read_bytes().replace(b"\n", b"\r\n"))
    assert repo.new() == []


def test_submodules_are_skipped_and_counted(repo: Repo, tmp_path: Path) -> None:
    library = Repo.make(tmp_path / "library", {"lib.py": discarded("in_the_library")})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "vendor")
    repo.commit()
    repo.branch()
    repo.commit(**{"pkg/work.py": discarded("mine")})
    Repo(repo.root / "vendor").commit(**{"lib.py": discarded("in_the_library", "newer")})
    result = run(repo.root, diff_base="main")
    assert places(result) == ["pkg/work.py:mine"]
    assert result.notes == ("skipped, not to be compared: 1 file in submodules",)


def with_library(repo: Repo, tmp_path: Path, then: str, now: str) -> Repo:
    """A repository whose ``vendor`` is a submodule, at ``then`` in the base and at ``now`` on the branch."""
    library = Repo.make(tmp_path / "library", {"helper.py": then})
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "vendor")
    repo.write(**{"pkg/uses.py": USES.replace("pkg.helper", "vendor.helper").replace("from .", "from vendor.")})
    repo.commit()
    repo.branch()
    Repo(repo.root / "vendor").commit(**{"helper.py": now})
    repo.commit()
    return library


def test_what_a_submodule_brings_about_is_new_where_it_is_used(repo: Repo, tmp_path: Path) -> None:
    with_library(repo, tmp_path, ON_THE_DEVICE, ON_THE_CPU)
    result = run(repo.root, "pkg", diff_base="main")
    assert places(result) == ["pkg/uses.py:Net.forward"]
    assert result.notes == ()


def test_what_a_submodule_had_brought_about_before_is_known(repo: Repo, tmp_path: Path) -> None:
    with_library(repo, tmp_path, ON_THE_CPU, ON_THE_CPU + "\n\nSIZE = 3\n")
    result = run(repo.root, "pkg", diff_base="main")
    assert (places(result), result.notes) == ([], ())
    assert result.hidden.in_base > 0


def test_a_submodule_whose_earlier_commit_is_not_here_is_told(repo: Repo, tmp_path: Path) -> None:
    with_library(repo, tmp_path, ON_THE_CPU, ON_THE_CPU + "\n\nSIZE = 3\n")
    vendor = repo.root / "vendor"
    shutil.rmtree(vendor)
    Repo.make(vendor, {"helper.py": ON_THE_CPU + "\n\nSIZE = 4\n"})
    result = run(repo.root, "pkg", diff_base="main")
    assert result.notes == (
        "submodule vendor: its commit of the base is not here, so what its change brings about counts as new; "
        "run: git -C vendor fetch",
    )


def test_pointers_to_git_lfs_are_skipped_and_counted(repo: Repo) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    repo.commit(**{"pkg/large.py": pointer, "pkg/other.py": pointer})
    repo.branch()
    repo.commit(**{"pkg/large.py": discarded("real"), "pkg/work.py": discarded("mine")})
    result = run(repo.root, diff_base="main")
    assert places(result) == ["pkg/work.py:mine"]
    assert result.notes == ("skipped, not to be compared: 2 files in Git LFS",)


def test_a_base_that_cannot_be_analysed_is_told(repo: Repo) -> None:
    (repo.root / "pkg/bad.py").write_bytes(b"import torch\n\xff\n")
    repo.commit()
    repo.branch()
    repo.commit(**{"pkg/bad.py": discarded("now_readable")})
    result = run(repo.root, diff_base="main")
    assert places(result) == ["pkg/bad.py:now_readable"]
    assert result.notes == ("1 file of the base could not be analysed, and what was found there is not known",)


def refusal(cwd: Path, base: str, *paths: str) -> str:
    with pytest.raises(GitError) as caught:
        run(cwd, *paths, diff_base=base)
    message = str(caught.value)
    assert message.startswith(f"--diff-base {base}: ")
    assert "\n" not in message
    return message.removeprefix(f"--diff-base {base}: ")


def follow(message: str, clone: Repo) -> None:
    """Run the command that a message ends with."""
    command = re.search(r"; run: (git fetch .*)$", message)
    assert command is not None, message
    done = subprocess.run(shlex.split(command[1]), cwd=clone.root, env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def cloned(repo: Repo, target: Path, *options: str) -> Repo:
    repo.git("clone", "-q", "--branch", "work", *options, repo.root.as_uri(), str(target))
    return Repo(target)


@pytest.mark.parametrize("options", [["--depth=1"], ["--depth=1", "--no-single-branch"], ["--depth=2"]])
@pytest.mark.parametrize("detached", [False, True])
def test_a_shallow_clone_tells_what_to_fetch(repo: Repo, tmp_path: Path, options: list[str], detached: bool) -> None:
    repo.branch()
    for number in range(3):
        repo.commit(**{"pkg/work.py": discarded("mine") + f"# {number}\n"})
    repo.git("checkout", "-q", "main")
    repo.commit(**{"pkg/theirs.py": discarded("theirs")})
    clone = cloned(repo, tmp_path / "clone", *options)
    if detached:
        clone.git("checkout", "-q", "--detach")
    message = refusal(clone.root, "origin/main")
    if "--no-single-branch" in options:
        assert message == (
            "the history here is shallow and does not reach back to where HEAD left origin/main;"
            " run: git fetch --unshallow origin"
        )
    else:
        assert message == (
            "git knows no commit `origin/main`;"
            " run: git fetch --unshallow origin +refs/heads/main:refs/remotes/origin/main"
        )
    follow(message, clone)
    assert clone.new(base="origin/main") == ["pkg/work.py:mine"]


def test_a_shallow_clone_that_reaches_far_enough_will_do(repo: Repo, tmp_path: Path) -> None:
    repo.commit(README="more\n")
    repo.branch()
    repo.commit(**{"pkg/work.py": discarded("mine")})
    clone = cloned(repo, tmp_path / "clone", "--depth=2", "--no-single-branch")
    assert clone.git("rev-parse", "--is-shallow-repository") == "true"
    assert clone.new(base="origin/main") == ["pkg/work.py:mine"]


def test_a_commit_that_a_shallow_clone_lacks(repo: Repo, tmp_path: Path) -> None:
    first = repo.git("rev-parse", "HEAD")
    repo.branch()
    repo.commit(**{"pkg/work.py": discarded("mine")})
    clone = cloned(repo, tmp_path / "clone", "--depth=1")
    follow(refusal(clone.root, first), clone)
    assert clone.new(base=first) == ["pkg/work.py:mine"]


def test_a_branch_that_is_there_under_its_remotes_name(repo: Repo, tmp_path: Path) -> None:
    repo.branch()
    clone = cloned(repo, tmp_path / "clone")
    assert refusal(clone.root, "main") == "git knows no commit `main`; it has `origin/main`"
    assert refusal(clone.root, "origin/nowhere").startswith(
        "git knows no commit `origin/nowhere`; run: git fetch origin"
    )


@pytest.mark.parametrize("lacking", ["blob:none", "tree:0"])
def test_a_clone_with_a_filter_fetches_and_says_so_when_it_cannot(repo: Repo, tmp_path: Path, lacking: str) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.branch()
    repo.commit(**{"pkg/old.py": discarded("one", "two", "mine")})
    clone = cloned(repo, tmp_path / "clone", f"--filter={lacking}")
    away = repo.root.with_name("away")
    repo.root.rename(away)
    message = refusal(clone.root, "origin/main")
    assert "run: git fetch --refetch --no-filter origin" in message
    away.rename(repo.root)
    follow(message, clone)
    assert clone.new(base="origin/main") == ["pkg/old.py:mine"]


def test_a_missing_blob_tells_what_to_fetch(repo: Repo, tmp_path: Path) -> None:
    repo.branch()
    repo.commit(**{"pkg/old.py": discarded("mine")})
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "-q", "--no-local", "--branch", "work", str(repo.root), str(clone.root))
    blob = clone.git("rev-parse", "origin/main:pkg/old.py")
    pack = next((clone.root / ".git/objects/pack").glob("*.pack"))
    moved = pack.rename(tmp_path / "objects.pack")
    for file in (clone.root / ".git/objects/pack").iterdir():
        file.unlink()
    with moved.open("rb") as objects:
        subprocess.run(["git", "unpack-objects", "-q"], cwd=clone.root, stdin=objects, env=ENVIRONMENT, check=True)
    (clone.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    message = refusal(clone.root, "origin/main")
    assert message.startswith(f"the base is not all here (blob {blob[:12]} is missing); run: git fetch ")
    follow(message, clone)
    assert clone.new(base="origin/main") == []


def test_what_cannot_be_compared_is_refused(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text(discarded("one"))
    assert refusal(outside, "main") == f"{outside} is in no git repository"
    assert refusal(repo.root, "nowhere") == "git knows no commit `nowhere`"
    assert refusal(repo.root, "--output=x") == "git knows no commit `--output=x`"
    assert refusal(repo.root, "main", "../outside/a.py") == (
        f"../outside/a.py is outside of the repository {repo.root} and cannot be compared"
    )
    repo.git("checkout", "-q", "--orphan", "unborn")
    assert refusal(repo.root, "main") == "HEAD has no commit yet"
    repo.commit(README="another root\n")
    assert refusal(repo.root, "main") == "main and HEAD have no commit in common"
    bare = tmp_path / "bare.git"
    repo.git("clone", "-q", "--bare", str(repo.root), str(bare))
    assert refusal(bare, "main") == f"{bare} is in a git repository without a working tree"


def test_without_git(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal(repo.root, "main") == "git is not installed, or not on the path"


def test_the_repository_is_left_as_it_was(repo: Repo) -> None:
    repo.branch()
    repo.write(**{"pkg/old.py": discarded("one", "two", "added"), "pkg/new.py": discarded("new")})
    repo.git("add", "pkg/new.py")
    before = {path: path.read_bytes() for path in repo.root.rglob("*") if path.is_file()}
    assert len(repo.new()) == 2
    assert {path: path.read_bytes() for path in repo.root.rglob("*") if path.is_file()} == before


def test_only_files_that_can_differ_are_analysed_twice(repo: Repo) -> None:
    repo.commit(**{"pkg/helper.py": ON_THE_DEVICE, "pkg/uses.py": USES, "pkg/gone.py": discarded("gone")})
    repo.branch()
    (repo.root / "pkg/gone.py").unlink()
    repo.commit(**{"pkg/helper.py": ON_THE_CPU, "pkg/new.py": discarded("new")})
    totals: list[int] = []
    check(Request((".",), repo.root, jobs=1, wanted=Wanted(diff_base="main")), lambda done, total: totals.append(total))
    assert Counter(totals) == {5: 5, 3: 3}  # five now; of the base the helper, who uses it, and what is gone


NAMES = ("pkg/a.py", "pkg/b.py", "pkg/sub/c.py", "pkg/sub/__init__.py", "d.py", "top/e.py", "pkg/__init__.py")
IMPORTS = ("pkg.a", "pkg.b", "pkg.sub.c", "pkg.sub", "d", "top.e", "e", "c", "pkg")


def random_text(chance: random.Random) -> str:
    """A module that makes tensors with helpers of other modules, which may or may not be there."""
    lines = ["import torch"]
    used: list[str] = []
    for module in chance.sample(IMPORTS, chance.randint(0, 3)):
        used.append(f"make_{len(used)}")
        lines.append(f"from {module} import make as {used[-1]}")
    device = chance.choice(["", ", device=x.device"])
    lines += ["", "", "def make(x):", f"    return torch.zeros(x.size(0), 3{device})"]
    for number, name in enumerate(used):
        lines += ["", "", f"class Net{number}(torch.nn.Module):", "    def forward(self, x):"]
        lines += [f"        return x + {name}(x)"] * chance.randint(1, 2)
    return "\n".join(lines) + "\n"


def change(root: Path, chance: random.Random) -> None:
    """Write, remove and rename some files."""
    for name in chance.sample(NAMES, chance.randint(1, 3)):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        there = path.exists()
        if there and chance.random() < 0.3:
            path.unlink()
        elif there and chance.random() < 0.3:
            target = root / chance.choice(NAMES)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        else:
            path.write_text(random_text(chance))


@pytest.mark.parametrize("seed", range(12))
def test_the_comparison_comes_to_what_two_whole_runs_come_to(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    repo = Repo.make(tmp_path / "repo", {name: random_text(chance) for name in NAMES if chance.random() < 0.8})
    repo.branch()
    for _ in range(2):
        change(repo.root, chance)
        repo.commit()
    change(repo.root, chance)
    repo.git("worktree", "add", "-q", str(tmp_path / "base"), "main")
    moved = repo.git("diff", "--name-status", "-M", "main").splitlines()
    renames = {old: new for status, old, new in (line.split("\t") for line in moved if line.startswith("R"))}

    def keys(root: Path) -> list[Key]:
        return [Key.of(finding, finding.place.path) for finding in run(root).findings]

    then = [Key(renames.get(key.path, key.path), key.scope, key.code, key.text) for key in keys(tmp_path / "base")]
    now = keys(repo.root)
    expected = [key for key, partner in zip(now, match(now, Counter(then)).partners, strict=True) if partner is None]
    result = run(repo.root, diff_base="main")
    assert [Key.of(finding, finding.place.path) for finding in result.findings] == expected
    assert result.hidden.in_base == len(now) - len(expected)
