"""Rewritings give programs that do the same; what they cannot rewrite so stays as it is."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from tests.benchmarks.metamorphic import REWRITINGS, Otherwise, check, generated, said_of
from tests.benchmarks.rewriting.annotating import giving_nothing, observed, without
from tests.benchmarks.rewriting.extracting import extracted
from tests.benchmarks.rewriting.program import Program, Rewritten
from tests.benchmarks.rewriting.running import run
from tests.benchmarks.rewriting.splitting import split
from tests.benchmarks.rewriting.texts import formatted
from tests.benchmarks.rewriting.trees import of_trees
from tests.benchmarks.rewriting.wrapping import in_functions


def program(text: str, *runs: str, in_package: bool = False) -> Program:
    return Program(formatted(dedent(text)), "model", in_package, runs)


def same(text: str) -> str:
    return formatted(dedent(text))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_generated_programs_do_the_same_after_each_rewriting(seed: int) -> None:
    (_, made), *_ = generated(1, seed)
    plain = Program(formatted(made.text), made.stem, runs=made.runs)
    came_of = run(plain)
    assert len(came_of) == len(plain.runs) > 5
    tried = {name: changed for name, rewrite in REWRITINGS.items() if (changed := rewrite(plain)) is not None}
    for name, changed in tried.items():
        check(name, plain, changed, came_of)
    assert tried.keys() >= {"extracted helpers", "split in two files", "wrapped in functions", "annotated as seen"}


def test_a_rewriting_that_changes_nothing_is_told() -> None:
    plain = program("x = 1")
    with pytest.raises(Otherwise, match="is as it was"):
        check("nothing", plain, Rewritten(plain.text), [])


def test_a_rewriting_after_which_the_program_does_something_else_is_told() -> None:
    plain = program("def f(device):\n    return 1", "main.f")
    for text in ("def f(device):\n    return 2", "def g(device):\n    return 1"):
        with pytest.raises(Otherwise, match="does something else"):
            check("another", plain, Rewritten(text), run(plain))
    with pytest.raises(SyntaxError):
        check("broken", plain, Rewritten("def f(:"), [])


def test_a_helper_takes_what_it_reads_and_gives_what_is_read_after_it() -> None:
    text = """
        def f(a: int, b):
            c = a + b
            return c * a
        """
    made = extracted(program(text, "lambda device: main.f(2, 3)"))
    assert made is not None
    assert made.text == same(
        """
        def f(a: int, b):
            c = _part_of_f(a, b)
            return c * a
        def _part_of_f(a: int, b):
            c = a + b
            return c
        """
    )
    assert made.scopes == {"_part_of_f": "f"}


def test_what_reads_self_becomes_a_method() -> None:
    text = """
        class Net:
            def step(self, a):
                self.kept = a
                return self.kept
        """
    made = extracted(program(text))
    assert made is not None
    assert made.scopes == {"Net._part_of_Net_step": "Net.step"}
    assert "self._part_of_Net_step(a)" in made.text


@pytest.mark.parametrize(
    "body",
    [
        "if a:\n    return 1\nreturn 2",  # leaves the function
        "if a:\n    b = 1\nreturn b",  # has no value, perhaps
        "for b in a:\n    break\nreturn b",
        "yield a\nreturn a",
        "global b\nb = a\nreturn b",
        "b = lambda: c\nc = a\nreturn b()",  # seen by what was made before
        "b = [a for a in a]\nreturn b, a",  # a name that a comprehension has for itself
        "del a\nreturn 1",
    ],
)
def test_what_would_do_something_else_in_a_helper_stays(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    assert extracted(program(f"def f(a):\n{lines}")) is None


def test_a_value_that_a_branch_may_leave_is_handed_in_and_back() -> None:
    text = """
        def f(a, b):
            if a:
                b = 1
            return b
        """
    made = extracted(program(text))
    assert made is not None
    assert "b = _part_of_f(a, b)" in made.text
    plain = program(text, "lambda device: [main.f(one, 5) for one in (0, 1)]")
    check("extracted", plain, made, run(plain))


SPLIT = """
    import math
    LIMIT = 3
    def area(r):
        return math.pi * r
    def volume(r):
        return area(r) * r
    def limited(r):
        return min(r, LIMIT)
    class Ball:
        def size(self):
            return volume(2)
    """


def test_definitions_move_with_what_they_need_and_what_reads_the_module_stays() -> None:
    plain = program(SPLIT, "lambda device: (main.volume(1), main.limited(5), main.Ball().size())")
    made = split(plain)
    assert made is not None
    ((name, beside),) = made.beside.items()
    assert name == "model_beside.py"
    moved = {node.name for node in ast.parse(beside).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert moved
    assert "limited" not in moved
    assert "area" in moved or not moved & {"volume", "Ball"}
    check("split", plain, made, run(plain))


def test_in_a_package_the_other_file_is_imported_from_beside() -> None:
    made = split(program(SPLIT, in_package=True))
    assert made is not None
    assert "from .model_beside import" in made.text


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    return g()\ndef g():\n    return f()",  # they would all move
        "x = 1\ndef f():\n    return x\ndef g():\n    return x",
        "def f():\n    return __name__\ndef g():\n    return __file__",
        "def f(): ...\ndef g(): ...\ndef h(): ...\nif __name__ == '__main__':\n    f()",
        "def f(): ...\ndef f(): ...",
    ],
)
def test_what_cannot_be_split_stays_whole(text: str) -> None:
    assert split(program(text)) is None


def test_the_function_inside_takes_what_gets_another_value() -> None:
    text = """
        class Net:
            def __init__(self):
                self.kept = 1
            def step(self, a, b):
                a = a + b
                return a
        """
    made = in_functions(program(text))
    assert made is not None
    assert "def _inner_part(a):" in made.text
    assert made.scopes == {"Net.step._inner_part": "Net.step"}
    plain = program(text, "lambda device: main.Net().step(1, 2)")
    check("wrapped", plain, made, run(plain))
    assert in_functions(program("def f():\n    yield 1\nclass C:\n    def g(self):\n        super().g()")) is None


def test_a_class_may_name_its_methods_in_its_body() -> None:
    reorder = of_trees("reordered methods")
    made = reorder(program("class C:\n    def f(self): ...\n    def g(self): ..."))
    assert made is not None
    assert made.text.index("def g") < made.text.index("def f")
    assert reorder(program("class C:\n    def f(self): ...\n    def g(self): ...\n    __call__ = f")) is None
    assert (
        reorder(program("class C:\n    @property\n    def f(self): ...\n    @f.setter\n    def f(self, x): ..."))
        is None
    )


def test_annotations_say_what_a_run_has_seen() -> None:
    text = """
        import torch
        def f(x, count, other=None):
            return x
        def g(x: int, device):
            return [x]
        """
    runs = ("lambda device: main.f(torch.ones(2), 1)", "lambda device: main.f(torch.ones(2), 1, 'a')")
    made = observed(program(text, *runs, "lambda device: main.g(1, device)"))
    assert made is not None
    assert "def f(x: torch.Tensor, count: int, other: str | None=None) -> torch.Tensor:" in made.text
    assert "def g(x: int, device: torch.device):" in made.text
    assert observed(program(text)) is None


def test_annotations_are_removed_where_nothing_reads_them() -> None:
    text = """
        class C:
            kept: int = 1
            def f(self, a: int) -> int:
                b: int = a
                c: int
                return b
        @registered
        def g(a: int):
            return a
        """
    made = without(program(text))
    assert made is not None
    assert made.text == same(text.replace("a: int) -> int", "a)").replace("b: int =", "b ="))
    assert without(program("class C:\n    kept: int = 1")) is None


def test_what_gives_nothing_is_annotated_so() -> None:
    text = """
        def f():
            def g():
                return 1
            return
        def h(a):
            for b in a:
                try:
                    pass
                except ValueError:
                    return 1
        def i():
            yield
        """
    made = giving_nothing(program(text))
    assert made is not None
    assert made.text == same(text.replace("def f():", "def f() -> None:"))


def test_findings_of_both_files_count_and_those_of_a_helper_are_of_its_function(tmp_path: Path) -> None:
    bug = "import torch\ndef f(x: torch.Tensor):\n    return x + torch.ones(3)\n"
    before = said_of(Rewritten(bug), tmp_path / "a.py")
    assert before.total() == 1
    imported = Rewritten("from b import f\n", {"b.py": bug})
    assert said_of(imported, tmp_path / "a.py") == before
    helper = bug.replace("def f", "def _part_of_f") + "def f(x: torch.Tensor):\n    return _part_of_f(x)\n"
    assert said_of(Rewritten(helper, scopes={"_part_of_f": "f"}), tmp_path / "a.py") == before
    assert said_of(Rewritten(helper), tmp_path / "a.py") != before
