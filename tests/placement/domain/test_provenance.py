"""The chain of places that put a value where it is."""

from __future__ import annotations

import libcst as cst

from devlint.placement.domain.abstract_values import Tensor
from devlint.placement.domain.lattice import CPU
from devlint.placement.domain.provenance import MAX_STEPS, Provenance, Step, StepKind, extend
from devlint.placement.domain.scope import Scope, Setting
from devlint.source.role import Role
from tests.placement.walked import stored

SCOPE = Scope("net.py", Role.LIBRARY, "f", Setting.FUNCTION)


def step(kind: StepKind, name: str = "") -> Step:
    return Step(kind, cst.Name("x"), SCOPE, CPU, name)


def test_a_chain_is_read_from_the_latest_step_to_the_first() -> None:
    chain = extend(extend(None, step(StepKind.MADE)), step(StepKind.MOVED))
    assert [link.kind for link in chain] == [StepKind.MOVED, StepKind.MADE]
    assert chain.first.kind is StepKind.MADE


def test_the_latest_step_of_a_kind_is_found() -> None:
    chain = extend(
        extend(Provenance(step(StepKind.MADE)), step(StepKind.MOVED, "first")), step(StepKind.MOVED, "second")
    )
    found = chain.find(StepKind.MOVED, StepKind.MADE)
    assert found is not None
    assert found.name == "second"
    assert chain.find(StepKind.WRAPPED) is None


def test_a_chain_at_its_bound_keeps_its_start() -> None:
    chain = Provenance(step(StepKind.MADE))
    for number in range(MAX_STEPS + 5):
        chain = extend(chain, step(StepKind.MOVED, str(number)))
    assert chain.length == MAX_STEPS
    assert chain.first.kind is StepKind.MADE


def test_values_on_one_device_are_equal_whatever_way_they_took() -> None:
    program = """
    a = torch.ones(3)
    b = torch.ones(3).cuda().cpu()
    """
    first, second = stored(program, "a"), stored(program, "b")
    assert isinstance(first, Tensor)
    assert isinstance(second, Tensor)
    assert first.device == second.device
    assert Tensor(CPU, provenance=first.provenance) == Tensor(CPU, provenance=second.provenance)


def test_a_chain_of_moves_in_a_program_keeps_its_start() -> None:
    value = stored("y = torch.ones(3)" + ".cuda().cpu()" * 20 + "\n", "y")
    assert isinstance(value, Tensor)
    assert value.provenance is not None
    assert value.provenance.first.name == "torch.ones"
