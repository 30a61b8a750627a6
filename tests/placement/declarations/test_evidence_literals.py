"""What an annotation or a default says of one number."""

from __future__ import annotations

import libcst as cst
import pytest

from devlint.placement.declarations.evidence_literals import states_a_number


def parameter(written: str) -> cst.Param:
    function = cst.parse_module(f"def f({written}): ...").body[0]
    assert isinstance(function, cst.FunctionDef)
    return function.params.params[0]


@pytest.mark.parametrize(
    "written",
    ["x: int", "x: float = 1", "x: bool", "x: Optional[float] = None", "x: int | None", "x: Union[int, float]",
     "x: typing.Optional[int]", "x: float | int | None", "x=0.5", "x=-1", "x=3"],
)  # fmt: skip
def test_one_number(written: str) -> None:
    assert states_a_number(parameter(written))


@pytest.mark.parametrize(
    "written",
    ["x", "x: str", "x: list[int]", "x: int | list[int]", "x: Tuple[int, int]", "x: Optional[List[float]]",
     "x: np.ndarray = 0", "x=None", "x='a'", "x=(1, 2)", "x: interval"],
)  # fmt: skip
def test_no_number_or_several(written: str) -> None:
    assert not states_a_number(parameter(written))
