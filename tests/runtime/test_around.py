"""What scripts use around a model, on the simulated machine: fixtures/around, the line of each clash marked."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from devlint.runtime.observation import Observation
from devlint.runtime.session import observe
from devlint.runtime.simulated import SimulatedMachine
from tests.fixture_expectations import FIXTURES

FILES = sorted((FIXTURES / "around").glob("*.py"))
WRONG = (
    "clash",
    "index",
    "host-only",
    "generator",
    "load",
    "error",
    "not-simulated",
    "invalid-device",
    "no-accelerator",
)
HELPERS = ("net", "x_there")


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"around_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # to be pickled by name
    spec.loader.exec_module(module)
    return module


PROGRAMS = [
    function
    for module in map(loaded, FILES)
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__ and name not in HELPERS
]


def marked(function: Callable[[], Any]) -> set[int]:
    lines, start = inspect.getsourcelines(function)
    return {start + number for number, line in enumerate(lines) if "# clash" in line}


def lines_of(observation: Observation, path: str) -> set[int]:
    places = [*observation.spots, *(place for operand in observation.operands for place in operand.births)]
    return {line for place in places if place.path == path for line in range(place.line, place.end_line + 1)}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_right_program_is_silent_and_a_wrong_one_clashes_where_it_should(program: Callable[[], Any]) -> None:
    found: list[Observation] = []
    expected = marked(program)
    with warnings.catch_warnings(), observe(SimulatedMachine(), found.append, device="cuda:0") as session:
        warnings.simplefilter("ignore")
        try:
            program()
        except Exception as error:
            if session.failed(error) is None or not expected:
                raise
    clashes = [o for o in found if o.kind in WRONG]
    seen = {line for clash in clashes for line in lines_of(clash, inspect.getfile(program))}
    assert expected <= seen, clashes
    assert expected or not clashes, clashes
