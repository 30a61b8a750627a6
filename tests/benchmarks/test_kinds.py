"""What annotations say, how they are taken away, and how claims and uses are counted."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from kinds import drawn
from typed.annotation import Kind, kind_of, kind_of_text
from typed.definitions import Place, functions, parameters
from typed.engine import ByParameterName, Score, added, scores
from typed.places import stripped, typed
from typed.revealing import claims, revealing, without_unknown
from typed.uses import Tally, signs_of, tallied

MODULES = frozenset({"Module", "Linear", "Net"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tensor", "tensor"),
        ("torch.Tensor", "tensor"),
        ("'torch.LongTensor'", "tensor"),
        ("Optional[Tensor]", "tensor"),
        ("None | Tensor", "tensor"),
        ("nn.Parameter", "tensor"),
        ("Optional[torch.tensor]", "tensor"),
        ("tensor", "other"),
        ('Float[Tensor, "batch dim"]', "tensor"),
        ("list[Tensor]", "tensors"),
        ("Tuple[Tensor, ...]", "tensors"),
        ("Dict[str, Tensor]", "tensors"),
        ("Sequence[tuple[Tensor, Tensor]]", "tensors"),
        ("Union[Tensor, List[Tensor]]", "mixed"),
        ("Union[Tensor, float]", "mixed"),
        ("tuple[Tensor, int]", "mixed"),
        ("list", "mixed"),
        ("Any", "mixed"),
        ("nn.Module", "module"),
        ("Net | None", "module"),
        ("type[Net]", "other"),
        ("list[Net]", "other"),
        ("torch.device", "device"),
        ("str | torch.device | None", "device"),
        ("int", "host"),
        ("Union[int, Tuple[int, int]]", "host"),
        ("Literal['a', 'b']", "host"),
        ("np.ndarray", "host"),
        ("dict[str, int]", "host"),
        ("torch.dtype", "other"),
        ("Callable[[Tensor], Tensor]", "other"),
        ("torch.Generator", "other"),
        ("tf.Tensor", "other"),
        ("None", None),
    ],
)
def test_an_annotation_has_a_kind(text: str, expected: Kind | None) -> None:
    assert kind_of(ast.parse(text, mode="eval").body, MODULES.__contains__) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Unknown | int", "host"),
        ("Literal[3]", "host"),
        ("Any", None),
        ("tuple[Tensor, Tensor]", "tensors"),
        ("<class 'Net'>", "other"),
        ("(x, y) -> None", None),
        ("list[Unknown]", "mixed"),
    ],
)
def test_what_a_checker_prints_has_a_kind(text: str, expected: Kind | None) -> None:
    assert kind_of_text(without_unknown(text), MODULES.__contains__) == expected


SOURCE = '''
import torch
from torch import Tensor, nn
from typing import overload

Pair = tuple[Tensor, Tensor]

class Base(nn.Module):
    size: int
    scale: float = 1.0

    def forward(self, x: Tensor, *rest: Tensor, n: int = 2) -> Tensor:
        """Args: x (Tensor): the input."""
        y: Tensor = x * n
        return y

class Net(Base):
    @staticmethod
    def pair(a: Tensor) -> Pair:
        def inner(b: "Net"):
            return b
        return a, a

class Matrix(Tensor):
    pass

def rank(m: Matrix) -> int: ...

@overload
def f(x: int) -> int: ...

def f(x, device: str = "cpu") -> None:
    return None
'''


def test_what_is_annotated_is_read_with_the_releases_own_modules() -> None:
    known = typed({"net.py": SOURCE, "other.py": "def g(m: Net): ...\n"})
    assert known.truth == {
        Place("net.py", "Base.forward", "x"): "tensor",
        Place("net.py", "Base.forward", "n"): "host",
        Place("net.py", "Base.forward", "return"): "tensor",
        Place("net.py", "Net.pair", "a"): "tensor",
        Place("net.py", "Net.pair", "return"): "tensors",
        Place("net.py", "Net.pair.inner", "b"): "module",
        Place("net.py", "rank", "m"): "tensor",
        Place("net.py", "rank", "return"): "host",
        Place("net.py", "f", "device"): "device",
        Place("other.py", "g", "m"): "module",
    }


def test_a_type_that_a_condition_names_is_what_either_arm_says() -> None:
    types = """
