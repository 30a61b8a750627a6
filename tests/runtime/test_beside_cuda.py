"""A simulated machine in a process whose PyTorch was built for CUDA, with a device of its own or without."""

from __future__ import annotations

import pytest
import torch

from devlint.runtime.simulated import XPU, simulate


@pytest.mark.parametrize("version", ["13.0", None])
def test_extensions_find_the_cuda_that_they_were_built_for(
    version: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torchvision and torchaudio compare it with their own when they are imported, and refuse another."""
    monkeypatch.setattr(torch.version, "cuda", version)
    with simulate():
        assert torch.version.cuda == (version or torch.version.cuda)
        assert torch.version.cuda is not None
    assert torch.version.cuda == version


def test_the_driver_is_not_asked_how_many_devices_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "_device_count_nvml", lambda: 1)
    with simulate(3):
        assert torch.cuda.device_count() == 3
        assert torch.cuda.get_device_name(2) == "devlint simulated device 2"


def test_there_is_no_cuda_beside_another_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", lambda: 1, raising=False)
    monkeypatch.setattr(torch.cuda, "_device_count_nvml", lambda: 1)
    assert torch.cuda.is_available()
    with simulate(2, kind=XPU):
        assert not torch.cuda.is_available()
        assert torch.cuda.device_count() == 0
        assert torch.xpu.device_count() == 2
    assert torch.cuda.is_available()
