"""What part a file plays in its project. Rules may read the role, never the path."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath

_MAIN_GUARD = re.compile(r"""^if\s*\(?\s*(?:__name__\s*==\s*(['"])__main__\1|(['"])__main__\2\s*==\s*__name__)""", re.M)

_RELATIVE_IMPORT = re.compile(r"^from\s+\.", re.M)
_COMMAND_LINE = re.compile(
    r"ArgumentParser|sys\.argv|^def main\("
    r"|^(?:import|from)\s+(?:absl|argparse|click|fire|hydra|jsonargparse|typer|tyro)\b",
    re.M,
)

_TEST_DIRECTORIES = frozenset({"test", "tests", "testing"})
_BENCHMARK_DIRECTORIES = frozenset({"bench", "benches", "benchmark", "benchmarks"})
_SCRIPT_DIRECTORIES = frozenset({"bin", "demo", "demos", "example", "examples", "script", "scripts", "tools"})

_TEST_FILE = re.compile(r"(?:test_(?!time_).*|.*_tests?|tests?|conftest)\Z")
"""What runs at test time, as `test_time_augmentation.py`, is no test: the term is of machine learning."""
_BENCHMARK_FILE = re.compile(r"(?:bench(?:mark)?s?_.*|.*_bench(?:mark)?s?|bench(?:mark)?s?)\Z")
_SCRIPT_FILE = re.compile(r"(?:setup|noxfile|__main__)\Z")


class Role(Enum):
    """The parts a file can play; a file plays the first that fits, in the order notebook, test, benchmark, script."""

    LIBRARY = "library"
    SCRIPT = "script"
    TEST = "test"
    BENCHMARK = "benchmark"
    NOTEBOOK = "notebook"


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
    if directories & _TEST_DIRECTORIES or among_tests or _TEST_FILE.match(stem):
        return Role.TEST
    if directories & _BENCHMARK_DIRECTORIES or _BENCHMARK_FILE.match(stem):
        return Role.BENCHMARK
    if directories & _SCRIPT_DIRECTORIES or _SCRIPT_FILE.match(stem) or is_run_by_itself(text):
        return Role.SCRIPT
    return Role.LIBRARY


def is_run_by_itself(text: str) -> bool:
    """Whether it asks for its name, and not only to try out what a package is made of.

    A file with relative imports does not run by its path: without a command line of its own it is there to be imported.
    """
    # Few files ask for their name, and to look for the others takes longer.
    return has_main_guard(text) and (_RELATIVE_IMPORT.search(text) is None or _COMMAND_LINE.search(text) is not None)


def has_main_guard(text: str) -> bool:
    """Whether the module level asks ``__name__ == "__main__"``."""
    return "__main__" in text and _MAIN_GUARD.search(text) is not None
