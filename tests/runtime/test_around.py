"""What scripts use around a model, on the simulated machine: fixtures/around, the line of each clash marked."""

from __future__ import annotations

import importlib.util
import inspect
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from devlint.runtime.observation import Observation
from devlint.runtime.session import observe
from devlint.runtime.simulated import SimulatedMachine
from tests.fixture_expectations import FIXTURES

PATH = FIXTURES / "around" / "scripts.py"
WRONG = ("clash", "index", "host-only", "generator", "load", "error", "not-simulated")


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("around_scripts", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MODULE = loaded()
PROGRAMS = [
    function
    for name, function in vars(MODULE).items()
    if inspect.isfunction(function) and function.__module__ == MODULE.__name__ and name != "net"
]


def marked(function: Callable[[], Any]) -> set[int]:
    lines, start = inspect.getsourcelines(function)
    return {start + number for number, line in enumerate(lines) if "# clash" in line}


def lines_of(observation: Observation) -> set[int]:
    places = [*observation.spots, *(place for operand in observation.operands for place in operand.births)]
    return {line for place in places if place.path == str(PATH) for line in range(place.line, place.end_line + 1)}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_right_program_is_silent_and_a_wrong_one_clashes_where_it_should(program: Callable[[], Any]) -> None:
    found: list[Observation] = []
    with warnings.catch_warnings(), observe(SimulatedMachine(), found.append, device="cuda:0"):
        warnings.simplefilter("ignore")
        program()
    clashes = [o for o in found if o.kind in WRONG]
    seen = {line for clash in clashes for line in lines_of(clash)}
    expected = marked(program)
    assert expected <= seen, clashes
    assert expected or not clashes, clashes
