"""Methods of containers, modules, tensors and things unknown."""

from __future__ import annotations

from devlint.placement.domain.abstract_values import (
    Container,
    DeviceName,
    Host,
    Module,
    Opaque,
    Tensor,
    UnknownValue,
)
from tests.placement.walked import clashes, device, stored


def test_a_containers_methods_follow_its_items() -> None:
    program = """
    def f(x: torch.Tensor):
        parts = []
        parts.append(torch.ones(3))
        a = parts[0]
        parts.extend([x])
        b = parts[0]
        named = {"k": torch.ones(3)}
        c = named.get("k")
        for key, value in named.items():
            d = value
        for value in named.values():
            e = value
        named.update(x=x)
        g = named["k"]
        l = named["x"]
        named.update(others)
        m = named["k"]
        h = parts.pop()
        i = named.copy()
        j = named.keys()
        parts.sort()
        k = parts.unknown()
    """
    assert [device(program, name) for name in "acdeg"] == ["cpu"] * 5
    assert device(program, "b") == "an unknown device"
    assert device(program, "l") == "the device of `x`"
    assert stored(program, "m") == UnknownValue()
    assert isinstance(stored(program, "i"), Container)
    assert stored(program, "j") == Host()
    assert stored(program, "k") == UnknownValue()


def test_appending_builds_the_list_that_is_concatenated() -> None:
    program = """
    def f(x: torch.Tensor, n: int):
        parts = []
        for _ in range(n):
            parts.append(torch.ones(3))
        parts.append(x)
        return torch.cat(parts)

    def g(x: torch.Tensor, n: int):
        parts = [torch.ones(3)]
        return torch.cat([x] + parts)
    """
    assert clashes(program) == ["torch.cat([x] + parts)"]


def test_methods_of_an_argument_of_unknown_type_stay_with_it() -> None:
    program = """
    def f(batch, model):
        for batch in batch:
            a = batch.get("x")
            for key, value in batch.items():
                b = value
            c = batch.keys()
            d = batch.clone()
            e = batch.anything()
        for p in model.parameters():
            g = p
    """
    assert [device(program, name) for name in "abde"] == ["the device `batch` came on"] * 4
    assert stored(program, "c") == Host()


def test_methods_that_only_tensors_have_make_one() -> None:
    program = """
    def f(model, batch):
        for item in batch:
            z = item.x.unsqueeze(0)
    """
    assert isinstance(stored(program, "z"), Tensor)


def test_methods_of_modules() -> None:
    program = """
    def f(model: nn.Module, x: torch.Tensor):
        a = model.eval()
        for p in model.parameters():
            b = p
        for name, p in model.named_parameters():
            c = p
        for m in model.children():
            d = m
        e = model.state_dict()
        g = model.forward(x)
        h = model.encode(x)
    """
    assert [type(stored(program, name)) for name in "abcdegh"] == [
        Module, Tensor, Tensor, Module, Opaque, Opaque, Opaque,
    ]  # fmt: skip
    assert {device(program, name) for name in "abcdegh"} == {"the device of `model`"}


def test_methods_of_what_is_unknown() -> None:
    program = """
    def f():
        a = unknown().numpy()
        b = unknown().tolist()
        c = "word".upper()
        d = unknown().other()
    """
    assert stored(program, "a") == Host(numpy=True)
    assert stored(program, "b") == Host(number=True)
    assert stored(program, "c") == Host()
    assert stored(program, "d") == UnknownValue()


def test_sizes_of_a_tensor_are_plain_values() -> None:
    program = """
    def f(x: torch.Tensor):
        y = torch.ones(x.size(0), x.dim(), device=x.device)
        z = x.numel()
        a = x.data_ptr()
        b = x.no_such_method()
    """
    assert stored(program, "z") == Host(number=True)
    assert stored(program, "a") == stored(program, "b") == UnknownValue()


def test_the_number_of_a_tensors_accelerator_names_its_device() -> None:
    program = """
    def f(x: torch.Tensor):
        y = torch.ones(3).to(x.get_device())
        z = x.get_device()
    """
    number = stored(program, "z")
    assert isinstance(number, DeviceName)
    assert number.is_index
    assert device(program, "y") == "the device of `x`"


def test_methods_in_place_give_back_their_tensor() -> None:
    program = """
    def f(x: torch.Tensor):
        y = x.add_(1)
        w = nn.Parameter(torch.ones(3))
        z = w.requires_grad_()
    """
    assert device(program) == "the device of `x`"
