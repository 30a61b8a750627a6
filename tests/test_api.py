"""devlint from Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import devlint
from devlint import Confidence, ConfigurationError, Finding, Severity, lint_paths, lint_source
from tests.cli.conftest import ROOT, environment
from tests.source.test_notebook import notebook

STRAY = "import torch\n\nx = torch.ones(3)\nx.cuda()\n"


def codes(findings: list[Finding]) -> list[tuple[str, str, int]]:
    return [(finding.code, finding.place.path, finding.place.line) for finding in findings]


def test_paths_give_what_the_command_line_shows(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "b.py").write_text(STRAY)
    (tmp_path / "a.py").write_text(STRAY + "y = (\n")
    found = lint_paths(["."], cwd=tmp_path)
    assert codes(found) == [("DEV901", "a.py", 5), ("DEV201", "pkg/b.py", 4)]
    stray = found[1]
    assert (stray.name, stray.severity, stray.confidence) == ("discarded-transfer", Severity.WARNING, Confidence.HIGH)
    assert [step.device for step in stray.trace] == ["cpu", "cuda"]
    assert codes(lint_paths([tmp_path / "pkg"], cwd=tmp_path, jobs=2)) == [("DEV201", "pkg/b.py", 4)]


def test_settings_are_over_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(STRAY)
    (tmp_path / "devlint.toml").write_text("ignore = ['DEV201']\n")
    assert lint_paths([tmp_path]) == []
    assert len(lint_paths([tmp_path], settings={"select": ["DEV2"]})) == 1
    assert len(lint_paths([tmp_path], isolated=True)) == 1
    (tmp_path / "other.toml").write_text("select = ['DEV2']\n")
    assert len(lint_paths([tmp_path], config=tmp_path / "other.toml")) == 1


def test_a_missing_path_and_a_wrong_setting_are_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file or directory: gone"):
        lint_paths(["gone.py"], cwd=tmp_path)
    with pytest.raises(ConfigurationError, match="settings: `select`: unknown code `DEV99`"):
        lint_paths([tmp_path], settings={"select": ["DEV99"]})
    with pytest.raises(ConfigurationError, match="settings: unknown key `selct`; did you mean `select`"):
        lint_source("", settings={"selct": []})
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(ConfigurationError, match=r"has no \[tool.devlint\]"):
        lint_source("", config=tmp_path / "pyproject.toml")


def test_a_text_is_judged_where_its_name_says(tmp_path: Path) -> None:
    assert codes(lint_source(STRAY)) == [("DEV201", "-", 4)]
    (tmp_path / "devlint.toml").write_text("[per-file-ignores]\n'vendored/' = ['DEV2']\n")
    assert lint_source(STRAY, tmp_path / "vendored" / "a.py", cwd=tmp_path) == []
    assert codes(lint_source(STRAY, "own/a.py", cwd=tmp_path)) == [("DEV201", "own/a.py", 4)]
    (finding,) = lint_source(notebook("import torch\nx = torch.ones(3)", "x.cuda();"), "a.ipynb")
    assert finding.place.position == "cell 2:1:1"


@pytest.mark.parametrize("head", ["", "# coding: latin-1\n", "# coding: ascii\n", "# coding: no-such\n"])
def test_a_string_is_in_the_encoding_it_declares(head: str) -> None:
    found = lint_source(f"{head}s = 'é'  # noqa: DEV101\n", isolated=True)
    expected = "DEV902" if "ascii" in head or "no-such" in head else "DEV900"
    assert [finding.code for finding in found] == [expected]


def test_importing_the_package_imports_none_of_it() -> None:
    program = "import sys, devlint; print(sorted(name for name in sys.modules if name.startswith('devlint')))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "['devlint']\n"


def test_every_promised_name_is_there() -> None:
    for name in devlint.__all__:
        assert getattr(devlint, name) is not None
        assert name in dir(devlint)
    with pytest.raises(AttributeError, match="no attribute 'lint'"):
        _ = devlint.lint  # type: ignore[attr-defined]


def test_a_typed_program_may_use_it(tmp_path: Path) -> None:
    assert (ROOT / "devlint" / "py.typed").is_file()
    (tmp_path / "use.py").write_text(
        "import devlint\n"
        "found: list[devlint.Finding] = devlint.lint_paths(['.'], settings={'select': ['DEV1']})\n"
        "worst = max(finding.severity for finding in found + devlint.lint_source('x = 1'))\n"
        "reveal_type(worst)\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "use.py"]
    env = environment(MYPYPATH=str(ROOT))
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert 'Revealed type is "devlint.finding.Severity"' in done.stdout, done.stdout
    assert "error:" not in done.stdout
