"""``--show-settings``, and configuration that is nested."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from devlint.configuration.configfile import KEYS, check_values
from tests.cli.conftest import Run

STRAY = "import torch\nx = torch.ones(3)\nx.cuda()\n"


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    """A project whose `sub` extends what the project says."""
    (tmp_path / "pyproject.toml").write_text(
        "[tool.devlint]\nextend-select = ['DEV7']\nmin-confidence = 'high'\n\n"
        "[tool.devlint.per-file-ignores]\n'gen/' = ['DEV2']\n"
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "devlint.toml").write_text(
        "extend = '../pyproject.toml'\n# closer to the files\nmin-confidence = 'low'\nextend-select = ['DEV900']\n"
    )
    for name in ("a.py", "sub/b.py"):
        (tmp_path / name).write_text(STRAY)
    return tmp_path


def shown(text: str) -> dict[str, str]:
    return dict(line.split(" = ", 1) for line in text.splitlines() if not line.startswith("#"))


def test_each_value_has_its_origin(devlint: Run, nested: Path) -> None:
    done = devlint("--show-settings", "sub", "--min-severity", "error", "--config", "bare-noqa=true")
    assert done.returncode == 0
    assert done.stdout.startswith("# settings of sub/b.py\n")
    found = shown(done.stdout)
    assert found["min-confidence"] == '"low"  # sub/devlint.toml:3'
    assert found["extend-select"] == '["DEV7", "DEV900"]  # pyproject.toml:2, sub/devlint.toml:4'
    assert found["per-file-ignores"] == '{ "gen/" = ["DEV2"] }  # pyproject.toml:5'
    assert found["min-severity"] == '"error"  # command line'
    assert found["bare-noqa"] == "true  # command line"
    assert found["respect-gitignore"] == "true  # default"
    assert "DEV701" in done.stdout.splitlines()[-1]


def test_a_select_makes_what_came_before_count_no_more(devlint: Run, nested: Path) -> None:
    found = shown(devlint("--show-settings", "sub", "--select", "DEV2").stdout)
    assert found["select"] == '["DEV2"]  # command line'
    assert found["extend-select"] == "[]  # default"


def test_what_is_shown_is_itself_a_configuration(devlint: Run, nested: Path) -> None:
    done = devlint("--show-settings", "sub")
    values = check_values(tomllib.loads(done.stdout), lambda key: "")
    unset = {line.split()[1] for line in done.stdout.splitlines() if " is not set" in line}
    assert values.keys() | unset == set(KEYS)
    (nested / "sub" / "devlint.toml").write_text(done.stdout)
    again = devlint("--show-settings", "sub").stdout
    assert again.splitlines()[-1] == done.stdout.splitlines()[-1]


def test_without_a_file_the_working_directory_counts(devlint: Run, tmp_path: Path) -> None:
    done = devlint("--show-settings", "--isolated")
    assert done.returncode == 0
    assert done.stdout.startswith("# settings of the working directory\n")


def test_negated_globs_on_the_command_line(devlint: Run, nested: Path) -> None:
    done = devlint("--output-format", "concise", "-q", "--per-file-ignores", "!sub/:DEV2")
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["sub/b.py"]
    more = devlint("--output-format", "concise", "-q", "--extend-per-file-ignores", "sub/:DEV2")
    assert [line.split(":")[0] for line in more.stdout.splitlines()] == ["a.py"]
    wrong = devlint("--extend-per-file-ignores", "sub/")
    assert (wrong.returncode, wrong.stderr.startswith("devlint: --extend-per-file-ignores sub/: expected")) == (2, True)
