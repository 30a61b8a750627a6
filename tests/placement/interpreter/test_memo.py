"""A memory that served others says what one that has seen nothing says, and what each result depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devlint.placement.interpreter import memo
from devlint.placement.interpreter.memo import LocalMemo, MemoTable, SharedMemo

Graph = dict[str, tuple[str, ...]]
"""What each question asks in turn."""


def asker(graph: Graph, memory: MemoTable, found: list[str] | None = None) -> Callable[[str], str]:
    """Asks a question of ``graph``: its answer shows what it was told. ``found`` lists those that were worked out."""

    def compute(name: str) -> str:
        if found is not None:
            found.append(name)
        if isinstance(memory, SharedMemo):
            memory.note("read", name, name.upper())
        return f"{name}({' '.join(map(ask, graph[name]))})"

    def ask(name: str) -> str:
        return memory.query(name, lambda: compute(name), "-", True)

    return ask


@pytest.mark.parametrize("memory", [LocalMemo(), SharedMemo()])
def test_an_answer_is_worked_out_once(memory: MemoTable) -> None:
    found: list[str] = []
    ask = asker({"a": ("b", "b"), "b": ()}, memory, found)
    assert ask("a") == "a(b() b())"
    assert ask("b") == "b()"
    assert found == ["a", "b"]


@pytest.mark.parametrize("memory", [LocalMemo(), SharedMemo()])
def test_what_is_being_answered_has_no_answer_yet(memory: MemoTable) -> None:
    assert asker({"a": ("b",), "b": ("a",)}, memory)("a") == "a(b(-))"


def test_an_answer_in_the_middle_of_another_is_not_kept() -> None:
    graph: Graph = {"a": ("b",), "b": ("a", "c"), "c": ()}
    memory, notebook, found = SharedMemo(), LocalMemo(), list[str]()
    ask = asker(graph, memory, found)
    assert ask("a") == "a(b(- c()))"
    assert ask("b") == "b(a(-) c())"
    assert ask("a") == "a(b(- c()))"
    assert found == ["a", "b", "c", "b", "a"]
    asker(graph, notebook)("a")
    assert asker(graph, notebook)("b") == "b(- c())"


def test_who_asks_later_rests_on_the_same_facts() -> None:
    memory = SharedMemo()
    ask = asker({"a": ("b",), "b": ("c",), "c": (), "d": ()}, memory)
    memory.begin()
    ask("b")
    memory.begin()
    assert memory.dependencies == 0
    ask("d")
    ask("a")
    assert sorted(key for _, key, _ in memory.read(memory.dependencies)) == ["a", "b", "c", "d"]
    assert memory.depends_on("read", "c")
    memory.begin()
    ask("d")
    assert list(memory.read(memory.dependencies)) == [("read", "d", "D")]
    assert not memory.depends_on("read", "c")


def test_an_answer_that_is_not_lasting_ends_with_the_question_around() -> None:
    memory, counted = SharedMemo(), list[int]()

    def inner() -> int:
        counted.append(1)
        return len(counted)

    def ask_inner() -> int:
        return memory.query("inner", inner, 0, reusable=False)

    assert memory.query("outer", lambda: (ask_inner(), ask_inner()), (0, 0)) == (1, 1)
    assert ask_inner() == 2


def test_what_is_done_without_being_kept_counts_as_asked() -> None:
    memory = SharedMemo()
    ask = asker({"a": ("b",), "b": ()}, memory)
    with memory.computing("a"):
        assert memory.is_in_progress("a")
        assert ask("b") == "b()"
        assert ask("a") == "-"
    assert not memory.is_in_progress("a")
    assert ask("a") == "a(b())"


def test_an_interrupted_answer_is_none() -> None:
    memory = SharedMemo()

    def fails() -> str:
        raise KeyError

    with pytest.raises(KeyError):
        memory.query("a", fails, "-")
    assert not memory.is_in_progress("a")
    assert memory.query("a", lambda: "found", "-") == "found"


NAMES = "abcdefg"
GRAPHS = st.fixed_dictionaries({name: st.lists(st.sampled_from(NAMES), max_size=3).map(tuple) for name in NAMES})
ROUNDS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3), min_size=2, max_size=5)


@pytest.mark.parametrize("depth", [2, 3, 12])
@given(graph=GRAPHS, rounds=ROUNDS)
def test_what_was_asked_before_changes_nothing(depth: int, graph: Graph, rounds: Sequence[Sequence[str]]) -> None:
    def answers(memory: SharedMemo, asked: Sequence[str]) -> tuple[list[str], set[str]]:
        memory.begin()
        told = [asker(graph, memory)(name) for name in asked]
        return told, {key for _, key, _ in memory.read(memory.dependencies)}

    shared = SharedMemo()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memo, "MAX_QUERY_DEPTH", depth)
        for asked in rounds:
            assert answers(shared, asked) == answers(SharedMemo(), asked)
