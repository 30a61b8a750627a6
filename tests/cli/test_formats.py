"""Every format through the real program: one valid document and the same exit code, whatever happened."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from devlint.configuration.configfile import OUTPUT_FORMATS
from devlint.reports.machine import MACHINE_FORMATS
from tests.cli.conftest import Run

BUG = "import torch\n\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n    return x + torch.zeros(8)\n"


def _lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def _annotations(text: str) -> list[str]:
    assert all(line.startswith("::") for line in text.splitlines())
    return text.splitlines()


COUNTS: dict[str, Callable[[str], int]] = {
    "json": lambda text: len(json.loads(text)["findings"]),
    "json-lines": lambda text: len(_lines(text)),
    "sarif": lambda text: len(json.loads(text)["runs"][0]["results"]),
    "gitlab": lambda text: len(json.loads(text)),
    "rdjson": lambda text: len(json.loads(text)["diagnostics"]),
    "junit": lambda text: len(list(ElementTree.fromstring(text).iter("failure"))) + text.count("<error type"),
    "github": lambda text: len(_annotations(text)),
    "html": lambda text: text.count("<article") if text.rstrip().endswith("</html>") else -1,
}
"""How many findings a document tells of; raises if it is none."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "clean.py").write_text("x = 1\n")
    (tmp_path / "bug.py").write_text(BUG)
    (tmp_path / "bad.py").write_bytes(b"x = '\xff'\n")
    return tmp_path


def test_every_machine_format_is_read_here() -> None:
    assert set(COUNTS) == MACHINE_FORMATS
    assert set(OUTPUT_FORMATS) >= MACHINE_FORMATS


@pytest.mark.parametrize("output_format", [*sorted(MACHINE_FORMATS), "grouped"])
def test_the_exit_code_is_the_same_in_every_format(devlint: Run, project: Path, output_format: str) -> None:
    outcomes = [(["clean.py"], 0, 0), (["bug.py"], 1, 1), (["bug.py", "bad.py", "gone.py"], 2, 2)]
    for arguments, code, findings in outcomes:
        done = devlint("--output-format", output_format, *arguments)
        assert done.returncode == code, (arguments, done.stderr)
        if output_format in COUNTS:
            missing = output_format == "junit" and "gone.py" in arguments
            assert COUNTS[output_format](done.stdout) == findings + missing, arguments


@pytest.mark.parametrize("output_format", ["sarif", "github", "gitlab", "junit", "rdjson"])
def test_forges_get_paths_from_the_repositorys_root(devlint: Run, tmp_path: Path, output_format: str) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "bug.py").write_text(BUG)
    (tmp_path / "elsewhere").mkdir()
    text = devlint("--output-format", output_format, "../src/bug.py", cwd=tmp_path / "elsewhere").stdout
    assert "src/bug.py" in text
    assert "../" not in text
    assert text.count("bug.py") == text.count("src/bug.py")


def test_the_steps_summary_is_appended_to_what_others_wrote(devlint: Run, project: Path) -> None:
    summary = project / "summary.md"
    summary.write_text("# Of others\n")
    done = devlint("--output-format", "github", "bug.py", env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert done.stdout.startswith("::warning file=bug.py,line=5,")
    assert summary.read_text().startswith("# Of others\n### devlint\n\n1 warning in 1 file")
    assert "1 warning in 1 file" in done.stderr


def test_a_summary_that_cannot_be_written_does_not_fail_the_run(devlint: Run, project: Path) -> None:
    done = devlint("--output-format", "github", "bug.py", env={"GITHUB_STEP_SUMMARY": str(project / "no" / "where")})
    assert done.returncode == 1
    assert "cannot write" in done.stderr


def test_statistics_have_no_other_form_than_text_and_json(devlint: Run, project: Path) -> None:
    done = devlint("--statistics", "--output-format", "sarif", "bug.py")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--statistics counts in text or in JSON, not in sarif" in done.stderr


@pytest.mark.parametrize("output_format", ["text", "sarif"])
def test_an_output_file_is_written_whole_or_not_at_all(devlint: Run, project: Path, output_format: str) -> None:
    (project / "out").write_text("old")
    (project / "out").chmod(0o640)
    assert devlint("-o", "out", "--output-format", output_format, "bug.py").returncode == 1
    text = (project / "out").read_text()
    assert "DEV101" in text
    assert (project / "out").stat().st_mode & 0o777 == 0o640
    before = sorted(os.listdir(project))
    broken = devlint("-o", "out/in/no/directory", "--output-format", output_format, "bug.py")
    assert broken.returncode == 2
    assert broken.stderr.startswith("Error: cannot write")
    assert sorted(os.listdir(project)) == before
    assert (project / "out").read_text() == text


def test_a_format_can_come_from_the_configuration(devlint: Run, project: Path) -> None:
    (project / "devlint.toml").write_text('output-format = "rdjson"\n')
    assert COUNTS["rdjson"](devlint("bug.py").stdout) == 1


def test_documents_are_the_same_in_any_locale(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "日本.py").write_text(BUG.replace("def f", "def 日"), encoding="utf-8")
    for output_format in ("sarif", "gitlab", "junit", "rdjson", "json-lines", "html"):
        plain = devlint("--output-format", output_format, env={"PYTHONIOENCODING": "ascii"}).stdout
        assert plain.isascii()
        assert COUNTS[output_format](plain) == 1
