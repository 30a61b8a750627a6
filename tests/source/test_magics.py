"""IPython's own syntax: blanked in place, and never mistaken for Python."""

from __future__ import annotations

import ast

import pytest

from devlint.source.magics import python_of

COMMANDS = [
    ("%matplotlib inline", "0"),
    ("!pip install torch", "0"),
    ("!!ls", "0"),
    ("?torch.zeros", "0"),
    ("torch.zeros?", "0"),
    ("x = torch.zeros??", "0"),
    ("%%time?", "0"),
    ("/f 1 2", "0"),
    (";f a b", "0"),
    ("pip install torch", "0"),
    ("files = !ls -l", "files = []"),
    ("table['x'] = !ls", "table['x'] = []"),
    ("here = %pwd", "here = _()"),
    ("here = %time f(x)", "here =       f(x)"),
    ("if cuda: files = !ls", "if cuda: files = []"),
]


@pytest.mark.parametrize(("command", "python"), COMMANDS)
def test_a_command_keeps_its_room(command: str, python: str) -> None:
    for before, after in (("", ""), ("x = 1\n", "\ny = 2"), ("if x:\n    ", "\n    y = 2\n")):
        found = python_of(before + command + after)
        assert found is not None
        assert found.rstrip(" ").startswith(before + python)
        assert len(found) == len(before + command + after)
        assert found.endswith(after)
        ast.parse(found)


@pytest.mark.parametrize(
    "python",
    [
        "x = (a\n% b)",
        "x = y \\\n% 3",
        "'''\n%ls\n!ls\n'''",
        "print('what?')  # really?",
        "x = '%d' % 3",
        "x == y != z",
        "f(a=b)  # !ls",
        "@decorator\ndef f(): ...",
    ],
)
def test_python_stays_as_it_is(python: str) -> None:
    assert python_of(python) == python


def test_a_command_goes_on_after_a_backslash() -> None:
    assert python_of("!ls \\\n  -l\nx = 1") == "0    \n    \nx = 1"


def test_what_is_timed_runs_in_the_notebook() -> None:
    assert python_of("%time y = x.cuda()") == "0;    y = x.cuda()"
    assert python_of("%time x.cuda()") == "0,    x.cuda()"
    assert python_of("%timeit x.cuda()") == "0" + " " * 15


@pytest.mark.parametrize("magic", ["%%bash", "%%html", "%%writefile net.py", "\n\n%%javascript", "# shell\n%%sh"])
def test_a_cell_in_another_language_has_no_python(magic: str) -> None:
    assert python_of(f"{magic}\nx = 1") is None


@pytest.mark.parametrize("magic", ["%%time", "%%capture out", "%%python3", "\n%%timeit -n 3"])
def test_a_cell_magic_over_python_is_blanked_alone(magic: str) -> None:
    found = python_of(f"{magic}\nx = 1")
    assert found is not None
    assert found.endswith("\nx = 1")
    assert "%" not in found
