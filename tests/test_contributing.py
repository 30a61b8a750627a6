"""CONTRIBUTING.md works as written: its rule is added, and its false positive mended, in a copy of the repository."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COPIED = (
    "devlint",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/fixture_expectations.py",
    "tests/rules",
    "pyproject.toml",
)

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S)
FILE = re.compile(r"^`(?P<path>[\w/.]+)`:\n\n\Z", re.M)
ALARM = "  # known false alarm: DEV209"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of the page. ``path`` is the file that it is, where the line above it names one."""

    language: str
    text: str
    path: str = ""


def chapter(heading: str) -> list[Block]:
    """The blocks of one chapter, in order. Headings inside of a block are part of it."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    blocks, current, last = [], "", 0
    for fence in FENCE.finditer(page):
        between = page[last : fence.start()]
        last = fence.end()
        current = [current, *re.findall(r"^## (.+)$", between, re.M)][-1]
        if current == heading:
            file = FILE.search(between)
            blocks.append(Block(fence["language"], fence["text"], file["path"] if file else ""))
    return blocks


ADD, MEND = chapter("How to add a rule"), chapter("How to mend a false positive")

COMMANDS = [line for block in ADD if block.language == "sh" for line in block.text.splitlines()]


class Copy:
    """A copy of the repository, without git."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in COPIED:
            source, target = ROOT / name, root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, target)

    def write(self, block: Block) -> None:
        path = self.root / block.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """A command as the page has it, with the interpreter of the tests."""
        words = shlex.split(command)
        environment = {**os.environ, "PYTHONPATH": str(self.root), "GIT_CEILING_DIRECTORIES": str(self.root.parent)}
        command_line = [sys.executable, *words[1:]] if words[0] == "python" else words
        return subprocess.run(command_line, cwd=self.root, env=environment, capture_output=True, text=True, check=False)

    def reported(self, path: str) -> set[int]:
        """The lines of a file at which the rule of the page has a finding."""
        done = self.run(f"python -m devlint check --isolated --output-format concise {path}")
        assert done.returncode == 1, done.stdout + done.stderr
        return {int(line) for line in re.findall(rf"^{re.escape(path)}:(\d+):\d+: DEV209 ", done.stdout, re.M)}


def marked(text: str, mark: str) -> set[int]:
    return {number for number, line in enumerate(text.splitlines(), 1) if f"# {mark}: DEV209" in line}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The repository with the rule of the first chapter."""
    copy = Copy(tmp_path_factory.mktemp("repository"))
    assert copy.run("python -m devlint rule DEV209").returncode == 2, "the rule of the page is devlint's own by now"
    for block in ADD:
        if block.path:
            copy.write(block)
    return copy


def test_a_rule_is_one_file_and_its_fixtures() -> None:
    paths = [block.path for block in ADD if block.path]
    rules = [path for path in paths if path.startswith("devlint/rules/")]
    assert len(rules) == 1
    assert [path for path in paths if path not in rules and not path.startswith("fixtures/rules/DEV209/")] == []


@pytest.mark.parametrize(
    "command", [line for block in ADD if block.language == "sh" for line in block.text.splitlines()]
)
def test_the_commands_of_a_new_rule_succeed(command: str, copy: Copy) -> None:
    done = copy.run(command)
    assert done.returncode == ("devlint check" in command), done.stdout + done.stderr
    assert "no tests ran" not in done.stdout


def test_the_new_rule_finds_what_is_marked(copy: Copy) -> None:
    (fixture,) = (block for block in ADD if block.path.startswith("fixtures/"))
    expected = marked(fixture.text, "expect")
    assert expected
    assert copy.reported(fixture.path) == expected


def test_the_false_positive_is_mended_as_written(copy: Copy) -> None:
    (fixture,) = (block for block in MEND if block.path)
    (before, after) = (block.text.strip() for block in MEND if block.language == "sh")
    (diff,) = (block for block in MEND if block.language == "diff")
    (missed,) = (block for block in MEND if block.language == "python" and not block.path)

    copy.write(fixture)
    alarms, expected = marked(fixture.text, "known false alarm"), marked(fixture.text, "expect")
    assert alarms
    assert copy.reported(fixture.path) == alarms | expected
    assert copy.run(before).returncode == 0

    copy.write(Block("diff", diff.text, "mended.diff"))
    applied = copy.run("git apply mended.diff")
    assert applied.returncode == 0, applied.stderr
    assert copy.reported(fixture.path) == expected
    with_marks = copy.run(after)
    assert with_marks.returncode == 1
    assert "a known false alarm is gone, remove its mark" in with_marks.stdout

    copy.write(Block("python", f"{fixture.text.replace(ALARM, '')}\n\n{missed.text}", fixture.path))
    done = copy.run(after)
    assert done.returncode == 0, done.stdout
