"""What a cached finding was computed by is part of its key: all of devlint that an analysis imports."""

from __future__ import annotations

import shutil
from pathlib import Path

import grimp
import pytest

import devlint
import devlint.cache.version
from devlint.cache.version import version
from tests.thoroughness import chosen

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
    """A copy of the package, of which the version is asked. Its files are empty: what they say does not matter."""
    copy = tmp_path / "devlint"
    shutil.copytree(Path(devlint.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for path in copy.rglob("*.*"):
        path.write_text("")
    monkeypatch.setattr(devlint.cache.version, "_PACKAGE", str(copy))
    return copy


def file_of(module: str, package: Path) -> Path:
    path = package.parent.joinpath(*module.split("."))
    alone = path.with_suffix(".py")  # It may stand beside a directory of its name that holds no module.
    return alone if alone.exists() else path / "__init__.py"


def test_a_change_of_any_module_that_an_analysis_imports_is_another_version(package: Path, tmp_path: Path) -> None:
    """Each is among the files that the version is made of, whichever they are; of a part of them each is changed."""
    modules = imported_by_an_analysis()
    assert {
        "devlint.pipeline.stages.first_pass",
        "devlint.pipeline.workspaces",
        "devlint.rules.engine",
        "devlint.semantics.tables",
    } <= set(modules)
    read = {path for path, _, _ in devlint.cache.version._files(str(package))}
    assert {str(file_of(module, package)) for module in modules} <= read
    known = {version(tmp_path)}
    for module in modules[:: chosen(gate=8, search=1)]:
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
