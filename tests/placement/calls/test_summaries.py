"""Summaries: what a call of the file's own functions gives back."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Constant, Container, Host, Module, Tensor, UnknownValue
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import StepKind
from tests.placement.walked import clashes, device, place, stored


def test_a_result_follows_its_argument() -> None:
    program = """
    def double(t):
        return t.exp() * 2

    def f(x: torch.Tensor):
        y = double(x)
        z = double(torch.ones(3))
        w = double(t=x)
    """
    assert [device(program, name) for name in "yzw"] == ["the device of `x`", "cpu", "the device of `x`"]


def test_a_result_made_on_the_cpu_is_judged_at_each_call() -> None:
    program = """
    def mask(n: int):
        return torch.ones(n)

    def f(x: torch.Tensor):
        a = x * mask(3)
        b = x * mask(3).to(x.device)
    """
    assert clashes(program) == ["x * mask(3)"]


def test_the_way_of_a_result_leads_through_the_function() -> None:
    program = """
    def mask(n: int):
        return torch.ones(n)

    def f():
        y = mask(3)
    """
    value = stored(program, "y")
    assert isinstance(value, Tensor)
    assert value.provenance is not None
    assert [step.kind for step in value.provenance] == [StepKind.RETURNED, StepKind.MADE]
    assert value.provenance.step.name == "mask()"


def test_a_device_handed_in_is_where_the_result_is() -> None:
    program = """
    def mask(n, device="cpu"):
        return torch.ones(n, device=device)

    def f(x: torch.Tensor, options):
        a = mask(3)
        b = mask(3, "cuda:1")
        c = mask(3, device=x.device)
        d = mask(3, **options)
        e = mask(3, None)
        g = mask(3, "gpu")
        h = mask(3, unknown)
    """
    assert [device(program, name) for name in "abcdegh"] == [
        "cpu", "cuda:1", "the device of `x`", "an unknown device", "cpu", "an unknown device", "an unknown device",
    ]  # fmt: skip


def test_a_default_that_is_no_literal_is_unknown() -> None:
    program = """
    def mask(n, device=DEVICE):
        return torch.ones(n, device=device)

    def f():
        y = mask(3)
    """
    assert device(program) == "an unknown device"


def test_none_decides_the_arm_of_a_default() -> None:
    program = """
    def mask(x: torch.Tensor, device=None):
        if device is None:
            device = x.device
        return torch.ones(3, device=device)

    def f(x: torch.Tensor):
        a = mask(x)
        b = mask(x, None)
        c = mask(x, torch.device("cuda"))
        d = mask(x, x.device)
    """
    assert [device(program, name) for name in "abcd"] == [
        "the device of `x`", "the device of `x`", "cuda", "the device of `x`",
    ]  # fmt: skip


def test_a_parameter_handed_on_may_be_none_there_too() -> None:
    program = """
    def mask(device=None):
        if device is None:
            device = "cpu"
        return torch.ones(3, device=device)

    def f(x: torch.Tensor, device=None):
        y = mask(device)
    """
    assert "if device is None" in device(program)


def test_several_items_come_back_in_their_places() -> None:
    program = """
    def pair(t):
        return t.exp(), torch.ones(3)

    def f(x: torch.Tensor):
        a, b = pair(x)
    """
    assert [device(program, name) for name in "ab"] == ["the device of `x`", "cpu"]


def test_an_argument_that_comes_back_is_what_was_given() -> None:
    program = """
    def same(t):
        return t

    def f(x: torch.Tensor, n: int):
        a = same(3)
        b = same(n)
        c = same([x])
        d = same(x)
        e = same([n])
    """
    assert stored(program, "a") == Constant(3)
    assert stored(program, "b") == Host(number=True)
    assert [device(program, name) for name in "cd"] == ["the device of `x`"] * 2
    assert stored(program, "e") == UnknownValue()


def test_a_function_that_returns_nothing_gives_none() -> None:
    program = """
    def quiet(x):
        pass

    def f(x: torch.Tensor):
        y = quiet(x)
    """
    assert stored(program, "y") == Constant(None)


def test_falling_off_the_end_is_one_of_the_returns() -> None:
    program = """
    def maybe(flag):
        if flag:
            return torch.ones(3)

    def f(x: torch.Tensor, flag):
        y = maybe(flag)
    """
    assert device(program) == "cpu"


def test_recursion_ends() -> None:
    program = """
    def power(x: torch.Tensor, n):
        if n == 0:
            return torch.ones(3)
        return x * power(x, n - 1)

    def even(n):
        return odd(n - 1)

    def odd(n):
        return even(n - 1)

    def f(x: torch.Tensor):
        y = even(3)
    """
    assert stored(program, "y") == UnknownValue()


def test_a_chain_of_calls_is_followed_to_a_bound() -> None:
    def chain(length: int) -> str:
        links = "\n".join(f"def g{n}():\n    return g{n + 1}()\n" for n in range(length))
        return f"def f():\n    y = g0()\n{links}\ndef g{length}():\n    return torch.ones(3)\n"

    assert device(chain(5)) == "cpu"
    assert stored(chain(30), "y") == UnknownValue()


def test_a_generator_gives_a_sequence_of_what_it_yields() -> None:
    program = """
    def parts():
        yield torch.ones(3)
        return torch.ones(3, device="cuda")

    def inner():
        yield from parts()

    def f():
        y = parts()
        z = inner()
        for part in z:
            w = part
    """
    for name in ("y", "z"):
        given = stored(program, name)
        assert isinstance(given, Container)
        assert given.items == ()
        assert isinstance(given.rest, Tensor)
        assert given.rest.device == CPU
    assert isinstance(stored(program, "w"), Tensor)


def test_a_generator_inside_does_not_make_the_outer_function_one() -> None:
    program = """
    def outer():
        def inner():
            yield 1
        return torch.ones(3)

    def f():
        y = outer()
    """
    assert device(program) == "cpu"


def test_a_batch_or_an_expression_of_the_callee_is_unknown_outside() -> None:
    program = """
    def first(loader):
        for batch in loader:
            return batch

    def made(n: int):
        settings = n.load
        return torch.ones(3, device=settings.device)

    def f(loader):
        y = first(loader)
        z = made(3)
    """
    assert [device(program, name) for name in "yz"] == ["an unknown device"] * 2


def test_a_choice_inside_one_call_is_not_that_of_another() -> None:
    program = """
    def made(big: bool):
        w = torch.ones(3)
        if big:
            w = w.cuda()
        return w

    def f(a: bool, b: bool):
        return made(a) + made(b)
    """
    assert clashes(program) == []


def test_a_static_method_takes_no_self_and_a_class_method_its_class() -> None:
    program = """
    class Maker:
        @staticmethod
        def make(t):
            return t.exp()

        @classmethod
        def build(cls, t):
            return t.exp()

        def bound(self, t):
            return t.exp()

        def use(self, x: torch.Tensor):
            a = self.make(x)
            b = Maker.make(x)
            c = self.bound(x)
            d = self.missing(3)
            e = Maker.missing(x)
            return a
    """
    assert [device(program, name) for name in "abc"] == ["the device of `x`"] * 3
    assert stored(program, "d") == stored(program, "e") == UnknownValue()


def test_what_a_function_gives_of_which_nothing_is_known_is_beside_its_arguments() -> None:
    program = """
    @decorated
    def wrapped(t):
        return t

    def unclear(t, n):
        return somelib.make(t, n)

    def countdown(t, n):
        return countdown(t, n - 1)

    def f(x: torch.Tensor, n: int):
        a = wrapped(x)
        b = unclear(x, n)
        c = wrapped(torch.ones(3))
        d = unclear(n, n)
        e = unclear(x, torch.ones(3))
    """
    assert [device(program, name) for name in "ab"] == ["the device of `x`"] * 2
    assert stored(program, "c") == stored(program, "d") == stored(program, "e") == UnknownValue()


def test_methods_of_a_module_of_the_file_follow_that_module() -> None:
    program = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(3))

        def scale(self):
            return self.w * 2

        def forward(self, x):
            return x

    def f():
        net = Net().cuda()
        y = net.scale()
        z = net.missing()
        return net.scale() + torch.ones(3)
    """
    assert device(program) == "cuda"
    assert clashes(program) == ["net.scale() + torch.ones(3)"]


