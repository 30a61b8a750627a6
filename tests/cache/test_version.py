"""What a cached finding was computed by is part of its key: all of devlint that an analysis imports."""

from __future__ import annotations

import shutil
from pathlib import Path

import grimp
import pytest

import devlint
import devlint.cache.version
from devlint.cache.version import version

ENTRIES = ("devlint.pipeline.file_report", "devlint.pipeline.workers", "devlint.cache.session")
"""Where the making of a finding, and the keeping of it, begins."""


def imported_by_an_analysis() -> list[str]:
    """Every module of devlint that is imported, at whatever depth and inside whatever function, to make a finding."""
    graph = grimp.build_graph("devlint", cache_dir=None)
    found = set(ENTRIES)
    for entry in ENTRIES:
        found |= {module for module in graph.find_upstream_modules(entry) if module.startswith("devlint")}
    return sorted(found)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package, of which the version is asked. What its files say does not matter, only that they are there."""
    copy = tmp_path / "devlint"
    shutil.copytree(Path(devlint.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in copy.rglob("*.*"):
        path.write_text("")
    monkeypatch.setattr(devlint.cache.version, "_PACKAGE", str(copy))
    return copy


def file_of(module: str, package: Path) -> Path:
    path = package.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def test_a_change_of_any_module_that_an_analysis_imports_is_another_version(package: Path, tmp_path: Path) -> None:
    modules = imported_by_an_analysis()
    assert {
        "devlint.pipeline.stages.first_pass",
        "devlint.pipeline.workspaces",
        "devlint.rules.engine",
        "devlint.semantics.tables",
    } <= set(modules)
    known = {version(tmp_path)}
    for module in modules:
        with file_of(module, package).open("a") as file:
            file.write("#\n")
        assert version(tmp_path) not in known, module
        known.add(version(tmp_path))


def test_a_change_of_a_table_is_another_version(package: Path, tmp_path: Path) -> None:
    before = version(tmp_path)
    table = next((package / "semantics" / "tables").glob("*.json"))
    table.write_text(table.read_text() + "\n")
    assert version(tmp_path) != before


def test_the_same_sources_elsewhere_are_the_same_version(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = version(tmp_path)
    elsewhere = tmp_path / "elsewhere" / "devlint"
    shutil.copytree(package, elsewhere)
    monkeypatch.setattr(devlint.cache.version, "_PACKAGE", str(elsewhere))
    assert version(tmp_path) == before
