"""What part a file plays in its project. Rules may read the role, never the path."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath

_MAIN_GUARD = re.compile(
    r"""^if\s*\(?\s*(?:__name__\s*==\s*(['"])__main__\1|(['"])__main__\2\s*==\s*__name__).*$""", re.M
)

_RELATIVE_IMPORT = re.compile(r"^from\s+\.", re.M)
_COMMAND_LINE = re.compile(
    r"ArgumentParser|sys\.argv|^def main\("
    r"|^(?:import|from)\s+(?:absl|argparse|click|fire|hydra|jsonargparse|typer|tyro)\b",
    re.M,
)

_PARSES = re.compile(r"^(?:\w[\w, ]*=\s*)?(?:\w+(?:\(\))?\.)?parse_(?:known_)?args\(", re.M)
"""The command line is read at the module level: who imports the file runs the program."""

_MODULES = re.compile(r"^class \w+\(.*Module\W", re.M)
_USED = re.compile(r"backward\(|optim|DataLoader|\.train\(|\.fit\(|(?:load|save|write|read|open)\w{0,40}\(", re.I)
"""What a program does with models, and a demonstration seldom does."""
_TESTED = re.compile(r"\s*(?:#|(?:import|from)\s|(?:\w+\.)*_?(?:run_)?(?:test|doctest)(?:s|_\w+|mod)?\()")
"""Lines of a guard that does nothing but call tests."""
_LINES_OF_A_DEMONSTRATION = 25

_TEST_DIRECTORIES = frozenset({"test", "tests", "testing"})
_BENCHMARK_DIRECTORIES = frozenset({"bench", "benches", "benchmark", "benchmarks"})
_SCRIPT_DIRECTORIES = frozenset({"bin", "demo", "demos", "example", "examples", "script", "scripts", "tools"})

_TEST_FILE = re.compile(r"(?:test_(?!time_).*|.*_tests?|tests?|conftest)\Z")
"""What runs at test time, as `test_time_augmentation.py`, is no test: the term is of machine learning."""
_OF_A_RUNNER = re.compile(
    r"^\s*(?:import|from)\s+(?:pytest|unittest|absl\.testing|parameterized)\b|^def test_\w*\(\):", re.M
)
"""What says that a runner of tests runs the file."""
_BENCHMARK_FILE = re.compile(r"(?:bench(?:mark)?s?_.*|.*_bench(?:mark)?s?|bench(?:mark)?s?)\Z")
_SCRIPT_FILE = re.compile(r"(?:setup|noxfile|__main__)\Z")


class Role(Enum):
    """The parts a file can play; a file plays the first that fits, in the order notebook, test, benchmark, script,
    demonstrated."""

    LIBRARY = "library"
    SCRIPT = "script"
    TEST = "test"
    BENCHMARK = "benchmark"
    NOTEBOOK = "notebook"
    DEMONSTRATED = "demonstrated"
    """What it defines is a library's; what runs where it is the main program shows or tests that."""


def role_of(path: PurePath, text: str) -> Role:
    """The role of a file by its path inside the project and by whether its text runs when it is the main program.

    ``path`` must be relative to the project: a directory above it (``/home/me/tests/project``) says nothing.
    """
    directories = {part.lower() for part in path.parts[:-1]}
    stem = path.stem.lower()
    if path.suffix == ".ipynb":
        return Role.NOTEBOOK
    # `test_models/heads/utils.py` at the root of the tests; in a package it may be anything (`botorch/test_functions`),
    # and so it may where a file stands outside of any project, of which its own directory is all that is known.
    among_tests = len(path.parts) > 2 and path.parts[0].lower().startswith("test_")
    if directories & _TEST_DIRECTORIES or among_tests:
        return Role.TEST
    if _TEST_FILE.match(stem):
        return Role.SCRIPT if _tests_a_model(text) else Role.TEST
    if directories & _BENCHMARK_DIRECTORIES or _BENCHMARK_FILE.match(stem):
        return Role.BENCHMARK
    if directories & _SCRIPT_DIRECTORIES or _SCRIPT_FILE.match(stem):
        return Role.SCRIPT
    return _role_by_text(text)


def signs_of_roles(text: str) -> tuple[bool, Role]:
    """All that :func:`role_of` takes from a text: where it stays, so does the role of the file."""
    return _tests_a_model(text), _role_by_text(text)


def _role_by_text(text: str) -> Role:
    # Few files ask for their name, and to look for the others takes longer.
    if has_main_guard(text):
        return _role_by_guard(text)
    return Role.SCRIPT if "parse_" in text and _PARSES.search(text) is not None else Role.LIBRARY


def _tests_a_model(text: str) -> bool:
    """Whether it is `test.py` of machine learning: a program with a command line, which runs on held-out data."""
    asks = has_main_guard(text) and _COMMAND_LINE.search(text) is not None
    return asks and _OF_A_RUNNER.search(text) is None


def _role_by_guard(text: str) -> Role:
    """The role of a file that asks for its name.

    One with relative imports does not run by its path: without a command line of its own it is there to be imported.
    """
    if _COMMAND_LINE.search(text) is not None:
        return Role.SCRIPT
    if _RELATIVE_IMPORT.search(text) is not None:
        return Role.LIBRARY
    return Role.DEMONSTRATED if _is_tried_out(text) else Role.SCRIPT


def _is_tried_out(text: str) -> bool:
    """Whether the guard calls tests and nothing else, or shows in a few lines what the models of the file give."""
    guard = _MAIN_GUARD.search(text)
    lines = [line for line in text[guard.end() :].splitlines() if line.strip()] if guard is not None else []
    if lines and all(map(_TESTED.match, lines)):
        return True
    shown = _MODULES.search(text) is not None and len(lines) <= _LINES_OF_A_DEMONSTRATION
    return shown and not any(map(_USED.search, lines))


_TEST = re.compile(r"_*tests?(?:_|\Z)")


def names_a_test(function: str) -> bool:
    """``test``, ``_test_shapes``: what tries out the file that it stands in."""
    return _TEST.match(function) is not None


def has_main_guard(text: str) -> bool:
    """Whether the module level asks ``__name__ == "__main__"``."""
    return "__main__" in text and _MAIN_GUARD.search(text) is not None
