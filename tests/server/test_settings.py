"""The settings of editors in the README: what they say of the server is true."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from tests.server.editor import USUAL, Editor
from tests.server.test_server import SHIFT

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
EDITORS = README.partition("## In the editor")[2].partition("\n## ")[0]


def _block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", EDITORS, re.M | re.S)
    return str(found)


def _of_code() -> tuple[list[str], dict[str, bool]]:
    settings: dict[str, Any] = json.loads(_block("json"))
    command = [settings["glspc.server.command"], *settings["glspc.server.commandArguments"]]
    return command, settings["glspc.server.initializationOptions"]


def _of_helix() -> tuple[list[str], dict[str, bool]]:
    settings = tomllib.loads(_block("toml"))
    server = settings["language-server"]["devlint"]
    assert "devlint" in settings["language"][0]["language-servers"]
    return [server["command"], *server["args"]], server["config"]


def _of_emacs() -> tuple[list[str], dict[str, bool]]:
    block = _block("elisp")
    assert block.count("(") == block.count(")")
    command, _, options = block.partition('("devlint"')[2].partition(":initializationOptions")
    given = dict(re.findall(r":(\w+) :json-(false|true)", options))
    return ["devlint", *re.findall(r'"(\w+)"', command)], {name: word == "true" for name, word in given.items()}


@pytest.mark.parametrize("settings", [_of_code, _of_helix, _of_emacs])
def test_the_command_and_the_options_are_the_servers(settings: Any, tmp_path: Path) -> None:
    command, options = settings()
    assert command == ["devlint", "server"]
    assert options == {"workspaceDiagnostics": False, "inlayHints": False}
    (tmp_path / "other.py").write_text(SHIFT)
    editor = Editor(tmp_path, USUAL, options)
    assert [one.code for one in editor.open(tmp_path / "net.py", SHIFT)] == ["DEV101"]
    assert editor.published(tmp_path / "other.py") == []
    assert editor.leave() == 0
