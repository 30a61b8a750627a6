"""Configuration, ignore files, baselines and lists of arguments that are no good: one line, and nothing hangs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.hostile.conftest import BUG

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
needs_devices = pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="the system has no such device")


def refused(devlint: Run, *arguments: str) -> str:
    """The one line on standard error of a run that ends with 2."""
    done = devlint(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "internal error" not in line
    return line


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("tool = 3\n", 1, "`tool` must be a table, not 3"),
        ("x = 1\ntool = ['devlint']\n", 2, "`tool` must be a table"),
        ("tool = 'devlint'\n", 1, "`tool` must be a table"),
        ("[[tool]]\ndevlint = {}\n", 1, "`tool` must be a table"),
        ("\ufeff\ufeff[tool.devlint]\n", 1, "two byte order marks"),
        ("\ufeff\ufeff# no more\n", 1, "two byte order marks"),
        ("[tool.devlint]\nexclude = ['b', '[z-a]']\n", 2, "`exclude`: invalid glob '[z-a]': the range z-a is empty"),
        ("[tool.devlint]\n\nextend-exclude = ['a[']\n", 3, "`extend-exclude`: invalid glob 'a['"),
        ("[tool.devlint.per-file-ignores]\n'[z-a]' = ['DEV1']\n", 1, "`per-file-ignores`: invalid glob '[z-a]'"),
        ("[tool.devlint.per-file-ignores]\n'!' = ['DEV1']\n", 1, "invalid glob '': it names nothing"),
        ("[tool.devlint]\nexclude = ['\\\\']\n".replace("'", '"'), 2, "nothing follows its last backslash"),
        ('[tool.devlint]\nsrc = ["a\\u0000b"]\n', 2, "`src`: 'a\\x00b' is no path: it contains a null byte"),
        ('[tool.devlint]\nbaseline = "a\\u0000b"\n', 2, "`baseline`"),
        ('[tool.devlint]\ncache-dir = "a\\u0000b"\n', 2, "`cache-dir`"),
        ('[tool.devlint]\nextend = "a\\u0000b"\n', 2, "`extend`"),
        ('[tool.devlint]\nexclude = ["a\\u0000b"]\n', 2, "no path contains a null byte"),
        ("x = 1\ny = " + "[" * 5000 + "]" * 5000 + "\n", 2, "nested too deeply"),
        ("x = " + "{a = " * 5000 + "1" + "}" * 5000 + "\n", 1, "nested too deeply"),
        ("a." * 50_000 + "b = 1\n", 1, "a key has more than 100 parts"),
        ("x = 1\n[" + "a." * 50_000 + "b]\n", 2, "a key has more than 100 parts"),
        ("[tool.devlint]\nselect = ['" + "x" * 5000 + "']\n", 2, "unknown code"),
    ],
)  # fmt: skip
def test_a_hostile_pyproject_is_refused_with_file_and_line(
    devlint: Run, tmp_path: Path, text: str, line: int, words: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    (tmp_path / "a.py").write_text(BUG)
    told = refused(devlint)
    assert f"pyproject.toml:{line}: " in told
    assert words in told
    assert len(told) < 6000


@pytest.mark.parametrize(
    "text",
    [
        "[tool]\nx = 1\n",
        "[tool.other]\ndots = '" + "a." * 5000 + "'\n",
        "numbers = [" + "1.5, " * 5000 + "]\n",
        "\ufeff[project]\nname = 'x'\n",
    ],
)
def test_an_ordinary_pyproject_of_others_is_none_of_our_business(devlint: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    (tmp_path / "a.py").write_text(BUG)
    assert devlint("--output-format", "concise").returncode == 1


def test_a_header_of_many_blanks_takes_no_time(devlint: Run, tmp_path: Path) -> None:
    text = "[tool.devlint]\nfix = false\nselect = ['DEV2']\n[other]\nx = '''\n[" + " " * 100_000 + "x\n'''\n"
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "a.py").write_text(BUG)
    assert devlint().returncode == 1


@pytest.mark.parametrize("option", ["exclude", "extend-exclude"])
def test_a_bad_glob_on_the_command_line(devlint: Run, option: str) -> None:
    assert refused(devlint, f"--{option}", "[z-a]").startswith(f"devlint: --{option}: `{option}`: invalid glob '[z-a]'")


def test_a_bad_glob_among_per_file_ignores_on_the_command_line(devlint: Run) -> None:
    assert "--per-file-ignores: `per-file-ignores`: invalid glob" in refused(
        devlint, "--per-file-ignores", "[z-a]:DEV1"
    )


@pytest.mark.parametrize("pattern", ["[z-a]", "[[:space:]]", "[[a]]", "a\\", "[", "!", "a\0b", "*a" * 60 + "b"])
def test_whatever_stands_in_an_ignore_file_the_run_goes_on(devlint: Run, tmp_path: Path, pattern: str) -> None:
    (tmp_path / ".gitignore").write_text(f"{pattern}\nleft-out.py\n")
    name = "a" * 60 + ".py"
    for file in (name, "left-out.py"):
        (tmp_path / file).write_text(BUG)
    done = devlint("--output-format", "concise")
    assert done.returncode == 1
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [name]
    assert "Warning" not in done.stderr


def test_an_ignore_file_with_too_many_patterns_is_a_finding(devlint: Run, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("".join(f"*{number}\n" for number in range(3000)))
    (tmp_path / "a.py").write_text(BUG)
    done = devlint("--output-format", "concise")
    assert done.returncode == 2
    ignored, bug = done.stdout.splitlines()
    assert ignored.startswith(".gitignore:1:1: DEV902")
    assert "up to 2,000 patterns" in ignored
    assert bug.startswith("a.py:3:1: DEV201")


def make(kind: str, path: Path) -> None:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with open(path, "wb") as file:  # a hole: it takes no room on the disk
            file.truncate(1 << 40)


KINDS = [
    pytest.param("pipe", "not a regular file", marks=needs_pipes),
    pytest.param("device", "not a regular file", marks=needs_devices),
    ("endless", "devlint reads files of up to"),
]


@pytest.mark.parametrize(("kind", "words"), KINDS)
@pytest.mark.parametrize("name", ["pyproject.toml", "devlint.toml", ".devlint.toml"])
def test_a_configuration_that_is_no_file_is_refused(
    devlint: Run, tmp_path: Path, name: str, kind: str, words: str
) -> None:
    make(kind, tmp_path / name)
    (tmp_path / "a.py").write_text(BUG)
    assert words in refused(devlint)


@pytest.mark.parametrize(("kind", "words"), KINDS)
def test_what_the_command_line_names_must_be_a_file(devlint: Run, tmp_path: Path, kind: str, words: str) -> None:
    make(kind, tmp_path / "thing")
    (tmp_path / "a.py").write_text(BUG)
    (tmp_path / "extending.toml").write_text("extend = 'thing'\n")
    for arguments in (["@thing"], ["--baseline", "thing"], ["--config", "thing"], ["--config", "extending.toml"]):
        assert words in refused(devlint, *arguments), arguments


@pytest.mark.parametrize(("kind", "words"), KINDS)
@pytest.mark.parametrize("name", [".gitignore", ".ignore", ".git/info/exclude"])
def test_an_ignore_file_that_is_none_is_a_finding_and_the_rest_is_linted(
    devlint: Run, tmp_path: Path, name: str, kind: str, words: str
) -> None:
    (tmp_path / ".git" / "info").mkdir(parents=True)
    make(kind, tmp_path / name)
    (tmp_path / "a.py").write_text(BUG)
    done = devlint("--output-format", "concise")
    assert done.returncode == 2
    ignored, bug = sorted(done.stdout.splitlines(), key=lambda line: line.startswith("a.py"))
    assert ignored.startswith(f"{name}:1:1: DEV902")
    assert words in ignored
    assert bug.startswith("a.py:3:1: DEV201")


@pytest.mark.parametrize(("kind", "words"), KINDS)
def test_a_module_of_the_same_package_that_is_no_file_stops_nothing(
    devlint: Run, tmp_path: Path, kind: str, words: str
) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    make(kind, package / "strange.py")
    text = f"from .strange import made\n{BUG}made(x)\n"
    (package / "a.py").write_text(text)
    done = devlint("--output-format", "concise", "package/a.py")
    assert done.returncode == 1
    assert done.stdout.startswith("package/a.py:4:1: DEV201")


@pytest.mark.parametrize(("kind", "words"), KINDS)
def test_a_linted_file_that_has_no_end_is_a_finding(devlint: Run, tmp_path: Path, kind: str, words: str) -> None:
    make(kind, tmp_path / "strange.py")
    (tmp_path / "a.py").write_text(BUG)
    done = devlint("--output-format", "concise", "a.py", "strange.py")
    assert done.returncode == 2
    bug, strange = done.stdout.splitlines()
    assert bug.startswith("a.py:3:1: DEV201")
    assert words in strange
