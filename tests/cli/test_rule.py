"""``devlint rule`` and the options that answer at once."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from devlint.cli.check import check_command
from devlint.configuration.codes import all_codes
from tests.cli.conftest import Run, environment


def test_a_rule_is_explained_by_code_and_by_name(devlint: Run) -> None:
    by_code = devlint("rule", "dev902")
    assert by_code.returncode == 0
    assert by_code.stdout.startswith("# DEV902 unreadable-file (error)\n\nA file that was to be analysed ")
    assert devlint("rule", "unreadable-file").stdout == by_code.stdout
    assert devlint("rule", "DEV101").stdout.startswith(
        "# DEV101 creation-without-device (warning, error when confirmed)\n"
    )


def test_the_beginning_of_codes_lists_them(devlint: Run) -> None:
    lines = devlint("rule", "DEV9").stdout.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["DEV900", "warning", "unused-suppression"],
        ["DEV901", "error", "syntax-error"],
        ["DEV902", "error", "unreadable-file"],
    ]


def test_all_rules_are_listed(devlint: Run) -> None:
    lines = devlint("rule", "--all").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(all_codes())


def test_json_of_one_and_of_all(devlint: Run) -> None:
    one = json.loads(devlint("rule", "DEV900", "--output-format", "json").stdout)
    assert (one["code"], one["name"], one["severity"]) == ("DEV900", "unused-suppression", "warning")
    assert one["summary"] == "A suppression comment that silences nothing."
    forgotten = json.loads(devlint("rule", "DEV101", "--output-format", "json").stdout)
    assert (forgotten["severity"], forgotten["suspected_as"]) == ("error", "warning")
    every = json.loads(devlint("rule", "--all", "--output-format", "json").stdout)
    assert [rule["code"] for rule in every] == list(all_codes())


def test_a_page_is_rendered_on_request(devlint: Run) -> None:
    assert "\x1b[" in devlint("rule", "DEV900", "--color", "always").stdout


@pytest.mark.parametrize("arguments", [["-V"], ["--version"]])
def test_version(devlint: Run, arguments: list[str]) -> None:
    done = devlint(*arguments)
    assert (done.returncode, done.stdout) == (0, "devlint 0.1.0\n")


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["check", "-h"], ["rule", "--help"]])
def test_help(devlint: Run, arguments: list[str]) -> None:
    done = devlint(*arguments)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: devlint")


def test_the_help_of_check_lists_every_option_once_in_sections(devlint: Run) -> None:
    shown = devlint("check", "--help").stdout
    for parameter in check_command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert len(re.findall(rf"^ +(-\w, )?{parameter.opts[-1]}\b(?!-)", shown, re.M)) == 1, parameter.opts
    titles = re.findall(r"^(\w[\w ]*):$", shown, re.M)
    assert titles == ["Rules", "Files", "Only what is new", "Fixes", "Report", "Configuration", "Cache", "Other"]
    assert "Options:" not in shown
    assert shown.count("[PATHS]") == 1


IMPORTED = """
import sys
from devlint.cli.main import run
code = run(sys.argv[1:])
print(sorted({name.split(".")[0] for name in sys.modules} & {"libcst", "torch", "rich"}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "imported"),
    [
        (["--version"], []),
        (["--help"], []),
        (["rule", "--all"], []),
        (["rule", "DEV901", "--output-format", "json"], []),
        (["-q", "without.py"], []),
        (["-q", "unused.py"], []),
        (["-q", "--color", "always", "unused.py"], ["rich"]),
        (["-q", "with.py"], ["libcst"]),
    ],
)
def test_what_a_run_imports(tmp_path: Path, arguments: list[str], imported: list[str]) -> None:
    (tmp_path / "without.py").write_text("x = 1\n")
    (tmp_path / "unused.py").write_text("x = 1  # noqa: DEV101\n")
    (tmp_path / "with.py").write_text("import torch\n")
    command = [sys.executable, "-c", IMPORTED, *arguments]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == str(imported)
