"""A signal that comes while `--fix` puts its files in their places: each file is the old one or the new one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.kills import CODES
from tests.cli.conftest import environment
from tests.hostile.conftest import FIXABLE

AT_THE_SECOND = """
import os, sys

true, calls = os.{name}, []

def signalled(*arguments, **named):
    calls.append(arguments)
    if len(calls) == 2 and "{when}" == "before":
        os.kill(os.getpid(), {number})
    done = true(*arguments, **named)
    if len(calls) == 2 and "{when}" == "after":
        os.kill(os.getpid(), {number})
    return done

os.{name} = signalled
from devlint.cli.main import main
main(sys.argv[1:])
"""
FILES = ("a.py", "b.py", "c.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the system has no such signals")


def signalled(directory: Path, name: str, when: str, number: int) -> subprocess.CompletedProcess[str]:
    """``--fix`` that is sent a signal at its second call of ``os.name``."""
    code = AT_THE_SECOND.format(name=name, when=when, number=int(number))
    return subprocess.run(
        [sys.executable, "-c", code, "-n", "-j1", "--fix", *FILES],
        cwd=directory, env=environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def fixed(tmp_path: Path) -> str:
    """What a fix that nothing disturbs makes of a file."""
    (tmp_path / "whole").mkdir()
    whole = tmp_path / "whole" / "a.py"
    whole.write_text(FIXABLE)
    subprocess.run(
        [sys.executable, "-m", "devlint", "-n", "--fix", "a.py"], cwd=whole.parent, env=environment(),
        capture_output=True, check=False,
    )  # fmt: skip
    assert whole.read_text() != FIXABLE
    return whole.read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(("name", "when"), [("fsync", "before"), ("replace", "before"), ("replace", "after")])
def test_each_file_is_the_old_one_or_the_new_one(
    tmp_path: Path, fixed: str, name: str, when: str, number: signal.Signals
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for file in FILES:
        (tree / file).write_text(FIXABLE)
    done = signalled(tree, name, when, number)
    assert done.returncode in CODES[number.name]
    assert "Traceback" not in done.stderr
    texts = [(tree / file).read_text() for file in FILES]
    assert {FIXABLE, fixed} >= set(texts)
    # The one that was under way is written where the signal came after it took its place.
    assert texts.count(fixed) == (2 if when == "after" else 1)
    litter = [path.name for path in tree.iterdir() if path.name not in FILES]
    assert len(litter) <= (number == signal.SIGKILL), litter


def test_the_files_that_were_left_are_fixed_by_the_next_run(tmp_path: Path, fixed: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for file in FILES:
        (tree / file).write_text(FIXABLE)
    signalled(tree, "replace", "before", signal.SIGKILL)
    subprocess.run(
        [sys.executable, "-m", "devlint", "-n", "--fix", *FILES], cwd=tree, env=environment(),
        capture_output=True, check=False,
    )  # fmt: skip
    assert [(tree / file).read_text() for file in FILES] == [fixed] * 3
