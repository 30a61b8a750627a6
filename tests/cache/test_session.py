"""What a second run takes from the cache, and what it looks at again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import devlint.placement.project.workspace
from devlint.cache.place import NAME
from devlint.cache.reading import sealed
from tests.cache.conftest import HELPER, LOOSE, Project


def _codes(found: list[object]) -> list[tuple[str, str]]:
    return sorted((f.place.path, f.code) for f in found)  # type: ignore[attr-defined]


def test_a_second_run_analyses_nothing(project: Project) -> None:
    first = project.agrees()
    assert _codes(first) == [("pkg/loose.py", "DEV101"), ("pkg/net.py", "DEV101")]
    assert project.lint() == first
    assert project.analysed == []


def test_a_helper_that_changes_removes_and_brings_back_a_finding_elsewhere(project: Project) -> None:
    project.lint()
    project.replace("pkg/helper.py", "torch.zeros(n)", "n")
    assert _codes(project.agrees()) == [("pkg/loose.py", "DEV101")]
    assert "pkg/net.py" in project.analysed
    project.write("pkg/helper.py", HELPER)
    assert _codes(project.agrees()) == [("pkg/loose.py", "DEV101"), ("pkg/net.py", "DEV101")]
    assert project.analysed == [], "what was known before the change is known still"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A base."""', '"""Another\n\n    docstring."""'),
        ("    return 2", "    return 2  # scale"),
        ("def scale", "# a comment\n\n\ndef scale"),
    ],
)
def test_words_about_a_helper_recompute_nothing_but_the_helper(project: Project, old: str, new: str) -> None:
    project.write("pkg/net.py", LOOSE)
    project.lint()
    project.replace("pkg/helper.py", old, new)
    project.agrees()
    assert project.analysed == ["pkg/helper.py"]
    project.replace("pkg/helper.py", "class Base(torch.nn.Module)", "class Base(torch.nn.Module, object)")
    project.agrees()
    assert project.analysed == ["pkg/helper.py", "pkg/loose.py", "pkg/net.py"]


def test_a_file_that_reads_as_much_as_it_may_is_known_until_it_may_read_others(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devlint.placement.project.workspace, "MAX_CHARACTERS_READ", len(HELPER) - 20)
    project.write("pkg/later.py", HELPER)
    project.replace("pkg/net.py", "import Base, make", "import Base, make\nfrom pkg.later import make as more")
    project.replace("pkg/net.py", "make(3)", "make(3) + more(3)")
    project.lint()
    for comment in ("# a", "# b"):
        project.replace("pkg/helper.py", "    return 2\n", f"    return 2  {comment}\n")
        project.agrees()
        assert project.analysed == ["pkg/helper.py"]
        project.replace("pkg/helper.py", f"  {comment}", "")
    project.replace("pkg/helper.py", "\n\ndef scale():\n    return 2\n", "")
    project.agrees()
    assert "pkg/net.py" in project.analysed


def test_a_line_of_a_helper_that_a_finding_tells_is_told_right(project: Project) -> None:
    project.lint()
    project.replace("pkg/helper.py", '"""Helpers."""', '"""Helpers.\n\nMore.\n"""')
    found = [finding for finding in project.agrees() if finding.place.path == "pkg/net.py"]
    assert found[0].trace[0].place.line == 13
    assert "pkg/net.py" in project.analysed


def test_a_comment_that_first_names_torch_counts(project: Project) -> None:
    project.write("pkg/plain.py", "from pkg.helper import make\n\n\ndef give():\n    return make(3)\n")
    project.write(
        "pkg/net.py",
        LOOSE.replace("torch.ones(4)", "give()").replace("Base\n", "Base\nfrom pkg.plain import give\n", 1),
    )
    project.lint()
    project.replace("pkg/plain.py", "def give", "# like torch\ndef give")
    project.agrees()


def test_a_new_file_that_takes_an_import_is_seen(project: Project) -> None:
    project.lint()
    project.write("pkg/helper/__init__.py", HELPER.replace("torch.zeros(n)", "n"))
    assert _codes(project.agrees()) == [("pkg/loose.py", "DEV101")]
    shutil.rmtree(project.root / "pkg/helper")
    assert len(project.agrees()) == 2
    assert project.analysed == []


def test_a_file_that_is_gone_or_renamed_is_seen(project: Project) -> None:
    project.lint()
    (project.root / "pkg/helper.py").rename(project.root / "pkg/other.py")
    project.agrees()
    project.replace("pkg/net.py", "pkg.helper", "pkg.other")
    assert ("pkg/net.py", "DEV101") in _codes(project.agrees())
    (project.root / "pkg/net.py").rename(project.root / "pkg/renamed.py")
    assert ("pkg/renamed.py", "DEV101") in _codes(project.agrees())
    (project.root / "pkg/other.py").unlink()
    project.agrees()


def test_a_touched_file_is_read_and_not_analysed(project: Project) -> None:
    project.lint()
    for path in project.root.rglob("*.py"):
        os.utime(path)
    assert len(project.agrees()) == 2
    assert project.analysed == []


def test_a_change_of_the_same_size_within_the_same_second_is_seen(project: Project) -> None:
    for path in project.root.rglob("*.py"):
        os.utime(path, (1, 1))
    project.lint()
    project.replace("pkg/loose.py", "x * mask", "x.mask ")
    os.utime(project.root / "pkg/loose.py", (1, 1))
    assert _codes(project.agrees()) == [("pkg/net.py", "DEV101")]


