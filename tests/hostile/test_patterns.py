"""No regular expression of ours takes long, whatever somebody wrote: nothing stops a search from outside."""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from devlint.api import lint_source
from devlint.pipeline.stages.parsing import parse
from devlint.placement.declarations import evidence_docstrings, parameter_evidence
from devlint.placement.syntax import snippets
from devlint.repairs import layout
from devlint.source import gate, globs, magics, normalized_text, role, suppression, toml

MODULES = (
    evidence_docstrings, gate, globs, layout, magics, normalized_text, parameter_evidence, role, snippets, suppression,
    toml,
)  # fmt: skip
REPEATED = (
    "\\", "\\a", "#", "# ", " ", "\n", "\r\n", "'", '"', "a", "a.", "(", "[", "]", "()", ".", "=", ",", "*", "\t", "0",
    "_", "-", "a b ", "#\n", " \n", "%", "!", "x:",
)  # fmt: skip
BEFORE = ("", '"""', "'''", "#", "a", "(", "[", " ", '"', "x = ", "# devlint: ", "# noqa: ")
AFTER = ("", "x", "!", "\n")


def patterns() -> Iterator[re.Pattern[str]]:
    yield re.compile(gate._TOKEN, re.X | re.S)
    for module in MODULES:
        for value in vars(module).values():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                yield value


def _search_all() -> None:
    for pattern, repeated, before, after in product(patterns(), REPEATED, BEFORE, AFTER):
        text = before + repeated * 60 + after
        for _ in zip(range(3), pattern.finditer(text), strict=False):
            pass


def test_no_pattern_tries_a_text_in_ever_more_ways() -> None:
    """Sixty of anything: what is tried in two ways each time would take until the end of days."""
    process = multiprocessing.get_context("fork").Process(target=_search_all)
    process.start()
    process.join(120)
    alive = process.is_alive()
    process.kill()
    process.join()
    assert not alive
    assert process.exitcode == 0


OPEN = [
    pytest.param('"""' + "\\a" * 5000, id="a text that is never closed"),
    pytest.param("'''" + "\\'" * 5000, id="escaped quotes"),
    pytest.param("(" + '"""' + "\\" * 9999, id="in a bracket"),
    pytest.param("#" * 5000 + "\n%", id="a line of signs"),
    pytest.param("x = 1" + " " * 50_000 + "+ 1\n", id="a wide gap"),
    pytest.param('def f(x):\n    """' + "\n" * 50_000 + 'x: tensor"""\n', id="an empty docstring"),
]


@pytest.mark.parametrize("text", OPEN)
@pytest.mark.parametrize("name", ["a.py", "a.ipynb"])
def test_such_a_text_is_read_at_once(text: str, name: str, tmp_path: Path) -> None:
    started = time.process_time()
    if name.endswith(".py"):
        parse("import torch\n" + text + "\nx.cuda()\n", name)
        lint_source("import torch\n" + text + "\nx.cuda()\n", tmp_path / name, isolated=True)
    else:
        magics.python_of(text)
        magics.python_of("!ls\n" + text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (r"'d\'e'", ["string"]),
        (r'''"""g\""" h"""''', ["string"]),
        (r'''rb"""g""h\\"""''', ["string"]),
        (r'''"""g\"""''', ["string", "string", "other"]),
        (r"'d\'", ["other"] * 4),
        ("{[(", ["open"] * 3),
        ("}])", ["close"] * 3),
        ("'a\\\nb' # c\n", ["string", "comment", "end"]),
    ],
)
def test_what_is_a_text_and_what_a_bracket(text: str, kinds: list[str]) -> None:
    assert [match.lastgroup for match in re.finditer(gate._TOKEN, text, re.X | re.S)] == kinds
