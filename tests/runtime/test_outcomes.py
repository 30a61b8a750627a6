"""The seeds run on simulated machines: those with a bug that cannot be missed fail, all others pass.

tests/gpu asks a real machine for the same.
"""

from __future__ import annotations

import pytest

from tests.gpu.outcomes import outcomes, predicted


@pytest.mark.parametrize("count", [1, 2])
def test_seeds_fail_and_pass_as_predicted(count: int) -> None:
    found = outcomes("sim", count)
    assert {name: row["category"] for name, row in found.items()} == predicted(count)
    assert [row for row in found.values() if row["error"] and not row["category"]] == []
