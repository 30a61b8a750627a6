"""Programs that are kept: what a changed file imports is not parsed again, and nothing differs for it."""

from __future__ import annotations

import ast
import json
import random
from typing import Any

import pytest

from devlint.cache import shelf as shelves
from devlint.cache.place import NAME
from devlint.cache.shelf import ProgramShelf
from devlint.pipeline.stages import parsing
from devlint.source import library, program
from devlint.source.bare.lazy_parser import BareLazyParser
from devlint.source.decoding import Unreadable, decode
from devlint.source.gate import Refusal, check_syntax
from devlint.source.kept_programs import kept_program, plain
from devlint.source.program import Program, program_of
from tests.cache.conftest import Project
from tests.cache.edits import edited
from tests.cache.test_edits import FILES, deep  # noqa: F401
from tests.fixture_expectations import FIXTURES
from tests.source.test_bare import flat
from tests.thoroughness import chosen


def test_a_kept_program_is_the_one_that_was_parsed() -> None:
    kept_in_all = 0
    for path in sorted(FIXTURES.rglob("*.py"))[::3]:
        try:
            source = decode(path.read_bytes())
        except Unreadable:
            continue
        program = program_of(source.text)
        text = plain(program, source) if program is not None else None
        if program is None or program.tree is None or program.outline is None or text is None:
            continue
        kept = kept_program(json.loads(text), source)
        assert kept is not None, path
        assert (kept.text, kept.outline) == (program.text, program.outline), path
        whole = BareLazyParser(program.text, program.tree, program.outline)
        again = BareLazyParser(kept.text, kept.tree, kept.outline, begins=kept.begins)
        assert flat(again.skeleton()) == flat(whole.skeleton()), path
        for definition in program.outline.definitions:
            assert flat(again.definition(definition.number)) == flat(whole.definition(definition.number)), path
        kept_in_all += 1
    assert kept_in_all > 100


TEXTS = {
    "on one line": (
        "def f(): return 1\n\nclass A:\n    def g(self): return 2\n    def h(\n        self,\n    ):\n        return 3"
    ),
    "tabs and carriage returns": "@d\r\nasync def f(x):  # a comment\r\n\treturn x\r\nf\r\n",
    "a line that goes on": (
        "if f:\n    @d(\n        1\n    )\n    def f(): \\\n        return 1\nelse:\n    f = None\n"
    ),
    "form feed": (
        "class A:\n    def f(self):\n        '''Of\n  two lines.'''\n    x = 1\n\x0c\ndef g():\n  pass; pass\n"
    ),
    "names": (
        "from a import *\nfrom .b import c as d\ndef f():\n    global e\n    e = '\u00e9'\n    yield self.to(e)\n"
    ),
}


