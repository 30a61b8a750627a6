"""What a parameter is by what stands in for it, by what keeps it, and by the parts of a Module that it is handed to."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Container, Host, Module, Opaque, Tensor, Value
from tests.placement.walked import stored

NO_ARRAYS = "import torch\nfrom torch import nn\n"


def is_taken_for_a_tensor(value: Value) -> bool:
    return isinstance(value, Tensor) or (isinstance(value, Opaque) and value.tensorlike)


@pytest.mark.parametrize(
    ("default", "told"),
    [
        ("[]", False),
        ("[1.0] * 3", False),
        ("(1.0, 2.0)", False),
        ("{}", False),
        ("dict()", False),
        ('"mean"', False),
        ("torch.zeros(3)", True),
        ("memory_of(z)", True),
        ("1.0", True),
    ],
)
def test_what_is_given_is_of_the_kind_of_what_stands_in(default: str, told: bool) -> None:
    program = f"def f(z, memory=None):\n    y = memory\n    if memory is None:\n        memory = {default}\n"
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS)) is told


def test_a_value_that_is_given_is_told_of_where_there_is_one() -> None:
    program = "def f(memory=None):\n    y = memory\n    if memory is not None:\n        memory = []\n"
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS))


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("if not isinstance(x, tuple): x = (x,)", False),
        ("if isinstance(x, torch.Tensor): x = [x]", False),
        ("x = [x] if torch.is_tensor(x) else x", False),
        ("x = x if isinstance(x, (list, tuple)) else (x,)", False),
        ("if not isinstance(x, tuple): x = (x, x)", True),
        ("if len(z) > 2: x = [x]", True),
        ("x = [x]", True),
    ],
)
def test_what_is_put_into_a_sequence_if_it_is_none_is_one_or_several(statement: str, told: bool) -> None:
    program = f"def f(x, z):\n    y = x\n    {statement}\n    x = torch.cat(x)\n    return x.unsqueeze(0)\n"
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS)) is told


@pytest.mark.parametrize(
    ("use", "told"),
    [("kept(3)", False), ("kept.spaces", False), ("kept.mT", True), ("kept.numel()", True)],
)
def test_what_a_class_does_with_what_it_keeps_it_does_with_the_argument(use: str, told: bool) -> None:
    program = f"""
    class Grid:
        def __init__(self, given):
            y = given
            self.rank = given.shape[0]
            self.kept = given

        def points(self):
            return self.{use}
    """
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS)) is told


def test_a_module_that_is_kept_has_methods_of_its_own() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self, inner):
            y = inner
            self.inner = inner

        def forward(self, x):
            return self.inner(x), self.inner.spaces
    """
    assert isinstance(stored(program, "y", NO_ARRAYS), Module)


@pytest.mark.parametrize(
    ("use", "told"),
    [
        ('x[0]["key"]', False),
        ('x[0, "key"]', False),
        ('a = x[0]; a["key"]', False),
        ('a, b = x[0], x[1]; b["key"]', False),
        ("a = x[0]; a.unsqueeze(0)", True),
        ('a = z[0]; a["key"]', True),
        ('a = x[0]; a = z; a["key"]', True),
    ],
)
def test_an_item_of_a_tensor_has_no_items_by_name(use: str, told: bool) -> None:
    program = f"def f(x, z):\n    y = x\n    {use}\n"
    assert is_taken_for_a_tensor(stored(program, "y", NO_ARRAYS)) is told


@pytest.mark.parametrize(("use", "told"), [("x.sin(3)", False), ("x.sin()", True), ("x.clamp(3)", True)])
def test_a_method_that_takes_nothing_is_a_function_where_it_is_given_something(use: str, told: bool) -> None:
    assert is_taken_for_a_tensor(stored(f"def f(x):\n    y = x\n    {use}\n", "y", NO_ARRAYS)) is told


@pytest.mark.parametrize(
    ("name", "imports", "told"),
    [
        ("x_clean", NO_ARRAYS, True),
        ("y_hat", NO_ARRAYS, True),
        ("x_size", NO_ARRAYS, False),
        ("get_mask", NO_ARRAYS, False),
        ("tie_embeddings", NO_ARRAYS, False),
        ("fixed_mask", NO_ARRAYS, True),
        ("fixed_mask", "import numpy as np\n", False),
        ("x_clean", "import numpy as np\n", False),
    ],
)
def test_a_name_tells(name: str, imports: str, told: bool) -> None:
    assert is_taken_for_a_tensor(stored(f"def f({name}):\n    y = {name}\n", "y", imports)) is told


def test_a_method_of_a_module_works_with_tensors_beside_functions_that_work_with_arrays() -> None:
    program = "class Net(nn.Module):\n    def score(self, z):\n        y = z\n"
    assert is_taken_for_a_tensor(stored(program, "y", "import numpy as np\nfrom torch import nn\n"))


PARTS = """
class Part(nn.Module):
    def forward(self, given, flag):
        {use}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def step(self, one, other):
        y = other
        result = self.part(one, flag=other)
"""


@pytest.mark.parametrize(
    ("use", "told"), [("return flag.unsqueeze(0)", True), ('return flag["key"]', False), ("return given", False)]
)
def test_what_a_part_takes_an_argument_for_it_is(use: str, told: bool) -> None:
    assert is_taken_for_a_tensor(stored(PARTS.format(use=use), "y", NO_ARRAYS)) is told


@pytest.mark.parametrize(
    ("use", "type_"),
    [
        ("return given + 1", Opaque),
        ("return given + 1, flag", Container),
        ('return {"rows": given + 1}', Container),
        ("return [given + 1, [given]]", Container),
    ],
)
def test_a_part_gives_what_its_forward_returns(use: str, type_: type) -> None:
    assert isinstance(stored(PARTS.format(use=use), "result", NO_ARRAYS), type_)


def test_a_part_that_gives_a_number_gives_no_tensor() -> None:
    result = stored(PARTS.format(use="return len(given)"), "result", NO_ARRAYS)
    assert isinstance(result, Host) or not is_taken_for_a_tensor(result)
