"""A safe fix is proved: on a simulated accelerator its finding is confirmed before it and gone after it, and what the
program computes on the CPU is the same.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.cli.conftest import environment
from tests.fixture_expectations import FIXTURES

ENTRIES = {
    "positions": "DEV101",
    "kept": "DEV203",
    "sorted_": "DEV205",
    "noisy": "DEV302",
    "guarded": "DEV310",
    "read": "DEV403",
    "split": "DEV404",
    "early": "DEV602",
    "made": "DEV701",
}
"""Each entry of the program, and the rule that it breaks."""

NEEDS_CUDA = {"sorted_", "noisy"}
"""Entries that cannot run on the CPU before they are fixed."""

BROKEN = {"kept"}
"""Entries that cannot run at all before they are fixed."""

UNSEEN = {"DEV602", "DEV203", "DEV701"}
"""What a simulated device cannot show: copies there are never late; what fails to build; what costs time only."""


def devlint(directory: Path, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "devlint", *arguments, "--output-format", "json", "--isolated"],
        cwd=directory, env=environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr.decode()
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def confirm(directory: Path, entries: set[str]) -> dict[str, Any]:
    named = [word for entry in sorted(entries) for word in ("--entry", f"program:{entry}")]
    return devlint(
        directory,
        "confirm",
        "program.py",
        "--device",
        "sim:2",
        "--placements",
        "second",
        *named,
        "--extend-select",
        "DEV701",
    )


def loaded(file: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def computed(module: ModuleType, entry: str) -> torch.Tensor:
    torch.manual_seed(0)
    model, inputs = getattr(module, entry)()
    result = model(*inputs)
    assert isinstance(result, torch.Tensor)
    return result


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("original")
    shutil.copy(FIXTURES / "proofs" / "safe_fixes.py", directory / "program.py")
    return directory


@pytest.fixture(scope="module")
def repaired(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("repaired")
    shutil.copy(original / "program.py", directory / "program.py")
    document = devlint(directory, "--fix", "--extend-select", "DEV701", "program.py")
    assert document["summary"]["fixed"] >= len(ENTRIES)
    assert {finding["code"] for finding in document["findings"]}.isdisjoint(ENTRIES.values())
    return directory


def test_the_findings_are_confirmed_before_and_gone_after(original: Path, repaired: Path) -> None:
    before = confirm(original, ENTRIES.keys() - BROKEN)
    confirmed = {finding["code"] for finding in before["findings"] if finding["verdict"]["state"] == "confirmed"}
    assert set(ENTRIES.values()) - UNSEEN <= confirmed
    after = confirm(repaired, set(ENTRIES))
    assert [entry["state"] for entry in after["entries"]] == ["ran"] * len(ENTRIES), after["entries"]
    assert {finding["code"] for finding in after["findings"]}.isdisjoint(ENTRIES.values())


@pytest.mark.parametrize("entry", sorted(ENTRIES))
def test_the_cpu_computes_the_same(original: Path, repaired: Path, entry: str) -> None:
    after = computed(loaded(repaired / "program.py", "repaired"), entry)
    before = loaded(original / "program.py", "original")
    if entry in NEEDS_CUDA | BROKEN:
        with pytest.raises((AssertionError, RuntimeError, TypeError)):
            computed(before, entry)
        assert after.device == torch.device("cpu")
    else:
        assert torch.equal(computed(before, entry), after)