def test_calling_self_is_calling_forward() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x):
            return x.exp()

        def run(self, x: torch.Tensor):
            y = self(x)
    """
    assert device(program) == "the module's device" or device(program) == "the device of `x`"


def test_try_gpu_is_evaluated_by_its_body() -> None:
    program = """
    def try_gpu(i=0):
        if torch.cuda.device_count() >= i + 1:
            return torch.device(f"cuda:{i}")
        return torch.device("cpu")

    def pick():
        return torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")

    def f():
        y = torch.ones(3, device=try_gpu())
        z = torch.ones(3, device=pick())
    """
    assert "cuda" in device(program)
    assert device(program, "z") == "cuda"


def test_places_of_arguments_of_every_type() -> None:
    program = """
    def beside(t):
        return torch.ones(3, device=t.device)

    class Net(nn.Module):
        def forward(self, x):
            y = beside(self)

    def f(model: nn.Module, anything):
        a = beside(model)
        b = beside(anything)
        c = beside(unknown)
        d = beside(3)
    """
    assert [device(program, name) for name in "yabcd"] == [
        "the module's device", "the device of `model`", "the device of `anything`",
        "an unknown device", "an unknown device",
    ]  # fmt: skip
    assert place(stored(program, "c")) == "an unknown device"


@pytest.mark.parametrize(
    ("function", "body", "is_module"),
    [
        ("build_model", "return REGISTRY[name](name)", True),
        ("_make_layer", "return find(name)", True),
        ("create_encoder_from_name", "return REGISTRY[name](name)", True),
        # What the body shows, and what is called otherwise.
        ("build_model", "return 3", False),
        ("build_model", "return find(name), find(name)", False),
        ("build_models", "return find(name)", False),
        ("model", "return find(name)", False),
        ("get_model_name", "return find(name)", False),
        ("get_model", "yield find(name)", False),
    ],
)
def test_what_a_maker_of_modules_gives_is_one(function: str, body: str, is_module: bool) -> None:
    value = stored(f"def {function}(name):\n    {body}\ndef f():\n    y = {function}('a')\n", "y")
    assert isinstance(value, Module) is is_module
    if isinstance(value, Module):
        assert value.assumed
        assert value.provenance is not None
        assert any("called as those are that make one" in step.note for step in value.provenance)


def test_a_class_method_that_constructs_gives_an_object_of_its_class() -> None:
    program = """
    class Net(nn.Module):
        @classmethod
        def from_pretrained(cls, name):
            return find(name)

        @classmethod
        def describe(cls, name):
            return find(name)

    class Options:
        @classmethod
        def from_pretrained(cls, name):
            return find(name)

    def f():
        a = Net.from_pretrained("a")
        b = Net.describe("a")
        c = Options.from_pretrained("a")
    """
    net = stored(program, "a")
    assert isinstance(net, Module)
    assert net.info is not None
    assert net.info.name == "Net"
    assert not isinstance(stored(program, "b"), Module)
    assert not isinstance(stored(program, "c"), Module)


def test_a_property_called_model_is_one() -> None:
    program = """
    class Holder:
        @property
        def model(self):
            return find(self)

        @property
        def kind(self):
            return find(self)

        def f(self):
            y, z = self.model, self.kind
    """
    assert isinstance(stored(program, "y"), Module)
    assert isinstance(stored(program, "z"), UnknownValue)


@pytest.mark.parametrize(
    ("type_", "held"), [("nn.Linear", Module), ("Net", Module), ("torch.Tensor", Tensor), ("int", Host)]
)
def test_what_is_cast_is_of_the_type(type_: str, held: type) -> None:
    program = f"""
    from typing import cast

    class Net(nn.Module):
        pass

    def f(registry):
        y = cast({type_}, find(registry))
        z = cast(list[{type_}], find(registry))
    """
    assert isinstance(stored(program, "y"), held)
    assert not isinstance(stored(program, "z"), (Module, Tensor))


def test_what_a_callable_makes_of_an_argument_is_not_the_argument() -> None:
    program = """
    import somelib

    def made(x):
        return somelib.make(x)

    def f(x: torch.Tensor):
        y = made(3)
        z = made(x)
    """
    assert isinstance(stored(program, "y"), UnknownValue)
    assert device(program, "z") == "the device of `x`"
