"""Attributes that are replaced for a run, and put back after it."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from devlint.runtime.patching import Patches
from devlint.runtime.simulated import simulate


def test_what_was_there_comes_back_in_reverse_order() -> None:
    owner, table = SimpleNamespace(a=1), {"k": 1}
    patches = Patches()
    for value in (2, 3):
        patches.set(owner, "a", value)
        patches.set(owner, "b", value)
        patches.item(table, "k", value)
    assert (owner.a, owner.b, table) == (3, 3, {"k": 3})
    patches.restore()
    assert (vars(owner), table) == ({"a": 1}, {"k": 1})


def test_one_that_fails_leaves_none_of_the_others() -> None:
    owner = SimpleNamespace(a=1)
    patches = Patches()
    patches.set(owner, "a", 2)

    def fail() -> None:
        raise ZeroDivisionError

    patches.call(fail)
    patches.set(owner, "b", 2)
    with pytest.raises(ZeroDivisionError):
        patches.restore()
    assert vars(owner) == {"a": 1}


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_module_that_imported_the_class_of_generators_has_its_stand_in(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with simulate():
        pass
    module = ModuleType("takes_generators")
    if when == "before":
        vars(module)["Generator"] = torch.Generator
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for _ in range(2):
        with simulate():
            if when == "during":
                vars(module)["Generator"] = torch.Generator
                monkeypatch.setitem(sys.modules, module.__name__, module)
            assert vars(module)["Generator"]("cuda").device.type == "cuda"
        assert vars(module)["Generator"] is torch._C.Generator
