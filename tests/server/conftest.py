"""One server for most of the tests: to start one takes a second."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.server.editor import Editor


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the editor has open."""
    return tmp_path_factory.mktemp("folder")


@pytest.fixture(scope="package")
def editor(folder: Path) -> Iterator[Editor]:
    from tests.server.editor import Editor

    opened = Editor(folder)
    yield opened
    assert opened.leave() == 0


@pytest.fixture
def project(folder: Path, editor: Editor, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A project of its own for each test, inside of the folder. What a test opens is closed after it."""
    made = folder / request.node.name.replace("[", "-").replace("]", "")
    made.mkdir()
    (made / "pyproject.toml").write_text("")
    yield made
    editor.close_all()
