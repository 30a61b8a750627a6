"""The static pipeline as a whole: which findings are shown, and that they are the same however it is called."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import pytest

from devlint.check import Request, check
from devlint.configuration.config import Overrides
from devlint.finding import Confidence, Finding, Severity
from devlint.pipeline.result import Result

DISCARDED = """\
import torch


def move(x: torch.Tensor) -> torch.Tensor:
    x.cuda()
    return x + 1
"""

CREATED_THEN_MOVED = """\
import torch


def count(x: torch.Tensor) -> torch.Tensor:
    return x + torch.arange(3).to(x.device)
"""


def run(cwd: Path, *paths: str, jobs: int = 1, ignore_noqa: bool = False, **settings: Any) -> Result:
    values = {key.replace("_", "-"): value for key, value in settings.items()}
    return check(Request(paths or (".",), cwd, Overrides(values), ignore_noqa, jobs))


def codes(result: Result) -> list[str]:
    return [finding.code for finding in result.findings]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "pkg").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "pkg" / f"{name}.py").write_text(DISCARDED)
    return tmp_path


def test_a_file_is_judged_the_same_alone_in_a_subset_and_with_the_project(project: Path) -> None:
    whole = run(project).findings
    assert codes(run(project)) == ["DEV201"] * 3
    for jobs in (1, 2):
        for paths in (["pkg/b.py"], ["pkg/c.py", "pkg/b.py"], ["pkg", "pkg/b.py"]):
            part = run(project, *paths, jobs=jobs).findings
            assert [f for f in part if f.place.path == "pkg/b.py"] == [f for f in whole if f.place.path == "pkg/b.py"]


def test_fingerprints_do_not_depend_on_the_working_directory(project: Path) -> None:
    here = run(project).findings
    there = run(project / "pkg", ".").findings
    assert [f.place.path for f in there] == ["a.py", "b.py", "c.py"]
    assert [f.fingerprint for f in there] == [f.fingerprint for f in here]
    assert len({f.fingerprint for f in here}) == 3


def test_fingerprints_survive_moved_lines_and_other_selections(project: Path) -> None:
    (before,) = run(project, "pkg/a.py").findings
    (project / "pkg" / "a.py").write_text("# moved down\n\n" + DISCARDED)
    (after,) = run(project, "pkg/a.py", select=["DEV201"], min_confidence="high").findings
    assert after.place.line == before.place.line + 2
    assert after.fingerprint == before.fingerprint


def test_a_suppressed_finding_is_counted_and_can_be_shown(project: Path) -> None:
    (project / "pkg" / "a.py").write_text(DISCARDED.replace("x.cuda()", "x.cuda()  # noqa: DEV201"))
    result = run(project, "pkg/a.py")
    assert (codes(result), result.hidden.suppressed, result.exit_code) == ([], 1, 0)
    assert codes(run(project, "pkg/a.py", ignore_noqa=True)) == ["DEV201"]


def test_a_rule_that_is_off_is_not_counted_as_hidden(project: Path) -> None:
    result = run(project, ignore=["DEV201"])
    assert (codes(result), result.hidden.total, result.exit_code) == ([], 0, 0)


def test_what_is_ignored_for_some_files_is_found_in_the_others(project: Path) -> None:
    result = run(project, per_file_ignores={"pkg/a.py": ["DEV2"]})
    assert [f.place.path for f in result.findings] == ["pkg/b.py", "pkg/c.py"]


def notes(cwd: Path, **settings: Any) -> list[Finding]:
    return [f for f in run(cwd, **settings).findings if f.severity is Severity.NOTE]


def test_notes_are_off_until_their_rule_is_selected_and_never_gate(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CREATED_THEN_MOVED)
    assert notes(tmp_path) == []
    assert notes(tmp_path, min_severity="note") == []
    for selected in ({"select": ["DEV701"]}, {"select": ["ALL"]}, {"extend_select": ["DEV7"]}):
        assert [f.code for f in notes(tmp_path, **selected)] == ["DEV701"]
        assert run(tmp_path, **selected).exit_code == 0
    assert notes(tmp_path, select=["ALL"], min_severity="warning") == []


@pytest.mark.parametrize("confidence", ["low", "medium", "high"])
def test_what_is_below_the_least_confidence_is_counted(tmp_path: Path, confidence: str) -> None:
    (tmp_path / "a.py").write_text(DISCARDED + "\n\nz = torch.load('a')\n")
    every = run(tmp_path, min_confidence="low")
    result = run(tmp_path, min_confidence=confidence)
    least = Confidence[confidence.upper()]
    kept = [finding for finding in every.findings if finding.confidence >= least]
    assert list(result.findings) == kept
    assert result.hidden.below_confidence == len(every.findings) - len(kept)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_places_are_the_same_in_every_encoding_and_with_every_line_end(
    tmp_path: Path, encoding: str, newline: str
) -> None:
    text = f"# coding: {'latin-1' if encoding == 'latin-1' else 'utf-8'}\n\f{DISCARDED}".replace("\n", newline)
    (tmp_path / "a.py").write_bytes(text.replace("x.cuda()", "'é'; x.cuda()").encode(encoding))
    (finding,) = run(tmp_path).findings
    place = finding.place
    assert (finding.code, place.line, place.column, place.end_column) == ("DEV201", 6, 10, 18)
    assert (encoding == "utf-8-sig") is (tmp_path / "a.py").read_bytes().startswith(codecs.BOM_UTF8)


def test_the_configuration_nearest_to_each_file_counts(project: Path) -> None:
    (project / "other").mkdir()
    (project / "other" / "d.py").write_text(DISCARDED)
    (project / "other" / "devlint.toml").write_text("ignore = ['DEV2']\n")
    assert [f.place.path for f in run(project).findings] == ["pkg/a.py", "pkg/b.py", "pkg/c.py"]
    assert len(check(Request((".",), project, Overrides(isolated=True), jobs=1)).findings) == 4
