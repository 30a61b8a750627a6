"""Names that were meant to be CUDA_VISIBLE_DEVICES, and what its values leave visible."""

from __future__ import annotations

import pytest

from devlint.rules.naming.visible_devices import distance, is_misspelling, visible


@pytest.mark.parametrize(
    "name",
    [
        "CUDA_VISIBLE_DEVICE",
        "CUDA_VISIBLE_DEVICS",
        "CUDA_VISIBLE_DEVCIES",
        "CUDA_VISBLE_DEVICES",
        "CUDA_VISIABLE_DEVICES",
        "CUDA_VISIBLES_DEVICES",
        "CUDAVISIBLE_DEVICES",
        "CUDA_VISIBLE_DEVICES_",
        "cuda_visible_devices",
        "CDUA_VISIBLE_DEVICES",
        "CUDE_VISIBLE_DEVICES",
    ],
)
def test_slips_are_misspellings(name: str) -> None:
    assert is_misspelling(name)


@pytest.mark.parametrize(
    "name",
    [
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_LAUNCH_BLOCKING",
        "HIP_VISIBLE_DEVICES",
        "MUSA_VISIBLE_DEVICES",
        "MLU_VISIBLE_DEVICES",
        "ASCEND_RT_VISIBLE_DEVICES",
        "NVIDIA_VISIBLE_DEVICES",
        "",
    ],
)
def test_other_variables_are_not(name: str) -> None:
    assert not is_misspelling(name)


def test_swapped_neighbours_are_one_slip() -> None:
    assert distance("CDUA", "CUDA") == 1
    assert distance("kitten", "sitting") == 3


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("0", ("0",)),
        ("2, 3", ("2", "3")),
        ("GPU-8932f937,1", ("GPU-8932f937", "1")),
        ("1,-1,0", ("1",)),
        ("", ()),
        ("-1", ()),
    ],
)
def test_what_follows_an_invalid_id_is_hidden(value: str, ids: tuple[str, ...]) -> None:
    assert visible(value) == ids