import torch
if torch.cuda.is_available():
    Mask = Union[torch.Tensor, Block]
    Row = torch.Tensor
else:
    Mask = torch.Tensor
    Row = torch.Tensor
"""
    uses = "from types import Mask, Row\ndef f(m: Mask, row: Row, /): ...\nclass A:\n    def g(self, m: Row, /): ...\n"
    assert typed({"types.py": types, "uses.py": uses}).truth == {
        Place("uses.py", "f", "m"): "mixed",
        Place("uses.py", "f", "row"): "tensor",
        Place("uses.py", "A.g", "m"): "tensor",
    }


def test_an_image_is_a_tensor_where_torchvision_says_so() -> None:
    tensors = "from torchvision.tv_tensors import Image, Mask\ndef f(a: Image, b: 'Mask'): ...\n"
    pictures = "from PIL.Image import Image\ndef f(a: Image): ...\n"
    assert typed({"a.py": tensors, "b.py": pictures}).truth == {
        Place("a.py", "f", "a"): "tensor",
        Place("a.py", "f", "b"): "tensor",
        Place("b.py", "f", "a"): "other",
    }


def test_a_function_that_is_defined_twice_is_left_out() -> None:
    twice = "if a:\n    def f(x: int): ...\nelse:\n    def f(x: str): ...\n"
    assert typed({"a.py": twice}).truth == {}


@pytest.mark.parametrize("keep", [False, True])
def test_annotations_are_taken_away_and_nothing_else(keep: bool) -> None:
    text = stripped(SOURCE, keep)
    assert typed({"net.py": text}).truth == {}
    assert ("Args: x" in text) == keep
    names = [(qualname, [a.arg for a in parameters(n, o)]) for qualname, n, o in functions(ast.parse(text))]
    assert names == [(qualname, [a.arg for a in parameters(n, o)]) for qualname, n, o in functions(ast.parse(SOURCE))]
    assert "y = x * n" in text
    assert "scale = 1.0" in text


def test_a_checker_is_asked_at_each_place() -> None:
    text, spots = revealing("net.py", stripped(SOURCE, keep_docstrings=True))
    lines = text.splitlines()
    assert {(place.qualname, place.name): lines[line - 1].strip() for (_, line), place in spots.items()} == {
        ("Base.forward", "x"): "reveal_type(x)",
        ("Base.forward", "n"): "reveal_type(n)",
        ("Base.forward", "return"): "return reveal_type(y)",
        ("Net.pair", "a"): "reveal_type(a)",
        ("Net.pair", "return"): "return reveal_type((a, a))",
        ("Net.pair.inner", "b"): "reveal_type(b)",
        ("Net.pair.inner", "return"): "return reveal_type(b)",
        ("rank", "m"): "reveal_type(m)",
        ("f", "x"): "reveal_type(x)",
        ("f", "device"): "reveal_type(device)",
        ("f", "return"): "return reveal_type(None)",
    }


def test_what_was_revealed_is_joined_by_function() -> None:
    text, spots = revealing("a.py", "def f(x):\n    if x:\n        return x\n    return 1\n")
    where = {place.name: [line for (_, line), p in spots.items() if p == place] for place in spots.values()}
    first, second = where["return"]
    ends = [("Tensor", "Tensor", "tensor"), ("Tensor", "Unknown", "tensor"), ("Tensor", "int", None)]
    for one, other, expected in ends:
        told = iter([(("a.py", first), one), (("a.py", second), other), (("a.py", 99), "int")])
        assert claims(told, spots, MODULES.__contains__).get(Place("a.py", "f", "return")) == expected, text


def test_precision_counts_wrong_claims_of_any_kind_and_leaves_out_what_nobody_knows() -> None:
    places = [Place("a.py", "f", name) for name in "abcde"]
    truth: dict[Place, Kind] = dict(zip(places, ("tensor", "tensor", "other", "mixed", "host"), strict=True))
    said: dict[Place, Kind] = dict(zip(places, ("tensor", "host", "tensor", "tensor", "mixed"), strict=True))
    found = scores(truth, said, results=False)
    assert found["tensor"] == Score(true=2, claimed=2, right=1)
    assert found["host"] == Score(true=1, claimed=1, right=0)
    assert found["device"].precision is None
    assert added(found, found)["tensor"] == Score(4, 4, 2)


def test_the_least_engine_knows_parameters_by_their_names() -> None:
    files = {"a.py": "def f(x, model, n, device): ...\n", "b.py": "def g(x): ...\n"}
    said = ByParameterName().infer(files, ["a.py"])
    assert {place.name: kind for place, kind in said.items()} == {"x": "tensor", "model": "module", "device": "device"}


def uses(body: str, head: str = "p: Tensor, q: Tensor") -> set[str]:
    text = f"import torch\nimport torch.nn.functional as F\nimport numpy as np\ndef f({head}):\n    {body}\n"
    return {sign for sign, _ in signs_of("a.py", ast.parse(text), {Place("a.py", "f", "p"): "tensor"})}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p.size()", {"p.size()", "p.<method>(...)"}),
        ("p.shape[0]", {"p.shape", "p.shape[...]"}),
        ("p[:, 0]", {"p[i, :]"}),
        ("p['key']", {'p["key"]'}),
        ("p[0] = 1", {"p[0] = ..."}),
        ("1 + p", {"p + number"}),
        ("p @ q", {"p @ y"}),
        ("torch.cat([p, q])", {"torch.cat([p, ...])"}),
        ("torch.exp(p)", {"torch.f(p, ...)", "torch.exp#0"}),
        ("F.pad(q, p)", {"F.f(y, p)", "F.pad#1"}),
        ("np.sum(p)", {"np.f(p)", "numpy.sum#0"}),
        ("isinstance(p, torch.Tensor)", {"isinstance(p, torch.Tensor)"}),
        ("p is None", {"p is None"}),
        ("len(p)", {"len(p)"}),
        ("for i in p: pass", {"for y in p"}),
        ("q.to(p)", {"y.m(p)", "y.to(p)"}),
        ("p = int(p)\n    p.bit_length()", {"int(p)"}),
        ("for p in q: p.size()", set()),
    ],
)
def test_a_use_is_a_sign_until_the_name_is_bound_anew(body: str, expected: set[str]) -> None:
    assert uses(body) == expected


def test_shares_are_told_pooled_and_by_release() -> None:
    signs: list[tuple[str, str, Kind]] = [("x", "one", "tensor")] * 9 + [("x", "two", "host")] * 3
    signs += [("x", "three", "host")] * 2 + [("y", "one", "device")]
    found = tallied(signs)
    assert list(found) == ["x", "y"]
    assert found["x"].share("tensor") == 9 / 14
    assert found["x"].mean_share("tensor") == 0.5
    assert found["y"].mean_share("device") is None
    assert Tally().share("tensor") == 0.0


def test_files_are_drawn_the_same_for_a_seed() -> None:
    paths = [f"{number}.py" for number in range(30)]
    assert drawn(paths, 5, 1) == drawn(paths[::-1], 5, 1)
    assert drawn(paths, 5, 1) != drawn(paths, 5, 2)
    assert drawn(paths, 0, 1) == sorted(paths)


def test_an_engine_of_a_file_of_its_own_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import argparse

    from kinds import engines

    (tmp_path / "kinds_mine.py").write_text(
        "from typed.engine import ByParameterName\ndef engines():\n    return [ByParameterName()]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    options = argparse.Namespace(engine=["mine"], environments=None)
    assert [engine.name for engine in engines(options)] == ["names"]
    options.engine = ["yours"]
    with pytest.raises(SystemExit, match="kinds_yours"):
        list(engines(options))


def test_what_annotations_alone_tell_is_lost_without_them() -> None:
    from typed.remaining import Found, remaining

    program = """
import torch

def by_use(rows: torch.Tensor) -> torch.Tensor:
    \"\"\"A docstring.\"\"\"
    return rows.masked_fill(rows > 0, 0) + torch.ones(3)  # a comment

def by_annotation(one: torch.Tensor, other: int = 3) -> torch.Tensor:
    return one + torch.ones(3)
"""
    for keep, lines in ((True, (5, 8)), (False, (4, 7))):
        found = remaining({"net.py": program}, keep)
        assert sorted(found.both) == [Found("net.py", "DEV101", lines[0])]
        assert sorted(found.lost) == [Found("net.py", "DEV101", lines[1])]
        assert not found.new