@pytest.mark.parametrize("about", ["import torch\n", "import math\n"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_whatever_a_definition_looks_like(about: str, text: str) -> None:
    source = decode((about + text).encode())
    program = program_of(source.text)
    assert program is not None
    kept = kept_program(json.loads(plain(program, source) or ""), source)
    assert kept is not None
    assert program.tree is not None
    assert program.outline == kept.outline
    whole = BareLazyParser(program.text, program.tree, kept.outline)
    again = BareLazyParser(kept.text, kept.tree, kept.outline, begins=kept.begins)
    assert flat(again.skeleton()) == flat(whole.skeleton())
    assert [flat(again.definition(one.number)) for one in kept.outline.definitions] == [
        flat(whole.definition(one.number)) for one in kept.outline.definitions
    ]


def test_what_is_kept_of_another_text_is_not_believed() -> None:
    source, other = decode(b"import torch\n"), decode(b"import torch\n\n")
    program = program_of(source.text)
    assert program is not None
    found = json.loads(plain(program, source) or "")
    assert kept_program(found, source) is not None
    assert kept_program(found, other) is None
    for broken in (
        None,
        [],
        {},
        {**found, "definitions": [1]},
        {**found, "skeleton": "def"},
        {**found, "begins": None},
    ):
        assert kept_program(broken, source) is None


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of imported files that were parsed in whole."""
    texts: list[str] = []

    def watched(text: str) -> Program | None:
        texts.append(text)
        return program_of(text)

    monkeypatch.setattr(library, "program_of", watched)
    return texts


def test_what_a_changed_file_imports_is_not_parsed_again(project: Project, parsed: list[str]) -> None:
    project.lint()
    assert parsed
    parsed.clear()
    project.replace("pkg/loose.py", "torch.ones(4)", "torch.ones(5)")
    found = project.lint()
    assert project.analysed == ["pkg/loose.py"]
    assert parsed == []
    assert found == project.lint(cached=False)
    parsed.clear()
    project.replace("pkg/helper.py", "class Base(torch.nn.Module)", "class Base(torch.nn.Module, object)")
    project.lint("pkg/helper.py", "pkg/loose.py")
    assert set(parsed) == {(project.root / "pkg/helper.py").read_text()}


@pytest.mark.parametrize("file", ["pkg/net.py", "pkg/loose.py"])
def test_a_changed_file_is_parsed_once(project: Project, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    project.lint()
    texts: list[str] = []

    def watched(text: str) -> tuple[ast.Module | None, Refusal | None]:
        texts.append(text)
        return check_syntax(text)

    monkeypatch.setattr(program, "check_syntax", watched)
    monkeypatch.setattr(parsing, "check_syntax", watched)
    text = (project.root / file).read_text() + "\n\nTOUCHED = True\n"
    project.write(file, text)
    found = project.lint()
    assert project.analysed == [file]
    assert texts.count(text) == 1
    assert found == project.lint(cached=False)


def test_a_function_that_comes_to_give_something_is_read_again(project: Project, parsed: list[str]) -> None:
    """That it gives nothing is known without its body, of which it is a fact all the same."""
    project.write("pkg/helper.py", "import torch\n\n\ndef make(n):\n    print(n)\n")
    project.write(
        "pkg/net.py", "import torch\nfrom pkg.helper import make\n\n\ndef add(x):\n    return x.cuda() + make(3)\n"
    )
    assert project.lint("pkg/net.py") == []
    parsed.clear()
    project.write("pkg/net.py", (project.root / "pkg/net.py").read_text() + "\n\nTOUCHED = True\n")
    assert project.lint("pkg/net.py") == []
    assert (project.analysed, parsed) == (["pkg/net.py"], [])
    project.replace("pkg/helper.py", "print(n)", "return torch.zeros(n)")
    assert [finding.code for finding in project.lint("pkg/net.py")] == ["DEV101"]
    assert project.analysed == ["pkg/net.py"]
    project.replace("pkg/helper.py", "return torch.zeros(n)", "print(n)")
    assert project.lint("pkg/net.py") == []


@pytest.mark.parametrize("seed", range(chosen(gate=4, search=6)))
def test_random_edits_with_programs_that_are_kept(
    deep: Project,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    used: list[str] = []
    get = ProgramShelf.get

    def watched(shelf: ProgramShelf, digest: str) -> Any:
        found = get(shelf, digest)
        used.extend([digest] if found is not None else [])
        return found

    monkeypatch.setattr(ProgramShelf, "get", watched)
    draw = random.Random(seed)
    deep.agrees()
    original = {name: (deep.root / name).read_text() for name in FILES}
    for step in range(12):
        name = draw.choice(list(FILES))
        deep.write(name, original[name] if step % 4 == 3 else edited((deep.root / name).read_text(), draw))
        deep.agrees()
    assert used


def test_the_oldest_programs_are_forgotten(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "MOST_PROGRAMS", 8)
    for number in range(40):
        project.replace("pkg/helper.py", "return 2" if number == 0 else f"return 2{number - 1}", f"return 2{number}")
        project.replace("pkg/helper.py", "class Base(", f"class Base{number}:\n    pass\n\n\nclass Base(")
        project.lint()
    assert len(list((project.root / NAME).glob("*/programs/*.json"))) <= 10
    project.replace("pkg/net.py", "make(3)", "make(4)")
    project.agrees()
