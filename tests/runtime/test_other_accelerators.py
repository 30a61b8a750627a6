"""Simulated accelerators of other kinds than CUDA: right programs run on them, and wrong ones fail as there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from devlint.check import Request
from devlint.configuration.config import Overrides
from devlint.confirm import ConfirmRequest, confirm
from devlint.runtime import entries
from devlint.runtime.nursery import Nursery
from devlint.runtime.placements import parse_device
from devlint.runtime.simulated import CUDA, KINDS, MPS, XPU, Kind, NotSimulated, simulate
from devlint.semantics import classify

OTHERS = pytest.mark.parametrize("kind", [XPU, MPS], ids=lambda kind: kind.type)


@OTHERS
def test_programs_that_ask_what_there_is_run(kind: Kind) -> None:
    with simulate(1, kind=kind):
        device = torch.accelerator.current_accelerator()
        assert device == torch.device(kind.type)
        assert not torch.cuda.is_available()
        net = nn.Linear(3, 2).to(device)
        optimizer = torch.optim.Adam(net.parameters())
        x = torch.randn(4, 3, device=device, generator=torch.Generator(device).manual_seed(0))
        with torch.autocast(device.type, dtype=torch.bfloat16):
            out = net(x)
        assert out.dtype == torch.bfloat16
        out.float().sum().backward()
        optimizer.step()
        module = getattr(torch, kind.type)
        module.synchronize()
        module.empty_cache()
        torch.manual_seed(1)
        assert (x.device.type, x.get_device(), x.type()) == (kind.type, 0, f"torch.{kind.type}.FloatTensor")
        assert [getattr(x, f"is_{name}") for name in ("cpu", *KINDS)] == [name == kind.type for name in ("cpu", *KINDS)]
        assert x.cpu().numpy().shape == (4, 3)
    assert not getattr(x, f"is_{kind.type}")
    assert torch.accelerator.current_accelerator() is None


@OTHERS
def test_what_meets_and_what_is_read_fails_as_there(kind: Kind) -> None:
    with simulate(1, kind=kind):
        x = torch.zeros(3, device=kind.type)
        with pytest.raises(RuntimeError, match=f"at least two devices, {kind.type}:0 and cpu!"):
            x + torch.zeros(3)
        with pytest.raises(TypeError, match=f"can't convert {kind.type}:0 device type tensor to numpy"):
            x.numpy()
        with pytest.raises(RuntimeError, match=f"Expected a '{kind.type}' device type for generator but found 'cpu'"):
            torch.rand(3, device=kind.type, generator=torch.Generator())
        with pytest.raises(RuntimeError) as error:
            nn.Linear(3, 3)(x)
        assert classify(str(error.value)) is not None
        with pytest.raises(RuntimeError, match=r"must be in \[0, 1\), but got 1"):
            torch.zeros(1, device=f"{kind.type}:1")


@OTHERS
def test_cuda_is_not_there(kind: Kind) -> None:
    with simulate(1, kind=kind):
        for ask in (
            lambda: torch.zeros(1).cuda(),
            lambda: torch.zeros(1).to("cuda"),
            lambda: torch.zeros(1, device="cuda:0"),
            lambda: nn.Linear(1, 1).cuda(),
        ):
            with pytest.raises((AssertionError, RuntimeError, NotImplementedError), match=r"CUDA"):
                ask()
        other = XPU if kind is MPS else MPS
        with pytest.raises((AssertionError, NotImplementedError), match=other.title):
            torch.zeros(1, device=other.type)
    with simulate(1), pytest.raises(AssertionError, match="not compiled with XPU"):
        torch.zeros(1).xpu()


def test_xpu_has_devices_and_streams() -> None:
    with simulate(2, kind=XPU):
        assert torch.xpu.device_count() == 2
        assert torch.zeros(1).xpu().device == torch.device("xpu:0")
        assert nn.Linear(1, 1).xpu().weight.device == torch.device("xpu:0")
        with torch.xpu.device(1):
            assert torch.zeros(1, device="xpu").device == torch.device("xpu:1")
        torch.xpu.set_device(1)
        assert (torch.xpu.current_device(), torch.zeros(1).xpu().get_device()) == (1, 1)
        stream = torch.xpu.Stream()
        with torch.xpu.stream(stream):
            assert torch.xpu.current_stream() == stream
        event = torch.xpu.Event(enable_timing=True)
        event.record()
        stream.wait_event(event)
        assert torch.xpu.memory_allocated() == 0
        assert torch.xpu.get_device_properties(1).name == "devlint simulated device 1"
        with pytest.raises(NotSimulated, match="_xpu_customAllocator"):
            torch._C._xpu_customAllocator  # noqa: B018


def test_mps_has_no_double_precision() -> None:
    with simulate(1, kind=MPS):
        single = torch.zeros(3, device="mps")
        for ask in (
            lambda: single.double(),
            lambda: single.to(torch.float64),
            lambda: torch.zeros(3, dtype=torch.float64).to("mps"),
            lambda: torch.zeros(3, dtype=torch.float64, device="mps"),
            lambda: torch.tensor([1.0], dtype=torch.float64).to(single.device),
            lambda: nn.Linear(2, 2).double().to("mps"),
        ):
            with pytest.raises(TypeError, match="doesn't support float64"):
                ask()
        assert single.long().dtype == torch.int64
        assert single.cpu().double().dtype == torch.float64
    with simulate(1, kind=XPU):
        assert torch.zeros(3, device="xpu").double().dtype == torch.float64


def test_a_machine_has_as_many_devices_as_its_kind_can_have() -> None:
    with pytest.raises(ValueError, match="1 to 1 mps devices, not 2"), simulate(2, kind=MPS):
        pass
    with simulate(1, kind=CUDA):
        assert not torch.backends.mps.is_available()


PROGRAM = """
import torch
from torch import nn


def brought(x):
    return x.cpu() if x.is_cuda else x


def brought_from_anywhere(x):
    return x.cpu() if x.device.type != "cpu" else x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)


def run_right():
    device = torch.accelerator.current_accelerator() or "cpu"
    out = Net().to(device)(torch.zeros(2, 4, device=device))
    return brought_from_anywhere(out.detach()).numpy()


def run_wrong():
    device = torch.accelerator.current_accelerator() or "cpu"
    out = Net().to(device)(torch.zeros(2, 4, device=device))
    return brought(out.detach()).numpy()
"""


@pytest.mark.parametrize(("device", "told"), [("sim", []), ("sim-xpu", ["DEV403"]), ("sim-mps", ["DEV403"])])
def test_what_only_knows_cuda_is_confirmed_on_other_kinds(
    device: str, told: list[str], tmp_path: Path, nursery: Nursery
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    check = Request(("program.py",), tmp_path, Overrides({}, None, isolated=True), jobs=1)
    runs = (entries.built("program:run_right"), entries.built("program:run_wrong"))
    result, _ = confirm(ConfirmRequest(check, runs, parse_device(device), timeout=120), nursery=nursery)
    assert result.not_run == ""
    confirmed = [f for f in result.findings if f.verdict is not None and f.verdict.state.value == "confirmed"]
    assert [finding.code for finding in confirmed] == told
    assert all("run_wrong" in str(finding.verdict) for finding in confirmed)
