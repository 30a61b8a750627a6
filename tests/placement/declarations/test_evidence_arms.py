"""What a name is used as behind a test of its type says nothing of what it may be besides."""

from __future__ import annotations

import pytest

from devlint.placement.domain.abstract_values import Opaque, Tensor, Value
from tests.placement.walked import stored


def given(body: str) -> Value:
    """What ``rows`` holds at the beginning of a function with this body."""
    return stored(f"def f(rows, other):\n    kept = rows\n    {body}\n", "kept")


@pytest.mark.parametrize(
    "body",
    [
        "if isinstance(rows, torch.Tensor):\n        rows = rows.detach().cpu().tolist()",
        "if isinstance(rows, (np.ndarray, torch.Tensor)):\n        rows = rows.detach()",
        "if other and torch.is_tensor(rows):\n        rows = rows.softmax(-1)",
        "rows = rows.detach().tolist() if isinstance(rows, torch.Tensor) else rows",
        "if torch.is_tensor(rows) and rows.requires_grad:\n        rows = None",
    ],
)
def test_an_arm_for_tensors_tells_nothing_of_the_argument(body: str) -> None:
    assert not isinstance(given(body), Tensor)


@pytest.mark.parametrize(
    "body",
    [
        "if isinstance(other, torch.Tensor):\n        rows = rows.detach().cpu()",
        "if not isinstance(rows, torch.Tensor):\n        rows = torch.tensor(rows)\n    z = rows.detach().softmax(-1)",
        "if isinstance(rows, list):\n        rows = rows[0]\n    z = rows.detach()",
        "if isinstance(rows, torch.Tensor):\n        pass\n    z = rows.softmax(-1)",
    ],
)
def test_what_is_read_outside_of_it_does(body: str) -> None:
    assert isinstance(given(body), (Tensor, Opaque))
    assert isinstance(given(body), Tensor) or "other" not in body


def test_what_is_handed_to_a_converter_is_no_tensor_by_that() -> None:
    program = """
def as_list(value):
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().tolist()
    return list(value)

class Encoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        kept = channels
        self.channels = as_list(channels)
"""
    assert not isinstance(stored(program, "kept"), Tensor)
