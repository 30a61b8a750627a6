"""Which places ran."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devlint.finding import Place
from devlint.runtime.reach import Reach

PROGRAM = """\
def either(flag):
    return [1, 2] if flag else (3, 4)


def é_longer(données, values):
    é = données; kept = sorted(values,
                    key=lambda value: -value)
    return kept


def decorated(times=len("ab")):
    def wrap(function):
        def inner():
            return function() * times
        return inner
    return wrap


@decorated(times=3)
def one():
    return 1


class Base:
    def method(self):
        return abs(-1)


class Derived(Base):
    pass


def unused(parameter): return parameter


def numbers():
    for n in range(3):
        yield n * n
"""


def place_of(text: str, path: Path, nth: int = 0) -> Place:
    start = -1
    for _ in range(nth + 1):
        start = PROGRAM.index(text, start + 1)
    line = PROGRAM.count("\n", 0, start) + 1
    column = start - (PROGRAM.rfind("\n", 0, start) + 1) + 1
    end = start + len(text)
    end_line = PROGRAM.count("\n", 0, end) + 1
    return Place(str(path), line, column, end_line, end - (PROGRAM.rfind("\n", 0, end) + 1) + 1)


@pytest.fixture
def ran(tmp_path: Path) -> Callable[..., set[str]]:
    """Run the program, then ``call`` its names, and return those of ``texts`` that ran."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")

    def run(call: Callable[[dict[str, Any]], object], *texts: str) -> set[str]:
        seen: set[str] = set()
        with Reach([place_of(text, path) for text in texts], lambda number: seen.add(texts[number])):
            names: dict[str, Any] = {}
            exec(compile(PROGRAM, str(path), "exec"), names)
            call(names)
        return seen

    return run


def test_only_the_arm_that_ran(ran: Callable[..., set[str]]) -> None:
    assert ran(lambda names: names["either"](False), "[1, 2]", "(3, 4)") == {"(3, 4)"}
    assert ran(lambda names: (names["either"](False), names["either"](True)), "[1, 2]", "(3, 4)") == {
        "(3, 4)",
        "[1, 2]",
    }


def test_lambda_on_the_second_line_of_a_statement(ran: Callable[..., set[str]]) -> None:
    texts = ("sorted(values,\n                    key=lambda value: -value)", "-value")
    assert ran(lambda names: names["é_longer"](0, []), *texts) == {texts[0]}
    assert ran(lambda names: names["é_longer"](0, [1]), *texts) == set(texts)


def test_decorator_default_and_decorated_function(ran: Callable[..., set[str]]) -> None:
    texts = ("decorated(times=3)", 'len("ab")', "return 1", "function() * times")
    assert ran(lambda names: None, *texts) == {"decorated(times=3)", 'len("ab")'}
    assert ran(lambda names: names["one"](), *texts) == set(texts)


def test_inherited_method(ran: Callable[..., set[str]]) -> None:
    assert ran(lambda names: names["Derived"](), "abs(-1)") == set()
    assert ran(lambda names: names["Derived"]().method(), "abs(-1)") == {"abs(-1)"}


def test_place_without_instructions_stands_for_its_definition(ran: Callable[..., set[str]]) -> None:
    assert ran(lambda names: None, "parameter") == set()
    assert ran(lambda names: names["unused"](1), "parameter") == {"parameter"}


def test_generator_and_thread(ran: Callable[..., set[str]]) -> None:
    assert ran(lambda names: names["numbers"](), "n * n") == set()
    assert ran(lambda names: list(names["numbers"]()), "n * n") == {"n * n"}

    def in_thread(names: dict[str, Any]) -> None:
        thread = threading.Thread(target=names["either"], args=(True,))
        thread.start()
        thread.join()

    assert ran(in_thread, "[1, 2]") == {"[1, 2]"}


TRANSFERS = """\
class Kept:
    def to(self, device):
        self.device = device

    def cuda(self):
        try:
            raise KeyError
        except KeyError:
            return self

    def cpu(self):
        raise ValueError

    def moved(self):
        pass


def to(device):
    pass


class Late:
    def cuda(self):
        try:
            raise KeyError
        except KeyError:
            pass
"""


def test_transfer_methods_that_return_nothing(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(TRANSFERS)
    told: list[str] = []
    with Reach([Place(str(path), 2, 9, 2, 11)], lambda number: None, lambda code: told.append(code.co_qualname)):
        names: dict[str, Any] = {}
        exec(compile(TRANSFERS, str(path), "exec"), names)
        kept = names["Kept"]()
        kept.to("cpu")
        kept.to("cpu")
        kept.cuda()
        with pytest.raises(ValueError, match=r"^$"):
            kept.cpu()
        kept.moved()
        names["to"]("cpu")
        names["Late"]().cuda()
    assert told == ["Kept.to", "Late.cuda"]


def test_unreadable_file_is_never_reached(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def f(:\n")
    with Reach([Place(str(tmp_path / "bad.py"), 1, 1, 1, 3), Place(str(tmp_path / "no.py"), 1, 1, 1, 3)], print):
        pass
