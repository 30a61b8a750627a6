"""What the server tells of files that nobody has open, and hints in the text."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from lsprotocol import types

from devlint.server.folder_check import __file__ as folder_check
from tests.server.editor import USUAL, Editor

SHIFT = """\
import torch


def shift(x: torch.Tensor) -> torch.Tensor:
    return x + torch.arange(x.size(0))
"""
RIGHT = SHIFT.replace("x.size(0))", "x.size(0), device=x.device)")
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(1000, 0))
FILES = 120
CAPABILITIES = types.ClientCapabilities(
    workspace=USUAL.workspace, window=types.WindowClientCapabilities(work_done_progress=True)
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "one.py").write_text(SHIFT)
    (tmp_path / "two.py").write_text(SHIFT)
    (tmp_path / "right.py").write_text(RIGHT)
    return tmp_path


@pytest.fixture
def editor(project: Path) -> Iterator[Editor]:
    opened = Editor(project, CAPABILITIES)
    yield opened
    assert opened.leave() == 0


@pytest.fixture
def follower(project: Path) -> Iterator[Editor]:
    """One whose user wants to see all, and hints."""
    opened = Editor(project, CAPABILITIES, {"workspaceDiagnostics": True, "inlayHints": True})
    yield opened
    assert opened.leave() == 0


def _fill(project: Path) -> None:
    """More files than are checked in a second."""
    for number in range(FILES):
        (project / f"more_{number}.py").write_text(SHIFT + SHIFT.replace("shift", "again"))


def test_a_command_tells_of_all_files(editor: Editor, project: Path) -> None:
    assert editor.command("devlint.checkWorkspace") == 2
    assert [editor.codes(project / name) for name in ("one.py", "two.py")] == [["DEV101"], ["DEV101"]]
    (found,) = editor.last((project / "one.py").as_uri()) or []
    assert found.range == types.Range(types.Position(4, 15), types.Position(4, 38))
    assert editor.published(project / "right.py") == []


def test_how_far_it_is_is_told(editor: Editor, project: Path) -> None:
    for number in range(40):
        (project / f"more_{number}.py").write_text(SHIFT)
    editor.command("devlint.checkWorkspace")
    kinds = [event["kind"] for event in editor.progress]
    assert (kinds[0], kinds[-1]) == ("begin", "end")


def test_a_check_that_is_cancelled_ends_and_publishes_nothing(editor: Editor, project: Path) -> None:
    _fill(project)
    editor.cancels = True
    assert editor.command("devlint.checkWorkspace") is None
    assert editor.published(project / "one.py") == []
    editor.cancels = False
    assert editor.command("devlint.checkWorkspace") == 2 + FILES * 2


def test_without_being_asked_nothing_is_told_of_other_files(editor: Editor, project: Path) -> None:
    editor.open(project / "one.py", SHIFT)
    editor.save(project / "one.py", SHIFT)
    time.sleep(1.5)
    assert editor.published(project / "two.py") == []


def test_an_open_text_counts_more_than_its_file(editor: Editor, project: Path) -> None:
    assert editor.open(project / "one.py", RIGHT) == []
    editor.command("devlint.checkWorkspace")
    assert editor.codes(project / "one.py") == []
    editor.close(project / "one.py")  # unsaved
    editor.until(lambda: editor.codes(project / "one.py") == ["DEV101"])


def test_what_is_saved_renamed_or_deleted_is_followed(follower: Editor, project: Path) -> None:
    one, two, three = (project / f"{name}.py" for name in ("one", "two", "three"))
    follower.until(lambda: all(follower.published(file) for file in (one, two)))
    two.rename(three)
    follower.changed_on_disk(two, three)
    follower.until(lambda: bool(follower.published(three)) and follower.codes(two) == [])
    three.unlink()
    follower.changed_on_disk(three)
    follower.until(lambda: follower.codes(three) == [])
    follower.save(one, RIGHT)
    follower.until(lambda: follower.codes(one) == [])


def test_wrong_settings_are_told(editor: Editor, project: Path) -> None:
    (project / "devlint.toml").write_text("selct = []\n")
    assert editor.command("devlint.checkWorkspace") is None
    editor.until(lambda: any("devlint.toml:1: unknown key `selct`" in message for message in editor.messages))


def test_a_check_ends_with_its_server(project: Path) -> None:
    _fill(project)
    program = f"import sys; sys.path.append({str(Path(folder_check).parents[2])!r}); " + (
        "from devlint.server.folder_check import main; main(sys.argv[1])"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(project)], stdin=-1, stdout=-1) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it is at work
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a way to kill a process")
def test_an_editor_that_dies_in_the_middle_of_a_check_leaves_nothing_behind(project: Path) -> None:
    _fill(project)
    editor = Editor(project, CAPABILITIES, {"workspaceDiagnostics": True})
    editor.until(lambda: bool(editor.progress))
    assert editor.die() == 1
    deadline = time.monotonic() + 30
    while _names(project) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _names(project) == []


def _names(project: Path) -> list[str]:
    """The processes that check a folder, where the system tells."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if str(project) in words and entry.parent.name != str(os.getpid()):
            found.append(entry.parent.name)
    return found


BOUND = """\
import torch


def f(x: torch.Tensor) -> torch.Tensor:
    a = torch.ones(3)
    b = x * 2
    n = 3
    return a + b + n
"""


def test_hints_tell_where_what_is_bound_lies(follower: Editor, project: Path) -> None:
    file = project / "bound.py"
    follower.open(file, BOUND)
    hints = follower.hints(file, EVERYWHERE)
    assert [(hint.position.line, hint.position.character, hint.label) for hint in hints] == [
        (4, 5, " cpu"),
        (5, 5, " moves with x"),
    ]
    first = types.Range(types.Position(4, 0), types.Position(4, 80))
    assert [hint.label for hint in follower.hints(file, first)] == [" cpu"]


def test_there_are_no_hints_unless_they_are_asked_for(editor: Editor, project: Path) -> None:
    file = project / "bound.py"
    editor.open(file, BOUND)
    assert editor.hints(file, EVERYWHERE) == []
