"""Which file an import names."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.source.library import Library
from devlint.source.modules import ModuleFinder


def make(root: Path, *files: str) -> None:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("import torch\n")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (".ops", "pkg/sub/ops.py"),
        (".", "pkg/sub/__init__.py"),
        ("..", "pkg/__init__.py"),
        ("..layers", "pkg/layers/__init__.py"),
        ("..layers.attention", "pkg/layers/attention.py"),
        ("pkg.layers.attention", "pkg/layers/attention.py"),
        ("pkg", "pkg/__init__.py"),
        ("pkg.nowhere", None),
        ("...layers.attention.more.dots", None),
        ("numpy", None),
    ],
)
def test_imports_as_seen_from_a_module_of_a_package(tmp_path: Path, name: str, found: str | None) -> None:
    make(tmp_path, "pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/ops.py", "pkg/sub/net.py")
    make(tmp_path, "pkg/layers/__init__.py", "pkg/layers/attention.py", "numpy/__init__.py")
    located = ModuleFinder(tmp_path / "pkg/sub/net.py").locate(name)
    assert located == (None if found is None else tmp_path / found)


def test_a_package_without_init_is_looked_up_from_the_root_of_the_project(tmp_path: Path) -> None:
    make(tmp_path, "tools/geometry.py", "train/deep/run.py", "pyproject.toml", "src/core/net.py")
    finder = ModuleFinder(tmp_path / "train/deep/run.py")
    assert finder.locate("tools.geometry") == tmp_path / "tools/geometry.py"
    assert finder.locate("tools") == tmp_path / "tools"
    assert finder.locate("core.net") == tmp_path / "src/core/net.py"


@pytest.mark.parametrize("marker", ["setup.py", "pyproject.toml"])
def test_an_init_file_in_the_root_of_the_project_hides_no_package(tmp_path: Path, marker: str) -> None:
    make(tmp_path, f"work/{marker}", "work/__init__.py", "work/pkg/__init__.py", "work/pkg/net.py", "work/pkg/ops.py")
    finder = ModuleFinder(tmp_path / "work/pkg/net.py")
    assert finder.locate("pkg.ops") == tmp_path / "work/pkg/ops.py"
    assert finder.locate("work.pkg.ops") == tmp_path / "work/pkg/ops.py"
    assert finder.locate("ops") is None


def test_in_a_repository_that_is_not_installed_a_module_of_a_package_sees_the_files_beside_it(tmp_path: Path) -> None:
    make(tmp_path, "detect/__init__.py", "detect/net.py", "detect/ops.py", "ops/__init__.py", "detect/boxes.py")
    (tmp_path / ".git").mkdir()
    finder = ModuleFinder(tmp_path / "detect/net.py")
    assert finder.locate("boxes") == tmp_path / "detect/boxes.py"
    assert finder.locate("ops") == tmp_path / "ops/__init__.py"


def test_a_configured_root_is_where_imports_start(tmp_path: Path) -> None:
    make(tmp_path, "python/names/net.py", "python/names/ops.py")
    finder = ModuleFinder(tmp_path / "python/names/net.py", (tmp_path / "python",))
    assert finder.locate("names.ops") == tmp_path / "python/names/ops.py"


def test_among_installed_packages_a_file_sees_its_own_only(tmp_path: Path) -> None:
    site = tmp_path / "lib/site-packages"
    make(site, "mine/__init__.py", "mine/net.py", "theirs/__init__.py")
    finder = ModuleFinder(site / "mine/net.py")
    assert finder.locate("mine") == site / "mine/__init__.py"
    assert finder.locate("theirs") is None


def test_a_directory_without_init_between_packages_belongs_to_the_outer_one(tmp_path: Path) -> None:
    site = tmp_path / "lib/site-packages"
    make(site, "mine/__init__.py", "mine/model.py", "mine/voice/models/__init__.py", "mine/voice/models/base.py")
    make(site, "theirs/__init__.py", "mine/voice/tools.py")
    finder = ModuleFinder(site / "mine/voice/models/base.py")
    assert finder.locate("mine.model") == site / "mine/model.py"
    assert finder.locate("mine.voice.tools") == site / "mine/voice/tools.py"
    assert finder.locate("models.base") == site / "mine/voice/models/base.py"
    assert finder.locate("theirs") is None
    assert ModuleFinder(site / "mine/voice/tools.py").locate("mine.model") == site / "mine/model.py"


def test_a_script_sees_the_files_beside_it(tmp_path: Path) -> None:
    make(tmp_path, "train.py", "model.py")
    assert ModuleFinder(tmp_path / "train.py").locate("model") == tmp_path / "model.py"


def test_a_file_is_parsed_once_and_what_is_no_python_not_at_all(tmp_path: Path) -> None:
    make(tmp_path, "net.py")
    (tmp_path / "broken.py").write_text("import torch\ndef f(:\n")
    library = Library(lambda tree, *_: len(tree.body), id)
    first = library.parsed(tmp_path / "net.py")
    assert first is not None
    assert first.index == 1
    assert library.parsed(tmp_path / "net.py") is first
    assert library.parsed(tmp_path / "broken.py") is None
    assert library.parsed(tmp_path / "missing.py") is None


def test_a_file_without_torch_is_read_as_any_other(tmp_path: Path) -> None:
    text = "from .net import Net\n\nclass Base(Net):\n    size = 3\n"
    (tmp_path / "api.py").write_text(text)
    found = Library(lambda tree, *_: tree.code, id).parsed(tmp_path / "api.py")
    assert found is not None
    assert found.index == text
    assert found.size == len(text)


def test_the_library_forgets_what_was_used_longest_ago(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", "c.py")
    dissolved: list[str] = []
    library = Library(lambda tree, *_: tree.code, dissolved.append, characters=2 * len("import torch  # a\n"))
    for name in "abc":
        (tmp_path / f"{name}.py").write_text(f"import torch  # {name}\n")
    first, second, third = (library.parsed(tmp_path / f"{name}.py") for name in "abc")
    assert library.parsed(tmp_path / "a.py") is first
    library.trim()
    assert dissolved == ["import torch  # b\n"]
    assert library.parsed(tmp_path / "a.py") is first
    assert library.parsed(tmp_path / "c.py") is third
    assert library.parsed(tmp_path / "b.py") is not second
