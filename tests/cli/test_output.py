"""What is printed where: streams, colours, widths, forms."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run, environment

UNUSED = "x = 1  # noqa: DEV101\n"

TEXT_FORM = """\
a.py:1:8: DEV900 warning [unused-suppression] suppression of DEV101 silences nothing here
   |
 1 | x = 1  # noqa: DEV101
   |        ^^^^^^^^^^^^^^
   |
   = fix: remove the comment
   - x = 1  # noqa: DEV101
   + x = 1

"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(UNUSED)
    return tmp_path


def test_text_is_the_default_and_ends_with_the_counts(devlint: Run, project: Path) -> None:
    done = devlint()
    assert done.stdout.startswith(TEXT_FORM + "1 warning in 1 file (")
    assert done.stderr == ""
    assert devlint("--output-format", "full").stdout.startswith(TEXT_FORM)


def test_quiet_prints_findings_only(devlint: Run, project: Path) -> None:
    done = devlint("-q")
    assert (done.stdout, done.stderr) == (TEXT_FORM, "")


def test_concise_is_one_line_a_finding_and_counts_on_stderr(devlint: Run, project: Path) -> None:
    done = devlint("--output-format", "concise")
    assert done.stdout == TEXT_FORM.splitlines(keepends=True)[0]
    assert done.stderr.startswith("1 warning in 1 file (")


def test_json_is_one_document_of_version_1(devlint: Run, project: Path) -> None:
    done = devlint("--output-format", "json")
    document = json.loads(done.stdout)
    assert list(document) == ["$schema", "version", "devlint", "summary", "findings", "entries", "notes"]
    assert document["version"] == 1
    assert document["summary"] == {
        "files": 1, "findings": 1, "error": 0, "warning": 1, "note": 0, "suppressed": 0, "baselined": 0,
    }  # fmt: skip
    (finding,) = document["findings"]
    assert finding["fix"] == {
        "applicability": "safe",
        "message": "remove the comment",
        "edits": [{"start": 5, "end": 21, "text": ""}],
    }
    assert len(finding["fingerprint"]) == 64
    assert (finding["origin"], finding["verdict"], finding["cell"], finding["url"]) == ("static", None, None, None)
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", [[], ["--exclude", "*"], ["gone.py"]])
def test_json_is_a_document_also_when_there_is_nothing(devlint: Run, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    assert json.loads(devlint("--output-format", "json", *arguments).stdout)["findings"] == []


def test_what_is_hidden_is_counted(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1  # noqa: DEV101 # noqa: DEV900\n")
    done = devlint()
    assert done.returncode == 0
    assert "; hidden: 1 suppressed by comments" in done.stdout
    document = json.loads(devlint("--output-format", "json").stdout)
    assert document["summary"]["suppressed"] == 1
    assert document["notes"] == ["hidden: 1 suppressed by comments"]


def test_output_file_takes_the_report(devlint: Run, project: Path) -> None:
    done = devlint("-o", "report.txt")
    assert done.returncode == 1
    assert done.stdout == ""
    assert (project / "report.txt").read_text().startswith(TEXT_FORM)


def test_statistics_count_by_rule(devlint: Run, project: Path) -> None:
    (project / "b.py").write_text(UNUSED + "y = (\n")
    (project / "c.py").write_text(UNUSED * 2)
    assert devlint("--statistics", "-q").stdout == "3\tDEV900\t[*] unused-suppression\n1\tDEV901\t[ ] syntax-error\n"
    table = json.loads(devlint("--statistics", "--output-format", "json").stdout)
    assert [(row["code"], row["count"], row["fixable"], row["fixable_count"]) for row in table] == [
        ("DEV900", 3, True, 3),
        ("DEV901", 1, False, 0),
    ]


def test_show_files_lists_what_would_be_checked(devlint: Run, project: Path) -> None:
    (project / "pkg").mkdir()
    (project / "pkg" / "b.pyi").write_text("")
    (project / "build").mkdir()
    (project / "build" / "c.py").write_text("")
    assert devlint("--show-files").stdout == "a.py\npkg/b.pyi\n"


def test_paths_are_relative_to_the_working_directory(devlint: Run, project: Path) -> None:
    (project / "sub").mkdir()
    done = devlint("--output-format", "concise", str(project / "a.py"), cwd=project / "sub")
    assert done.stdout.startswith("../a.py:1:8:")


def test_standard_input(devlint: Run, tmp_path: Path) -> None:
    done = devlint("--output-format", "text", "-", stdin=UNUSED.encode())
    assert done.returncode == 1
    assert done.stdout.startswith("-:1:8: DEV900")
    assert " 1 | x = 1  # noqa: DEV101" in done.stdout
    named = devlint("--stdin-filename", "src/net.py", "-", stdin=UNUSED.encode())
    assert named.stdout.startswith("src/net.py:1:8: DEV900")


def test_standard_input_is_left_out_by_its_name_only_with_force_exclude(devlint: Run, tmp_path: Path) -> None:
    arguments = ["--exclude", "src", "--stdin-filename", "src/net.py", "-"]
    assert devlint(*arguments, stdin=UNUSED.encode()).returncode == 1
    assert devlint("--force-exclude", *arguments, stdin=UNUSED.encode()).returncode == 0


@pytest.mark.parametrize("jobs", ["1", "2", "5"])
def test_the_order_is_the_same_for_any_number_of_processes(devlint: Run, tmp_path: Path, jobs: str) -> None:
    for number in range(40):
        padding = "# padding\n" * (40 - number) * 20
        (tmp_path / f"f{number:02}.py").write_text(UNUSED + padding + UNUSED)
    done = devlint("-j", jobs, "--output-format", "concise")
    places = [tuple(line.split(":")[:2]) for line in done.stdout.splitlines()]
    expected = [(f"f{n:02}.py", line) for n in range(40) for line in ("1", str(2 + (40 - n) * 20))]
    assert places == expected


@pytest.mark.parametrize(
    ("env", "arguments", "colored"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"CLICOLOR_FORCE": "1"}, [], True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"FORCE_COLOR": "0"}, [], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
        ({"FORCE_COLOR": "1"}, ["--color", "never"], False),
    ],
)
def test_color_without_a_terminal(
    devlint: Run, project: Path, env: dict[str, str], arguments: list[str], colored: bool
) -> None:
    assert ("\x1b[" in devlint(*arguments, env=env).stdout) is colored


@pytest.mark.parametrize(
    ("env", "colored"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False)],
)
def test_color_on_a_terminal(project: Path, env: dict[str, str], colored: bool) -> None:
    main, other = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "devlint"], cwd=project, env=environment(**env), stdout=other, stderr=other, check=False
    )
    os.close(other)
    output = os.read(main, 1 << 16).decode()
    os.close(main)
    assert done.returncode == 1
    assert ("\x1b[" in output) is colored


def test_long_lines_are_clipped_to_the_columns(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = [" + "1, " * 100 + "]  # noqa: DEV101\n")
    printed = devlint(env={"COLUMNS": "60"}).stdout.splitlines()[:-1]
    assert all(len(line) <= 60 for line in printed)
    (at,) = [number for number, line in enumerate(printed) if line.startswith(" 1 | ...")]
    assert printed[at].endswith("# noqa: DEV101")
    assert printed[at + 1].index("^") == printed[at].index("# noqa")


def test_verbose_says_where_the_configuration_is(devlint: Run, project: Path) -> None:
    assert "defaults only" in devlint("-v").stderr
    (project / "devlint.toml").write_text("min-severity = 'error'\n")
    assert f"{project}/devlint.toml" in devlint("-v").stderr
