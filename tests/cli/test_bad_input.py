"""Files that are no good: each gets one clear finding, and the run goes on."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run


def findings(devlint: Run, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    done = devlint("--output-format", "json", *arguments)
    document = json.loads(done.stdout)
    return done.returncode, document["findings"]


def only(devlint: Run, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, found = findings(devlint, *arguments)
    assert len(found) == 1
    return code, found[0]


def test_a_syntax_error_has_pythons_own_place_and_words(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nx = torch.zeros(3\n")
    code, finding = only(devlint)
    assert (code, finding["code"], finding["line"], finding["column"]) == (1, "DEV901", 3, 16)
    assert finding["message"] == "'(' was never closed"


@pytest.mark.parametrize(
    "text", ["import torch\ndef f[T](x: T) -> T: return x\n", "try:\n  pass\nexcept A, B:\n  pass\n"]
)
def test_syntax_that_only_libcst_knows_is_no_error(devlint: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.py").write_text(text)
    assert findings(devlint) == (0, [])


def test_bytes_outside_of_the_declared_encoding(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"import torch\nname = 'caf\xe9'\n")
    code, finding = only(devlint)
    assert (code, finding["code"], finding["line"]) == (2, "DEV902", 2)
    assert "byte 0xe9 is not valid utf-8" in finding["message"]


def test_an_unknown_encoding(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"# -*- coding: klingon -*-\n")
    code, finding = only(devlint)
    assert (code, finding["code"]) == (2, "DEV902")
    assert "unknown encoding: klingon" in finding["message"]


def test_a_null_byte_is_a_syntax_error_at_its_place(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"import torch\nx = 'a\0b'\n")
    code, finding = only(devlint)
    assert (code, finding["code"], finding["line"], finding["column"]) == (1, "DEV901", 2, 7)


@pytest.mark.parametrize("rest", [b"import torch\nx = torch.ones(3).cuda() + torch.ones(3)\n", b"x = 1\n", b""])
def test_a_second_byte_order_mark_is_a_syntax_error_as_in_python(devlint: Run, tmp_path: Path, rest: bytes) -> None:
    data = b"\xef\xbb\xbf" * 2 + rest
    (tmp_path / "a.py").write_bytes(data)
    with pytest.raises(SyntaxError, match=re.escape("invalid non-printable character U+FEFF")):
        compile(data, "a.py", "exec")
    code, finding = only(devlint, "--fix")
    assert (code, finding["code"], finding["line"], finding["column"]) == (1, "DEV901", 1, 1)
    assert finding["message"] == "invalid non-printable character U+FEFF"
    assert (tmp_path / "a.py").read_bytes() == data


@pytest.mark.parametrize("data", [b"", b"\n", b"\xef\xbb\xbf", b"\f\n", b"# only a comment", b"\r\n\r\n"])
def test_files_with_nothing_in_them_are_clean(devlint: Run, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.py").write_bytes(data)
    assert findings(devlint) == (0, [])


def test_a_sum_of_3000_terms_is_analysed(devlint: Run, tmp_path: Path) -> None:
    terms = " + ".join(["a"] * 3000)
    (tmp_path / "a.py").write_text(f"import torch\n\n\ndef f(a):\n    return {terms}\n")
    assert findings(devlint) == (0, [])


def test_2000_nested_brackets_are_refused(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nx = " + "[" * 2000 + "]" * 2000 + "\n")
    (tmp_path / "b.py").write_text("x = 1  # noqa: DEV101\n")
    code, (refused, other) = findings(devlint)
    assert (code, refused["code"], other["code"]) == (2, "DEV902", "DEV900")
    assert refused["message"] == "cannot be analysed: brackets are nested more than 200 deep"
    assert (refused["line"], refused["column"]) == (2, 205)


def test_an_expression_of_20000_terms_is_refused(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nx = " + " + ".join(["a"] * 20_000) + "\n")
    code, finding = only(devlint)
    assert (code, finding["code"]) == (2, "DEV902")
    assert "more than 8,000 tokens" in finding["message"]


def test_a_file_that_is_too_large(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\n" * 800_000)
    code, finding = only(devlint)
    assert (code, finding["code"]) == (2, "DEV902")
    assert "4.6 MiB" in finding["message"]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no /proc with a file that opens and does not read")
def test_a_file_that_cannot_be_read(devlint: Run) -> None:
    code, finding = only(devlint, "/proc/self/mem")
    assert (code, finding["code"]) == (2, "DEV902")
    assert "cannot be analysed: input/output error" in finding["message"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_among_the_files_is_passed_over_and_a_named_one_refused(devlint: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "a.py").write_text("x = 1\n")
    assert findings(devlint) == (0, [])
    code, finding = only(devlint, "pipe.py")
    assert (code, finding["code"]) == (2, "DEV902")
    assert "not a regular file" in finding["message"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
@pytest.mark.parametrize("form", ["text", "concise", "json"])
def test_a_name_that_is_not_utf8(devlint: Run, tmp_path: Path, form: str) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.py"
    with open(name, "wb") as file:
        file.write(b"x = 1  # noqa: DEV101\n")
    for arguments in ([], [b"caf\xe9.py"]):
        done = devlint("--output-format", form, *arguments)
        assert done.returncode == 1
        assert "caf\\udce9.py" in done.stdout
        assert done.stderr == "" or "1 warning" in done.stderr


def test_links_that_lead_in_circles_or_nowhere(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1  # noqa: DEV101\n")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "nowhere.py").symlink_to("gone.py")
    (tmp_path / "self.py").symlink_to("self.py")
    code, finding = only(devlint)
    assert (code, finding["path"]) == (1, "a.py")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--output-format=concise", "./check"],
        ["--output-format=concise", "--", "check"],
        ["check", "--output-format=concise", "check"],
        ["check", "--output-format=concise", "--", "check"],
    ],
)
def test_a_directory_named_like_a_command(devlint: Run, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "check").mkdir()
    (tmp_path / "check" / "a.py").write_text("x = 1  # noqa: DEV101\n")
    done = devlint(*arguments)
    assert done.returncode == 1
    assert done.stdout.startswith("check/a.py:1:8: DEV900")


def test_a_file_that_begins_with_a_dash(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "-e.py").write_text("x = 1  # noqa: DEV101\n")
    assert devlint("--", "-e.py").returncode == 1


def test_arguments_from_a_file(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / "arguments.txt").write_text("--output-format\nconcise\n\nname with blanks.py\n")
    (tmp_path / "name with blanks.py").write_text("x = 1  # noqa: DEV101\n")
    (tmp_path / "other.py").write_text("x = 1  # noqa: DEV101\n")
    done = devlint("@arguments.txt")
    assert done.returncode == 1
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["name with blanks.py"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[tool.devlint\n", 1, "not valid TOML"),
        ("[project]\nname = 'x'\n\n[tool.devlint]\nmin-severty = 'error'\n", 5, "did you mean `min-severity`?"),
        ("[tool.devlint]\nselect = ['DEV1',\n  'DEV77']\n", 2, "unknown code `DEV77`"),
        ("[tool.devlint]\nselect = 'DEV1'\n", 2, "`select` must be a list of codes, not 'DEV1'"),
        ("[tool.devlint]\nbare-noqa = 1\n", 2, "`bare-noqa` must be true or false, not 1"),
        ("[tool.devlint]\nmin-severity = 'fatal'\n", 2, "must be `note`, `warning` or `error`, not 'fatal'"),
        ("[tool.devlint.per-file-ignores]\n'tests/*' = 'DEV1'\n", 1, "must be a list of codes"),
        ("[tool]\ndevlint = 3\n", 2, "`tool.devlint` must be a table"),
        ("[tool.devlint]\nrequired-version = '>=99'\n", 2, "requires devlint >=99, and this is 0.1.0"),
        ("[tool.devlint]\nextend = 'gone.toml'\n", 2, "which is no file"),
        ("[tool.devlint]\nextend = 'pyproject.toml'\n", 2, "leads back"),
    ],
)
def test_a_broken_pyproject_is_2_with_file_and_line(
    devlint: Run, tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "a.py").write_text("x = 1\n")
    done = devlint()
    assert (done.returncode, done.stdout) == (2, "")
    place = f"pyproject.toml:{line}: " if line else "pyproject.toml: "
    assert place in done.stderr
    assert words in done.stderr
    assert devlint("--isolated").returncode == 0
