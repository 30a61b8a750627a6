"""Why a parameter counts as a tensor."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Container, DeviceName, Host, Module, Opaque, Tensor, Value
from tests.placement.walked import device, stored


def held(parameter: str, body: str = "pass") -> Value:
    """What a parameter ``x`` holds at the beginning of a function with this body."""
    return stored(f"from typing import *\ndef f({parameter}):\n    y = x\n    {body}\n", "y")


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("torch.Tensor", Tensor),
        ('"torch.Tensor"', Tensor),
        ("Tensor | None", Tensor),
        ("Optional[torch.LongTensor]", Tensor),
        ("list[torch.Tensor]", Container),
        ("Dict[str, Tensor]", Container),
        ("List[Tensor]", Container),
        ("Union[Tensor, np.ndarray]", Opaque),
        ("Union[float, Tensor]", Opaque),
        ("Callable[[Tensor], Tensor]", Host),
        ("np.ndarray", Host),
        ("nn.Module", Module),
        ("torch.device", DeviceName),
        ("DeviceLikeType", DeviceName),
        ("int", Host),
        ("Optional[str]", Host),
        ("Tuple[int, ...]", Host),
        ("Whatever", Opaque),
    ],
)
def test_annotations_tell(annotation: str, kind: type) -> None:
    assert isinstance(held(f"x: {annotation}"), kind)


@pytest.mark.parametrize(
    "use", ["x.unsqueeze(0)", "x.is_cuda", "x.requires_grad", "torch.exp(x)", "F.relu(x)", "torch.cat([x, z])",
            "torch.matmul(input=x, other=z)", "x.masked_fill(z, 0)"],
)  # fmt: skip
def test_uses_that_only_tensors_allow_tell(use: str) -> None:
    assert isinstance(held("x, z", use), Tensor)


@pytest.mark.parametrize(
    "use", ["x.shape", "x.sum()", "print(x)", "torch.add(z, x)", "np.exp(x)", "x[0]", "torch.zeros(x)", "x.anything()",
            "torch.full(3, x)", "torch.add(*x)", "unknown(x)"],
)  # fmt: skip
def test_uses_that_others_share_tell_nothing(use: str) -> None:
    assert isinstance(held("x, z: torch.Tensor", use), Opaque)


@pytest.mark.parametrize("use", ["torch.from_numpy(x)", "x.astype(int)", "torch.tensor(x)"])
def test_what_is_converted_to_a_tensor_was_none(use: str) -> None:
    assert isinstance(held("x", f"{use}; x.exp()"), Opaque)


def test_a_device_that_is_read_is_weak_evidence() -> None:
    value = held("x", "x.device")
    assert isinstance(value, Tensor)
    assert value.evidence.value == "likely"


def test_methods_of_modules_tell_a_module() -> None:
    assert isinstance(held("x", "x.parameters()"), Module)
    assert isinstance(held("x", "x.state_dict()"), Module)


def test_names_tell_devices_and_plain_values() -> None:
    program = """
    def f(device, target_device, dim, n, path):
        a, b, c, d, e = device, target_device, dim, n, path
    """
    assert [type(stored(program, name)) for name in "abcde"] == [DeviceName, DeviceName, Host, Host, Host]


def test_a_tensor_called_device_is_a_tensor() -> None:
    assert isinstance(stored("def f(device):\n    y = device\n    device.unsqueeze(0)\n", "y"), Tensor)


def test_a_default_that_is_no_none_tells_a_plain_value() -> None:
    assert isinstance(held("x=3"), Host)
    assert isinstance(held("x=None"), Opaque)


def test_forwards_inputs_are_tensors_by_convention() -> None:
    program = """
    class Net(nn.Module):
        def forward(self, x, *rest, **options):
            y = x
            z = rest
            w = options
    """
    assert device(program) == "the module's device"
    assert isinstance(stored(program, "z"), Container)
    assert isinstance(stored(program, "w"), Container)


def test_the_context_of_an_autograd_function_is_anything() -> None:
    program = """
    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = ctx
            z = x
    """
    assert device(program) == "UnknownValue"
    assert device(program, "z") == "the device of `x`"


def test_the_batch_of_a_lightning_step_sits_with_the_module() -> None:
    program = """
    import pytorch_lightning as pl

    class Net(pl.LightningModule):
        def training_step(self, batch, index):
            y = batch
    """
    assert device(program) == "the module's device"