def test_settings_are_applied_to_what_is_known(project: Project) -> None:
    project.write("pkg/quiet.py", LOOSE.replace("torch.ones(4)", "torch.ones(4)  # noqa: DEV101"))
    project.write("pkg/idle.py", "x = 1  # noqa: DEV101\n")
    assert ("pkg/idle.py", "DEV900") in _codes(project.agrees())
    for settings in ({"select": ["DEV3"]}, {"select": ["ALL"], "min-severity": "note"}, {"ignore": ["DEV900"]}):
        found = project.lint(**settings)
        assert project.analysed == []
        assert found == project.lint(cached=False, **settings)
    project.lint()
    assert project.analysed == []


def test_findings_are_shown_as_seen_from_where_the_run_is(project: Project) -> None:
    project.lint()
    found = project.lint("..", cwd="pkg")
    assert project.analysed == []
    assert found == project.lint("..", cwd="pkg", cached=False)
    assert {step.place.path for finding in found for step in finding.trace} == {"net.py", "helper.py", "loose.py"}


def test_two_checkouts_share_a_cache(project: Project, tmp_path: Path) -> None:
    shared = str(tmp_path / "shared")
    first = project.lint(cache_dir=shared)
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(project.root, copy)
    original, project.root = project.root, copy
    assert project.lint(cache_dir=shared) == first
    assert project.analysed == []
    project.replace("pkg/helper.py", "torch.zeros(n)", "n")
    assert len(project.agrees(cache_dir=shared)) == 1
    project.root = original
    assert project.lint(cache_dir=shared) == first
    assert project.analysed == []


def test_a_copied_checkout_brings_its_cache_along(project: Project, tmp_path: Path) -> None:
    first = project.lint()
    shutil.copytree(project.root, tmp_path / "copy")
    project.root = tmp_path / "copy"
    assert project.lint() == first
    assert project.analysed == []


def test_what_is_written_is_ignored_by_git_and_by_backups(project: Project) -> None:
    project.lint()
    cache = project.root / NAME
    assert (cache / ".gitignore").read_text().endswith("*\n")
    assert (cache / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")


@pytest.mark.parametrize("damage", [b"", b"\0\xff", b"{}", b"[]", b"[1,2", b'{"a": {"b": []}}', b"[" * 100_000])
def test_damaged_files_are_computed_again(project: Project, damage: bytes) -> None:
    first = project.lint()
    for path in (project.root / NAME).rglob("*.json"):
        path.write_bytes(damage)
    assert project.lint() == first
    assert project.lint() == first
    assert project.analysed == []


def test_truncated_files_are_computed_again(project: Project) -> None:
    first = project.lint()
    for path in sorted((project.root / NAME).rglob("*.json")):
        whole = path.read_bytes()
        for length in (len(whole) // 3, len(whole) - 1):
            path.write_bytes(whole[:length])
            assert project.lint() == first


def test_every_value_may_be_another(project: Project) -> None:
    """What was changed by hand, or written by a stranger, leads to no traceback."""
    import json

    project.lint()
    for path in sorted((project.root / NAME).rglob("*.json")):
        whole = path.read_text()
        for strange in ("null", "-1", '"x"', "[]", "{}"):
            lines = whole.split("\n")
            for number, line in enumerate(lines[:-1]):
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                if isinstance(value, list):
                    value = [json.loads(strange), *value[1:]]
                else:
                    value = dict.fromkeys(value, json.loads(strange))
                changed = [*lines[:number], json.dumps(value), *lines[number + 1 :]]
                # Under a seal that is right: what a stranger has written is read.
                path.write_bytes(sealed(*(text.encode() for text in changed[:-1])))
                project.lint()
        path.write_text(whole)


def test_another_version_computes_for_itself(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.lint()
    monkeypatch.setattr("devlint.cache.version.__version__", "99.0")
    project.lint()
    assert len(project.analysed) == 4
    project.lint()
    assert project.analysed == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_done_without(project: Project) -> None:
    project.root.chmod(0o555)
    try:
        assert len(project.lint()) == 2
    finally:
        project.root.chmod(0o755)


def test_a_file_in_the_place_of_the_directory_is_done_without(project: Project) -> None:
    project.write(NAME, "mine")
    assert len(project.lint()) == 2
    assert (project.root / NAME).read_text() == "mine"


def test_runs_at_the_same_time_do_not_harm_each_other(project: Project) -> None:
    for number in range(12):
        project.write(f"pkg/net_{number}.py", LOOSE.replace("Loose", f"Loose{number}"))
    command = [sys.executable, "-P", "-m", "devlint", "--output-format", "json"]
    expected = subprocess.run([*command, "-n"], cwd=project.root, capture_output=True, check=False).stdout
    for _ in range(2):
        runs = [subprocess.Popen(command, cwd=project.root, stdout=subprocess.PIPE) for _ in range(4)]
        assert [run.communicate()[0] for run in runs] == [expected] * 4
        project.replace("pkg/helper.py", "return 2", "return 1 + 1")
        project.replace("pkg/helper.py", "return 1 + 1", "return 2 ")
    project.lint()
    assert not list((project.root / NAME).rglob("*.tmp"))


def test_a_cached_run_reads_no_settled_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in project.root.rglob("*.py"):
        os.utime(path, (1, 1))
    monkeypatch.setattr("devlint.cache.contents.DISTRUSTED_NS", 0)
    project.lint()
    time.sleep(0.05)
    project.lint()
    opened: list[str] = []
    original = open

    def spying(file: object, *args: object, **kwargs: object) -> object:
        opened.append(os.fspath(file) if isinstance(file, (str, os.PathLike)) else "")  # type: ignore[arg-type]
        return original(file, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", spying)
    project.lint()
    assert [path for path in opened if path.endswith(".py") and str(project.root) in path] == []
