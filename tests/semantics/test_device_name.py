"""Device strings, compared with what the installed torch makes of them."""

from __future__ import annotations

import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from devlint.semantics import DeviceNameCheck, Mangled, NamedDevice, Refused, classify, parse_device, tables

TYPES = [name for name, row in tables.rows("devices").items() if not row.get("plugin")]
INDICES = ["", ":0", ":1", ":7", ":127", ":128", ":254", ":255", ":256", ":383", ":999", ":2147483647", ":2147483648"]
ODD = [
    *("gpu", "GPU", "CUDA", "Cuda", "CPU", "cPu", "tpu", "dml", "rocm", "metal", "npu", "npu:0", "mlu", "xpu_1"),
    *("cuda:", "cuda:01", "cuda:-1", "cuda:+1", "cuda:1a", "cuda:a", "cuda0", "cuda_0", "cuda.0", "cuda/0", "cuda:0x1"),
    *("cuda:1_0", "cuda:0:1", "cuda::0", ":0", "0", "1", "-1", "cpu:-1", "hip:0", "", " ", " cuda", "cuda ", "cuda :0"),
    *("cuda: 0", "cuda\n", "cuda:\u0661", "c\u00fcda", "cuda:99999999999999999999"),
]


def from_torch(text: str) -> DeviceNameCheck:
    """torch's own answer in the words of `parse_device`, without the reasons."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            device = torch.device(text)
    except RuntimeError as error:
        kind = classify(str(error))
        return Refused("", kind.kind if kind else str(error))
    if str(device) == text:
        return NamedDevice(device.type, device.index)
    return Mangled(device.type, device.index, str(device))


def without_reason(checked: DeviceNameCheck) -> DeviceNameCheck:
    if isinstance(checked, Refused):
        return Refused("", checked.kind)
    if isinstance(checked, NamedDevice) and checked.plugin:
        return Refused("")  # The plugin is not installed here.
    return checked


@pytest.mark.parametrize("text", [t + i for t in TYPES for i in INDICES] + ODD)
def test_name_is_read_as_torch_reads_it(text: str) -> None:
    assert without_reason(parse_device(text)) == from_torch(text)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.from_regex(r"\A(cuda|cpu|xpu|gpu)?[:_ ]?[-+]?[0-9]{0,11}\Z"), st.text(max_size=8)))
def test_any_text_is_read_as_torch_reads_it(text: str) -> None:
    if "\0" not in text and text.isprintable():
        assert without_reason(parse_device(text)) == from_torch(text)


def test_plugin_backends_are_accepted_by_name() -> None:
    assert parse_device("npu:1") == NamedDevice("npu", 1, plugin=True)


def test_refusals_say_what_to_write() -> None:
    assert parse_device("CUDA:0") == Refused("device types are written in lower case: cuda")
    assert parse_device("gpu") == Refused("gpu is no device type of torch")


def test_large_indices_are_mangled() -> None:
    assert parse_device("cuda:128") == Mangled("cuda", -128, "cuda:-128")
    assert parse_device("cuda:255") == Mangled("cuda", None, "cuda")
    assert parse_device("cuda:256") == Mangled("cuda", 0, "cuda:0")
