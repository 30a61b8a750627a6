"""Dataclasses whose methods are compiled when they are first called."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from typing import Any

import pytest

from devlint.deferred_methods import deferred_methods


def made() -> tuple[type[Any], type[Any]]:
    """A class and one derived from it, with methods of most kinds that dataclasses write."""

    @dataclasses.dataclass(frozen=True, order=True)
    class Point:
        """A place."""

        x: int
        y: int = 2
        tags: list[str] = dataclasses.field(default_factory=list, compare=False)

    @dataclasses.dataclass(frozen=True)
    class Named(Point):
        name: str = ""

        def __repr__(self) -> str:
            return self.name

    return Point, Named


def facts(point: type[Any], named: type[Any]) -> list[object]:
    one = named(1, name="one")
    return [
        repr(point(1)), repr(one), point(1) == point(1, 2), point(1) == point(2), point(1) == named(1),
        point(1) < point(1, 3), hash(point(1)) == hash(point(1)), point(1).tags is point(1).tags,
        point(1) in {point(1), one}, one.x, one.name, point.__init__.__qualname__.rpartition(".")[2],
        dataclasses.replace(one, x=3).x, dataclasses.asdict(one), str(refused(lambda: point())),
        str(refused(lambda: setattr(one, "x", 2))), str(refused(lambda: setattr(one, "z", 2))),
    ]  # fmt: skip


def refused(act: Any) -> Exception:
    with pytest.raises((TypeError, AttributeError)) as found:
        act()
    return found.value


def test_they_do_what_those_do_that_are_compiled_at_once() -> None:
    with deferred_methods():
        deferred = made()
    expected = facts(*made())
    assert facts(*deferred) == expected
    assert facts(*deferred) == expected, "once they are compiled, too"


def test_a_method_that_was_called_is_the_compiled_one() -> None:
    with deferred_methods():
        _, named = made()
    named(1)
    assert named.__init__.__code__.co_varnames[:2] == ("self", "x")


def test_later_classes_are_compiled_at_once() -> None:
    before = dict(vars(dataclasses))
    with pytest.raises(KeyError), deferred_methods(), deferred_methods():
        raise KeyError
    assert dict(vars(dataclasses)) == before
    assert made()[0].__init__.__code__.co_varnames[:2] == ("self", "x")


def test_libcst_makes_the_same_trees() -> None:
    code = (
        "import sys; from devlint.pipeline.workers import import_analysis\n"
        "if sys.argv[1] == 'deferred': import_analysis()\n"
        "import libcst as cst\n"
        "tree = cst.parse_module('def f(x, *y, z=1):\\n    return [a for a in x if a]  # all\\n')\n"
        "again = tree.visit(cst.CSTTransformer()).with_changes(header=[cst.EmptyLine()])\n"
        "print(tree, again.code, tree.deep_equals(cst.parse_module(tree.code)))\n"
    )
    told = [
        subprocess.run([sys.executable, "-c", code, way], capture_output=True, text=True, check=True).stdout
        for way in ("deferred", "at once")
    ]
    assert told[0] == told[1]
    assert "True" in told[0]
