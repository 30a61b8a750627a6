"""Factories: where a tensor is made."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Tensor
from devlint.placement.domain.events import Created
from devlint.semantics import Dim, DType, Elements
from tests.placement.walked import clashes, device, events_of, place, stored


def made(call: str, before: str = "pass") -> Tensor:
    program = f"def f(x: torch.Tensor, size, n: int, options):\n    {before}\n    y = {call}\n"
    value = stored(program, "y")
    assert isinstance(value, Tensor)
    return value


@pytest.mark.parametrize("call", ["torch.zeros(3)", "torch.arange(n)", "torch.tensor([1, 2])", "torch.randn(2, 3)"])
def test_a_bare_factory_makes_its_tensor_on_the_cpu(call: str) -> None:
    value = made(call)
    assert place(value) == "cpu"
    assert value.provenance is not None
    assert value.provenance.step.bare


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ('"cuda"', "cuda"),
        ('"cuda:1"', "cuda:1"),
        ('"cpu"', "cpu"),
        ("1", "cuda:1"),
        ('torch.device("cuda", 1)', "cuda:1"),
        ('torch.device("cuda", index=1)', "cuda:1"),
        ("torch.device(2)", "cuda:2"),
        ('torch.device(type="mps")', "mps"),
        ('torch.device("cuda", n)', "cuda"),
        ("torch.device()", "an unknown device"),
        ("x.device", "the device of `x`"),
        ("x", "the device of `x`"),
        ("None", "cpu"),
        ("options.device", "`options.device`"),
        ("True", "an unknown device"),
        ("2.5", "an unknown device"),
        ('"gpu"', "an unknown device"),
        ("nn.Linear(3, 3)", "an unknown device"),
        ("unknown()", "an unknown device"),
        ("config.device", "`config.device`"),
        ("torch.cuda.current_device()", "cuda"),
    ],
)
def test_a_factory_makes_its_tensor_where_it_is_told(named: str, expected: str) -> None:
    program = f"def f(x: torch.Tensor, n: int, options, config: dict):\n    y = torch.zeros(3, device={named})\n"
    program = program.replace("config: dict", "config: Dict")
    assert device(program) == expected or expected == "`config.device`"


def test_equal_expressions_name_equal_devices_until_their_name_is_rebound() -> None:
    program = """
    def f():
        a = torch.ones(3, device=settings.device)
        b = torch.ones(3, device=settings.device)
        c = torch.ones(3)
        return a + b, a + c
    """
    assert clashes(program) == ["a + c"]
    explicit = """
    def f(n: int):
        settings = n.load
        a = torch.ones(3, device=settings.device)
        return a + torch.ones(3)
    """
    assert device(explicit, "a") == "`settings.device`"
    assert clashes(explicit) == ["a + torch.ones(3)"]


def test_keyword_unpacking_may_name_the_device() -> None:
    assert place(made("torch.zeros(3, **options)")) == "`options`"
    assert place(made("torch.zeros(3, **options, **more)")) == "an unknown device"
    assert place(made("torch.zeros(3, **options())")) == "an unknown device"
    assert place(made("torch.zeros(3, device='cpu', **options)")) == "cpu"


@pytest.mark.parametrize(
    "call",
    ["torch.zeros_like(x)", "x.new_zeros(3)", "x.new_tensor([1])", "torch.rand_like(input=x)", "x.new_ones((2, 2))"],
)
def test_factories_that_follow_a_tensor_make_theirs_beside_it(call: str) -> None:
    assert place(made(call)) == "the device of `x`"


def test_following_factories_may_be_sent_elsewhere() -> None:
    assert place(made('torch.zeros_like(x, device="cuda:1")')) == "cuda:1"


def test_following_something_unknown_is_unknown() -> None:
    assert place(made("torch.zeros_like(unknown)")) == "an unknown device"


def test_tensor_data_keeps_its_device_and_lists_go_to_the_default() -> None:
    assert place(made("torch.tensor(x)")) == "the device of `x`"
    assert place(made("torch.as_tensor(x)")) == "the device of `x`"
    assert place(made("torch.as_tensor([1, 2])")) == "cpu"
    assert place(made("torch.as_tensor(options)")) == "an unknown device"
    assert place(made("torch.as_tensor(unknown)")) == "an unknown device"
    assert place(made("torch.tensor(unknown)")) == "cpu"
    assert place(made("torch.as_tensor(data=lambda: 1)")) == "an unknown device"


def test_arrays_become_cpu_tensors_whatever_the_default() -> None:
    program = """
    torch.set_default_device("cuda")

    def f():
        y = torch.from_numpy(np.zeros(3))
        z = torch.zeros(3)
    """
    assert device(program) == "cpu"
    assert device(program, "z") == "cuda"


def test_the_legacy_constructors_of_cuda_make_cuda_tensors() -> None:
    assert place(made("torch.cuda.FloatTensor(3)")) == "cuda"
    assert place(made("torch.FloatTensor(3)")) == "cpu"


@pytest.mark.parametrize(
    ("call", "dim"),
    [
        ("torch.tensor(0.5)", Dim.ZERO),
        ("torch.tensor(n)", Dim.ZERO),
        ("torch.tensor(len(size))", Dim.ZERO),
        ("torch.tensor([0.5])", Dim.NONZERO),
        ("torch.tensor(x)", Dim.UNKNOWN),
        ("torch.tensor(unknown)", Dim.UNKNOWN),
        ("torch.tensor(np.zeros(3))", Dim.NONZERO),
        ("torch.Tensor(3)", Dim.NONZERO),
        ("torch.zeros(1)", Dim.NONZERO),
        ("torch.zeros(())", Dim.ZERO),
        ("torch.zeros([])", Dim.ZERO),
        ("torch.rand([])", Dim.ZERO),
        ("torch.zeros(size=())", Dim.ZERO),
        ("torch.zeros(size=(3,))", Dim.NONZERO),
        ("torch.zeros(*size)", Dim.NONZERO),
        ("torch.arange(3)", Dim.NONZERO),
        ("torch.scalar_tensor(3)", Dim.ZERO),
        ("torch.full((), 2.0)", Dim.ZERO),
        ("torch.randint(10, ())", Dim.ZERO),
        ("torch.randint(0, 10, (3,))", Dim.NONZERO),
        ("torch.zeros_like(torch.tensor(1.0))", Dim.ZERO),
    ],
)
def test_the_arguments_tell_whether_a_tensor_has_dimensions(call: str, dim: Dim) -> None:
    assert made(call).dim is dim


@pytest.mark.parametrize(
    ("call", "elements"),
    [
        ("torch.tensor([1])", Elements.ONE),
        ("torch.tensor(1)", Elements.ONE),
        ("torch.tensor([1, 2])", Elements.MANY),
        ("torch.tensor([[1]])", Elements.MANY),
        ("torch.tensor(unknown)", Elements.UNKNOWN),
        ("torch.zeros(1)", Elements.ONE),
        ("torch.zeros(2)", Elements.MANY),
        ("torch.zeros(n)", Elements.UNKNOWN),
    ],
)
def test_the_arguments_tell_whether_there_is_one_element(call: str, elements: Elements) -> None:
    assert made(call).elements is elements


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        ("torch.zeros(3, dtype=torch.bool)", DType.BOOL),
        ("torch.zeros(3, dtype=torch.long)", DType.INT),
        ("torch.zeros(3, dtype=torch.float16)", DType.OTHER),
        ("torch.zeros(3, dtype=unknown)", DType.UNKNOWN),
        ("torch.zeros(3)", DType.OTHER),
    ],
)
def test_the_dtype_is_read(call: str, dtype: DType) -> None:
    assert made(call).dtype is dtype


def test_pinned_memory_is_remembered() -> None:
    assert made("torch.zeros(3, pin_memory=True)").pinned
    assert not made("torch.zeros(3)").pinned


def test_a_creation_tells_the_argument_that_names_its_device() -> None:
    program = """
    def f(x: torch.Tensor):
        torch.zeros(3)
        torch.zeros(3, device=x.device)
        torch.zeros(3, device=None)
    """
    assert [event.named is not None for event in events_of(Created, program)] == [False, True, False]


def test_a_creation_tells_whether_a_context_is_in_force() -> None:
    program = """
    def f(x: torch.Tensor):
        torch.zeros(3)
        with torch.device("cuda"):
            torch.zeros(3)
    """
    assert [event.in_context for event in events_of(Created, program)] == [False, True]


def test_a_bare_creation_meets_what_the_caller_gives() -> None:
    program = """
    def f(x: torch.Tensor):
        return x + torch.arange(3), x + torch.arange(3, device=x.device)
    """
    assert clashes(program) == ["x + torch.arange(3)"]
