"""Searches of a package for a word, and what of them survives a change."""

from __future__ import annotations

import weakref
from pathlib import Path

import pytest

from devlint.source.modules import package_of
from devlint.source.tree import WorkingTree
from devlint.source.word_search import ends_alike, forget_searches, mention_elsewhere


@pytest.fixture
def package(tmp_path: Path) -> Path:
    package = tmp_path / "pkg"
    (package / "inner").mkdir(parents=True)
    for init in (package, package / "inner"):
        (init / "__init__.py").write_text("")
    (package / "inner" / "ops.py").write_text("def shared(): ...\ndef kept(): ...\n")
    (package / "user.py").write_text("from pkg.inner.ops import shared\nkeptical = 1\n")
    (tmp_path / "outside.py").write_text("from pkg.inner.ops import kept\n")
    return package


def test_a_name_is_looked_for_in_the_rest_of_the_package(package: Path) -> None:
    file = package / "inner" / "ops.py"
    assert package_of(file) == package
    assert package_of(package.parent / "outside.py") is None
    assert mention_elsewhere(package, file, "shared") == str(package / "user.py")
    assert mention_elsewhere(package, file, "kept") == ""


def test_a_directory_without_init_belongs_to_the_package_around_it(package: Path) -> None:
    between = package / "layers"
    (between / "inner").mkdir(parents=True)
    (between / "inner" / "__init__.py").write_text("")
    assert package_of(between / "inner" / "ops.py") == package
    assert package_of(between / "ops.py") == package
    assert package_of(between / "data" / "raw" / "ops.py") is None, "two such directories may be anything"


def test_what_a_change_may_end_otherwise_is_searched_again(package: Path) -> None:
    tree, file, user = WorkingTree(), package / "inner" / "ops.py", package / "user.py"

    def ends() -> tuple[str, str]:
        return mention_elsewhere(package, file, "shared", tree), mention_elsewhere(package, file, "kept", tree)

    assert ends() == (str(user), "")
    user.write_text("from pkg.inner.ops import kept\n")
    assert ends() == (str(user), ""), "nobody has said that it has changed"
    forget_searches(tree, [str(file)])
    assert ends() == (str(user), "")
    forget_searches(tree, [str(user)])
    assert ends() == ("", str(user))


def test_a_search_begins_beside_the_file(package: Path) -> None:
    beside = package / "inner" / "zz.py"
    beside.write_text("shared = 1\n")
    assert mention_elsewhere(package, package / "inner" / "ops.py", "shared", WorkingTree()) == str(beside)
    assert mention_elsewhere(package, beside, "kept", WorkingTree()) == str(package / "inner" / "ops.py")


@pytest.mark.parametrize(
    ("mention", "changed", "has", "alike"),
    [
        ("", {"a"}, False, True),
        ("", {"a.py"}, False, True),
        ("", {"a.py"}, True, False),
        ("", {"file.py"}, True, True),
        ("", {"a.txt"}, True, True),
        ("a.py", {"b.py"}, False, True),
        ("a.py", {"a.py"}, True, True),
        ("a.py", {"a.py"}, False, False),
    ],
)
def test_a_search_ends_alike_unless_a_changed_file_says_otherwise(
    mention: str, changed: set[str], has: bool, alike: bool
) -> None:
    assert ends_alike(mention, "file.py", "word", changed, lambda path, word: has) is alike


def test_searches_of_a_tree_that_is_gone_are_forgotten_with_it(package: Path) -> None:
    tree = WorkingTree()
    mention_elsewhere(package, package / "inner" / "ops.py", "shared", tree)
    gone = weakref.ref(tree)
    del tree
    assert gone() is None
