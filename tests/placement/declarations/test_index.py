"""The definitions of a file, by names alone."""

from __future__ import annotations

from textwrap import dedent

import libcst as cst
import pytest

from devlint.placement.declarations.definitions import ClassInfo
from devlint.placement.declarations.imports import canonical, imported_names
from devlint.placement.declarations.index import FileIndex, index_file
from devlint.placement.declarations.known_classes import ClassKind


def index(program: str) -> FileIndex:
    return index_file(cst.parse_module(dedent(program)))


def classes(program: str) -> dict[str, ClassInfo]:
    return {info.qualname: info for info in index(program).classes.values()}


@pytest.mark.parametrize(
    ("statement", "pairs"),
    [
        ("import torch", [("torch", "torch")]),
        ("import torch as t", [("t", "torch")]),
        ("import torch.nn.functional", [("torch", "torch")]),
        ("import torch.nn.functional as F", [("F", "torch.nn.functional")]),
        ("from torch import nn, zeros as z", [("nn", "torch.nn"), ("z", "torch.zeros")]),
        ("from torch.nn.modules.linear import Linear", [("Linear", "torch.nn.Linear")]),
        ("from torch.nn.parameter import Parameter", [("Parameter", "torch.nn.Parameter")]),
        ("from . import layers", [("layers", ".layers")]),
        ("from ..net import Net", [("Net", "..net.Net")]),
        ("from torch import *", []),
    ],
)
def test_imports_bind_local_names_to_qualified_ones(statement: str, pairs: list[tuple[str, str]]) -> None:
    line = cst.parse_statement(statement)
    assert isinstance(line, cst.SimpleStatementLine)
    node = line.body[0]
    assert isinstance(node, (cst.Import, cst.ImportFrom))
    assert imported_names(node) == pairs


def test_names_that_torch_gives_one_object_are_one() -> None:
    assert canonical("torch._tensor.Tensor") == "torch.Tensor"
    assert canonical("torch.nn.modules.conv.Conv2d") == "torch.nn.Conv2d"
    assert canonical("torch.nn.modules.utils._pair") == "torch.nn.modules.utils._pair"


def test_qualified_names_go_through_the_imports() -> None:
    found = index("import torch.nn.functional as F\n")
    assert found.qualified("F.relu") == "torch.nn.functional.relu"
    assert found.qualified("other.name") == "other.name"
    assert found.qualified(None) == ""


@pytest.mark.parametrize(
    ("bases", "kind"),
    [
        ("(nn.Module)", ClassKind.MODULE),
        ("(nn.Linear)", ClassKind.MODULE),
        ("(torch.nn.Sequential, Mixin)", ClassKind.MODULE),
        ("(pl.LightningModule)", ClassKind.LIGHTNING),
        ("(BertPreTrainedModel)", ClassKind.MODULE),
        ("(MyLightningModule)", ClassKind.MODULE),
        ("(Dataset)", ClassKind.HOST),
        ("(some.ImageDataset)", ClassKind.HOST),
        ("(torch.autograd.Function)", ClassKind.AUTOGRAD),
        ("(torch.optim.Optimizer)", ClassKind.OPTIMIZER),
        ("(torch.optim.Adam)", ClassKind.OPTIMIZER),
        ("", ClassKind.PLAIN),
        ("(object)", ClassKind.PLAIN),
        ("(Generic[T])", ClassKind.PLAIN),
        ("(Unknown)", ClassKind.UNKNOWN),
    ],
)
def test_bases_tell_what_a_class_is(bases: str, kind: ClassKind) -> None:
    program = f"""
    import torch
    import pytorch_lightning as pl
    from torch import nn
    from torch.utils.data import Dataset
    from typing import Generic

    class Net{bases}:
        pass
    """
    assert classes(program)["Net"].kind is kind


def test_a_class_with_an_unknown_base_and_a_forward_is_a_module() -> None:
    program = "class Net(Unknown):\n    def forward(self, x):\n        return x\n"
    assert classes(program)["Net"].kind is ClassKind.MODULE
    static = "class Net(Unknown):\n    @staticmethod\n    def forward(ctx, x):\n        return x\n"
    assert classes(static)["Net"].kind is ClassKind.UNKNOWN


def test_a_class_is_what_its_parent_in_the_file_is() -> None:
    program = """
    from torch import nn

    class Base(nn.Module):
        def one(self):
            pass

    class Net(Base):
        def two(self):
            pass
    """
    net = classes(program)["Net"]
    assert net.kind is ClassKind.MODULE
    assert [parent.name for parent in net.parents] == ["Base"]
    assert net.method("one") is not None
    assert net.defines("two")
    assert not net.defines("three")
    assert net.complete
    assert not classes("class A(Unknown): pass\nclass B(A): pass\n")["B"].complete


def test_definitions_are_found_wherever_they_stand() -> None:
    program = """
    if True:
        def a(): pass
    else:
        def b(): pass
    try:
        def c(): pass
    except ImportError:
        def d(): pass
    else:
        def e(): pass
    finally:
        def g(): pass
    for _ in ():
        def h(): pass
    with open("x"):
        def i(): pass
    match 1:
        case 1:
            def j(): pass
    if 1: pass
    elif 2:
        def k(): pass
    def outer():
        def inner(): pass
        class Local:
            def method(self): pass
    """
    names = [info.qualname for info in index(program).functions.values()]
    assert sorted(names) == sorted([*"abcdeghijk", "outer", "outer.inner", "outer.Local.method"])


def test_a_setter_or_an_overload_does_not_hide_the_method() -> None:
    program = """
    from typing import overload

    class Box:
        @property
        def place(self): return 1

        @place.setter
        def place(self, value): pass

        @overload
        def get(self): ...

        def get(self): return 2

        @staticmethod
        def make(): pass

        @classmethod
        def build(cls): pass
    """
    box = classes(program)["Box"]
    assert box.methods["place"].is_property
    assert box.methods["get"].decorators == ()
    assert box.methods["make"].is_static
    assert box.methods["build"].is_classmethod


def test_decorators_that_keep_the_result_are_known() -> None:
    program = """
    @torch.no_grad()
    @functools.lru_cache
    def kept(): pass

    @wrapped
    def changed(): pass
    """
    kept, changed = index(program).functions.values()
    assert kept.keeps_signature
    assert not changed.keeps_signature


def test_names_mentioned_otherwise_than_by_a_call_are_indirect() -> None:
    program = """
    def called(): pass
    def handed(): pass
    called()
    run(handed)
    """
    found = index(program)
    assert "handed" in found.indirect
    assert "called" not in found.indirect


def test_attributes_stored_outside_the_constructor_are_noted() -> None:
    program = """
    class Box:
        def __init__(self):
            self.a = 1

        def change(me):
            me.b, [me.c] = 1, [2]
            me.d: int = 3
            me.e += 1
            other.f = 2

        def nothing():
            pass
    """
    assert classes(program)["Box"].assigned_outside_init.keys() == {"b", "d", "e"}


def test_literals_are_names_that_nothing_else_binds() -> None:
    found = index(
        """
        from elsewhere import imported
        VERSION = "1.0"
        COUNT = 3
        imported = "2.0"
        twice = 1
        twice += 1
        computed = len(VERSION)
        def function(): ...
        function = "no function"
        if COUNT:
            inside = 1
        a, b = 1, 2
        """
    ).literals
    assert set(found) == {"VERSION", "COUNT"}
