"""Patterns of ``.gitignore``: what git says of them, in linear time."""

from __future__ import annotations

import subprocess
import time
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devlint.source.globs import MAX_WILDCARDS, BadGlob, Globs, TooMany, check_glob

PATTERNS = [
    "*.py", "a", "a/", "/a", "a/b", "a/**", "**/a", "**/a/b", "a/**/b", "a/**/b/**/c", "**", "**/", "*", "*/",
    "a*b*c", "?", "a?c", "[ab]", "[!a]", "[^a]", "[a-c]x", "[]a]", "[a-]", "[[:alpha:]]", "[[:space:]]x",
    "[[:nothing:]]", "[z-a]", "[z-ab]", "[", "[a", "\\*", "\\a", "a\\", "a ", "a\\ ", "!a", "\\!a", "\\#a", "a**b",
    "***", "a//b", "[+--]", "[/]", "*b*", "[\\]]", "[\\-a]", "b[!-a]", "**/**", "**/*/c", "a/*/c", "/*", "/", "é",
    "[é]", "[a-é]", "a.b", "(a|b)", "a+", "[[/]", "[/a]", "a[/]b", "[!/]", "a\\/b", "[/", "[a/b]/c",
]  # fmt: skip
PATHS = [
    "a", "b", "c", "ab", "abc", "ac", "aXbXc", "a.py", "b.py", "a/b", "a/c", "a/b/c", "a/x/b", "a/x/y/b", "b/a",
    "x/a/b", "a/b/x/c", "ax", "bx", " x", "*", "a ", "!a", "#a", "[", "a[", "]", "-", ",", "a-", "x/y/a", "b-", "bc",
    "b!", "a.b", "a/a/a", "(a|b)", "a+", "a\\", "z", "xb", "aXXb",
]  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def by_git(repository: Path, patterns: list[str], paths: list[str]) -> dict[str, bool | None]:
    """What git says of paths, none of which exists: all are files."""
    (repository / ".gitignore").write_text("".join(f"{pattern}\n" for pattern in patterns), encoding="utf-8")
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"],
        input="\0".join(paths).encode(), cwd=repository, capture_output=True, check=False,
    )  # fmt: skip
    fields = done.stdout.decode().split("\0")
    said = {fields[i + 3]: fields[i + 2] for i in range(0, len(fields) - 1, 4)}
    return {path: None if not pattern else not pattern.startswith("!") for path, pattern in said.items()}


def by_globs(patterns: list[str], path: str) -> bool | None:
    """The same by ours: git too looks at the directories from the top, and stops at one that is left out."""
    globs = Globs(patterns)
    parts = path.split("/")
    for depth in range(1, len(parts)):
        if globs.verdict("/".join(parts[:depth]), True):
            return True
    return globs.verdict(path, False)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_git_says_the_same(repository: Path, pattern: str) -> None:
    said = by_git(repository, [pattern], PATHS)
    assert {path: by_globs([pattern], path) for path in said} == said


WORDS = st.text(alphabet="ab/*?[]!^-\\.", min_size=1, max_size=8)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns=st.lists(WORDS.filter(lambda word: not word.startswith("#")), min_size=1, max_size=4))
def test_git_says_the_same_of_any_list(repository: Path, patterns: list[str]) -> None:
    said = by_git(repository, patterns, PATHS)
    assert {path: bool(by_globs(patterns, path)) for path in said} == {path: bool(is_) for path, is_ in said.items()}


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 300 + "b", "a" * 255),
        ("a*" * 300 + "b", "a" * 255),
        ("*?" * 120 + "b", "a" * 255),
        ("**/a/" * 200 + "b", "a/" * 1000 + "c"),
        ("**/*a*/" * 100 + "b", "aaaa/" * 800 + "c"),
        ("*" + "?" * 200 + "b", "a" * 255),
        ("*" * 1000 + "b", "a" * 255),
        ("*[ab]" * 200 + "c", "ab" * 127),
    ],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    started = time.process_time()
    globs = Globs([pattern])
    assert [globs.verdict(path, False) for _ in range(20)] == [None] * 20
    assert time.process_time() - started < 2


def test_there_is_a_bound_on_what_is_held_against_every_path() -> None:
    Globs([f"plain{number}" for number in range(100_000)])
    Globs([f"*{number}" for number in range(MAX_WILDCARDS)])
    with pytest.raises(TooMany):
        Globs([f"*{number}" for number in range(MAX_WILDCARDS + 1)])
    with pytest.raises(TooMany):
        Globs([f"*{'a' * 1000}{number}" for number in range(100)])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_pattern_makes_python_warn(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Globs([pattern, f"[{pattern}]", f"[[{pattern}]]", f"[a&&{pattern}]", f"[a||{pattern}--]", f"[~~{pattern}]"])


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("[z-a]", "the range z-a is empty"),
        ("src/[a", "never closed"),
        ("a\\", "last backslash"),
        ("[[:nothing:]]", "no class [:nothing:]"),
        ("a\0b", "null byte"),
        ("", "names nothing"),
        ("!", "names nothing"),
        ("/", "names nothing"),
        ("a" * 2000, "more than 1,024 characters"),
    ],
)
def test_what_can_match_nothing_is_named(pattern: str, words: str) -> None:
    with pytest.raises(BadGlob, match=words.replace("[", "\\[")):
        check_glob(pattern)
    assert Globs([pattern, "kept"]).verdict("kept", False) is True
