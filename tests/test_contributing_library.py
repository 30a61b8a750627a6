"""The pages of CONTRIBUTING.md on libraries and operations: their example is built as the page says, and linted."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import devlint
from devlint.semantics.library_rows import OPTIONS
from tests.cli.conftest import environment
from tests.fixture_expectations import expectations_of

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHAPTER = PAGE[PAGE.index("## How to add a library") : PAGE.index("## How to add an operation")]
OPERATIONS = PAGE[PAGE.index("## How to add an operation") :]


def example(language: str) -> tuple[str, str]:
    """The path that the page names above the block, and the block."""
    found = re.search(rf"^`([^`]+)`:\n\n```{language}\n(.*?)^```$", CHAPTER, re.M | re.S)
    assert found is not None
    return found[1], found[2]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of devlint, to add a table to."""
    copy = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(devlint.__file__).parent, copy / "devlint", ignore=ignored)
    return copy


def lint(package: Path, program: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "devlint", "check", "--isolated", "--no-cache", "-j", "1"]
    command += ["--output-format", "json"]
    return subprocess.run(
        [*command, program.name], cwd=program.parent, env={**environment(), "PYTHONPATH": str(package)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def found_in(run: subprocess.CompletedProcess[str]) -> set[tuple[int, str]]:
    document = json.loads(run.stdout)
    return {(finding["line"], finding["code"]) for finding in document["findings"]}


def test_the_library_of_the_page_is_known_once_its_table_is_there(package: Path, tmp_path: Path) -> None:
    path, text = example("json")
    name, program = example("python")
    file = tmp_path / Path(name).name
    file.write_text(program)
    expected = expectations_of(file, program).expected
    assert len(expected) == 2
    assert found_in(lint(package, file)) == set()
    (package / path).write_text(text)
    assert found_in(lint(package, file)) == set(expected)


def test_a_table_with_a_misspelt_word_is_refused(package: Path, tmp_path: Path) -> None:
    path, text = example("json")
    name, program = example("python")
    file = tmp_path / Path(name).name
    file.write_text(program)
    (package / path).write_text(text.replace('"position"', '"postion"'))
    run = lint(package, file)
    [finding] = json.loads(run.stdout)["findings"]
    assert run.returncode != 0
    assert 'kornia.json: kornia.io.load_image: unknown key "postion"' in finding["message"]


def test_the_page_names_every_effect() -> None:
    table = CHAPTER[CHAPTER.index("| effect |") :]
    named = {word for row in re.findall(r"^\| (`[^|]+`) \|", table, re.M) for word in re.findall(r"`(\w+)`", row)}
    assert named == set(OPTIONS)


def test_the_page_shows_the_operation_of_the_example() -> None:
    assert "warp_affine" in OPERATIONS
    assert "operations_by_hand.json" in OPERATIONS
