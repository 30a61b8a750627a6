"""Dataclasses that the type checker alone keeps frozen."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from devlint.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Pair:
    first: int
    second: str = ""
    beside: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Named:
    name: str

    def __hash__(self) -> int:
        return 7


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    node: object


@dataclass
class Changing:
    value: int


def test_equal_ones_have_the_same_hash() -> None:
    assert Pair(1, "a", 2) == Pair(1, "a", 3)
    assert hash(Pair(1, "a", 2)) == hash(Pair(1, "a", 3))
    assert Pair(1) != Pair(2)
    assert len({Pair(1), Pair(1, ""), Pair(2)}) == 2


def test_a_hash_of_their_own_stays() -> None:
    assert hash(Named("a")) == 7


def test_where_equality_is_identity_so_is_the_hash() -> None:
    one, other = Event(1), Event(1)
    assert one != other
    assert len({one, other}) == 2


def test_what_may_change_has_no_hash() -> None:
    with pytest.raises(TypeError):
        hash(Changing(1))


def test_they_are_replaced_and_sent_to_other_processes_like_any() -> None:
    assert dataclasses.replace(Pair(1, "a"), second="b") == Pair(1, "b")
    assert pickle.loads(pickle.dumps(Pair(1, "a", 5))).beside == 5
    assert not hasattr(Pair(1), "__dict__")


@dataclass(slots=True, eq=False)
class Asked:
    given: tuple[int, ...]
    name: str = ""
    first: int | None = dataclasses.field(default=None, init=False)


def test_a_replaced_one_has_all_other_fields() -> None:
    pair = replace(Pair(1, "a", 2), second="b")
    assert (pair.first, pair.second, pair.beside) == (1, "b", 2)
    assert replace(Named("a"), name="b") == Named("b")
    with pytest.raises(AttributeError):
        replace(Pair(1), third=3)  # type: ignore[call-arg]


def test_what_is_found_out_about_one_is_not_handed_to_its_replacement() -> None:
    asked = Asked((1, 2), "a")
    asked.first = 1
    found = replace(asked, given=(3, 4))
    assert (found.given, found.name, found.first) == ((3, 4), "a", None)


def test_the_type_checker_refuses_an_assignment(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from devlint.records import dataclass\n\n\n@dataclass(frozen=True)\nclass Pair:\n    first: int\n\n\n"
        "Pair(1).first = 2\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert 'Property "first" defined in "Pair" is read-only' in done.stdout
