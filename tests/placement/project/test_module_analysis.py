"""The analysis of one file as a whole."""

from __future__ import annotations

import ast
from textwrap import dedent

import libcst as cst

from devlint.placement.declarations.index import index_file
from devlint.placement.domain.events import ClassCompleted, Created, DeviceMismatch, Event
from devlint.placement.domain.scope import Setting
from devlint.placement.project.analyse import analyse
from devlint.placement.syntax.nodes import code_of
from devlint.source.lazy_parser import LazyParser
from devlint.source.outline import outline_of
from devlint.source.role import Role
from tests.placement.walked import IMPORTS, clashes, device, events, events_of

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(n, n) for _ in range(3)])
        self.register_buffer("mask", torch.ones(n))
        self.table = torch.arange(n)

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x)
        if mask is None:
            mask = torch.ones(3)
        return x * mask + self.table


def train(model: nn.Module, loader, use_cuda: bool):
    if use_cuda:
        model.cuda()
    for x, y in loader:
        x = x.to(DEVICE)
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()


def collate_fn(items):
    return torch.stack([torch.tensor(item) for item in items])
"""


def told(event: Event) -> tuple[str, ...]:
    return type(event).__name__, event.scope.qualname, code_of(event.node)


def test_two_analyses_tell_the_same_events() -> None:
    first = [told(event) for event in analyse(cst.parse_module(PROGRAM), "net.py", Role.LIBRARY)]
    second = [told(event) for event in analyse(cst.parse_module(PROGRAM), "net.py", Role.LIBRARY)]
    assert first == second
    assert len(first) > 40


def test_analysing_one_tree_twice_tells_the_same_events() -> None:
    tree = cst.parse_module(PROGRAM)
    runs = [[told(event) for event in analyse(tree, "net.py", Role.LIBRARY)] for _ in range(2)]
    assert runs[0] == runs[1]


def test_module_level_comes_first_then_definitions_by_source_then_classes() -> None:
    scopes = [event.scope.qualname for event in analyse(cst.parse_module(PROGRAM), "net.py", Role.LIBRARY)]
    order = list(dict.fromkeys(scopes))
    assert order == ["", "Net.__init__", "Net.forward", "train", "collate_fn", "Net"]


def test_settings_tell_what_kind_of_code_a_definition_is() -> None:
    program = """
    from torch.utils.data import Dataset

    torch.ones(1)

    def plain():
        torch.ones(2)

    def collate(items):
        torch.ones(3)

    class Net(nn.Module):
        def __init__(self):
            torch.ones(4)

        def _init_weights(self):
            torch.ones(5)

        def forward(self, x):
            torch.ones(6)

        def encode(self, x):
            torch.ones(7)

    class Data(Dataset):
        def load(self):
            torch.ones(8)

    class BatchCollator:
        def __call__(self, items):
            torch.ones(9)
    """
    assert [event.scope.setting for event in events_of(Created, program)] == [
        Setting.MODULE_LEVEL, Setting.FUNCTION, Setting.HOST, Setting.CONSTRUCTION, Setting.CONSTRUCTION,
        Setting.FORWARD, Setting.METHOD, Setting.HOST, Setting.HOST,
    ]  # fmt: skip


def test_scopes_name_the_file_its_role_and_the_class() -> None:
    event = events_of(Created, "class Net(nn.Module):\n    def forward(self, x):\n        torch.ones(3)\n")[0]
    assert (event.scope.path, event.scope.role, event.scope.qualname, event.scope.class_name) == (
        "net.py", Role.LIBRARY, "Net.forward", "Net",
    )  # fmt: skip


def test_every_class_is_told_once_at_the_end() -> None:
    program = "class A: pass\nclass B(A):\n    class C: pass\n"
    walked = [event.facts.info.qualname for event in events_of(ClassCompleted, program)]
    assert sorted(walked) == ["A", "B", "B.C"]


def test_names_of_the_module_are_seen_in_its_functions() -> None:
    program = """
    TABLE = torch.ones(3)

    def f(x: torch.Tensor):
        return x + TABLE
    """
    assert clashes(program) == ["x + TABLE"]


def test_a_name_that_a_function_rebinds_is_unknown_everywhere() -> None:
    program = """
    TABLE = torch.ones(3)

    def f(x: torch.Tensor):
        return x + TABLE

    def move(device):
        global TABLE
        TABLE = TABLE.to(device)

    def g(x: torch.Tensor):
        return x + TABLE
    """
    assert clashes(program) == []


def test_a_default_that_some_function_sets_may_be_in_force_anywhere() -> None:
    program = """
    def setup():
        torch.set_default_device("cuda")

    def f(x: torch.Tensor):
        y = torch.ones(3)
        return x + y
    """
    assert device(program) == "an unknown device"
    assert clashes(program) == []


def test_an_empty_file_says_nothing() -> None:
    assert events("", imports="") == []


def test_nesting_to_the_gates_bound_is_walked() -> None:
    program = "def f(x: torch.Tensor):\n    y = " + "(" * 190 + "x" + " + 1)" * 190 + "\n    z = y\n"
    assert device(program, "z") == "the device of `x`"


def test_code_after_a_module_level_exit_is_still_defined() -> None:
    program = """
    raise SystemExit

    def f(x: torch.Tensor):
        return x + torch.ones(3)
    """
    assert clashes(program) == ["x + torch.ones(3)"]


def test_a_class_defined_by_a_constructor_joins_what_is_walked() -> None:
    """Its definition is parsed when the constructor is asked for, in the middle of the classes."""
    program = """
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()

            class Inner(nn.Module):
                def forward(self, x):
                    return x + torch.ones(3)

            self.inner = Inner()

    class Second(nn.Module):
        def forward(self, x):
            def local(y):
                class Deep:
                    pass
                return y
            return local(x)
    """
    found = analysed_in_parts(program)
    assert [event.scope.qualname for event in found if isinstance(event, ClassCompleted)] == [
        "Outer", "Second", "Outer.__init__.Inner", "Second.forward.local.Deep",
    ]  # fmt: skip
    (clash,) = (event for event in found if isinstance(event, DeviceMismatch))
    assert clash.scope.qualname == "Outer.__init__.Inner.forward"


def analysed_in_parts(program: str) -> list[Event]:
    """The events of a program whose definitions are parsed as in a run: one by one."""
    text = IMPORTS + dedent(program)
    outline = outline_of(ast.parse(text))
    parts = LazyParser(text, outline)
    tree = parts.skeleton()
    assert isinstance(tree, cst.Module)
    return list(analyse(tree, "net.py", Role.LIBRARY, index=index_file(tree, outline, parts.definition)))
